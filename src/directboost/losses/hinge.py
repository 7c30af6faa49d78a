"""The hinge with its kinks rounded off: what block descent solves in its place."""

from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlog1py, xlogy

from ..arrays import Array
from .base import Loss, SampleWeights
from .multinomial import shrink_on_simplex

LEAST = 1e-13  # share of a row's mass below which a prior does not fall: a class may come back


class SmoothedHinge(Loss):
    """The hinge with soft maxima of temperature mu > 0.

    Pairwise L = (1/S) sum_i s_i mu log sum_r q_ir exp(([r != y_i] - rho_ir) / mu); one-vs-all
    L = sum c_i mu log(1 - q_ir + q_ir exp((1 - rho_ir) / mu)). The weights U lie in the dual
    domain of the hinge: they serve for a certificate of the hinge itself. D(U) is that of the
    hinge minus mu times the divergence of U from the prior q.

    Without a prior q is 1 everywhere (one-vs-all q / (1 - q) is, and the factor is dropped): L
    lies above the hinge, by at most mu log k (mu log 2 one-vs-all), and D adds mu times the
    entropy. With the weights of the last answer as prior the kinks are rounded off around that
    answer: repeated, this tends to the hinge though mu stays as it is.

    Parameters
    ----------
    mu : float
    prior : (m, k) array or None
        log q, one-vs-all log(q / (1 - q)).
    """

    name: ClassVar[str] = "smoothed hinge"
    simplex: ClassVar[bool] = True

    def __init__(self, mu: float, prior: Array | None = None) -> None:
        self.mu = mu
        self.prior = prior
        self.sharpness = 1.0 / mu

    def around(self, U: Array, rows: SampleWeights, mu: float) -> "SmoothedHinge":
        """Return the loss of temperature mu whose prior are weights U."""
        p = np.clip(U / self._unit(rows), LEAST, 1.0)
        if rows.true_class is None:
            return SmoothedHinge(mu, np.log(p) - np.log(np.maximum(1.0 - p, LEAST)))
        return SmoothedHinge(mu, np.log(p / p.sum(axis=1, keepdims=True)))

    @staticmethod
    def _unit(rows: SampleWeights) -> Array:
        """Return the largest value of an entry of U, (m, 1)."""
        return (rows.c if rows.true_class is None else rows.share)[:, None]

    def offset(self, rows: SampleWeights) -> Array:
        """Return what is added to -rho / mu before the soft maximum, (m, k)."""
        shape = (rows.c.size, rows.k)
        offset = np.full(shape, 1.0 / self.mu)
        if rows.true_class is not None:
            rows.set_true_class(offset, np.zeros(shape[0]))
        return offset if self.prior is None else offset + self.prior

    def floor(self, rows: SampleWeights) -> float:
        """Return the part of L that the prior sets: one-vs-all sum c_i mu log(1 - q_ir)."""
        if self.prior is None or rows.true_class is not None:
            return 0.0
        return -self.mu * float(rows.c @ np.logaddexp(0.0, self.prior).sum(axis=1))

    def value(self, rho: Array, rows: SampleWeights) -> float:
        """Return the weighted mean of the soft maxima."""
        x = self.offset(rows) - rho / self.mu
        if rows.true_class is None:
            soft = float(rows.c @ np.logaddexp(0.0, x).sum(axis=1))
            return self.mu * soft + self.floor(rows)
        return self.mu * float(rows.share @ logsumexp(x, axis=1))

    def negative_gradient(self, rho: Array, rows: SampleWeights) -> Array:
        """Return (s_i / S) softmax of the slacks, one-vs-all c_i sigmoid((1 - rho_ir) / mu)."""
        x = self.offset(rows) - rho / self.mu
        p = expit(x) if rows.true_class is None else softmax(x, axis=1)
        return np.asarray(self._unit(rows) * p)

    def curvature(self, rho: Array, rows: SampleWeights) -> Array:
        """Return U (1 - p) / mu with p the share U has of its largest value."""
        U = self.negative_gradient(rho, rows)
        return np.asarray(U * (1.0 - U / self._unit(rows)) / self.mu)

    def dual_terms(self, U: Array, rows: SampleWeights) -> Array:
        """Return the terms of the hinge minus mu times those of the divergence."""
        unit = self._unit(rows)
        p = np.clip(U / unit, 0.0, 1.0)
        divergence = np.asarray(xlogy(p, p))
        linear = U
        if rows.true_class is None:
            divergence = divergence + xlog1py(1.0 - p, -p)
        else:
            linear = rows.set_true_class(U.copy(), np.zeros(rows.c.size))
        if self.prior is not None:
            divergence = divergence - p * self.prior
            if rows.true_class is None:
                divergence = divergence + np.logaddexp(0.0, self.prior)
        return np.asarray(linear - self.mu * unit * divergence)

    def shrink(self, U: Array, tau: float, rows: SampleWeights) -> Array:
        """Return tau U; pairwise, the rest of a row's mass goes to r = y_i."""
        return tau * U if rows.true_class is None else shrink_on_simplex(U, tau, rows)

    def constant(self, rows: SampleWeights) -> float:
        """Return 0: the loss can be brought down to it."""
        return 0.0


class Hinge(Loss):
    """L = (1/S) sum_i s_i max_r ([r != y_i] - rho_ir) pairwise.

    One-vs-all it is L = sum c_i max(0, 1 - rho_ir). The loss has kinks: the weights given here
    are one subgradient, good as a start; at an optimum they come from a solver.

    Paper: Eq. 3 (primal, hinge, l1).
    Paper: Eq. 6 (dual, hinge, l1).
    Differs: the paper sums over the rows; here the rows are averaged, so its nu is S times ours.
    """

    name: ClassVar[str] = "hinge"
    smooth: ClassVar[bool] = False
    additive: ClassVar[bool] = True
    native: ClassVar[int | None] = None

    def value(self, rho: Array, rows: SampleWeights) -> float:
        """Return the weighted mean of the slacks."""
        if rows.true_class is None:
            return float(rows.c @ np.maximum(0.0, 1.0 - rho).sum(axis=1))
        return float(rows.share @ self._slack(rho, rows).max(axis=1))

    def negative_gradient(self, rho: Array, rows: SampleWeights) -> Array:
        """Return uniform weights on the worst classes of a row, or c_i [rho_ir < 1]."""
        if rows.true_class is None:
            return np.where(rho < 1.0, rows.c[:, None], 0.0)
        slack = self._slack(rho, rows)
        worst = slack == slack.max(axis=1, keepdims=True)
        return np.asarray(rows.share[:, None] * worst / worst.sum(axis=1, keepdims=True))

    def curvature(self, rho: Array, rows: SampleWeights) -> Array:
        """Return zeros: the loss is piecewise linear."""
        return np.zeros_like(rho)

    def dual_terms(self, U: Array, rows: SampleWeights) -> Array:
        """Return U, without the entries r = y_i (pairwise)."""
        if rows.true_class is None:
            return U
        return rows.set_true_class(U.copy(), np.zeros(rows.c.size))

    def shrink(self, U: Array, tau: float, rows: SampleWeights) -> Array:
        """Return tau U; pairwise, the rest of a row's mass goes to r = y_i."""
        return tau * U if rows.true_class is None else shrink_on_simplex(U, tau, rows)

    def constant(self, rows: SampleWeights) -> float:
        """Return 0: the loss can be brought down to it."""
        return 0.0

    def smoothed(self, mu: float) -> Loss:
        """Return the hinge with soft maxima of temperature mu."""
        return SmoothedHinge(mu)

    @staticmethod
    def _slack(rho: Array, rows: SampleWeights) -> Array:
        return rows.set_true_class(1.0 - rho, np.zeros(rows.c.size))
