"""Accelerated proximal gradient: any smooth loss with any penalty."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult

_MAX_STEPS = 50_000
_CHECK = 20  # steps between two looks at the gap, which costs about as much as one step
_PATIENCE = 100  # looks without a smaller gap or value: the end of the precision is reached
_HALVINGS = 100
_GROWTH = 1.3
_EPS = float(np.finfo(np.float64).eps)


class ProximalGradient(Solver):
    """Smooth loss with any penalty, by proximal gradient steps with momentum.

    W <- prox(V - s grad L(V)) from the extrapolated point V; the momentum is dropped whenever it
    points uphill (adaptive restart, O'Donoghue and Candes 2015). Of the penalty only its value,
    prox and dual norm are used, so this is the referee for the other masters.

    Paper: Eq. 36 (general primal).
    Paper: Eq. 38 (general dual).
    """

    name: ClassVar[str] = "prox"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a smooth loss, else the reason."""
        if not loss.smooth:
            return f"it needs a smooth loss, not {loss.name!r}, which 'lp' or 'conic' would take"
        if margin.name not in loss.margins:
            return f"the loss {loss.name!r} has no {margin.name} form, only {loss.margins[0]}"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Step until the gap over the columns is at most `accuracy`; never worse than `start`."""
        walk = _Walk(problem, start)
        lowest = problem.value(start)
        ceiling = lowest + 4.0 * _EPS * abs(lowest)
        best, least, idle, steps = walk.point, _gap(problem, walk.point), 0, 0
        while least > accuracy and idle < _PATIENCE and steps < _MAX_STEPS:
            for _ in range(_CHECK):
                walk.step()
            steps, idle = steps + _CHECK, idle + 1
            gap, value = _gap(problem, walk.point), problem.value(walk.point.W)
            if gap < least and value <= ceiling:
                best, least, idle = walk.point, gap, 0
            if value < lowest - 4.0 * _EPS * abs(lowest):
                lowest, idle = value, 0
        return SolverResult(best.W, best.U, solved=bool(least <= accuracy), iterations=steps)


@dataclass(frozen=True)
class _Point:
    """Weights W (n, k), the weights U (m, k) of the rows there, and the gradient of the loss."""

    W: Array
    U: Array
    gradient: Array

    @property
    def finite(self) -> bool:
        """False where the loss overflows: the way there was too long."""
        return bool(np.isfinite(self.gradient).all())


def _gap(problem: RestrictedProblem, point: _Point) -> float:
    gap = problem.restricted_gap(point.W, point.U)
    return problem.objective.relative(gap, problem.value(point.W))


class _Walk:
    """The iteration: the point reached, the one before it, the momentum and the step size."""

    def __init__(self, problem: RestrictedProblem, start: Array) -> None:
        self.problem = problem
        self.thresholds = problem.objective.nu * problem.columns.rows(start)[1]
        self.point = self._at(start)
        self._before = start
        self._momentum = 1.0
        self._size = 1.0

    def step(self) -> None:
        """Do one proximal step from the extrapolated point."""
        W, t = self.point.W, self._momentum
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        origin = self._at(W + (t - 1.0) / following * (W - self._before))
        if not origin.finite:
            origin, following = self.point, 1.0
        self.point = self._backtrack(origin)
        uphill = np.vdot(origin.W - self.point.W, self.point.W - W) > 0.0
        self._before, self._momentum = W, 1.0 if uphill else float(following)

    def _backtrack(self, origin: _Point) -> _Point:
        """Return the prox of a gradient step, halved until the curvature on the way allows it.

        The test compares gradients, not values: <change of gradient, d> <= ||d||^2 / s. Near the
        optimum differences of values drown in rounding, and so would the gap.
        """
        tiny = (_EPS * (1.0 + float(np.abs(origin.W).max(initial=0.0)))) ** 2
        penalty = self.problem.objective.penalty
        for _ in range(_HALVINGS):
            s = self._size
            point = self._at(penalty.prox(origin.W - s * origin.gradient, s * self.thresholds))
            move = point.W - origin.W
            square = float(np.vdot(move, move))
            if point.finite:
                bend = float(np.vdot(point.gradient - origin.gradient, move))
                if 2.0 * s * bend < square:
                    self._size *= _GROWTH
                if s * bend <= square or square <= tiny:
                    return point
            self._size *= 0.5
        return origin

    def _at(self, W: Array) -> _Point:
        """Evaluate the weights and the gradient at W."""
        objective, columns = self.problem.objective, self.problem.columns
        # A loss given by the user may overflow on a step that is too long; `finite` sees it.
        with np.errstate(over="ignore", invalid="ignore"):
            U = objective.negative_gradient(columns.scores(W))
            return _Point(W, U, -columns.edges(objective.coefficients(U)))
