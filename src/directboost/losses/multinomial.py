"""Multinomial log-likelihood: the smooth counterpart of the pairwise hinge."""

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from ..arrays import Array
from .base import Loss, SampleWeights, entropy


class Multinomial(Loss):
    """L = (1/S) sum_i s_i log sum_r exp(-rho_ir); pairwise margins only.

    Here A = onehot - softmax(F), so softmax(F) are the probabilities the loss models.
    D(U) = -sum U log(U S / s_i) for rows of U in (s_i / S) times the simplex.
    """

    name: ClassVar[str] = "multinomial"
    native: ClassVar[int | None] = 2
    additive: ClassVar[bool] = True
    margins: ClassVar[tuple[str, ...]] = ("pairwise",)
    probability_scale: ClassVar[float | None] = 1.0
    simplex: ClassVar[bool] = True

    def value(self, rho: Array, rows: SampleWeights) -> float:
        """Return the weighted mean of log sum_r exp(-rho_ir)."""
        return float(rows.share @ logsumexp(-rho, axis=1))

    def negative_gradient(self, rho: Array, rows: SampleWeights) -> Array:
        """Return (s_i / S) softmax_r(-rho_i:)."""
        return np.asarray(rows.share[:, None] * softmax(-rho, axis=1))

    def curvature(self, rho: Array, rows: SampleWeights) -> Array:
        """Return (s_i / S) p (1 - p) with p the softmax."""
        p = np.asarray(softmax(-rho, axis=1))
        return np.asarray(rows.share[:, None] * p * (1.0 - p))

    def dual_terms(self, U: Array, rows: SampleWeights) -> Array:
        """Return -U log(U S / s_i)."""
        share = rows.share[:, None]
        return -share * entropy(U / share)

    def shrink(self, U: Array, tau: float, rows: SampleWeights) -> Array:
        """Return off-label entries times tau, the rest of a row's mass at r = y_i."""
        return shrink_on_simplex(U, tau, rows)

    def constant(self, rows: SampleWeights) -> float:
        """Return 0: the loss can be brought down to it."""
        return 0.0


def shrink_on_simplex(U: Array, tau: float, rows: SampleWeights) -> Array:
    """Multiply the entries r != y_i by tau; r = y_i gets what is left of s_i / S."""
    shrunk = tau * U
    rows.set_true_class(shrunk, np.zeros(rows.c.size))
    return rows.set_true_class(shrunk, np.maximum(rows.share - shrunk.sum(axis=1), 0.0))
