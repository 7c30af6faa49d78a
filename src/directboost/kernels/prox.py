"""Row norms, the proximal operator of the p-norm of a row, and projection on the l1 ball."""

import numpy as np

from ..arrays import Array

_OUTER = 100
_INNER = 80


def prox_p(X: Array, steps: Array, p: float, metric: Array | float = 1.0) -> Array:
    """Return argmin_v step_j ||v||_p + sum_r T_r (v_r - x_r)^2 / 2 for every row x of X >= 0.

    With v = N u and ||u||_p = 1 the solution satisfies ``T_r N u_r + step u_r^(p-1) = T_r x_r``,
    where no number leaves the range of floats for any p. The norm of u(N) decreases with N, which
    is found by its logarithm. Rows where the dual norm of T x is at most `step` become zero.
    """
    q = p / (p - 1.0)
    out = np.where(steps[:, None] > 0.0, 0.0, X)
    top = X.max(axis=1)
    scale = np.where(top > 0.0, top, 1.0)
    unit = X / scale[:, None]
    T = np.broadcast_to(np.asarray(metric, dtype=np.float64), X.shape)
    dual = np.exp(_log_norm(T * unit, q))
    alive = (top > 0.0) & (steps > 0.0) & (dual > steps / scale)
    if alive.any():
        live = scale[alive]
        shares = np.maximum(steps[alive] / live, 1e-300)
        solved = _prox_unit(unit[alive], shares, p, T[alive])
        out[alive] = live[:, None] * solved
    return out


def _log_norm(V: Array, p: float) -> Array:
    """Return log ||V_j:||_p of rows >= 0."""
    top = np.maximum(V.max(axis=1), 1e-300)
    sums = np.maximum(((V / top[:, None]) ** p).sum(axis=1), 1e-300)
    return np.asarray(np.log(top) + np.log(sums) / p)


def _prox_unit(X: Array, steps: Array, p: float, T: Array) -> Array:
    """Solve the rows of X with largest entry 1 whose prox is not zero.

    Newton on log ||u(N)||_p = 0 in log N, kept in a bracket.
    """
    high = _log_norm(X, p)
    low, x = high - 680.0, high.copy()
    for _ in range(_OUTER):
        N = np.exp(x)[:, None]
        u = _unit(X, N, steps[:, None], p, T)
        excess = _log_norm(u, p)
        powers = (u / np.maximum(u.max(axis=1, keepdims=True), 1e-300)) ** p
        pull = T * N / (T * N + steps[:, None] * (p - 1.0) * _power(u, p - 2.0))
        slope = (powers * pull).sum(axis=1) / powers.sum(axis=1)
        low, high = np.where(excess > 0.0, x, low), np.where(excess > 0.0, high, x)
        after = x + excess / np.maximum(slope, 1e-300)
        after = np.where((after > low) & (after < high), after, 0.5 * (low + high))
        # After convergence the Newton step leaves the bracket: do not bisect then.
        flat = np.abs(excess) <= 4e-16
        done = flat | (np.abs(after - x) <= 1e-15 * np.maximum(1.0, np.abs(x)))
        x = np.where(flat, x, after)
        if done.all():
            break
    N = np.exp(x)[:, None]
    return N * _unit(X, N, steps[:, None], p, T)


def _power(u: Array, exponent: float) -> Array:
    """Return u^exponent, with u = 0 replaced by the smallest normal number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(u, 1e-300) ** exponent)


def _unit(X: Array, N: Array, step: Array, p: float, T: Array) -> Array:
    """Solve T N u + step u^(p-1) = T x for u >= 0, entry by entry, by Newton from above.

    In u for p >= 2, in w = u^(p-1) for p < 2: both equations are convex and start to the right of
    the root, so that Newton's method converges monotonically without a safeguard.
    """
    a = max(p - 1.0, 1.0 / (p - 1.0))
    left, right = (T * N, step) if p >= 2.0 else (step, T * N)
    goal = T * X
    with np.errstate(over="ignore"):
        w = np.minimum(goal / left, (goal / right) ** (1.0 / a))
    for _ in range(_INNER):
        power = w ** (a - 1.0)
        change = (left * w + right * power * w - goal) / (left + right * a * power)
        w = np.maximum(w - change, 0.0)
        if np.all(np.abs(change) <= 1e-15 * w):
            break
    return w if p >= 2.0 else np.asarray(w**a)


def row_norms(W: Array, p: float) -> Array:
    """Return the p-norms of the rows of W >= 0 without overflow or underflow."""
    if p != 2.0:
        return _scaled_norms(W, p)
    # 2-norms come from sums of squares; only rows whose sums are out of range are scaled.
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", W, W)
    norms = np.sqrt(squares)
    limits = np.finfo(norms.dtype)
    doubtful = ~((squares > limits.tiny / limits.eps) & (squares < np.inf))
    if doubtful.any() and W[doubtful].any():
        norms[doubtful] = _scaled_norms(W[doubtful], 2.0)
    return np.asarray(norms)


def _scaled_norms(W: Array, p: float) -> Array:
    """Return p-norms of the rows, divided by their largest entries before taking powers."""
    top = W.max(axis=1)
    if np.isinf(p):
        return np.asarray(top)
    scale = np.where(top > 0.0, top, 1.0)
    powers = ((W / scale[:, None]) ** p).sum(axis=1)
    return np.asarray(scale * powers ** (1.0 / p))


def project_l1_ball(X: Array, radius: Array) -> Array:
    """Project every row of X >= 0 (n, k) on the l1 ball of its radius (n,).

    Rows inside the ball do not change. From the others a constant is subtracted and negative
    entries become zero, so that they sum to the radius.
    """
    ordered = -np.sort(-X, axis=1)
    excess = np.cumsum(ordered, axis=1) - radius[:, None]
    theta = excess / np.arange(1, X.shape[1] + 1)
    count = np.maximum((ordered > theta).sum(axis=1), 1)
    shift = np.maximum(theta[np.arange(X.shape[0]), count - 1], 0.0)
    inside = X.sum(axis=1) <= radius
    return np.where(inside[:, None], X, np.maximum(X - shift[:, None], 0.0))
