"""The contract of a binary problem that grows stump by stump."""

from abc import ABC, abstractmethod

from ..arrays import Array
from ..history import Status

_SLACK = 1e-6  # by which an edge is to exceed the bound that all stumps so far keep


class BinaryBooster(ABC):
    """One binary problem: takes the stump of the largest edge, and says where to look next.

    A new stump may change the weights of those before it.

    Attributes
    ----------
    u : (m,) array
        Weights of the rows: the edge of a stump h is sum_i u_i y_i h(x_i).
    weights : (n,) array
        Of the stumps so far.
    objective : float
    status : Status or None
        Why the problem has ended.
    """

    u: Array
    weights: Array
    objective: float
    status: Status | None = None

    @abstractmethod
    def refusal(self, column: Array, edge: float) -> Status | None:
        """Return why the stump with column y_i h(x_i), (m,), is of no use, or None."""

    @abstractmethod
    def add(self, column: Array, edge: float) -> None:
        """Add the stump, and bring all attributes up to date."""


def kept(edge: float, bound: float) -> Status | None:
    """Return that column generation has converged if an edge keeps the bound, else None."""
    return Status.CONVERGED if edge <= bound + _SLACK else None
