"""L-BFGS-B: any smooth loss with the l1 penalty, as a smooth problem with bounds."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult

_RUNS = 30
_PATIENCE = 3
_OPTIONS = {"maxcor": 20, "maxiter": 5000, "maxfun": 20000, "maxls": 50, "ftol": 0.0}
_HUGE = 1e200  # stands for an overflow: the line search of L-BFGS-B cannot compute with inf


class LBFGSB(Solver):
    """Smooth loss with l1: on W >= 0 the penalty is linear, so only the bounds are not smooth.

    L-BFGS-B ends where the rounding of P hides all progress from its line search, at a gap of
    about 1e-6. Further runs start from there with an empty memory and values that are computed
    from gradients; they come to about 1e-10.

    Paper: Eq. 11 (primal, exponential, logarithmic form).
    Paper: Eq. 12 (dual, exponential).
    Paper: Eq. 36 (general primal).
    """

    name: ClassVar[str] = "lbfgsb"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a smooth loss with l1, else the reason."""
        if not loss.smooth:
            return f"it needs a smooth loss, not {loss.name!r}, which 'lp' or 'conic' would take"
        if margin.name not in loss.margins:
            return f"the loss {loss.name!r} has no {margin.name} form, only {loss.margins[0]}"
        if penalty.p != 1.0:
            return "it needs the penalty l1; 'prox' takes any penalty"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Minimise until the gap over the columns is at most `accuracy`, or no run helps."""
        W, iterations, idle, fine = start, 0, 0, False
        best, least = (W, self._weights(problem, W)), self._gap(problem, W)
        tolerance = 0.1 * accuracy * problem.objective.nu
        for _ in range(_RUNS if start.size else 0):
            if least <= accuracy or idle == _PATIENCE:
                break
            W, count = _descend(problem, W, tolerance, fine)
            iterations, tolerance, idle = iterations + count, 0.1 * tolerance, idle + 1
            fine = count < _OPTIONS["maxiter"]
            gap = self._gap(problem, W)
            if gap < least:
                best, least, idle = (W, self._weights(problem, W)), gap, 0
        return SolverResult(*best, solved=bool(least <= accuracy), iterations=iterations)

    @staticmethod
    def _weights(problem: RestrictedProblem, W: Array) -> Array:
        return problem.objective.negative_gradient(problem.columns.scores(W))

    def _gap(self, problem: RestrictedProblem, W: Array) -> float:
        gap = problem.restricted_gap(W, self._weights(problem, W))
        return problem.objective.relative(gap, problem.value(W))


def _descend(
    problem: RestrictedProblem, start: Array, tolerance: float, fine: bool
) -> tuple[Array, int]:
    """Run L-BFGS-B once, to a projected gradient of `tolerance`; return W and the iterations.

    With `fine` the value is <g(W) + g(start), W - start> / 2, the trapezoidal rule for
    P(W) - P(start): its error is of third order in the step, far below the rounding of P where
    the steps are small.
    """
    slopes = problem.objective.nu * np.repeat(problem.columns.rows(start)[1], start.shape[1])
    origin = start.ravel()

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        loss, gradient = problem.loss_and_gradient(w.reshape(start.shape))
        value, slope = loss + float(slopes @ w), gradient.ravel() + slopes
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return _HUGE, np.zeros_like(w)
        return 0.5 * float((slope + first) @ (w - origin)) if fine else value, slope

    first = np.zeros_like(origin)
    with np.errstate(over="ignore", invalid="ignore"):
        first = value_and_gradient(origin)[1]
        found = minimize(
            value_and_gradient,
            origin,
            method="L-BFGS-B",
            jac=True,
            bounds=[(0.0, None)] * origin.size,
            options={**_OPTIONS, "gtol": tolerance},
        )
    return np.maximum(found.x, 0.0).reshape(start.shape), int(found.nit)
