"""The contract of a loss, and what a loss knows about the rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array, Ints

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def entropy(v: Array) -> Array:
    """Return v log v for v >= 0, which is 0 at 0."""
    out = np.log(np.maximum(v, _TINY))
    out *= v
    return out


@dataclass(frozen=True)
class SampleWeights:
    """Weights of the rows, as every loss uses them.

    Attributes
    ----------
    c : (m,) array
        ``c_i = s_i / (S k)`` for sample weights s_i > 0 with sum S; k times their sum is 1.
    k : int
        Number of classes.
    own : (m,) int array or None
        Pairwise margins: the class with rho = 0 in each row. One-vs-all: None.
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
        """The share s_i / S of every row, (m,)."""
        return self.c * self.k

    def take(self, rows: slice) -> "SampleWeights":
        """Return some of the rows, with the weights they have among all."""
        return SampleWeights(
            self.c[rows], self.k, None if self.true_class is None else self.true_class[rows]
        )

    def set_true_class(self, U: Array, values: Array) -> Array:
        """Write `values` (m,) into the entries r = y_i of U, in place."""
        U[np.arange(U.shape[0]), self.true_class] = values
        return U

    def get_own(self, U: Array) -> Array:
        """Return the entries r = y_i of U, (m,)."""
        return np.asarray(U[np.arange(U.shape[0]), self.true_class])


class Loss(ABC):
    """A convex function L of the margins rho (m, k), its scale included.

    Conventions: rho and U are (m, k); U = -dL/drho lies in the dual domain; for every such U
    ``dual_value(U)`` is -L*(-U), so weak duality holds as in the theory page.
    """

    name: ClassVar[str]
    #: False where L has kinks, so that only a solver can give the weights U at an optimum.
    smooth: ClassVar[bool] = True
    #: Whether L, U and D of some of the rows need no others: sums over rows, term by term.
    additive: ClassVar[bool] = False
    #: Number of the fused native pass, or None: NumPy serves.
    native: ClassVar[int | None] = None
    #: Names of the margins the loss is defined for.
    margins: ClassVar[tuple[str, ...]] = ("pairwise", "one-vs-all")
    #: Probabilities are softmax(temper * F); None: the temperature is fitted.
    probability_scale: ClassVar[float | None] = None
    #: Whether the second derivative of a row is that of a soft maximum: with U_i = w_i p_i and
    #: rows p_i that sum to 1, d -> sharpness w_i p_ir (d_r - sum_l p_il d_l).
    simplex: ClassVar[bool] = False
    sharpness: float = 1.0

    @classmethod
    def is_built_in(cls) -> bool:
        """Whether the class itself, not one it derives from, says which native pass serves it."""
        return "native" in vars(cls)

    @classmethod
    def is_additive(cls) -> bool:
        """Whether `additive` holds: it was said of the very formulas that serve."""
        said = next(c for c in cls.__mro__ if "additive" in vars(c))
        formulas = (
            *("value", "negative_gradient", "curvature", "dual_terms", "shrink", "start"),
            "dual_value",
        )
        same = all(getattr(cls, name) is getattr(said, name) for name in formulas)
        return cls.additive and same

    @abstractmethod
    def value(self, rho: Array, rows: SampleWeights) -> float:
        """Return L(rho)."""

    @abstractmethod
    def negative_gradient(self, rho: Array, rows: SampleWeights) -> Array:
        """Return U = -dL/drho, (m, k); for a loss with kinks one element of the set."""

    @abstractmethod
    def curvature(self, rho: Array, rows: SampleWeights) -> Array:
        """Return the diagonal of the second derivative of L, (m, k), or a bound from above."""

    @abstractmethod
    def dual_terms(self, U: Array, rows: SampleWeights) -> Array:
        """Return an array whose sum is the dual objective D(U)."""

    @abstractmethod
    def shrink(self, U: Array, tau: float, rows: SampleWeights) -> Array:
        """Return a point of the dual domain whose edges are tau times those of U."""

    @abstractmethod
    def constant(self, rows: SampleWeights) -> float:
        """Return P_const, the part of L that no W can reduce."""

    def smoothed(self, mu: float) -> "Loss | None":
        """Return a smooth loss whose weights lie in the dual domain of this one, or None.

        It tends to this loss as mu > 0 tends to 0.
        """
        return None

    def start(self, rows: SampleWeights) -> Array:
        """Return U at W = 0, (m, k)."""
        return self.negative_gradient(np.zeros((rows.c.size, rows.k)), rows)

    def start_value(self, rows: SampleWeights) -> float:
        """Return L at W = 0."""
        return self.value(np.zeros((rows.c.size, rows.k)), rows)

    def dual_value(self, U: Array, rows: SampleWeights) -> float:
        """Return D(U), lowered by a bound on the rounding error of its evaluation.

        Each term is good to a few units of its own size and of U; numpy adds pairwise, so the
        error of the sum grows with the logarithm of the number of terms.
        """
        terms = self.dual_terms(U, rows)
        size = float(np.abs(terms).sum() + np.abs(U).sum())
        units = 16.0 + float(np.log2(max(terms.size, 2)))
        return float(terms.sum()) - _EPS * units * size
