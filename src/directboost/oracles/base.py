"""The contract of an oracle: it prices the dictionary and proposes columns."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores, is_sparse, sparse_ranges
from ..data.binning import ColumnWeights
from ..kernels import ranges
from ..kernels.threads import Team
from ..model.learners import WeakClassifier
from ..penalties import L1, Penalty
from ..problem.columns import ColumnSource, Costs, Proposals


@dataclass(frozen=True)
class Pricing:
    """What an oracle found for coefficients A.

    Attributes
    ----------
    max_price : float
        The largest price ``||E(h)_+||_q / cost(h)`` over the whole dictionary.
    rounding : float
        A bound on the rounding error of `max_price`.
    proposals : Proposals
        Columns worth adding, best first.
    complete : bool
        Whether the whole dictionary has been priced. Where it has not, `max_price` is infinite,
        and pricing the same coefficients again goes on with the rest.
    """

    max_price: float
    rounding: float
    proposals: Proposals
    complete: bool = True


@dataclass(frozen=True)
class OracleData:
    """What an oracle gets to know of a fit: the rows, but no labels.

    Attributes
    ----------
    X : (m, d) array or csc_array
        Without infinite values; NaN is a missing value. Sparse only for an oracle that
        `takes_sparse`.
    weight : (m,) array, > 0
        Weights of the rows over the largest one.
    total_weight : float
        Sum of the weights as they were given.
    costs : (d + 1,) array
        Cost of every feature, and of the constant at the end.
    max_bins : int or None
        The parameter of the estimator.
    random_state : int, RandomState or None
        The parameter of the estimator.
    team : Team or None
        Threads for the kernels.
    levels : (d,) int array or None
        Number of levels of every category, whose values in X are numbers from 0 on; 0 for other
        features.
    signs : (d + 1, k) int8 array or None
        +1 where a rule that holds for large values may only speak for a class, -1 where only
        against it, 0 where both are allowed.
    """

    X: Numbers
    weight: Array
    total_weight: float
    costs: Array
    max_bins: int | None = None
    random_state: Any = None
    team: Team | None = None
    levels: Ints | None = None
    signs: Ints | None = None


def column_ranges(data: OracleData) -> tuple[Array, Array, Bools]:
    """Return smallest and largest value of every column, and which have missing values, (d,).

    Columns without a value have infinity as smallest and minus infinity as largest one.
    """
    return sparse_ranges(data.X) if is_sparse(data.X) else ranges(data.X, data.team)


class Oracle(ABC):
    """Finds the columns that violate the dual constraints most.

    An estimator leaves the oracle it is given as it is and works with a copy, on which it calls
    `start` first.

    Attributes
    ----------
    dictionary : str
        The set of weak classifiers a certificate over this oracle speaks of.
    source : ColumnSource
        Responses and weak classifiers by the names, three numbers, of proposals.
    costs : sequence of float
        Penalty weight of a column, by the first number of its name.
    missing : (d,) bool array
        Which features have missing values.
    """

    dictionary: str
    source: ColumnSource
    costs: Costs
    missing: Bools
    #: Whether the columns are jumps on codes, so that block descent can work on whole features.
    whole_features: ClassVar[bool] = False
    #: Whether the dictionary is what a search has found so far: a lower bound then holds for the
    #: columns of its round, and no longer when there are more.
    grows: ClassVar[bool] = False
    #: Whether the weak classifiers have an answer to missing values.
    takes_missing: ClassVar[bool] = True
    #: Whether X may be sparse, in `start` and for the weak classifiers it finds.
    takes_sparse: bool = False
    #: The signs that weights must keep, as `OracleData` has them, or None.
    signs: Ints | None = None

    def on(self, data: OracleData) -> "Oracle":
        """Return a copy of the oracle at work on these rows."""
        oracle = copy(self)
        oracle.missing = column_ranges(data)[2]
        oracle.start(data)
        return oracle

    @abstractmethod
    def start(self, data: OracleData) -> None:
        """Learn the training rows of a fit; set `source` and `costs`."""

    @abstractmethod
    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price the dictionary for coefficients A (m, k).

        With the rule "exact" the proposals are ordered by their price, with "paper" by the
        largest edge of a single class; `max_price` is exact in both.
        """

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the dictionary as it is, without a search for more, for the final proof."""
        return self.price(A, penalty)

    def traffic(self) -> int:
        """Return the bytes that have travelled since the last call, where rows are elsewhere."""
        return 0

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return what it knows of an earlier model, weak classifiers with weights (n, k)."""
        return ColumnWeights(np.empty((0, 3), dtype=np.int64), np.empty((0, rows.shape[1])))


_BLOCK = 4096  # rows that are summed together, so that they stay in the cache


def tie_width(A: Scores) -> float:
    """Return the relative difference up to which prices at coefficients A are equal."""
    return 1e-12 if A.dtype == np.float64 else 1e-6


def ranking(prices: Array, tie: float) -> Ints:
    """Order places by price; runs of prices within the tie width go by place."""
    falling = np.argsort(-prices, kind="stable")
    ordered = prices[falling]
    starts = np.append(True, ordered[1:] < ordered[:-1] * (1.0 - tie))
    return falling[np.lexsort((falling, np.cumsum(starts)))]


def best_by_edges(
    E: Array, signs: Ints | None, penalty: Penalty, tie: float
) -> tuple[float, int, int]:
    """Return the best price at cost 1 among jumps with edges E (n, k), its jump and polarity.

    Weights keep the `signs` (k,), where there are some; within the tie width the first jump counts.
    """
    if not E.shape[0]:
        return 0.0, 0, 1
    plus, minus = E, -E
    if signs is not None:
        plus, minus = np.where(signs < 0, 0.0, plus), np.where(signs > 0, 0.0, minus)
    both = np.stack([penalty.dual_norm(plus), penalty.dual_norm(minus)], axis=1).ravel()
    first = int(np.argmax(both >= both.max() * (1.0 - tie)))
    return float(both.max()), first // 2, 1 if first % 2 == 0 else -1


def rounding_of(A: Scores, penalty: Penalty, terms: int, least_cost: float) -> float:
    """Bound the error of a price whose edges, of responses in [-1, 1], are sums of `terms`.

    In single precision, of which no proof is made, it is 0. A unit is twice the error of one
    addition.
    """
    if A.dtype != np.float64:
        return 0.0
    blocks = range(0, A.shape[0], _BLOCK)
    sums = sum(np.abs(A[first : first + _BLOCK]).sum(axis=0) for first in blocks)
    return rounding_of_sums(np.asarray(sums), penalty, terms, least_cost)


def rounding_of_sums(sizes: Array, penalty: Penalty, terms: int, least_cost: float) -> float:
    """Return `rounding_of` coefficients whose sizes |A| add up to `sizes` (k,)."""
    size = float(penalty.dual_norm(sizes[None, :])[0]) / least_cost
    return float((terms + sizes.size) * np.finfo(np.float64).eps * size)


def price_both_signs(
    E: Array, costs: Costs, A: Scores, penalty: Penalty, rule: str = "exact"
) -> Pricing:
    """Price columns with edges E (n, k), at coefficients A (m, k), and their opposites.

    The names of the proposals are (place in E, 0, +1 or -1).
    """
    kappa = np.asarray(costs, dtype=np.float64)
    prices = _both(E, kappa, penalty)
    top = float(prices.max(initial=0.0))
    if rule == "paper":
        prices = _both(E, kappa, L1())
    order = ranking(prices, tie_width(A))
    place, polarity = order // 2, 1 - 2 * (order % 2)
    proposals = Proposals(place, np.zeros_like(place), polarity, prices[order])
    return Pricing(top, rounding_of(A, penalty, A.shape[0] + 8, float(kappa.min())), proposals)


def _both(E: Array, costs: Array, penalty: Penalty) -> Array:
    """Return the prices of every column and its opposite, in turn, (2 n,)."""
    both = np.stack([penalty.dual_norm(E), penalty.dual_norm(-E)], axis=1)
    return np.asarray(both / costs[:, None]).ravel()
