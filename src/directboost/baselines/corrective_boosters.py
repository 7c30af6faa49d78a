"""Binary problems with a smooth loss: every stump changes the weights of all."""

from abc import abstractmethod

import numpy as np

from ..arrays import Array
from ..history import Status
from .binary_boosters import BinaryBooster, kept
from .corrective_solvers import Loss, constrained, penalised


class CorrectiveBooster(BinaryBooster):
    """A binary problem with a smooth loss.

    Parameters
    ----------
    loss : callable
    v : (m,) array
    bound : float
        Of the edges, without stumps.
    """

    def __init__(self, loss: Loss, v: Array, bound: float) -> None:
        self._loss, self._v, self._bound = loss, v, bound
        self._M, self.weights = np.zeros((v.size, 0)), np.zeros(0)
        self.objective, self.u = loss(np.zeros(v.size), v)

    def refusal(self, column: Array, edge: float) -> Status | None:
        """Return that no stump exceeds the bound, or that one does which is there, or None."""
        if (column[:, None] == self._M).all(axis=0).any():
            return kept(edge, self._bound) or Status.NO_BETTER_COLUMN
        return kept(edge, self._bound)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve, from the last weights."""
        del edge
        self._M = np.column_stack([self._M, column])
        self.weights = self._solve()
        self.objective, self.u = self._loss(self._M @ self.weights, self._v)

    @abstractmethod
    def _solve(self) -> Array:
        """Return the best weights of all columns, (n,)."""


class Priced(CorrectiveBooster):
    """min loss(M w) + nu sum w."""

    def __init__(self, loss: Loss, v: Array, nu: float) -> None:
        super().__init__(loss, v, nu)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; what the weights cost is part of the objective."""
        super().add(column, edge)
        self.objective += self._bound * float(self.weights.sum())

    def _solve(self) -> Array:
        start = np.append(self.weights, 0.0)
        return penalised(self._loss, self._M, self._v, start, self._bound)


class OnSimplex(CorrectiveBooster):
    """min loss(M w) with sum w = radius."""

    def __init__(self, loss: Loss, v: Array, radius: float) -> None:
        super().__init__(loss, v, 0.0)
        self._radius = radius

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; the largest edge of a column is the new bound."""
        super().add(column, edge)
        self._bound = float((self.u @ self._M).max())

    def _solve(self) -> Array:
        start = np.append(self.weights, 0.0 if self.weights.size else self._radius)
        return constrained(self._loss, self._M, self._v, start, self._radius)
