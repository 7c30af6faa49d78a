"""What oracles share: which prices are ties, who comes first, and how far rounding may reach."""

import numpy as np

from ..arrays import Array, Ints, Scores
from ..columns import Costs, Proposals
from ..penalties import L1, Penalty
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


def rounding_of(A: Scores, penalty: Penalty, terms: int, least_cost: float) -> float:
    """Bound the error of a price whose edges, of responses in [-1, 1], are sums of `terms`.

    In single precision, of which no proof is made, it is 0. A unit is twice the error of one
    addition.
    """
    if A.dtype != np.float64:
        return 0.0
    blocks = range(0, A.shape[0], _BLOCK)
    sums = sum(np.abs(A[first : first + _BLOCK]).sum(axis=0) for first in blocks)
    size = float(penalty.dual_norm(np.asarray(sums)[None, :])[0]) / least_cost
    return float((terms + A.shape[1]) * np.finfo(np.float64).eps * size)


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
