"""The contract of a margin: a linear map between scores and margins."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from .arrays import Array, Ints, Scores


class Margin(ABC):
    """Linear map rho = forward(F) from scores to margins, and its adjoint.

    Conventions: F, rho, U and A are (m, k). For every F and U the adjoint obeys
    ``sum(U * forward(F)) == sum(adjoint(U) * F)``, so the edges of a weak classifier h
    are ``h @ adjoint(U)``.

    Attributes
    ----------
    k : int
        Number of classes (columns of F).
    own : (m,) int array or None
        The class whose margin is identically zero in each row (pairwise), else None.
    """

    name: ClassVar[str]
    #: True where the classes do not meet in one margin, so that W splits by class.
    separable: ClassVar[bool]
    k: int
    true_class: Ints | None

    @classmethod
    @abstractmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Build the map from class codes 0..k-1, one per row."""

    @abstractmethod
    def take(self, rows: slice | Ints) -> Self:
        """Return the same map for some of the rows."""

    def split(self) -> "Sequence[Margin]":
        """Return the maps of one class each where they are separable, else the map itself."""
        return [self]

    @abstractmethod
    def forward(self, F: Array) -> Array:
        """Return the margins (m, k) of the scores F (m, k)."""

    @abstractmethod
    def adjoint(self, U: Scores) -> Scores:
        """Return the coefficients A (m, k) of the edges for the weights U (m, k)."""


class OneVsAll(Margin):
    """Margins rho_ir = t_ir F_ir with targets t_ir = +1 or -1.

    Paper: Eq. 63 (margins).
    Paper: Eq. 64 (coefficients of the edges).

    Parameters
    ----------
    targets : (m, k) array of +1 and -1
        For class labels +1 stands at r = y_i only; any +-1 matrix is allowed.
    """

    name: ClassVar[str] = "one-vs-all"
    separable: ClassVar[bool] = True

    def __init__(self, targets: Ints) -> None:
        self.targets = np.ascontiguousarray(targets, dtype=np.int8)
        self.k = int(self.targets.shape[1])
        self.true_class = None

    @classmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Build the map from class codes 0..k-1, one per row."""
        return cls(np.where(np.asarray(codes)[:, None] == np.arange(k), 1, -1))

    def take(self, rows: slice | Ints) -> Self:
        """Return the same map for some of the rows."""
        return type(self)(self.targets[rows])

    def split(self) -> Sequence[Margin]:
        """Return k maps, each of one class."""
        return [type(self)(self.targets[:, [r]]) for r in range(self.k)]

    def forward(self, F: Array) -> Array:
        """Return rho_ir = t_ir F_ir."""
        return self.targets * F

    def adjoint(self, U: Scores) -> Scores:
        """Return A_ir = t_ir U_ir."""
        return self.targets * U


class Pairwise(Margin):
    """Margins rho_ir = F_i,yi - F_ir; zero where r = y_i.

    Paper: Eq. 10 (margins).
    Paper: Eq. 14 (coefficients of the edges).
    """

    name: ClassVar[str] = "pairwise"
    separable: ClassVar[bool] = False

    def __init__(self, codes: Ints, k: int) -> None:
        self.true_class: Ints = np.ascontiguousarray(codes, dtype=np.int32)
        self.k = k

    @classmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Build the map from class codes 0..k-1, one per row."""
        return cls(codes, k)

    def take(self, rows: slice | Ints) -> Self:
        """Return the same map for some of the rows."""
        return type(self)(self.true_class[rows], self.k)

    def forward(self, F: Array) -> Array:
        """Return rho_ir = F_i,yi - F_ir."""
        return F[np.arange(self.true_class.size), self.true_class][:, None] - F

    def adjoint(self, U: Scores) -> Scores:
        """Return A_ir = [r = y_i] sum_l U_il - U_ir; every row sums to zero."""
        A, true_class = -U, (np.arange(self.true_class.size), self.true_class)
        A[true_class] = 0.0
        A[true_class] = -A.sum(axis=1)
        return A


MARGINS: dict[str, type[Margin]] = {c.name: c for c in (Pairwise, OneVsAll)}

__all__ = ["MARGINS", "Margin", "OneVsAll", "Pairwise"]
