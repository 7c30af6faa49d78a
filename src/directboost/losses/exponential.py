"""The exponential loss: log-mean-exp for pairwise margins, a plain mean for one-vs-all."""

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, xlogy

from ..arrays import Array
from .base import Loss, SampleWeights


class Exponential(Loss):
    """Exponential loss: L = log sum c_i exp(-rho_ir) for pairwise margins.

    The terms r = y_i (rho = 0) are part of the sum and keep the problem bounded. With one-vs-all
    margins the logarithmic form would be unbounded below on separable data, so the loss is the
    plain mean L = sum c_i exp(-rho_ir).

    Paper: Eq. 11 (primal, logarithmic form).
    Paper: Eq. 12 (dual).
    Paper: Eq. 13 (weights from margins).
    Differs: the paper drops the constant log(1/(m k)); here L(0) = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import Exponential, SampleWeights
    >>> weights = SampleWeights.weighted(np.ones(1), 2, np.array([0]))
    >>> round(Exponential().value(np.array([[0.0, 2.0]]), weights), 4)
    -0.5662
    """

    name: ClassVar[str] = "exponential"
    native: ClassVar[int | None] = 1
    probability_scale: ClassVar[float | None] = 2.0

    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return log sum c_i exp(-rho_ir), or the sum without log (one-vs-all)."""
        logs = np.log(weights.c)[:, None] - rho
        if weights.true_class is not None:
            return float(logsumexp(logs))
        with np.errstate(over="ignore"):
            return float(np.exp(logs).sum())

    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return c_i exp(-rho_ir), pairwise divided by its sum over the whole matrix."""
        logs = np.log(weights.c)[:, None] - rho
        if weights.true_class is not None:
            logs -= logsumexp(logs)
        with np.errstate(over="ignore"):
            return np.exp(logs)

    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return U; pairwise an upper bound, since the term -U^2 of the logarithm is dropped."""
        return self.negative_gradient(rho, weights)

    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return -U log(U / c_i), one-vs-all plus U."""
        ratio = U / weights.c[:, None]
        if weights.true_class is not None:
            return -np.asarray(xlogy(U, ratio))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(U > 0.0, U * (1.0 - np.log(ratio)), 0.0)

    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return tau U; pairwise, the remaining mass moves to r = y_i in proportion to c_i."""
        shrunk = tau * U
        if weights.true_class is not None:
            weights.set_true_class(shrunk, np.zeros(weights.c.size))
            weights.set_true_class(shrunk, max(0.0, 1.0 - float(shrunk.sum())) * weights.share)
        return shrunk

    def constant(self, weights: SampleWeights) -> float:
        """Return -log k pairwise, when only the terms r = y_i are left, and 0 one-vs-all."""
        return 0.0 if weights.true_class is None else -float(np.log(weights.k))
