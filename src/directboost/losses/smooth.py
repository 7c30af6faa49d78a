"""A loss from plain functions of one margin."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..arrays import Array
from .elementwise import ElementwiseLoss

ScalarFunction = Callable[[Array], Array]

_STEP = 6e-6  # cube root of the double epsilon: the best step of a central difference
_DOUBLINGS = 60
_HALVINGS = 80


class SmoothLoss(ElementwiseLoss):
    """L(rho) = sum_ir c_i Theta(rho_ir) for a Theta given by the user.

    Parameters
    ----------
    value, derivative : callable
        Theta and Theta', array in, array out. Theta is convex, differentiable, non-increasing
        and bounded below.
    second_derivative : callable, optional
        Theta''. Without it a central difference of `derivative` serves.
    conjugate : callable, optional
        Theta*(s) for s <= 0. Without it a bound from above is found by bisection, so that the
        certificate stays true.
    infimum : float, default=0.0
        The greatest lower bound of Theta.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import SmoothLoss
    >>> squared = SmoothLoss(lambda z: np.maximum(0, 1 - z) ** 2,
    ...                      lambda z: -2 * np.maximum(0, 1 - z))
    >>> float(squared.theta(np.array([0.0]))[0])
    1.0
    """

    name: ClassVar[str] = "smooth"

    def __init__(
        self,
        value: ScalarFunction,
        derivative: ScalarFunction,
        second_derivative: ScalarFunction | None = None,
        conjugate: ScalarFunction | None = None,
        infimum: float = 0.0,
    ) -> None:
        self.value_function = value
        self.derivative = derivative
        self.second_derivative = second_derivative
        self.conjugate_function = conjugate
        self.infimum = infimum

    def theta(self, z: Array) -> Array:
        """Return Theta(z)."""
        return np.asarray(self.value_function(z), dtype=np.float64)

    def slope(self, z: Array) -> Array:
        """Return Theta'(z), never above 0."""
        return np.minimum(np.asarray(self.derivative(z), dtype=np.float64), 0.0)

    def bend(self, z: Array) -> Array:
        """Return Theta''(z), by a central difference where it was not given."""
        if self.second_derivative is not None:
            return np.maximum(np.asarray(self.second_derivative(z), dtype=np.float64), 0.0)
        h = _STEP * np.maximum(1.0, np.abs(z))
        return np.maximum((self.slope(z + h) - self.slope(z - h)) / (2.0 * h), 0.0)

    def conjugate(self, s: Array) -> Array:
        """Return Theta*(s), or a bound from above that is tight to rounding."""
        if self.conjugate_function is not None:
            return np.asarray(self.conjugate_function(s), dtype=np.float64)
        return self._conjugate_bound(np.minimum(np.asarray(s, dtype=np.float64), 0.0))

    def _conjugate_bound(self, s: Array) -> Array:
        """Bound sup_z (s z - Theta(z)) by tangents on a bracket [z1, z2] of its maximiser.

        The function is concave, so on the bracket it lies below its tangent at z1, and for
        s <= 0 everything right of z1 lies below s z1 - inf Theta.
        """
        z1, z2 = self._bracket(s)
        theta, slope = self.theta(z1), self.slope(z1)
        rounding = 4.0 * np.finfo(np.float64).eps * (np.abs(s * z1) + np.abs(theta))
        tangent = s * z1 - theta + (s - slope) * (z2 - z1)
        closed = (slope <= s) & (s <= self.slope(z2))
        flat = np.where(slope <= s, s * z1 - self.infimum, np.inf)
        bound = np.minimum(np.where(closed, tangent, np.inf), flat) + rounding
        return np.where(s == 0.0, -self.infimum, bound)

    def _bracket(self, s: Array) -> tuple[Array, Array]:
        """Find z1 <= z2 with Theta'(z1) <= s <= Theta'(z2) by doubling, then bisection."""
        z1, z2 = np.full_like(s, -1.0), np.full_like(s, 1.0)
        for _ in range(_DOUBLINGS):
            low, high = self.slope(z1) > s, self.slope(z2) < s
            if not (low.any() or high.any()):
                break
            z1, z2 = np.where(low, 2.0 * z1, z1), np.where(high, 2.0 * z2, z2)
        for _ in range(_HALVINGS):
            middle = 0.5 * (z1 + z2)
            below = self.slope(middle) <= s
            z1, z2 = np.where(below, middle, z1), np.where(below, z2, middle)
        return z1, z2
