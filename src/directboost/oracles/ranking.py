"""What oracles share: which prices are ties, who comes first, and how far rounding may reach."""

import numpy as np

from ..arrays import Array, Ints, Scores
from ..penalties import L1, Penalty
from ..problem.columns import Costs, Proposals
from .base import Pricing

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
