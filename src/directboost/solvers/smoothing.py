"""Block descent for losses with kinks: a smooth loss in their place, ever closer to them."""

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
from ..losses import Loss
from ..losses.base import SampleWeights
from ..losses.hinge import SmoothedHinge
from ..margins import Margin, OneVsAll
from ..penalties import Penalty
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .base import Solver, SolverResult
from .block_descent import BlockDescent
from .line_search import RowEvaluator, moved, point_of
from .quadratic_model import Iterate, QuadraticModel

_RESIDUAL = 0.1  # relative residual that ends the conjugate gradients
_SLOW = 0.1  # share of the whole gain below which another cycle is not worth it
_NOTHING = 1e-20  # share of a row's weight below which entries only slow the arithmetic down


@dataclass(frozen=True)
class _Effort:
    """How hard a model is minimised.

    Up to so many cycles of one Newton step, found anew so many times with so many iterations,
    and so many visits to all features.
    """

    cycles: int
    iterations: int
    repeats: int
    visits: int


_ROUGH, _THOROUGH = _Effort(1, 6, 2, 1), _Effort(2, 20, 3, 3)


class SmoothedBlockDescent(BlockDescent):
    """`BlockDescent` for objectives with the loss `SmoothedHinge`.

    The models are good ones, but hard: most rows are flat, so that weights are driven to zero by
    the penalty alone, by the hundred, and the Newton step has to be found anew without them.

    Attributes
    ----------
    rough : bool
        Whether the point is so far from the optimum that a rough minimum of the model will do.
    """

    def __init__(self, precision: type = np.float64, all_rows: RowEvaluator | None = None) -> None:
        rows = SmoothedRowEvaluator(np.dtype(precision)) if all_rows is None else all_rows
        super().__init__(all_rows=rows)
        self.rough = True

    @property
    def answer(self) -> Iterate:
        """The point of the last answer."""
        assert self._point is not None
        return self._point

    def free(self) -> None:
        """Let go of all arrays of rows."""
        super().free()
        self._all_rows.free()

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Bring the model near its minimum; return by how much it fell."""
        effort = _ROUGH if self.rough else _THOROUGH
        total = model.epoch()
        for _ in range(effort.cycles):
            gained = model.newton(effort.iterations, _RESIDUAL, effort.repeats)
            gained += sum(model.epoch() for _ in range(effort.visits))
            total += gained
            if gained <= _SLOW * total:
                break
        return total


class SmoothedRowEvaluator(RowEvaluator):
    """Evaluates the smoothed hinge on all rows, by the fused pass of the loss it is like."""

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        super().__init__(precision)
        self._shifted: tuple[Loss, SmoothedHingePass] | None = None

    def point(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Scores,
        penalty: float,
    ) -> Iterate:
        """Return the point with jumps W, scores F and that penalty."""
        found = self._of(objective).evaluate(F, Wanted.DERIVATIVES, columns.team)
        return point_of(W, F, penalty, found)

    def evaluate_in_place(
        self,
        point: Iterate,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        penalty: float,
        way: SearchDirection,
    ) -> Iterate:
        """Return the point with jumps W a way off another."""
        return self.point(objective, columns, W, moved(point.F, way), penalty)

    def loss(
        self, objective: Objective, columns: FeatureColumns, F: Scores, way: SearchDirection
    ) -> float:
        """Return the loss a way off the scores F."""
        return self._of(objective).evaluate(moved(F, way), Wanted.LOSS, columns.team).value

    def free(self) -> None:
        """Let go of all arrays of rows."""
        self._shifted = None

    def _of(self, objective: Objective) -> "SmoothedHingePass":
        if self._shifted is None or self._shifted[0] is not objective.loss:
            self._shifted = (objective.loss, SmoothedHingePass(objective, self._precision))
        return self._shifted[1]


class SmoothedHingePass:
    """The smoothed hinge as mu times a smooth loss with a fused pass, at scores F / mu + offset.

    That is the multinomial loss pairwise, the logistic loss one-vs-all; `floor` is what the value
    differs by.

    Parameters
    ----------
    objective : Objective
        With the loss `SmoothedHinge`.
    precision : numpy dtype
        That of the scores.
    """

    def __init__(self, objective: Objective, precision: np.dtype[np.floating]) -> None:
        loss, rows, margin = objective.loss, objective.rows, objective.margin
        assert isinstance(loss, SmoothedHinge)
        self.mu, self.floor = loss.mu, loss.floor(rows)
        offset, c = loss.offset(rows), rows.c.astype(precision)
        if isinstance(margin, OneVsAll):
            offset *= -margin.targets
            self.rows = LossRows(
                loss=LOGISTIC, k=rows.k, labels=None, targets=margin.targets, c=c
            )
        else:
            self.floor += loss.mu * float(rows.share @ rows.get_own(offset))
            self.rows = LossRows(
                loss=MULTINOMIAL, k=rows.k, labels=rows.true_class, targets=None, c=c
            )
        self.offset: Scores = offset.astype(precision)
        unit = rows.c if rows.true_class is None else rows.share
        self.nothing: Scores = (_NOTHING * unit).astype(precision)[:, None]

    def scores(self, F: Scores) -> Scores:
        """Return F / mu + offset."""
        return np.asarray(F.dtype.type(1.0 / self.mu) * F + self.offset)

    def value(self, value: float) -> float:
        """Return the smoothed hinge from the value of the smooth loss."""
        return self.mu * value + self.floor

    def evaluate(self, F: Scores, wanted: Wanted, team: Team | None = None) -> LossValues:
        """Return the smoothed hinge at the scores F and the wanted ones of U, A and C there."""
        found = kernels.loss_pass(self.rows, self.scores(F), wanted, team)
        if found.U is not None:
            found.U[self.nothing > found.U] = 0.0
        if found.C is not None:
            found.C[:] *= found.C.dtype.type(1.0 / self.mu)
            found.C[self.nothing > found.C] = 0.0
        return replace(found, value=self.value(found.value))


_FIRST, _LAST = 0.5, 1e-5  # temperatures
_COOLING = 0.3  # how the temperature falls while smoothing costs much,
_MUCH = 0.3  # which is this share of the objective,
_SLOW_COOLING = 0.5  # and afterwards, where
_EASY = 0.5  # the smoothed problem was solved to this share of what smoothing costs
_FAR = 0.3  # share of the objective above which a gap calls for no more than rough steps


@dataclass(frozen=True)
class SmoothedSolution:
    """Weights U, the objective there, and what smoothing costs: L(rho) + <U, rho> - D(U)."""

    U: Array
    value: float
    excess: float


class Smoothing(Solver):
    """Solves the smoothed problem by `SmoothedBlockDescent` and hands out its weights U.

    U lies in the dual domain of the loss itself, so the certificate is that of the true problem.
    Its gap has two parts: how far U is from the weights of the loss at the same scores, which is
    what smoothing costs, and how far the smoothed problem is from being solved. Whenever the
    second is the smaller, the loss is smoothed anew: first with a lower temperature; then around
    U, which needs no low temperature to come near the true loss (a proximal step of the dual).

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms.
    all_rows : RowEvaluator, optional
        Where the rows are, in their own precision; in this process by default.
    """

    name: ClassVar[str] = "smoothing"

    def __init__(self, precision: type = np.float64, all_rows: RowEvaluator | None = None) -> None:
        self._blocks = SmoothedBlockDescent(precision, all_rows)
        self._smooth: Any = None
        self._last: StepCoefficients = []
        self._features: list[int] = []
        self._answer: SmoothedSolution | None = None
        self._price = np.inf

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept losses that can be smoothed, with l1,p penalties."""
        smooth = loss.smoothed(_FIRST)
        if not isinstance(smooth, SmoothedHinge):
            return "the loss cannot be smoothed"
        return self._blocks.supports(smooth, margin, penalty)

    def solve(
        self, problem: RestrictedProblem, start: StepCoefficients, accuracy: float
    ) -> SolverResult:
        """Minimise one model of the smoothed objective, from where the last call ended."""
        columns, objective = problem.columns, problem.objective
        assert isinstance(columns, FeatureColumns)
        begin = self._begin(columns, start)
        smooth = self._next(objective)
        smoothed = RestrictedProblem(replace(objective, loss=smooth), columns)
        result = self._blocks.solve(smoothed, begin, accuracy)
        self._last, self._features = result.W, list(columns.features)
        answer = self._answer = self._judged(problem, result)
        return SolverResult(result.W, answer.U, True, 1, answer.value)

    def _judged(self, problem: RestrictedProblem, result: SolverResult) -> SmoothedSolution:
        """Return an answer of the smoothed problem as one of the problem itself."""
        objective, point = problem.objective, self._blocks.answer
        U, F = in_domain(result.U, objective.rows), point.F.astype(np.float64, copy=False)
        loss, D = objective.loss_value(F), objective.loss.dual_value(U, objective.rows)
        excess = loss + float((U * objective.margin.forward(F)).sum()) - D
        return SmoothedSolution(U, loss + point.penalty, excess)

    def _cold(self, mu: float) -> Any:
        """Return the smoothed loss of temperature mu."""
        return SmoothedHinge(mu)

    def _around(self, answer: SmoothedSolution, mu: float, objective: Objective) -> Any:
        """Return the loss of temperature mu that is smoothed around the last answer."""
        return self._smooth.around(answer.U, objective.rows, mu)

    def _begin(self, columns: FeatureColumns, start: StepCoefficients) -> StepCoefficients:
        """Return the weights of the last call: those of the loop may be of an earlier one."""
        known = self._features
        if known and columns.features[: len(known)] == known:
            return columns.grow(self._last)
        return start

    def observe_max_price(self, max_price: float) -> None:
        """Learn the largest price of a column at the U of the last answer."""
        self._price = max_price

    def free(self) -> None:
        """Let go of all arrays of rows."""
        self._blocks.free()
        self._smooth = self._answer = None

    def _next(self, objective: Objective) -> Any:
        """Return the loss to go on with: that of the last call until it is solved well enough."""
        answer = self._answer
        if self._smooth is None or answer is None:
            self._smooth = self._cold(_FIRST)
            return self._smooth
        gap = answer.value - objective.dual_bound(answer.U, self._price)
        unsolved = gap - answer.excess
        self._blocks.rough = objective.relative(unsolved, answer.value) > _FAR
        if unsolved <= answer.excess:
            self._smooth = self._sharpened(answer, unsolved, objective)
            self._blocks.forget()
        return self._smooth

    def _sharpened(self, answer: SmoothedSolution, unsolved: float, objective: Objective) -> Any:
        """Return a loss nearer to that of the objective, at least at the answer."""
        mu = self._smooth.mu
        if objective.relative(answer.excess, answer.value) > _MUCH:
            return self._cold(max(_COOLING * mu, _LAST))
        cooling = _SLOW_COOLING if unsolved < _EASY * answer.excess else 1.0
        return self._around(answer, max(cooling * mu, _LAST), objective)


def in_domain(U: Scores, rows: SampleWeights) -> Array:
    """Return U in double precision, rid of the rounding that took it out of the dual domain."""
    double = U.astype(np.float64)
    if rows.true_class is None:
        return np.minimum(double, rows.c[:, None])
    sums = double.sum(axis=1)
    empty = np.flatnonzero(sums <= 0.0)
    double[empty, rows.true_class[empty]] = sums[empty] = 1.0
    return np.asarray(double * (rows.share / sums)[:, None])
