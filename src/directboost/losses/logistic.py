"""Logistic loss."""

from typing import ClassVar

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from ..arrays import Array
from .elementwise import ElementwiseLoss


class Logistic(ElementwiseLoss):
    """Theta(z) = log(1 + exp(-z)).

    D(U) = -sum c_i [v log v + (1 - v) log(1 - v)] with v = U_ir / c_i in [0, 1].

    Paper: Eq. 28 (primal, logistic, l1,2).
    Paper: Eq. 33 (dual, logistic, l1,2).
    Paper: Eq. 34 (weights from margins).
    """

    name: ClassVar[str] = "logistic"
    native: ClassVar[int | None] = 0
    temper: ClassVar[float | None] = 1.0

    def theta(self, z: Array) -> Array:
        """Return log(1 + exp(-z))."""
        return np.logaddexp(0.0, -z)

    def slope(self, z: Array) -> Array:
        """Return -1 / (1 + exp(z))."""
        return -np.asarray(expit(-z))

    def bend(self, z: Array) -> Array:
        """Return p (1 - p) with p = 1 / (1 + exp(z))."""
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, s: Array) -> Array:
        """Return v log v + (1 - v) log(1 - v) with v = -s, clipped to [0, 1]."""
        v = np.clip(-s, 0.0, 1.0)
        return np.asarray(xlogy(v, v) + xlog1py(1.0 - v, -v))
