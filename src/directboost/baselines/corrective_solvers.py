"""Solvers for the weights of all stumps so far: a smooth loss with a price or a given sum."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from ..arrays import Array
from ..kernels.prox import project_l1_ball

#: Margins z (m,) and weights v (m,) to the loss and u = -dloss/dz, (m,).
Loss = Callable[[Array, Array], tuple[float, Array]]

_EXACT = 1e-9  # by how much slopes may differ from those of an optimum
_CLOSE = 1e-7  # the same for projected gradient, which rounding can stop from 1e-8 on
_OPTIONS = {"maxcor": 20, "maxiter": 5000, "maxfun": 20000, "maxls": 50, "ftol": 0.0}
_HUGE = 1e200  # stands for an overflow: the line search of L-BFGS-B cannot compute with inf
_STEPS = 20_000  # of projected gradient
_EASE = 0.9  # of the curvature after a step, so that steps can grow again


def exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i exp(-z_i), and its weights."""
    u = v * np.exp(-z)
    return float(u.sum()), u


def log_exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return ln sum_i v_i exp(-z_i), and its weights, with sum 1."""
    least = float(z.min())
    u = v * np.exp(least - z)
    total = float(u.sum())
    return float(np.log(total)) - least, u / total


def logistic(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i ln(1 + exp(-z_i)), and its weights."""
    e = np.exp(-np.abs(z))
    return float(v @ (np.log1p(e) + np.maximum(-z, 0.0))), v * np.where(z > 0.0, e, 1.0) / (1.0 + e)


def penalised(loss: Loss, M: Array, v: Array, start: Array, nu: float) -> Array:
    """Return w >= 0 (n,) that minimises loss(M w) + nu sum w, by L-BFGS-B."""

    def value_and_slopes(w: Array) -> tuple[float, Array]:
        value, u = loss(M @ w, v)
        if not np.isfinite(value):
            return _HUGE, np.zeros_like(w)
        return value + nu * float(w.sum()), nu - u @ M

    with np.errstate(over="ignore"):
        found = minimize(
            value_and_slopes,
            start,
            method="L-BFGS-B",
            jac=True,
            bounds=[(0.0, None)] * start.size,
            options={**_OPTIONS, "gtol": _EXACT},
        )
    return np.asarray(np.maximum(found.x, 0.0))


def constrained(loss: Loss, M: Array, v: Array, start: Array, radius: float) -> Array:
    """Return w >= 0 (n,) with sum w = radius that minimises loss(M w).

    Accelerated projected gradient, whose momentum ends where it leads uphill. It stops where no
    edge exceeds their mean by weight.
    """
    w = point = start
    curvature = momentum = 1.0
    for _ in range(_STEPS):
        edges = loss(M @ point, v)[1] @ M
        while True:
            new = _on_simplex(point + edges / curvature, radius)
            move, there = new - point, loss(M @ new, v)[1] @ M
            if float((edges - there) @ move) <= curvature * float(move @ move):
                break
            curvature *= 2.0
        last, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        if edges @ (new - w) < 0.0:
            last = momentum = 1.0
        point, w = new + (last - 1.0) / momentum * (new - w), new
        curvature *= _EASE
        if float(there.max()) - float(there @ w) / radius <= _CLOSE:
            break
    return w


def _on_simplex(x: Array, radius: float) -> Array:
    """Return the nearest point with entries >= 0 and sum radius; a shift of x changes nothing."""
    shifted = (x - x.min() + radius / x.size)[None]  # the least that is outside of the ball
    return np.asarray(project_l1_ball(shifted, np.array([radius]))[0])
