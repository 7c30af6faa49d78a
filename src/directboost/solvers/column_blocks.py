"""Newton steps and block descent on single columns, each a feature of two bins."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import LEAST_SINGLE_WEIGHT, Array, Ints
from ..kernels.step_functions import ORDERED, n_jumps
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


class ColumnFeatures:
    """Columns of answers +1 and -1, each a feature whose one jump is the column.

    A column and its opposite are one feature: that of the one that came first.

    Parameters
    ----------
    columns : DenseColumns
        Whose columns are taken in by `follow`.
    """

    sparse = None
    constant = -1  # a column like the others, where it has been generated

    def __init__(self, columns: DenseColumns) -> None:
        self._columns = columns
        self.n_rows = int(columns.H.shape[0])
        self.costs: list[float] = []
        #: Of every column its feature, and whether it is that feature or its opposite, (n,) each.
        self.place: list[int] = []
        self.side: list[int] = []
        self._names: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int], int] = {}
        self._codes = np.empty((16, self.n_rows), dtype=np.uint8)

    def follow(self) -> None:
        """Take in the columns that came since the last call."""
        costs = self._columns.costs
        for number in range(len(self.place), len(self._columns)):
            feature, jump, polarity = self._columns.names[number]
            known = self._known.setdefault((feature, jump), self.n_features)
            if known == self.n_features:
                self._append(number, float(costs[number]))
            self.place.append(known)
            self.side.append(1 if self._names[known][2] == polarity else -1)

    def _append(self, number: int, cost: float) -> None:
        if self.n_features == self._codes.shape[0]:
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        response = self._columns.H[:, number]
        if not (np.abs(response) == 1.0).all():
            raise ValueError("block descent on columns needs answers +1 and -1 to every row")
        self._codes[self.n_features] = response > 0.0
        self._names.append(self._columns.names[number])
        self.costs.append(cost)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._names)

    @property
    def codes(self) -> Ints:
        """Codes of the rows: 1 where the column answers +1, (n, m)."""
        return self._codes[: self.n_features]

    @property
    def n_bins(self) -> Ints:
        """Two bins each, (n,)."""
        return np.full(self.n_features, 2, dtype=np.int32)

    @property
    def kinds(self) -> Ints:
        """Bins in order, (n,)."""
        return np.full(self.n_features, ORDERED, dtype=np.uint8)

    @property
    def signs(self) -> Ints:
        """The sign of jumps: 1 for no other than +, 0 where the opposite is there too, (n,)."""
        both = np.zeros(self.n_features, dtype=bool)
        both[[place for place, side in zip(self.place, self.side, strict=True) if side < 0]] = True
        return np.where(both, 0, 1).astype(np.int8)

    def codes_of(self, feature: int) -> Ints:
        """Return the codes of all rows of one feature, (m,)."""
        return np.asarray(self._codes[feature])

    def n_jumps(self, feature: int) -> int:
        """Return the number of jumps of a feature: one."""
        return n_jumps(2, ORDERED)

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers of a column, or of its opposite, to the rows, (m,)."""
        return polarity * np.where(self._codes[feature] > 0, 1.0, -1.0)

    def learner(self, feature: int, jump: int, polarity: int) -> WeakClassifier:
        """Return a column, or its opposite, as a weak classifier."""
        name = self._names[feature]
        return self._columns.source.learner(name[0], name[1], polarity * name[2])


_MOST, _PATIENCE = 60, 8  # steps of a solve, and how many of them may bring nothing
_NOTHING = 0.99  # share of the gap that a step has to fall below to have brought something
_LARGE, _ROUGH = 5_000, 1e-4  # scores from which single precision pays, and the gap it can reach
_ROUNDING = 1e-6  # of an objective in single precision


@dataclass
class _Kept:
    """What is kept between solves: the columns as features, and the last answer on them."""

    generation: int
    bins: ColumnFeatures
    features: FeatureColumns
    steps: BlockDescent | Smoothing
    W: Array
    jumps: StepCoefficients


class ColumnBlockDescent(Solver):
    """Solves over generated stumps with the steps of `BlockDescent`, or of `Smoothing`.

    The columns answer +1 and -1, so that each is a feature with one threshold. Where its opposite
    has not been generated, the jump there must not be negative. The steps go on until the gap over
    the columns is small enough; with a smooth loss and many rows in single precision, until a gap
    is asked for that rounding would hide, and from then on in double. Works on `DenseColumns`.

    Paper: Eq. 36 (general primal).
    """

    name: ClassVar[str] = "column blocks"

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._rough = True

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept what block descent on whole features accepts."""
        return BlockDescent().supports(loss, margin, penalty)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Step until the gap over the columns is at most `accuracy`, or falls no further."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, DenseColumns):
            raise TypeError("the master 'column blocks' works on DenseColumns")
        kept = self._follow(columns, objective)
        if accuracy < _ROUGH:
            self.switch_to_double()
        best, least, count = _descend(problem, kept, _jumps(kept, start), accuracy)
        if max(least, self._rounding(objective, best.value)) > accuracy and self.switch_to_double():
            best, least, more = _descend(problem, kept, best.W, accuracy)
            count += more
        kept.W, kept.jumps = _rows(kept.bins, best.W, objective.margin.k), best.W
        return SolverResult(kept.W, best.U, bool(least <= accuracy), count, best.value, best.A)

    def switch_to_double(self) -> bool:
        """Go on in double precision from now on, also after columns were dropped."""
        self._rough = False
        if self.precision == np.float64:
            return False
        self.precision = np.dtype(np.float64)
        if self._kept is not None:
            self._kept.steps = BlockDescent()
        return True

    def free(self) -> None:
        """Let go of the columns and all arrays of rows."""
        self._kept = None

    def _rounding(self, objective: Objective, value: float | None) -> float:
        """Return the relative gap that single precision cannot tell from none, 0 in double."""
        if self.precision == np.float64 or value is None:
            return 0.0
        return objective.relative(_ROUNDING * abs(value), value)

    def _follow(self, columns: DenseColumns, objective: Objective) -> _Kept:
        """Take new columns in; begin anew where some have been dropped."""
        if self._kept is None or self._kept.generation != columns.generation:
            bins, k = ColumnFeatures(columns), objective.margin.k
            features = FeatureColumns(bins, bins.costs, k)
            steps = self._steps(objective)
            self._kept = _Kept(columns.generation, bins, features, steps, np.zeros((0, k)), [])
        kept = self._kept
        kept.bins.follow()
        kept.features.features = list(range(kept.bins.n_features))
        kept.features.signs = np.repeat(kept.bins.signs[:, None], objective.margin.k, axis=1)
        return kept

    def _steps(self, objective: Objective) -> BlockDescent | Smoothing:
        """Return what steps: with a smooth loss and many rows in single precision, if it may."""
        if not objective.loss.smooth:
            return Smoothing()
        c = objective.rows.c
        large = c.size * objective.margin.k >= _LARGE
        single = self._rough and large and float(c.min()) > LEAST_SINGLE_WEIGHT
        steps = BlockDescent(np.float32 if single else np.float64)
        self.precision = steps.precision
        return steps


def _descend(
    problem: RestrictedProblem, kept: _Kept, jumps: StepCoefficients, accuracy: float
) -> tuple[SolverResult, float, int]:
    """Step from the jumps; return the answer of the least gap over the columns, it, and steps."""
    inner = RestrictedProblem(problem.objective, kept.features)
    best, least, idle, count = None, np.inf, 0, 0
    while best is None or (least > accuracy and idle < _PATIENCE and count < _MOST):
        found = kept.steps.solve(inner, jumps, accuracy)
        jumps, count = found.W, count + 1
        gap = _gap(problem, found, kept.steps)
        idle = 0 if gap < _NOTHING * least else idle + 1
        if gap < least:
            best, least = found, gap
    # Later steps have written over the coefficients of an earlier answer.
    return best if best is found else replace(best, A=None), least, count


def _jumps(kept: _Kept, W: Array) -> StepCoefficients:
    """Return the jumps of weights W (n, k): the arrays of the last answer where they are its."""
    before = kept.W.shape[0]
    if np.array_equal(W[:before], kept.W) and not W[before:].any():
        return kept.features.grow(kept.jumps)
    jumps = kept.features.grow([])
    for row, place, side in zip(W, kept.bins.place, kept.bins.side, strict=True):
        jumps[place][0] += side * row
    return jumps


def _rows(bins: ColumnFeatures, jumps: StepCoefficients, k: int) -> Array:
    """Return the weights of the columns, (n, k) >= 0."""
    signed = np.concatenate([*jumps, np.zeros((0, k))])[bins.place]
    return np.asarray(np.maximum(np.array(bins.side)[:, None] * signed, 0.0))


def _gap(problem: RestrictedProblem, found: SolverResult, steps: BlockDescent | Smoothing) -> float:
    """Return the relative gap over the columns at an answer, and tell its largest price."""
    objective, columns = problem.objective, problem.columns
    assert isinstance(columns, DenseColumns)
    assert found.value is not None
    A = objective.coefficients(found.U) if found.A is None else found.A
    prices = objective.penalty.dual_norm(columns.edges(A)) / columns.costs
    price = float(prices.max(initial=0.0))
    steps.observe_max_price(price)
    bound = objective.dual_estimate(found.U, price)
    return objective.relative(found.value - bound, found.value)
