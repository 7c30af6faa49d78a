"""Losses that apply one scalar function Theta to every margin."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..arrays import Array
from .base import Loss, SampleWeights, entropy

ScalarFunction = Callable[[Array], Array]

_STEP = 6e-6  # cube root of the double epsilon: the best step of a central difference
_DOUBLINGS = 60
_HALVINGS = 80


class ElementwiseLoss(Loss):
    """Base class of losses L(rho) = sum_ir c_i Theta(rho_ir).

    Theta is smooth, convex, non-increasing and bounded below. A subclass implements, elementwise
    on arrays, Theta (`theta`), its first and second derivative (`theta_gradient`,
    `theta_curvature`) and its conjugate Theta* (`conjugate`).

    Paper: Eq. 15 (general convex loss).
    Paper: Eq. 16 (dual, general convex loss).
    Paper: Eq. 17 (weights from margins).

    Attributes
    ----------
    infimum : float
        The infimum of Theta.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import Logistic
    >>> Logistic().theta_gradient(np.array([0.0]))
    array([-0.5])
    """

    additive: ClassVar[bool] = True
    infimum: float = 0.0

    @abstractmethod
    def theta(self, z: Array) -> Array:
        """Return Theta(z)."""

    @abstractmethod
    def theta_gradient(self, z: Array) -> Array:
        """Return Theta'(z), which is at most 0."""

    @abstractmethod
    def theta_curvature(self, z: Array) -> Array:
        """Return Theta''(z)."""

    @abstractmethod
    def conjugate(self, s: Array) -> Array:
        """Return Theta*(s) = sup_z (s z - Theta(z)), or an upper bound of it."""

    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return sum_ir c_i Theta(rho_ir)."""
        return float(weights.c @ self.theta(rho).sum(axis=1))

    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return U_ir = -c_i Theta'(rho_ir)."""
        return -weights.c[:, None] * self.theta_gradient(rho)

    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return c_i Theta''(rho_ir)."""
        return weights.c[:, None] * self.theta_curvature(rho)

    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return -c_i Theta*(-U_ir / c_i)."""
        c = weights.c[:, None]
        return -c * self.conjugate(-U / c)

    def start(self, weights: SampleWeights) -> Array:
        """Return -c_i Theta'(0) for all classes."""
        first_class = -weights.c[:, None] * self._at_zero(self.theta_gradient)
        return np.repeat(first_class, weights.k, axis=1)

    def start_value(self, weights: SampleWeights) -> float:
        """Return Theta(0) times the sum of all weights."""
        return self._at_zero(self.theta) * weights.k * float(weights.c.sum())

    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return tau U; pairwise, the entries r = y_i, which no edge uses, are -c_i Theta'(0)."""
        shrunk = tau * U
        if weights.true_class is not None:
            weights.set_true_class(shrunk, -weights.c * self._at_zero(self.theta_gradient))
        return shrunk

    def constant(self, weights: SampleWeights) -> float:
        """Return (Theta(0) + (k - 1) inf Theta) / k pairwise, inf Theta one-vs-all."""
        if weights.true_class is None:
            return self.infimum
        return (self._at_zero(self.theta) + (weights.k - 1) * self.infimum) / weights.k

    @staticmethod
    def _at_zero(function: Callable[[Array], Array]) -> float:
        return float(function(np.zeros(1))[0])


class Logistic(ElementwiseLoss):
    """Logistic loss: Theta(z) = log(1 + exp(-z)).

    D(U) = -sum c_i [v log v + (1 - v) log(1 - v)] with v = U_ir / c_i in [0, 1].

    Paper: Eq. 28 (primal, logistic, l1,2).
    Paper: Eq. 33 (dual, logistic, l1,2).
    Paper: Eq. 34 (weights from margins).

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import Logistic
    >>> Logistic().theta(np.array([-1.0, 0.0, 1.0])).round(3)
    array([1.313, 0.693, 0.313])
    """

    name: ClassVar[str] = "logistic"
    native: ClassVar[int | None] = 0
    probability_scale: ClassVar[float | None] = 1.0

    def theta(self, z: Array) -> Array:
        """Return log(1 + exp(-z))."""
        out = np.abs(z)
        small = np.exp(np.negative(out, out=out), out=out)
        above = 1.0 + small
        # Add the rounding error of 1 + small, which is all of small if small is tiny.
        small -= above - 1.0
        small += np.log(above, out=above)
        small += np.maximum(-z, 0.0)
        return small

    def theta_gradient(self, z: Array) -> Array:
        """Return -1 / (1 + exp(z))."""
        return -np.asarray(expit(-z))

    def theta_curvature(self, z: Array) -> Array:
        """Return p (1 - p) with p = 1 / (1 + exp(z))."""
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, s: Array) -> Array:
        """Return v log v + (1 - v) log(1 - v) with v = -s, clipped to [0, 1]."""
        v = np.clip(-s, 0.0, 1.0)
        rest = 1.0 - v
        # (1 - v) log(1 - v) of the rounded argument, corrected to first order for the rounding.
        return entropy(v) + entropy(rest) - (v + (rest - 1.0))


class SquaredHinge(ElementwiseLoss):
    """Squared hinge loss: Theta(z) = max(0, 1 - z)^2.

    Theta*(s) = s + s^2 / 4 for s <= 0, so D(U) = sum U - U^2 / (4 c_i).

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import SquaredHinge
    >>> SquaredHinge().theta(np.array([-1.0, 0.0, 1.0]))
    array([4., 1., 0.])
    """

    name: ClassVar[str] = "squared_hinge"
    native: ClassVar[int | None] = 3

    def theta(self, z: Array) -> Array:
        """Return max(0, 1 - z)^2."""
        return np.square(np.maximum(0.0, 1.0 - z))

    def theta_gradient(self, z: Array) -> Array:
        """Return -2 max(0, 1 - z)."""
        return -2.0 * np.maximum(0.0, 1.0 - z)

    def theta_curvature(self, z: Array) -> Array:
        """Return 2 where z < 1, else 0."""
        return np.where(z < 1.0, 2.0, 0.0)

    def conjugate(self, s: Array) -> Array:
        """Return s + s^2 / 4."""
        return s + 0.25 * np.square(s)


class SmoothLoss(ElementwiseLoss):
    """A user-defined loss L(rho) = sum_ir c_i Theta(rho_ir).

    Parameters
    ----------
    value, derivative : callable
        Theta and Theta'; both map an array to an array of the same shape. Theta must be convex,
        differentiable, non-increasing and bounded below.
    second_derivative : callable, optional
        Theta''. By default a central difference of `derivative`.
    conjugate : callable, optional
        Theta*(s) for s <= 0. By default an upper bound is found by bisection, with which the
        certificate is still valid.
    infimum : float, default=0.0
        The greatest lower bound of Theta.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.losses import SmoothLoss
    >>> squared = SmoothLoss(lambda z: np.maximum(0, 1 - z) ** 2,
    ...                      lambda z: -2 * np.maximum(0, 1 - z))
    >>> squared.theta(np.array([0.0, 1.0]))
    array([1., 0.])
    >>> X, y = load_iris(return_X_y=True)
    >>> DirectBoostClassifier(loss=squared).fit(X, y).certificate_.converged
    True
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

    def theta_gradient(self, z: Array) -> Array:
        """Return Theta'(z), never above 0."""
        return np.minimum(np.asarray(self.derivative(z), dtype=np.float64), 0.0)

    def theta_curvature(self, z: Array) -> Array:
        """Return Theta''(z), by a central difference if `second_derivative` is None."""
        if self.second_derivative is not None:
            return np.maximum(np.asarray(self.second_derivative(z), dtype=np.float64), 0.0)
        h = _STEP * np.maximum(1.0, np.abs(z))
        return np.maximum(
            (self.theta_gradient(z + h) - self.theta_gradient(z - h)) / (2.0 * h), 0.0
        )

    def conjugate(self, s: Array) -> Array:
        """Return Theta*(s), or an upper bound that is tight up to rounding."""
        if self.conjugate_function is not None:
            return np.asarray(self.conjugate_function(s), dtype=np.float64)
        return self._conjugate_bound(np.minimum(np.asarray(s, dtype=np.float64), 0.0))

    def _conjugate_bound(self, s: Array) -> Array:
        """Bound sup_z (s z - Theta(z)) by tangents on a bracket [z1, z2] of its maximiser.

        The function is concave, so on the bracket it lies below its tangent at z1. For s <= 0 it
        is at most s z1 - inf Theta to the right of z1.
        """
        z1, z2 = self._bracket(s)
        theta, theta_gradient = self.theta(z1), self.theta_gradient(z1)
        rounding = 4.0 * np.finfo(np.float64).eps * (np.abs(s * z1) + np.abs(theta))
        tangent = s * z1 - theta + (s - theta_gradient) * (z2 - z1)
        closed = (theta_gradient <= s) & (s <= self.theta_gradient(z2))
        flat = np.where(theta_gradient <= s, s * z1 - self.infimum, np.inf)
        bound = np.minimum(np.where(closed, tangent, np.inf), flat) + rounding
        return np.where(s == 0.0, -self.infimum, bound)

    def _bracket(self, s: Array) -> tuple[Array, Array]:
        """Find z1 <= z2 with Theta'(z1) <= s <= Theta'(z2) by doubling, then bisection."""
        z1, z2 = np.full_like(s, -1.0), np.full_like(s, 1.0)
        for _ in range(_DOUBLINGS):
            low, high = self.theta_gradient(z1) > s, self.theta_gradient(z2) < s
            if not (low.any() or high.any()):
                break
            z1, z2 = np.where(low, 2.0 * z1, z1), np.where(high, 2.0 * z2, z2)
        for _ in range(_HALVINGS):
            middle = 0.5 * (z1 + z2)
            below = self.theta_gradient(middle) <= s
            z1, z2 = np.where(below, middle, z1), np.where(below, z2, middle)
        return z1, z2
