"""The contract of an oracle: it prices the dictionary and proposes columns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ..arrays import Scores
from ..columns import Proposals
from ..penalties import Penalty


@dataclass(frozen=True)
class Pricing:
    """What an oracle found for coefficients A.

    Attributes
    ----------
    max_price : float
        The largest price ``||E(h)_+||_q / cost(h)`` over the whole dictionary, for an exact
        oracle; else over what it looked at.
    rounding : float
        A bound on the rounding error of `max_price`.
    proposals : Proposals
        Columns worth adding, best first.
    """

    max_price: float
    rounding: float
    proposals: Proposals


class Oracle(ABC):
    """Finds the columns that violate the dual constraints most.

    Attributes
    ----------
    dictionary : str
        The set of weak classifiers a certificate over this oracle speaks of.
    """

    dictionary: str

    @abstractmethod
    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price the dictionary for coefficients A (m, k).

        With the rule "exact" the proposals are ordered by their price, with "paper" by the
        largest edge of a single class; `max_price` is exact in both.
        """
