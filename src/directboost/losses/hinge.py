"""Hinge loss: the worst margin of a row (pairwise), or the sum over classes (one-vs-all)."""

from typing import ClassVar

import numpy as np

from ..arrays import Array
from .base import Loss, Rows
from .multinomial import shrink_on_simplex
from .smoothed_hinge import SmoothedHinge


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

    def value(self, rho: Array, rows: Rows) -> float:
        """Return the weighted mean of the slacks."""
        if rows.own is None:
            return float(rows.c @ np.maximum(0.0, 1.0 - rho).sum(axis=1))
        return float(rows.share @ self._slack(rho, rows).max(axis=1))

    def weights(self, rho: Array, rows: Rows) -> Array:
        """Return uniform weights on the worst classes of a row, or c_i [rho_ir < 1]."""
        if rows.own is None:
            return np.where(rho < 1.0, rows.c[:, None], 0.0)
        slack = self._slack(rho, rows)
        worst = slack == slack.max(axis=1, keepdims=True)
        return np.asarray(rows.share[:, None] * worst / worst.sum(axis=1, keepdims=True))

    def curvature(self, rho: Array, rows: Rows) -> Array:
        """Return zeros: the loss is piecewise linear."""
        return np.zeros_like(rho)

    def dual_terms(self, U: Array, rows: Rows) -> Array:
        """Return U, without the entries r = y_i (pairwise)."""
        if rows.own is None:
            return U
        return rows.set_own(U.copy(), np.zeros(rows.c.size))

    def shrink(self, U: Array, tau: float, rows: Rows) -> Array:
        """Return tau U; pairwise, the rest of a row's mass goes to r = y_i."""
        return tau * U if rows.own is None else shrink_on_simplex(U, tau, rows)

    def constant(self, rows: Rows) -> float:
        """Return 0: the loss can be brought down to it."""
        return 0.0

    def smoothed(self, mu: float) -> Loss:
        """Return the hinge with soft maxima of temperature mu."""
        return SmoothedHinge(mu)

    @staticmethod
    def _slack(rho: Array, rows: Rows) -> Array:
        return rows.set_own(1.0 - rho, np.zeros(rows.c.size))
