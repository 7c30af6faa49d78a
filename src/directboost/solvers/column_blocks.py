"""Block descent on single columns, each of which is a feature with two bins."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import LEAST_SINGLE_WEIGHT, Array, Ints
from ..data.binning import CodedFeatures
from ..kernels.step_functions import ORDERED, n_thresholds
from ..losses import Loss
from ..margins import Margin
from ..model.learners import WeakClassifier
from ..penalties import Penalty
from ..problem.columns import DenseColumns
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .base import Solver, SolverResult
from .block_descent import BlockDescent
from .smoothing import Smoothing

_MAX_STEPS, _MAX_IDLE = 60, 8  # steps of a solve, and consecutive steps without progress
_PROGRESS = 0.99  # a step makes progress if it reduces the gap below this share
_LARGE = 5_000  # scores (rows times classes) from which single precision pays
_SINGLE_GAP = 1e-4  # smallest gap requested in single precision
_SINGLE_ROUNDING = 1e-6  # relative rounding error of an objective in single precision


class ColumnBlockDescent(Solver):
    """Block descent on the generated stumps, by steps of `BlockDescent` or `Smoothing`.

    The columns have entries +1 and -1, so each of them is a feature with one threshold. Its
    coefficient must be non-negative unless the opposite column has been generated too. The solver
    takes steps until the gap over the columns is small enough. With a smooth loss and many rows it
    uses single precision, until the requested gap is one that rounding would hide; from then on it
    uses double precision. Works on `DenseColumns`.

    Paper: Eq. 36 (general primal).

    Examples
    --------
    `solver="blocks"` uses this class if stumps are added one by one.

    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(solver="blocks", columns_per_round=4, nu=0.1)
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "column blocks"

    def __init__(self) -> None:
        self._state: _State | None = None
        self._single_allowed = True

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for what `BlockDescent` supports, otherwise the reason."""
        return BlockDescent().supports(loss, margin, penalty)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Take steps until the gap over the columns is at most `accuracy` or stops decreasing."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, DenseColumns):
            raise TypeError("solver 'blocks' on single columns requires DenseColumns")
        state = self._updated_state(columns, objective)
        if accuracy < _SINGLE_GAP:
            self.switch_to_double()
        best, least, count = _descend(problem, state, _to_jumps(state, start), accuracy)
        if max(least, self._rounding(objective, best.value)) > accuracy and self.switch_to_double():
            best, least, more = _descend(problem, state, best.W, accuracy)
            count += more
        state.W, state.jumps = _to_weights(state.features, best.W, objective.margin.k), best.W
        return replace(best, W=state.W, solved=bool(least <= accuracy), iterations=count)

    def switch_to_double(self) -> bool:
        """Use double precision from now on, also after columns have been dropped."""
        self._single_allowed = False
        if self.precision == np.float64:
            return False
        self.precision = np.dtype(np.float64)
        if self._state is not None:
            self._state.descent = BlockDescent()
        return True

    def free(self) -> None:
        """Release the columns and all arrays of rows."""
        self._state = None

    def _rounding(self, objective: Objective, value: float | None) -> float:
        """Return the relative gap below which single precision is unreliable, 0 in double."""
        if self.precision == np.float64 or value is None:
            return 0.0
        return objective.relative(_SINGLE_ROUNDING * abs(value), value)

    def _updated_state(self, columns: DenseColumns, objective: Objective) -> "_State":
        """Return the state of the last call with the new columns, or a new one after a removal."""
        k = objective.margin.k
        if self._state is None or self._state.generation != columns.generation:
            features = ColumnFeatures(columns)
            self._state = _State(
                generation=columns.generation,
                features=features,
                columns=FeatureColumns(features, features.costs, k),
                descent=self._new_descent(objective),
                W=np.zeros((0, k)),
                jumps=[],
            )
        state = self._state
        state.features.update()
        state.columns.features = list(range(state.features.n_features))
        state.columns.signs = np.repeat(state.features.signs[:, None], k, axis=1)
        return state

    def _new_descent(self, objective: Objective) -> BlockDescent | Smoothing:
        """Return the inner solver, in single precision for a smooth loss with many rows."""
        if not objective.loss.smooth:
            return Smoothing()
        c = objective.rows.c
        large = c.size * objective.margin.k >= _LARGE
        single = self._single_allowed and large and float(c.min()) > LEAST_SINGLE_WEIGHT
        descent = BlockDescent(np.float32 if single else np.float64)
        self.precision = descent.precision
        return descent


class ColumnFeatures(CodedFeatures):
    """Columns with entries +1 and -1, each as a feature with one threshold.

    A column and its opposite are one feature, that of the column that was generated first.

    Parameters
    ----------
    columns : DenseColumns
        `update` adds the columns generated since its last call.

    Attributes
    ----------
    feature_of : list of int
        The feature of every column, (n,).
    sign_of : list of int
        1 if a column is that feature, -1 if it is the opposite, (n,).
    costs : list of float
        Costs of the features.
    """

    sparse = None
    constant = -1  # the constant has no special place: it is a column like the others

    def __init__(self, columns: DenseColumns) -> None:
        self._columns = columns
        self.n_rows = int(columns.H.shape[0])
        self.costs: list[float] = []
        self.feature_of: list[int] = []
        self.sign_of: list[int] = []
        self._names: list[tuple[int, int, int]] = []
        self._index: dict[tuple[int, int], int] = {}
        self._codes = np.empty((16, self.n_rows), dtype=np.uint8)

    def update(self) -> None:
        """Add the columns generated since the last call."""
        costs = self._columns.costs
        for number in range(len(self.feature_of), len(self._columns)):
            feature, threshold, polarity = self._columns.names[number]
            index = self._index.setdefault((feature, threshold), self.n_features)
            if index == self.n_features:
                self._append(number, float(costs[number]))
            self.feature_of.append(index)
            self.sign_of.append(1 if self._names[index][2] == polarity else -1)

    def _append(self, number: int, cost: float) -> None:
        if self.n_features == self._codes.shape[0]:
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        response = self._columns.H[:, number]
        if not (np.abs(response) == 1.0).all():
            raise ValueError(
                "solver 'blocks' on single columns requires weak classifiers that predict +1 or -1 "
                "for every row"
            )
        self._codes[self.n_features] = response > 0.0
        self._names.append(self._columns.names[number])
        self.costs.append(cost)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._names)

    @property
    def codes(self) -> Ints:
        """Codes of the rows: 1 if the column is +1, otherwise 0, (n, m)."""
        return self._codes[: self.n_features]

    @property
    def n_bins(self) -> Ints:
        """Two bins for every feature, (n,)."""
        return np.full(self.n_features, 2, dtype=np.int32)

    @property
    def kinds(self) -> Ints:
        """Every feature has ordered bins, (n,)."""
        return np.full(self.n_features, ORDERED, dtype=np.uint8)

    @property
    def signs(self) -> Ints:
        """Sign constraints: 1 for non-negative, 0 if the opposite was generated too, (n,)."""
        both = np.zeros(self.n_features, dtype=bool)
        pairs = zip(self.feature_of, self.sign_of, strict=True)
        both[[feature for feature, sign in pairs if sign < 0]] = True
        return np.where(both, 0, 1).astype(np.int8)

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds of a feature: one."""
        return n_thresholds(2, ORDERED)

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return a column, or its opposite, on the training rows, (m,)."""
        return polarity * np.where(self._codes[feature] > 0, 1.0, -1.0)

    def learner(self, feature: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a column, or its opposite, as a weak classifier."""
        name = self._names[feature]
        return self._columns.source.learner(name[0], name[1], polarity * name[2])


@dataclass
class _State:
    """The columns as features, and the last solution on them; kept between solves."""

    generation: int
    features: ColumnFeatures
    columns: FeatureColumns
    descent: BlockDescent | Smoothing
    W: Array
    jumps: StepCoefficients


def _descend(
    problem: RestrictedProblem, state: _State, jumps: StepCoefficients, accuracy: float
) -> tuple[SolverResult, float, int]:
    """Take steps from `jumps`; return the best solution, its relative gap, and the steps taken."""
    inner = RestrictedProblem(problem.objective, state.columns)
    best, least, idle, count = None, np.inf, 0, 0
    while best is None or (least > accuracy and idle < _MAX_IDLE and count < _MAX_STEPS):
        found = state.descent.solve(inner, jumps, accuracy)
        jumps, count = found.W, count + 1
        gap = _gap(problem, found, state.descent)
        idle = 0 if gap < _PROGRESS * least else idle + 1
        if gap < least:
            best, least = found, gap
    # Later steps have overwritten the array A of an earlier solution. In single precision they
    # have overwritten U too, but then the gap is too large, and `solve` goes on in double.
    return best if best is found else replace(best, A=None), least, count


def _gap(
    problem: RestrictedProblem, found: SolverResult, descent: BlockDescent | Smoothing
) -> float:
    """Return the relative gap over the columns; pass the largest price to the inner solver."""
    objective, columns = problem.objective, problem.columns
    assert isinstance(columns, DenseColumns)
    assert found.value is not None
    A = objective.coefficients(found.U) if found.A is None else found.A
    prices = objective.penalty.dual_norm(columns.edges(A)) / columns.costs
    price = float(prices.max(initial=0.0))
    descent.observe_max_price(price)
    bound = objective.dual_estimate(found.U, price)
    return objective.relative(found.value - bound, found.value)


def _to_jumps(state: _State, W: Array) -> StepCoefficients:
    """Return the coefficients for weights W (n, k): those of the last solution if W is equal."""
    before = state.W.shape[0]
    if np.array_equal(W[:before], state.W) and not W[before:].any():
        return state.columns.grow(state.jumps)
    jumps = state.columns.grow([])
    features = state.features
    for row, feature, sign in zip(W, features.feature_of, features.sign_of, strict=True):
        jumps[feature][0] += sign * row
    return jumps


def _to_weights(features: ColumnFeatures, jumps: StepCoefficients, k: int) -> Array:
    """Return the weights of the columns, (n, k) >= 0."""
    signed = np.concatenate([*jumps, np.zeros((0, k))])[features.feature_of]
    return np.asarray(np.maximum(np.array(features.sign_of)[:, None] * signed, 0.0))
