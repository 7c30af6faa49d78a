"""The contract of a margin: a linear map between scores and margins."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from ..arrays import Array, Ints, Scores


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
    own: Ints | None

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
