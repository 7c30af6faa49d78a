"""Mixed norms l1,p: the classes of a weak classifier enter and leave together."""

from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..kernels.prox import project_l1_ball, prox_p, row_norms
from .base import Penalty


class GroupNorm(Penalty):
    """N(w) = ||w||_p with 1 < p <= inf; the dual norm is the q-norm of the positive part.

    Parameters
    ----------
    p : float
        The inner norm; 1/p + 1/q = 1.

    Paper: Eq. 49 (block soft thresholding, p = 2).
    Paper: Eq. 50 (block soft thresholding, p = 2).
    Differs: W stays non-negative, so only the positive part of the edges counts.
    """

    name: ClassVar[str] = "l1,p"

    def __init__(self, p: float) -> None:
        if not p > 1.0:
            raise ValueError(f"p={p!r} does not fit a group norm: it takes p > 1 (l1 for p = 1)")
        self.p: float = float(p)
        self.q = 1.0 if np.isinf(p) else p / (p - 1.0)

    def norms(self, W: Array) -> Array:
        """Return ||W_j:||_p."""
        return row_norms(W, self.p)

    def prox(self, V: Array, step: Array | float) -> Array:
        """Return the row-wise prox of max(V, 0)."""
        positive = np.maximum(V, 0.0)
        steps = np.broadcast_to(np.asarray(step, dtype=np.float64), (V.shape[0],))
        if self.p == 2.0:
            norms = row_norms(positive, 2.0)
            keep = np.divide(steps, norms, out=np.ones_like(norms), where=norms > steps)
            return (1.0 - keep)[:, None] * positive
        if np.isinf(self.p):
            return positive - project_l1_ball(positive, steps)
        return prox_p(positive, steps, self.p)

    def dual_norm(self, E: Array) -> Array:
        """Return ||max(E_j:, 0)||_q."""
        return row_norms(np.maximum(E, 0.0), self.q)
