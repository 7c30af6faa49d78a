"""L-BFGS-B: smooth losses with the l1 penalty, as a smooth problem with bounds."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult, margin_objection

_RUNS = 30
_MAX_IDLE = 3  # consecutive runs without a smaller gap
_MAX_ITERATIONS = 5000
_OPTIONS = {"maxcor": 20, "maxiter": _MAX_ITERATIONS, "maxfun": 20000, "maxls": 50, "ftol": 0.0}
OVERFLOW = 1e200  # replaces an infinite value: the line search of L-BFGS-B cannot handle inf


def minimise_nonnegative(
    value_and_gradient: Callable[[Array], tuple[float, Array]], start: Array, tolerance: float
) -> tuple[Array, int]:
    """Minimise a smooth function over x >= 0 by L-BFGS-B; it may overflow on a long step.

    Parameters
    ----------
    value_and_gradient : callable
        Function of x (N,) that returns its value and its gradient (N,).
    start : (N,) array
    tolerance : float
        Largest entry of the projected gradient at the solution.

    Returns
    -------
    x : (N,) array, >= 0
    iterations : int
    """

    def guarded(x: Array) -> tuple[float, Array]:
        value, gradient = value_and_gradient(x)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return OVERFLOW, np.zeros_like(x)
        return value, gradient

    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(
            guarded,
            start,
            method="L-BFGS-B",
            jac=True,
            bounds=[(0.0, None)] * start.size,
            options={**_OPTIONS, "gtol": tolerance},
        )
    return np.asarray(np.maximum(found.x, 0.0)), int(found.nit)


class LBFGSB(Solver):
    """Smooth losses with the l1 penalty, by L-BFGS-B.

    On W >= 0 the l1 penalty is linear, so the problem is smooth except for the bounds. L-BFGS-B
    stops at a gap of about 1e-6, where the rounding of P hides all progress from its line search.
    Further runs start from there with an empty memory and values computed from gradients; they
    reach about 1e-10.

    Paper: Eq. 11 (primal, exponential, logarithmic form).
    Paper: Eq. 12 (dual, exponential).
    Paper: Eq. 36 (general primal).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(solver="lbfgsb", penalty="l1", nu=0.1)
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "lbfgsb"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a smooth loss with the l1 penalty, otherwise the reason."""
        if not loss.smooth:
            return f"it requires a smooth loss, not {loss.name!r}; try 'lp' or 'conic'"
        if penalty.p != 1.0:
            return "it requires the penalty 'l1'; 'prox' supports any penalty"
        return margin_objection(loss, margin)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Run until the gap over the columns is at most `accuracy` or no longer decreases."""
        W, iterations, idle, fine = start, 0, 0, False
        U, least = _weights_and_gap(problem, start)
        best = (start, U)
        tolerance = 0.1 * accuracy * problem.objective.nu
        for _ in range(_RUNS if start.size else 0):
            if least <= accuracy or idle == _MAX_IDLE:
                break
            W, count = _descend(problem, W, tolerance, fine)
            iterations, tolerance, idle = iterations + count, 0.1 * tolerance, idle + 1
            fine = count < _MAX_ITERATIONS
            U, gap = _weights_and_gap(problem, W)
            if gap < least:
                best, least, idle = (W, U), gap, 0
        return SolverResult(*best, solved=bool(least <= accuracy), iterations=iterations)


def _weights_and_gap(problem: RestrictedProblem, W: Array) -> tuple[Array, float]:
    """Return the dual weights U at W, and the relative gap over the columns."""
    U = problem.objective.negative_gradient(problem.columns.scores(W))
    return U, problem.objective.relative(problem.restricted_gap(W, U), problem.value(W))


def _descend(
    problem: RestrictedProblem, start: Array, tolerance: float, fine: bool
) -> tuple[Array, int]:
    """Run L-BFGS-B once, to a projected gradient of `tolerance`; return W and the iterations.

    With `fine`, the value is <g(W) + g(start), W - start> / 2, the trapezoidal rule for
    P(W) - P(start). Its error is of third order in the step, far below the rounding of P if the
    steps are small.
    """
    slopes = problem.objective.nu * np.repeat(problem.columns.rows(start)[1], start.shape[1])
    origin = start.ravel()

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        loss, gradient = problem.loss_and_gradient(w.reshape(start.shape))
        return loss + float(slopes @ w), gradient.ravel() + slopes

    def change_and_gradient(w: Array) -> tuple[float, Array]:
        value, gradient = value_and_gradient(w)
        if not np.isfinite(value):
            return value, gradient
        return 0.5 * float((gradient + first) @ (w - origin)), gradient

    if fine:
        with np.errstate(over="ignore", invalid="ignore"):
            first = value_and_gradient(origin)[1]
        x, iterations = minimise_nonnegative(change_and_gradient, origin, tolerance)
    else:
        x, iterations = minimise_nonnegative(value_and_gradient, origin, tolerance)
    return x.reshape(start.shape), iterations
