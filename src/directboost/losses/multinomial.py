"""The multinomial loss, the smooth counterpart of the pairwise hinge."""

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, softmax

from ..arrays import Array
from .base import Loss, SampleWeights, entropy


class Multinomial(Loss):
    """Multinomial log-likelihood: L = (1/S) sum_i s_i log sum_r exp(-rho_ir).

    It is defined for pairwise margins only. A = onehot - softmax(F), so softmax(F) are the
    probabilities that the loss models. D(U) = -sum U log(U S / s_i) if each row of U lies in
    (s_i / S) times the simplex.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import Multinomial, SampleWeights
    >>> weights = SampleWeights.weighted(np.ones(1), 2, np.array([0]))
    >>> round(Multinomial().value(np.array([[0.0, 2.0]]), weights), 4)
    0.1269
    """

    name: ClassVar[str] = "multinomial"
    native: ClassVar[int | None] = 2
    additive: ClassVar[bool] = True
    margins: ClassVar[tuple[str, ...]] = ("pairwise",)
    probability_scale: ClassVar[float | None] = 1.0
    simplex: ClassVar[bool] = True

    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return the weighted mean of log sum_r exp(-rho_ir)."""
        return float(weights.share @ logsumexp(-rho, axis=1))

    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return (s_i / S) softmax_r(-rho_i:)."""
        return np.asarray(weights.share[:, None] * softmax(-rho, axis=1))

    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return (s_i / S) p (1 - p) with p the softmax."""
        p = np.asarray(softmax(-rho, axis=1))
        return np.asarray(weights.share[:, None] * p * (1.0 - p))

    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return -U log(U S / s_i)."""
        share = weights.share[:, None]
        return -share * entropy(U / share)

    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return the entries r != y_i times tau; the remaining mass of a row moves to r = y_i."""
        return shrink_on_simplex(U, tau, weights)

    def constant(self, weights: SampleWeights) -> float:
        """Return 0, the infimum of the loss."""
        return 0.0


def shrink_on_simplex(U: Array, tau: float, weights: SampleWeights) -> Array:
    """Multiply the entries r != y_i by tau; r = y_i gets the rest of the mass s_i / S."""
    shrunk = tau * U
    weights.set_true_class(shrunk, np.zeros(weights.c.size))
    return weights.set_true_class(shrunk, np.maximum(weights.share - shrunk.sum(axis=1), 0.0))
