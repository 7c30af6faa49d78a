"""The hinge loss, and the smoothed hinge that block descent solves in its place."""

from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlog1py, xlogy

from ..arrays import Array
from .base import Loss, SampleWeights
from .multinomial import shrink_on_simplex

#: Smallest entry of a prior, as a share of the mass of a row. It is positive, so that a class
#: whose dual weight is zero can get a positive weight again.
LEAST = 1e-13


class Hinge(Loss):
    """Hinge loss: L = (1/S) sum_i s_i max_r ([r != y_i] - rho_ir) for pairwise margins.

    For one-vs-all margins L = sum c_i max(0, 1 - rho_ir). The loss is not smooth:
    `negative_gradient` returns one subgradient, which is a valid start; the dual weights at an
    optimum come from a solver.

    Paper: Eq. 3 (primal, hinge, l1).
    Paper: Eq. 6 (dual, hinge, l1).
    Differs: the paper sums over the rows; here the rows are averaged, so its nu is S times ours.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import Hinge, SampleWeights
    >>> weights = SampleWeights.weighted(np.ones(2), 3, np.array([0, 1]))
    >>> rho = np.array([[0.0, 0.5, 2.0], [2.0, 0.0, 1.0]])
    >>> Hinge().value(rho, weights)
    0.25
    """

    name: ClassVar[str] = "hinge"
    smooth: ClassVar[bool] = False
    additive: ClassVar[bool] = True
    native: ClassVar[int | None] = None

    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return the weighted mean of the slacks."""
        if weights.true_class is None:
            return float(weights.c @ np.maximum(0.0, 1.0 - rho).sum(axis=1))
        return float(weights.share @ self._slack(rho, weights).max(axis=1))

    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return equal weights for the classes of largest slack; one-vs-all c_i [rho_ir < 1]."""
        if weights.true_class is None:
            return np.where(rho < 1.0, weights.c[:, None], 0.0)
        slack = self._slack(rho, weights)
        worst = slack == slack.max(axis=1, keepdims=True)
        return np.asarray(weights.share[:, None] * worst / worst.sum(axis=1, keepdims=True))

    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return zeros: the loss is piecewise linear."""
        return np.zeros_like(rho)

    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return U, without the entries r = y_i (pairwise)."""
        if weights.true_class is None:
            return U
        return weights.set_true_class(U.copy(), np.zeros(weights.c.size))

    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return tau U; pairwise, the remaining mass of a row moves to r = y_i."""
        return tau * U if weights.true_class is None else shrink_on_simplex(U, tau, weights)

    def constant(self, weights: SampleWeights) -> float:
        """Return 0, the infimum of the loss."""
        return 0.0

    @staticmethod
    def _slack(rho: Array, weights: SampleWeights) -> Array:
        return weights.set_true_class(1.0 - rho, np.zeros(weights.c.size))


class SmoothedHinge(Loss):
    """The hinge with its maxima replaced by soft maxima of temperature mu > 0.

    For pairwise margins L = (1/S) sum_i s_i mu log sum_r q_ir exp(([r != y_i] - rho_ir) / mu); for
    one-vs-all margins L = sum c_i mu log(1 - q_ir + q_ir exp((1 - rho_ir) / mu)). The dual weights
    U lie in the dual domain of the hinge, so they give a certificate of the hinge itself. D(U) is
    the dual objective of the hinge minus mu times the divergence of U from the prior q.

    Without a prior, q is 1 everywhere (one-vs-all: q / (1 - q) is 1, and the factor 1 - q is
    dropped). Then L exceeds the hinge by at most mu log k (one-vs-all: mu log 2), and D adds mu
    times the entropy. If the prior is the dual weights of the previous solution, the loss is
    smoothed around that solution; repeated, this converges to the hinge although mu is constant.

    Parameters
    ----------
    mu : float
        Temperature of the soft maxima.
    prior : (m, k) array or None
        log q; for one-vs-all margins log(q / (1 - q)).
    """

    name: ClassVar[str] = "smoothed hinge"
    simplex: ClassVar[bool] = True

    def __init__(self, mu: float, prior: Array | None = None) -> None:
        self.mu = mu
        self.prior = prior
        self.sharpness = 1.0 / mu

    def around(self, U: Array, weights: SampleWeights, mu: float) -> "SmoothedHinge":
        """Return the loss of temperature mu with the dual weights U as its prior."""
        p = np.clip(U / self._unit(weights), LEAST, 1.0)
        if weights.true_class is None:
            return SmoothedHinge(mu, np.log(p) - np.log(np.maximum(1.0 - p, LEAST)))
        return SmoothedHinge(mu, np.log(p / p.sum(axis=1, keepdims=True)))

    @staticmethod
    def _unit(weights: SampleWeights) -> Array:
        """Return the largest possible value of an entry of U, (m, 1)."""
        return (weights.c if weights.true_class is None else weights.share)[:, None]

    def offset(self, weights: SampleWeights) -> Array:
        """Return the term that is added to -rho / mu inside the soft maximum, (m, k)."""
        shape = (weights.c.size, weights.k)
        offset = np.full(shape, 1.0 / self.mu)
        if weights.true_class is not None:
            weights.set_true_class(offset, np.zeros(shape[0]))
        return offset if self.prior is None else offset + self.prior

    def floor(self, weights: SampleWeights) -> float:
        """Return the part of L that only the prior sets: one-vs-all sum c_i mu log(1 - q_ir)."""
        if self.prior is None or weights.true_class is not None:
            return 0.0
        return -self.mu * float(weights.c @ np.logaddexp(0.0, self.prior).sum(axis=1))

    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return the weighted mean of the soft maxima."""
        x = self.offset(weights) - rho / self.mu
        if weights.true_class is None:
            soft = float(weights.c @ np.logaddexp(0.0, x).sum(axis=1))
            return self.mu * soft + self.floor(weights)
        return self.mu * float(weights.share @ logsumexp(x, axis=1))

    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return (s_i / S) softmax of the slacks, one-vs-all c_i sigmoid((1 - rho_ir) / mu)."""
        x = self.offset(weights) - rho / self.mu
        p = expit(x) if weights.true_class is None else softmax(x, axis=1)
        return np.asarray(self._unit(weights) * p)

    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return U (1 - p) / mu, where p is U divided by its largest possible value."""
        U = self.negative_gradient(rho, weights)
        return np.asarray(U * (1.0 - U / self._unit(weights)) / self.mu)

    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return the dual terms of the hinge minus mu times those of the divergence."""
        unit = self._unit(weights)
        p = np.clip(U / unit, 0.0, 1.0)
        divergence = np.asarray(xlogy(p, p))
        linear = U
        if weights.true_class is None:
            divergence = divergence + xlog1py(1.0 - p, -p)
        else:
            linear = weights.set_true_class(U.copy(), np.zeros(weights.c.size))
        if self.prior is not None:
            divergence = divergence - p * self.prior
            if weights.true_class is None:
                divergence = divergence + np.logaddexp(0.0, self.prior)
        return np.asarray(linear - self.mu * unit * divergence)

    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return tau U; pairwise, the remaining mass of a row moves to r = y_i."""
        return tau * U if weights.true_class is None else shrink_on_simplex(U, tau, weights)

    def constant(self, weights: SampleWeights) -> float:
        """Return 0, the infimum of the hinge."""
        return 0.0
