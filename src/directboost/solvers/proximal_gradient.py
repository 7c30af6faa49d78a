"""Accelerated proximal gradient: smooth losses with any penalty."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult, margin_objection

_MAX_STEPS = 50_000
_CHECK = 20  # steps between two evaluations of the gap, which costs about as much as one step
_MAX_IDLE = 100  # evaluations without a smaller gap or value: rounding prevents further progress
_MAX_HALVINGS = 100
_GROWTH = 1.3
_EPS = float(np.finfo(np.float64).eps)


class ProximalGradient(Solver):
    """Smooth losses with any penalty, by proximal gradient steps with momentum.

    W <- prox(V - s grad L(V)) at the extrapolated point V. The momentum is reset whenever it points
    uphill (adaptive restart, O'Donoghue and Candes 2015). Only the value, the proximal operator and
    the dual norm of the penalty are used, so the tests compare other solvers with this one.

    Paper: Eq. 36 (general primal).
    Paper: Eq. 38 (general dual).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(solver="prox", penalty="l1,2", nu=0.1)
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "prox"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a smooth loss, otherwise the reason."""
        if not loss.smooth:
            return f"it requires a smooth loss, not {loss.name!r}; try 'lp' or 'conic'"
        return margin_objection(loss, margin)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Iterate until the gap over the columns is at most `accuracy`; never end above `start`."""
        iteration = _Iteration(problem, start)
        lowest = problem.value(start)
        ceiling = lowest + 4.0 * _EPS * abs(lowest)
        best, least, idle, steps = iteration.point, _gap(problem, iteration.point), 0, 0
        while least > accuracy and idle < _MAX_IDLE and steps < _MAX_STEPS:
            for _ in range(_CHECK):
                iteration.step()
            steps, idle = steps + _CHECK, idle + 1
            gap, value = _gap(problem, iteration.point), problem.value(iteration.point.W)
            if gap < least and value <= ceiling:
                best, least, idle = iteration.point, gap, 0
            if value < lowest - 4.0 * _EPS * abs(lowest):
                lowest, idle = value, 0
        return SolverResult(best.W, best.U, solved=bool(least <= accuracy), iterations=steps)


@dataclass(frozen=True)
class _Point:
    """Weights W (n, k), with the dual weights U (m, k) and the gradient of the loss (n, k)."""

    W: Array
    U: Array
    gradient: Array

    @property
    def finite(self) -> bool:
        """False if the loss overflows: the step was too long."""
        return bool(np.isfinite(self.gradient).all())


def _gap(problem: RestrictedProblem, point: _Point) -> float:
    gap = problem.restricted_gap(point.W, point.U)
    return problem.objective.relative(gap, problem.value(point.W))


class _Iteration:
    """State of the iteration: current and previous point, momentum and step size."""

    def __init__(self, problem: RestrictedProblem, start: Array) -> None:
        self.problem = problem
        self.thresholds = problem.objective.nu * problem.columns.rows(start)[1]
        self.point = self._at(start)
        self._previous = start
        self._momentum = 1.0
        self._step_size = 1.0

    def step(self) -> None:
        """Take one proximal gradient step from the extrapolated point."""
        W, t = self.point.W, self._momentum
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        origin = self._at(W + (t - 1.0) / following * (W - self._previous))
        if not origin.finite:
            origin, following = self.point, 1.0
        self.point = self._backtrack(origin)
        uphill = np.vdot(origin.W - self.point.W, self.point.W - W) > 0.0
        self._previous, self._momentum = W, 1.0 if uphill else float(following)

    def _backtrack(self, origin: _Point) -> _Point:
        """Return the prox of a gradient step, halved until the curvature along it permits it.

        The test compares gradients, not values: <change of gradient, d> <= ||d||^2 / s. Near the
        optimum, differences of values are lost in rounding, and so would be the gap.
        """
        tiny = (_EPS * (1.0 + float(np.abs(origin.W).max(initial=0.0)))) ** 2
        penalty = self.problem.objective.penalty
        for _ in range(_MAX_HALVINGS):
            s = self._step_size
            point = self._at(penalty.prox(origin.W - s * origin.gradient, s * self.thresholds))
            move = point.W - origin.W
            square = float(np.vdot(move, move))
            if point.finite:
                curvature = float(np.vdot(point.gradient - origin.gradient, move))
                if 2.0 * s * curvature < square:
                    self._step_size *= _GROWTH
                if s * curvature <= square or square <= tiny:
                    return point
            self._step_size *= 0.5
        return origin

    def _at(self, W: Array) -> _Point:
        """Return the point at W, with its dual weights and gradient."""
        objective, columns = self.problem.objective, self.problem.columns
        # A user-defined loss may overflow on a step that is too long; `finite` detects it.
        with np.errstate(over="ignore", invalid="ignore"):
            U = objective.negative_gradient(columns.scores(W))
            return _Point(W, U, -columns.edges(objective.coefficients(U)))
