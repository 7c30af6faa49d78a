"""Exponential loss: log-mean-exp for pairwise margins, the plain mean for one-vs-all."""

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp, xlogy

from ..arrays import Array
from .base import Loss, SampleWeights


class Exponential(Loss):
    """L = log sum c_i exp(-rho_ir) pairwise; L = sum c_i exp(-rho_ir) one-vs-all.

    In the pairwise form the terms r = y_i (rho = 0) sit inside the logarithm and keep the
    problem bounded. The log form with one-vs-all margins is unbounded below on separable data,
    so one-vs-all uses the plain mean.

    Paper: Eq. 11 (primal, logarithmic form).
    Paper: Eq. 12 (dual).
    Paper: Eq. 13 (weights from margins).
    Differs: the paper drops the constant log(1/(m k)); here L(0) = 0.
    """

    name: ClassVar[str] = "exponential"
    native: ClassVar[int | None] = 1
    probability_scale: ClassVar[float | None] = 2.0

    def value(self, rho: Array, rows: SampleWeights) -> float:
        """Return log sum c_i exp(-rho_ir), or the sum without log (one-vs-all)."""
        logs = np.log(rows.c)[:, None] - rho
        if rows.true_class is not None:
            return float(logsumexp(logs))
        with np.errstate(over="ignore"):
            return float(np.exp(logs).sum())

    def negative_gradient(self, rho: Array, rows: SampleWeights) -> Array:
        """Return c_i exp(-rho_ir), pairwise divided by its sum over the whole matrix."""
        logs = np.log(rows.c)[:, None] - rho
        if rows.true_class is not None:
            logs -= logsumexp(logs)
        with np.errstate(over="ignore"):
            return np.exp(logs)

    def curvature(self, rho: Array, rows: SampleWeights) -> Array:
        """Return U (pairwise a bound from above: the term -U^2 of the log is dropped)."""
        return self.negative_gradient(rho, rows)

    def dual_terms(self, U: Array, rows: SampleWeights) -> Array:
        """Return -U log(U / c_i), one-vs-all plus U."""
        ratio = U / rows.c[:, None]
        if rows.true_class is not None:
            return -np.asarray(xlogy(U, ratio))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(U > 0.0, U * (1.0 - np.log(ratio)), 0.0)

    def shrink(self, U: Array, tau: float, rows: SampleWeights) -> Array:
        """Return tau U; pairwise, the freed mass goes to r = y_i in proportion to c_i."""
        shrunk = tau * U
        if rows.true_class is not None:
            rows.set_true_class(shrunk, np.zeros(rows.c.size))
            rows.set_true_class(shrunk, max(0.0, 1.0 - float(shrunk.sum())) * rows.share)
        return shrunk

    def constant(self, rows: SampleWeights) -> float:
        """Return -log k pairwise (only the terms r = y_i are left), 0 one-vs-all."""
        return 0.0 if rows.true_class is None else -float(np.log(rows.k))
