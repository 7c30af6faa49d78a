"""Block descent for non-smooth losses: a sequence of smooth approximations of the hinge."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..kernels.structs import (
    LOGISTIC,
    MULTINOMIAL,
    LossRows,
    LossValues,
    SearchDirection,
    Wanted,
)
from ..kernels.threads import Team
from ..losses import Hinge, Loss
from ..losses.base import SampleWeights
from ..losses.hinge import SmoothedHinge
from ..margins import Margin, OneVsAll
from ..penalties import Penalty
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .base import Solver, SolverResult
from .block_descent import BlockDescent
from .line_search import RowEvaluator, make_iterate, moved_scores
from .quadratic_model import Iterate, QuadraticModel

_FIRST_MU, _LAST_MU = 0.5, 1e-5  # temperatures
_COOLING = 0.3  # factor on the temperature while the smoothing error is large,
_LARGE_ERROR = 0.3  # that is, above this share of the objective,
_SLOW_COOLING = 0.5  # and the factor afterwards, whenever the smoothed problem
_EASY = 0.5  # is solved to this share of the smoothing error
_FAR = 0.3  # share of the objective up to which a gap requires thorough steps

_RESIDUAL = 0.1  # relative residual at which the conjugate gradients stop
_FORCING = 0.1  # share of the total decrease below which another cycle does not pay
_NEGLIGIBLE = 1e-20  # share of a row's weight below which entries only slow the arithmetic down


@dataclass(frozen=True)
class SmoothedSolution:
    """Dual weights of the smoothed problem, judged by the problem itself.

    Attributes
    ----------
    U : (m, k) array
    value : float
        The objective, not the smoothed one.
    excess : float
        The smoothing error L(rho) + <U, rho> - D(U).
    """

    U: Array
    value: float
    excess: float


class Smoothing(Solver):
    """Smooth approximations of the hinge, minimised by `SmoothedBlockDescent`.

    The dual weights U of the smoothed problem lie in the dual domain of the loss itself, so the
    certificate is that of the true problem. Its gap has two parts: the smoothing error, which is
    the distance of U from the dual weights of the loss at the same scores, and the gap of the
    smoothed problem. Whenever the second part is the smaller one, the loss is smoothed again:
    first at a lower temperature, later around U, which approximates the true loss without a low
    temperature (a proximal step of the dual).

    Parameters
    ----------
    precision : numpy dtype, default=float64
        Precision of scores and histograms.
    evaluator : RowEvaluator, optional
        Evaluates the smoothed objective on all rows, in its own precision. By default, the rows
        are in this process.

    Examples
    --------
    `solver="blocks"` uses this class for the hinge loss.

    >>> from directboost.losses import Hinge, Logistic
    >>> from directboost.margins import Pairwise
    >>> from directboost.penalties import L1
    >>> from directboost.solvers import Smoothing
    >>> Smoothing().supports(Hinge(), Pairwise, L1()) is None
    True
    >>> Smoothing().supports(Logistic(), Pairwise, L1())
    "it requires the hinge loss, not 'logistic'"
    """

    name: ClassVar[str] = "smoothing"

    def __init__(self, precision: type = np.float64, evaluator: RowEvaluator | None = None) -> None:
        self._descent = SmoothedBlockDescent(precision, evaluator)
        self._smooth_loss: Any = None
        self._last_W: StepCoefficients = []
        self._last_features: list[int] = []
        self._solution: SmoothedSolution | None = None
        self._max_price = np.inf

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for the hinge with an l1,p penalty, otherwise the reason."""
        if type(loss) is not Hinge:
            return f"it requires the hinge loss, not {loss.name!r}"
        return self._descent.supports(loss, margin, penalty)

    def solve(
        self, problem: RestrictedProblem, start: StepCoefficients, accuracy: float
    ) -> SolverResult:
        """Minimise one model of the smoothed objective, starting where the last call ended."""
        columns, objective = problem.columns, problem.objective
        assert isinstance(columns, FeatureColumns)
        known = self._last_features
        if known and columns.features[: len(known)] == known:
            # The weights handed in may be those of an earlier call, with a lower objective.
            start = columns.grow(self._last_W)
        smoothed = replace(objective, loss=self._next_loss(objective))
        result = self._descent.solve(RestrictedProblem(smoothed, columns), start, accuracy)
        self._last_W, self._last_features = result.W, list(columns.features)
        solution = self._solution = self._true_solution(problem, result)
        return SolverResult(
            W=result.W, U=solution.U, solved=True, iterations=1, value=solution.value
        )

    def observe_max_price(self, max_price: float) -> None:
        """Receive the largest price over all columns at the U of the last solution."""
        self._max_price = max_price

    def free(self) -> None:
        """Release all arrays of rows."""
        self._descent.free()
        self._smooth_loss = self._solution = None

    def _true_solution(self, problem: RestrictedProblem, result: SolverResult) -> SmoothedSolution:
        """Evaluate a solution of the smoothed problem on the problem itself."""
        objective, iterate = problem.objective, self._descent.iterate
        U, F = in_domain(result.U, objective.rows), iterate.F.astype(np.float64, copy=False)
        loss, D = objective.loss_value(F), objective.loss.dual_value(U, objective.rows)
        excess = loss + float((U * objective.margin.forward(F)).sum()) - D
        return SmoothedSolution(U, loss + iterate.penalty, excess)

    def _uniform_loss(self, mu: float) -> Any:
        """Return the loss smoothed at temperature mu, with a uniform prior."""
        return SmoothedHinge(mu)

    def _centred_loss(self, solution: SmoothedSolution, mu: float, objective: Objective) -> Any:
        """Return the loss smoothed at temperature mu around the dual weights of a solution."""
        return self._smooth_loss.around(solution.U, objective.rows, mu)

    def _next_loss(self, objective: Objective) -> Any:
        """Return the smoothed loss: that of the last call until its problem is solved."""
        solution = self._solution
        if self._smooth_loss is None or solution is None:
            self._smooth_loss = self._uniform_loss(_FIRST_MU)
            return self._smooth_loss
        gap = solution.value - objective.dual_bound(solution.U, self._max_price)
        unsolved = gap - solution.excess
        self._descent.rough = objective.relative(unsolved, solution.value) > _FAR
        if unsolved <= solution.excess:
            self._smooth_loss = self._closer_loss(solution, unsolved, objective)
            self._descent.invalidate_loss()
        return self._smooth_loss

    def _closer_loss(
        self, solution: SmoothedSolution, unsolved: float, objective: Objective
    ) -> Any:
        """Return a smoothed loss that is closer to the true loss, at least near the solution."""
        mu = self._smooth_loss.mu
        if objective.relative(solution.excess, solution.value) > _LARGE_ERROR:
            return self._uniform_loss(max(_COOLING * mu, _LAST_MU))
        cooling = _SLOW_COOLING if unsolved < _EASY * solution.excess else 1.0
        return self._centred_loss(solution, max(cooling * mu, _LAST_MU), objective)


@dataclass(frozen=True)
class _Effort:
    """How thoroughly a model is minimised.

    Attributes
    ----------
    cycles : int
        Maximum number of cycles of one Newton step and some sweeps over all features.
    iterations : int
        Conjugate gradient iterations of a Newton step.
    repeats : int
        Maximum number of times a Newton step is computed.
    sweeps : int
    """

    cycles: int
    iterations: int
    repeats: int
    sweeps: int


_ROUGH = _Effort(cycles=1, iterations=6, repeats=2, sweeps=1)
_THOROUGH = _Effort(cycles=2, iterations=20, repeats=3, sweeps=3)


class SmoothedBlockDescent(BlockDescent):
    """`BlockDescent` for objectives with the loss `SmoothedHinge`.

    The models are accurate but hard to minimise. Most rows are flat, so the penalty alone drives
    hundreds of weights to zero, and the Newton step has to be computed again without them.

    Attributes
    ----------
    rough : bool
        Whether the iterate is so far from the optimum that a rough minimum of the model suffices.
    """

    def __init__(self, precision: type = np.float64, evaluator: RowEvaluator | None = None) -> None:
        rows = SmoothedRowEvaluator(np.dtype(precision)) if evaluator is None else evaluator
        super().__init__(evaluator=rows)
        self.rough = True

    @property
    def iterate(self) -> Iterate:
        """The iterate of the last solution."""
        assert self._iterate is not None
        return self._iterate

    def free(self) -> None:
        """Release all arrays of rows."""
        super().free()
        self._evaluator.free()

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Minimise the model approximately; return its decrease."""
        effort = _ROUGH if self.rough else _THOROUGH
        total = model.epoch()
        for _ in range(effort.cycles):
            decrease = model.newton(effort.iterations, _RESIDUAL, effort.repeats)
            decrease += sum(model.epoch() for _ in range(effort.sweeps))
            total += decrease
            if decrease <= _FORCING * total:
                break
        return total


class SmoothedRowEvaluator(RowEvaluator):
    """Evaluates the smoothed hinge on all rows, by the fused pass of an equivalent loss."""

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        super().__init__(precision)
        self._pass: tuple[Loss, SmoothedHingePass] | None = None

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Scores,
        penalty: float,
    ) -> Iterate:
        """Return the iterate with coefficients W, whose scores F and penalty are known."""
        found = self._hinge_pass(objective).evaluate(F, Wanted.DERIVATIVES, columns.team)
        return make_iterate(W, F, penalty, found)

    def evaluate_in_place(
        self,
        iterate: Iterate,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        penalty: float,
        direction: SearchDirection,
    ) -> Iterate:
        """Return the iterate with coefficients W, a step in the direction away from `iterate`.

        Unlike in the base class, new arrays are allocated.
        """
        return self.evaluate(objective, columns, W, moved_scores(iterate.F, direction), penalty)

    def loss(
        self, objective: Objective, columns: FeatureColumns, F: Scores, direction: SearchDirection
    ) -> float:
        """Return the smoothed loss after a step in the direction from the scores F."""
        moved = moved_scores(F, direction)
        return self._hinge_pass(objective).evaluate(moved, Wanted.LOSS, columns.team).value

    def free(self) -> None:
        """Release all arrays of rows."""
        self._pass = None

    def _hinge_pass(self, objective: Objective) -> "SmoothedHingePass":
        """Return the pass for the loss of the objective, the last one if the loss is the same."""
        if self._pass is None or self._pass[0] is not objective.loss:
            self._pass = (objective.loss, SmoothedHingePass(objective, self.precision))
        return self._pass[1]


class SmoothedHingePass:
    """The smoothed hinge as mu times a loss with a fused pass, at scores F / mu + offset.

    That loss is the multinomial loss for pairwise margins and the logistic loss for one-vs-all
    margins. The values differ by the constant `floor`.

    Parameters
    ----------
    objective : Objective
        With the loss `SmoothedHinge`.
    precision : numpy dtype
        Precision of the scores.
    """

    def __init__(self, objective: Objective, precision: np.dtype[np.floating]) -> None:
        loss, rows, margin = objective.loss, objective.rows, objective.margin
        assert isinstance(loss, SmoothedHinge)
        self.mu, self.floor = loss.mu, loss.floor(rows)
        offset, c = loss.offset(rows), rows.c.astype(precision)
        if isinstance(margin, OneVsAll):
            offset *= -margin.targets
            self.rows = LossRows(loss=LOGISTIC, k=rows.k, labels=None, targets=margin.targets, c=c)
        else:
            self.floor += loss.mu * float(rows.share @ rows.get_true_class(offset))
            self.rows = LossRows(MULTINOMIAL, rows.k, rows.true_class, None, c)
        self.offset: Scores = offset.astype(precision)
        unit = rows.c if rows.true_class is None else rows.share
        self.negligible: Scores = (_NEGLIGIBLE * unit).astype(precision)[:, None]

    def scores(self, F: Scores) -> Scores:
        """Return F / mu + offset."""
        return np.asarray(F.dtype.type(1.0 / self.mu) * F + self.offset)

    def value(self, value: float) -> float:
        """Return the smoothed hinge from the value of the loss with the fused pass."""
        return self.mu * value + self.floor

    def evaluate(self, F: Scores, wanted: Wanted, team: Team | None = None) -> LossValues:
        """Return the smoothed hinge at the scores F, and those of U, A and C that are `wanted`."""
        found = kernels.loss_pass(self.rows, self.scores(F), wanted, team)
        if found.U is not None:
            found.U[self.negligible > found.U] = 0.0
        if found.C is not None:
            found.C[:] *= found.C.dtype.type(1.0 / self.mu)
            found.C[self.negligible > found.C] = 0.0
        return replace(found, value=self.value(found.value))


def in_domain(U: Scores, rows: SampleWeights) -> Array:
    """Return U in double precision, inside the dual domain that rounding may have left."""
    double = U.astype(np.float64)
    if rows.true_class is None:
        return np.minimum(double, rows.c[:, None])
    sums = double.sum(axis=1)
    empty = np.flatnonzero(sums <= 0.0)
    double[empty, rows.true_class[empty]] = sums[empty] = 1.0
    return np.asarray(double * (rows.share / sums)[:, None])
