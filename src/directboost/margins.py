"""Margins: linear maps from scores to margins, with their adjoints."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from .arrays import Array, Ints, Scores

__all__ = ["MARGINS", "Margin", "OneVsAll", "Pairwise"]


class Margin(ABC):
    """Base class of margins: a linear map rho = forward(F) from scores to margins, and its adjoint.

    F, rho, U and A are (m, k). For all F and U the adjoint satisfies
    ``sum(U * forward(F)) == sum(adjoint(U) * F)``. Hence the edges of a weak classifier with
    responses h (m,) are ``h @ adjoint(U)``.

    Attributes
    ----------
    name : str
        Value of the parameter `margin` of an estimator.
    separable : bool
        Whether each margin depends on the score of one class only. The problem then splits into
        one problem per class.
    k : int
        Number of classes, the columns of F.
    true_class : (m,) int array or None
        For pairwise margins the true class of each row, whose margin is always zero; else None.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.margins import MARGINS
    >>> F = np.array([[2.0, 0.5, 0.0]])
    >>> for name, margin in MARGINS.items():
    ...     print(name, margin.from_codes(np.array([0]), 3).forward(F))
    pairwise [[0.  1.5 2. ]]
    one-vs-all [[ 2.  -0.5 -0. ]]
    """

    name: ClassVar[str]
    separable: ClassVar[bool]
    k: int
    true_class: Ints | None

    @classmethod
    @abstractmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Create the map from class codes 0..k-1, one per row."""

    @abstractmethod
    def take(self, rows: slice | Ints) -> Self:
        """Return the map restricted to some of the rows."""

    def split(self) -> "Sequence[Margin]":
        """Return one map per class if the margin is separable, else the map itself in a list."""
        return [self]

    @abstractmethod
    def forward(self, F: Array) -> Array:
        """Return the margins (m, k) of the scores F (m, k)."""

    @abstractmethod
    def adjoint(self, U: Scores) -> Scores:
        """Return the edge coefficients A (m, k) of the dual weights U (m, k)."""


class Pairwise(Margin):
    """Score of the true class minus the score of each class: rho_ir = F_i,yi - F_ir.

    The margin is zero where r = y_i.

    Paper: Eq. 10 (margins).
    Paper: Eq. 14 (coefficients of the edges).

    Parameters
    ----------
    codes : (m,) int array
        True classes, coded 0..k-1.
    k : int
        Number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.margins import Pairwise
    >>> margin = Pairwise(np.array([0, 2]), 3)
    >>> margin.forward(np.array([[2.0, 0.5, 0.0], [1.0, 0.0, 1.5]]))
    array([[0. , 1.5, 2. ],
           [0.5, 1.5, 0. ]])
    """

    name: ClassVar[str] = "pairwise"
    separable: ClassVar[bool] = False

    def __init__(self, codes: Ints, k: int) -> None:
        self.true_class: Ints = np.ascontiguousarray(codes, dtype=np.int32)
        self.k = k

    @classmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Create the map from class codes 0..k-1, one per row."""
        return cls(codes, k)

    def take(self, rows: slice | Ints) -> Self:
        """Return the map restricted to some of the rows."""
        return type(self)(self.true_class[rows], self.k)

    def forward(self, F: Array) -> Array:
        """Return rho_ir = F_i,yi - F_ir."""
        return F[np.arange(self.true_class.size), self.true_class][:, None] - F

    def adjoint(self, U: Scores) -> Scores:
        """Return A_ir = [r = y_i] sum_l U_il - U_ir; every row sums to zero."""
        A, at_true_class = -U, (np.arange(self.true_class.size), self.true_class)
        A[at_true_class] = 0.0
        A[at_true_class] = -A.sum(axis=1)
        return A


class OneVsAll(Margin):
    """Score of each class with the sign of its target: rho_ir = t_ir F_ir, t_ir = +1 or -1.

    Paper: Eq. 63 (margins).
    Paper: Eq. 64 (coefficients of the edges).

    Parameters
    ----------
    targets : (m, k) array of +1 and -1
        With one class per row, t_ir = +1 for r = y_i only. With several labels per row, any matrix
        of +1 and -1 is valid.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.margins import OneVsAll
    >>> margin = OneVsAll(np.array([[1, -1, -1], [-1, 1, 1]]))
    >>> margin.forward(np.array([[2.0, 0.5, 0.0], [1.0, 0.0, 1.5]]))
    array([[ 2. , -0.5, -0. ],
           [-1. ,  0. ,  1.5]])
    """

    name: ClassVar[str] = "one-vs-all"
    separable: ClassVar[bool] = True

    def __init__(self, targets: Ints) -> None:
        self.targets = np.ascontiguousarray(targets, dtype=np.int8)
        self.k = int(self.targets.shape[1])
        self.true_class = None

    @classmethod
    def from_codes(cls, codes: Ints, k: int) -> Self:
        """Create the map from class codes 0..k-1, one per row."""
        return cls(np.where(np.asarray(codes)[:, None] == np.arange(k), 1, -1))

    def take(self, rows: slice | Ints) -> Self:
        """Return the map restricted to some of the rows."""
        return type(self)(self.targets[rows])

    def split(self) -> Sequence[Margin]:
        """Return k maps, one per class."""
        return [type(self)(self.targets[:, [r]]) for r in range(self.k)]

    def forward(self, F: Array) -> Array:
        """Return rho_ir = t_ir F_ir."""
        return self.targets * F

    def adjoint(self, U: Scores) -> Scores:
        """Return A_ir = t_ir U_ir."""
        return self.targets * U


#: Margins by the value of the parameter `margin`.
MARGINS: dict[str, type[Margin]] = {c.name: c for c in (Pairwise, OneVsAll)}
