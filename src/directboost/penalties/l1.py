"""The l1 penalty."""

from typing import ClassVar

import numpy as np

from ..arrays import Array
from .base import Penalty


class L1(Penalty):
    """N(w) = sum_r w_r; its dual norm is the largest positive edge."""

    name: ClassVar[str] = "l1"
    p = 1.0

    def norms(self, W: Array) -> Array:
        """Return the row sums of W >= 0."""
        return np.asarray(W.sum(axis=1))

    def prox(self, V: Array, step: Array | float) -> Array:
        """Return max(V - step, 0)."""
        return np.asarray(np.maximum(V - np.reshape(step, (-1, 1)), 0.0))

    def dual_norm(self, E: Array) -> Array:
        """Return max_r of the positive part of E_j:."""
        return np.asarray(np.maximum(E.max(axis=1), 0.0))
