"""Squared hinge loss."""

from typing import ClassVar

import numpy as np

from ..arrays import Array
from .elementwise import ElementwiseLoss


class SquaredHinge(ElementwiseLoss):
    """Theta(z) = max(0, 1 - z)^2.

    Theta*(s) = s + s^2 / 4 for s <= 0, so D(U) = sum U - U^2 / (4 c_i).
    """

    name: ClassVar[str] = "squared_hinge"
    native: ClassVar[int | None] = 3

    def theta(self, z: Array) -> Array:
        """Return max(0, 1 - z)^2."""
        return np.square(np.maximum(0.0, 1.0 - z))

    def slope(self, z: Array) -> Array:
        """Return -2 max(0, 1 - z)."""
        return -2.0 * np.maximum(0.0, 1.0 - z)

    def bend(self, z: Array) -> Array:
        """Return 2 where z < 1, else 0."""
        return np.where(z < 1.0, 2.0, 0.0)

    def conjugate(self, s: Array) -> Array:
        """Return s + s^2 / 4."""
        return s + 0.25 * np.square(s)
