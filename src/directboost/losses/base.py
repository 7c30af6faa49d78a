"""The contract of a loss, and the sample weights that enter it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array, Ints

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
#: The methods by which a loss is evaluated; `additive` is a statement about all of them.
_FORMULAS = (
    "value",
    "negative_gradient",
    "curvature",
    "dual_terms",
    "dual_value",
    "shrink",
    "start",
)


def entropy(v: Array) -> Array:
    """Return v log v for v >= 0, which is 0 at 0."""
    out = np.log(np.maximum(v, _TINY))
    out *= v
    return out


@dataclass(frozen=True)
class SampleWeights:
    """Normalised sample weights, with the true classes if the margins are pairwise.

    Attributes
    ----------
    c : (m,) array
        ``c_i = s_i / (S k)`` for sample weights s_i > 0 with sum S; k times their sum is 1.
    k : int
        Number of classes.
    true_class : (m,) int array or None
        For pairwise margins the true class of each row, where rho = 0. For one-vs-all margins None.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import SampleWeights
    >>> weights = SampleWeights.weighted(np.array([1.0, 3.0]), 2, None)
    >>> weights.c
    array([0.125, 0.375])
    >>> weights.share
    array([0.25, 0.75])
    """

    c: Array
    k: int
    true_class: Ints | None

    @classmethod
    def weighted(cls, sample_weight: Array, k: int, true_class: Ints | None) -> "SampleWeights":
        """Normalise sample weights s (m,) to c_i = s_i / (S k)."""
        s = np.asarray(sample_weight, dtype=np.float64)
        s = s / s.max()
        return cls(s / (s.sum() * k), k, true_class)

    @property
    def share(self) -> Array:
        """The share s_i / S of every row in the total weight, (m,)."""
        return self.c * self.k

    def take(self, rows: slice) -> "SampleWeights":
        """Return the weights of some of the rows, without normalising them again."""
        return SampleWeights(
            self.c[rows], self.k, None if self.true_class is None else self.true_class[rows]
        )

    def set_true_class(self, U: Array, values: Array) -> Array:
        """Write `values` (m,) into the entries r = y_i of U in place, and return U."""
        U[np.arange(U.shape[0]), self.true_class] = values
        return U

    def get_true_class(self, U: Array) -> Array:
        """Return the entries r = y_i of U, (m,)."""
        return np.asarray(U[np.arange(U.shape[0]), self.true_class])


class Loss(ABC):
    """Base class of losses: a convex function L of the margins rho (m, k), with its scale.

    rho and U are (m, k). U = -dL/drho lies in the dual domain of the loss. For every U in the
    domain ``dual_value(U)`` is -L*(-U), so weak duality holds as on the theory page.

    Attributes
    ----------
    name : str
        Value of the parameter `loss` of an estimator.
    smooth : bool
        False if L is not differentiable everywhere. The dual weights at an optimum then come from
        a solver, not from the gradient.
    additive : bool
        Whether L and D are sums over the rows, so that they can be evaluated for blocks of rows.
        A subclass that overrides one of the formulas must set it again.
    native : int or None
        Number of the loss in the compiled kernels, or None to evaluate it in NumPy. A subclass
        does not inherit it.
    margins : tuple of str
        Names of the margins for which the loss is defined.
    probability_scale : float or None
        Probabilities are softmax(probability_scale * F). If None, the scale is fitted.
    simplex : bool
        Whether the second derivative of a row is that of a soft maximum: with U_i = w_i p_i and
        rows p_i that sum to 1, d -> sharpness w_i p_ir (d_r - sum_l p_il d_l).
    sharpness : float
        The factor of this second derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.losses import LOSSES, SampleWeights
    >>> weights = SampleWeights.weighted(np.ones(2), 3, np.array([0, 1]))
    >>> rho = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    >>> loss = LOSSES["logistic"]()
    >>> U = loss.negative_gradient(rho, weights)
    >>> gap = loss.value(rho, weights) - loss.dual_value(U, weights)
    >>> bool(np.isclose(gap, -(U * rho).sum()))  # Fenchel and Young
    True
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    additive: ClassVar[bool] = False
    native: ClassVar[int | None] = None
    margins: ClassVar[tuple[str, ...]] = ("pairwise", "one-vs-all")
    probability_scale: ClassVar[float | None] = None
    simplex: ClassVar[bool] = False
    sharpness: float = 1.0

    @classmethod
    def is_built_in(cls) -> bool:
        """Return whether the class itself sets `native`, rather than a class it derives from."""
        return "native" in vars(cls)

    @classmethod
    def is_additive(cls) -> bool:
        """Return `additive`, or False if a formula was overridden after it was set."""
        owner = next(c for c in cls.__mro__ if "additive" in vars(c))
        unchanged = all(getattr(cls, name) is getattr(owner, name) for name in _FORMULAS)
        return cls.additive and unchanged

    @abstractmethod
    def value(self, rho: Array, weights: SampleWeights) -> float:
        """Return L(rho)."""

    @abstractmethod
    def negative_gradient(self, rho: Array, weights: SampleWeights) -> Array:
        """Return U = -dL/drho, (m, k); for a non-smooth loss a negative subgradient."""

    @abstractmethod
    def curvature(self, rho: Array, weights: SampleWeights) -> Array:
        """Return the diagonal of the second derivative of L, (m, k), or an upper bound of it."""

    @abstractmethod
    def dual_terms(self, U: Array, weights: SampleWeights) -> Array:
        """Return an array whose sum is the dual objective D(U)."""

    @abstractmethod
    def shrink(self, U: Array, tau: float, weights: SampleWeights) -> Array:
        """Return a point of the dual domain whose edges are tau times those of U."""

    @abstractmethod
    def constant(self, weights: SampleWeights) -> float:
        """Return P_const, the part of L that no W can reduce."""

    def start(self, weights: SampleWeights) -> Array:
        """Return U at W = 0, (m, k)."""
        return self.negative_gradient(np.zeros((weights.c.size, weights.k)), weights)

    def start_value(self, weights: SampleWeights) -> float:
        """Return L at W = 0."""
        return self.value(np.zeros((weights.c.size, weights.k)), weights)

    def dual_value(self, U: Array, weights: SampleWeights) -> float:
        """Return D(U), lowered by a bound on the rounding error of its evaluation.

        The error of a term is a few units in the last place of the term and of U. NumPy sums in
        pairs, so the error of the sum grows with the logarithm of the number of terms.
        """
        terms = self.dual_terms(U, weights)
        size = float(np.abs(terms).sum() + np.abs(U).sum())
        units = 16.0 + float(np.log2(max(terms.size, 2)))
        return float(terms.sum()) - _EPS * units * size
