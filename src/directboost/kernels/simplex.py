"""Projection on the l1 ball, row by row."""

import numpy as np

from ..arrays import Array


def project_l1_ball(X: Array, radius: Array) -> Array:
    """Project every row of X >= 0 (n, k) on the l1 ball of its radius (n,).

    Rows inside the ball stay; the others lose a constant and their negative part, so that they
    sum to the radius.
    """
    ordered = -np.sort(-X, axis=1)
    excess = np.cumsum(ordered, axis=1) - radius[:, None]
    theta = excess / np.arange(1, X.shape[1] + 1)
    count = np.maximum((ordered > theta).sum(axis=1), 1)
    shift = np.maximum(theta[np.arange(X.shape[0]), count - 1], 0.0)
    inside = X.sum(axis=1) <= radius
    return np.where(inside[:, None], X, np.maximum(X - shift[:, None], 0.0))
