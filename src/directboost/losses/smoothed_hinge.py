"""The hinge with its kinks rounded off: what block descent solves in its place."""

from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlog1py, xlogy

from ..arrays import Array
from .base import Loss, Rows
from .multinomial import shrink_on_simplex


class SmoothedHinge(Loss):
    """The hinge with soft maxima of temperature mu > 0.

    Pairwise L = (1/S) sum_i s_i mu log sum_r exp(([r != y_i] - rho_ir) / mu); one-vs-all
    L = sum c_i mu log(1 + exp((1 - rho_ir) / mu)). L lies above the hinge, by at most mu log k
    (mu log 2 one-vs-all), and its weights U lie in the dual domain of the hinge: they serve for a
    certificate of the hinge itself. D(U) is that of the hinge plus mu times the entropy of U.

    Parameters
    ----------
    mu : float
    """

    name: ClassVar[str] = "smoothed hinge"
    simplex: ClassVar[bool] = True

    def __init__(self, mu: float) -> None:
        self.mu = mu
        self.sharpness = 1.0 / mu

    def _slack(self, rho: Array, rows: Rows) -> Array:
        return rows.set_own((1.0 - rho) / self.mu, np.zeros(rows.c.size))

    def value(self, rho: Array, rows: Rows) -> float:
        """Return the weighted mean of the soft maxima."""
        if rows.own is None:
            return self.mu * float(rows.c @ np.logaddexp(0.0, (1.0 - rho) / self.mu).sum(axis=1))
        return self.mu * float(rows.share @ logsumexp(self._slack(rho, rows), axis=1))

    def weights(self, rho: Array, rows: Rows) -> Array:
        """Return (s_i / S) softmax of the slacks, one-vs-all c_i sigmoid((1 - rho_ir) / mu)."""
        if rows.own is None:
            return np.asarray(rows.c[:, None] * expit((1.0 - rho) / self.mu))
        return np.asarray(rows.share[:, None] * softmax(self._slack(rho, rows), axis=1))

    def curvature(self, rho: Array, rows: Rows) -> Array:
        """Return U (1 - p) / mu with p the share U has of its largest value."""
        U = self.weights(rho, rows)
        unit = rows.c if rows.own is None else rows.share
        return np.asarray(U * (1.0 - U / unit[:, None]) / self.mu)

    def dual_terms(self, U: Array, rows: Rows) -> Array:
        """Return the terms of the hinge plus mu times those of the entropy."""
        unit = (rows.c if rows.own is None else rows.share)[:, None]
        p = np.clip(U / unit, 0.0, 1.0)
        if rows.own is None:
            return np.asarray(U - self.mu * unit * (xlogy(p, p) + xlog1py(1.0 - p, -p)))
        off_label = rows.set_own(U.copy(), np.zeros(rows.c.size))
        return np.asarray(off_label - self.mu * unit * xlogy(p, p))

    def shrink(self, U: Array, tau: float, rows: Rows) -> Array:
        """Return tau U; pairwise, the rest of a row's mass goes to r = y_i."""
        return tau * U if rows.own is None else shrink_on_simplex(U, tau, rows)

    def constant(self, rows: Rows) -> float:
        """Return 0: the loss can be brought down to it."""
        return 0.0
