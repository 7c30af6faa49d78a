"""One-vs-all margins: the paper's fast form, and the form of multi-label targets."""

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from ..arrays import Array, Ints, Scores
from .base import Margin


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
        self.own = None

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
