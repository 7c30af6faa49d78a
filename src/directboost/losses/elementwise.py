"""Losses that are a weighted mean of one scalar function of each margin."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..arrays import Array
from .base import Loss, Rows


class ElementwiseLoss(Loss):
    """L(rho) = sum_ir c_i Theta(rho_ir) for a smooth, convex Theta bounded below.

    A member gives Theta (`theta`), its derivative (`slope`), second derivative (`bend`) and
    conjugate Theta* (`conjugate`), all for arrays, and the infimum of Theta.

    Paper: Eq. 15 (general convex loss).
    Paper: Eq. 16 (dual, general convex loss).
    Paper: Eq. 17 (weights from margins).
    """

    additive: ClassVar[bool] = True
    infimum: float = 0.0

    @abstractmethod
    def theta(self, z: Array) -> Array:
        """Return Theta(z)."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """Return Theta'(z), which is at most 0."""

    @abstractmethod
    def bend(self, z: Array) -> Array:
        """Return Theta''(z)."""

    @abstractmethod
    def conjugate(self, s: Array) -> Array:
        """Return Theta*(s) = sup_z (s z - Theta(z)), or a bound from above."""

    def value(self, rho: Array, rows: Rows) -> float:
        """Return sum_ir c_i Theta(rho_ir)."""
        return float(rows.c @ self.theta(rho).sum(axis=1))

    def weights(self, rho: Array, rows: Rows) -> Array:
        """Return U_ir = -c_i Theta'(rho_ir)."""
        return -rows.c[:, None] * self.slope(rho)

    def curvature(self, rho: Array, rows: Rows) -> Array:
        """Return c_i Theta''(rho_ir)."""
        return rows.c[:, None] * self.bend(rho)

    def dual_terms(self, U: Array, rows: Rows) -> Array:
        """Return -c_i Theta*(-U_ir / c_i)."""
        c = rows.c[:, None]
        return -c * self.conjugate(-U / c)

    def start(self, rows: Rows) -> Array:
        """Return -c_i Theta'(0) in all classes."""
        return np.repeat(-rows.c[:, None] * self._at_zero(self.slope), rows.k, axis=1)

    def start_value(self, rows: Rows) -> float:
        """Return Theta(0), times the sum of all weights."""
        return self._at_zero(self.theta) * rows.k * float(rows.c.sum())

    def shrink(self, U: Array, tau: float, rows: Rows) -> Array:
        """Return tau U; pairwise, the entries r = y_i (no edge reads them) at -c_i Theta'(0)."""
        shrunk = tau * U
        if rows.own is not None:
            rows.set_own(shrunk, -rows.c * self._at_zero(self.slope))
        return shrunk

    def constant(self, rows: Rows) -> float:
        """Return (Theta(0) + (k - 1) inf Theta) / k pairwise, inf Theta one-vs-all."""
        if rows.own is None:
            return self.infimum
        return (self._at_zero(self.theta) + (rows.k - 1) * self.infimum) / rows.k

    @staticmethod
    def _at_zero(function: Callable[[Array], Array]) -> float:
        return float(function(np.zeros(1))[0])
