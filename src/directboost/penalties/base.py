"""The contract of a penalty: a norm of each row of W >= 0."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..arrays import Array


class Penalty(ABC):
    """Omega(W) = sum_j cost_j N(W_j:) for a norm N of the rows of W >= 0.

    Conventions: W, V and E are (n, k); `costs` and `step` are (n,) or scalars. The dual norm of
    a row of edges, divided by the cost of its column, is the price of that column.
    """

    name: ClassVar[str]
    #: The p of an l1,p penalty, or None for a norm outside that family.
    p: float | None = None

    @abstractmethod
    def norms(self, W: Array) -> Array:
        """Return N(W_j:) for every row of W >= 0, (n,)."""

    @abstractmethod
    def prox(self, V: Array, step: Array | float) -> Array:
        """Return argmin over W >= 0 of sum_j step_j N(W_j:) + ||W - V||^2 / 2, (n, k)."""

    @abstractmethod
    def dual_norm(self, E: Array) -> Array:
        """Return max of <E_j:, w> over w >= 0 with N(w) <= 1, for every row, (n,)."""

    def value(self, W: Array, costs: Array | float = 1.0) -> float:
        """Return sum_j cost_j N(W_j:)."""
        return float(np.sum(costs * self.norms(W)))
