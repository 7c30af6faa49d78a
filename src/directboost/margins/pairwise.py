"""Pairwise margins: the true class against every class."""

from typing import ClassVar, Self

import numpy as np

from ..arrays import Array, Ints, Scores
from .base import Margin


class Pairwise(Margin):
    """Margins rho_ir = F_i,yi - F_ir; zero where r = y_i.

    Paper: Eq. 10 (margins).
    Paper: Eq. 14 (coefficients of the edges).
    """

    name: ClassVar[str] = "pairwise"
    separable: ClassVar[bool] = False

    def __init__(self, codes: Ints, k: int) -> None:
        self.own: Ints = np.ascontiguousarray(codes, dtype=np.int32)
        self.k = k

    @classmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Build the map from class codes 0..k-1, one per row."""
        return cls(codes, k)

    def take(self, rows: slice | Ints) -> Self:
        """Return the same map for some of the rows."""
        return type(self)(self.own[rows], self.k)

    def forward(self, F: Array) -> Array:
        """Return rho_ir = F_i,yi - F_ir."""
        return F[np.arange(self.own.size), self.own][:, None] - F

    def adjoint(self, U: Scores) -> Scores:
        """Return A_ir = [r = y_i] sum_l U_il - U_ir; every row sums to zero."""
        A, own = -U, (np.arange(self.own.size), self.own)
        A[own] = 0.0
        A[own] = -A.sum(axis=1)
        return A
