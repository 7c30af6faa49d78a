"""Logistic loss."""

from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..arrays import Array
from .base import entropy
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
        out = np.abs(z)
        small = np.exp(np.negative(out, out=out), out=out)
        above = 1.0 + small
        # What 1 + small lost in rounding is added again: all of it where small is tiny.
        small -= above - 1.0
        small += np.log(above, out=above)
        small += np.maximum(-z, 0.0)
        return small

    def slope(self, z: Array) -> Array:
        """Return -1 / (1 + exp(z))."""
        return -np.asarray(expit(-z))

    def bend(self, z: Array) -> Array:
        """Return p (1 - p) with p = 1 / (1 + exp(z))."""
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, s: Array) -> Array:
        """Return v log v + (1 - v) log(1 - v) with v = -s, clipped to [0, 1]."""
        v = np.clip(-s, 0.0, 1.0)
        rest = 1.0 - v
        # (1 - v) log(1 - v) by its rounded argument, and to first order what the rounding took.
        return entropy(v) + entropy(rest) - (v + (rest - 1.0))
