"""NumPy twin of the pricing of pairs: products of two stumps on different features."""

import numpy as np

from ...arrays import Array, Ints, Scores
from ..step_functions import answers
from ..structs import tie_width
from ..threads import Team
from .binning import dual_norm

_NEAR = 0.8  # share of the best price that further products of a pair have at least


def edges_of_pair(
    one: Ints, other: Ints, n_bins: Ints, kinds: Ints, n_thresholds: Ints, A: Scores
) -> Array:
    """Return the edges of all products of a stump on one feature and a stump on another.

    Parameters
    ----------
    one, other : (m,) int arrays
        Codes of the two features.
    n_bins, kinds, n_thresholds : (2,) int arrays
        Number of codes, their kind, and the number of thresholds of both features.
    A : (m, k) array
        Coefficients of the edges.

    Returns
    -------
    (thresholds, thresholds, k) array
    """
    size = int(n_bins[0] * n_bins[1])
    cell = one.astype(np.int64) * int(n_bins[1]) + other
    sums = np.stack([np.bincount(cell, weights=a, minlength=size) for a in A.T], axis=1)
    first, second = (
        answers(int(bins), int(kind))[: int(count)]
        for bins, kind, count in zip(n_bins, kinds, n_thresholds, strict=True)
    )
    table = sums.reshape(int(n_bins[0]), int(n_bins[1]), A.shape[1])
    return np.asarray(np.einsum("sa,abk,tb->stk", first, table, second, optimize=True))


def price_pairs(
    codes: Ints,
    n_bins: Ints,
    kinds: Ints,
    n_thresholds: Ints,
    pairs: Ints,
    A: Scores,
    q: float,
    costs: Array,
    most: int,
    team: Team | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return for every pair of features its best products, at most `most`, with their prices.

    The price of a product is the q-norm of the positive part of its edges (of minus its edges for
    polarity -1) divided by the cost of the pair. The first product is the best one. Prices within
    1e-12 relative (1e-6 for single precision) of it are ties: the first threshold of the first
    feature wins, then of the second feature, then polarity +1. The others are, by descending price,
    the best products of further thresholds of the first feature: those that are no worse than the
    best of the two neighbouring thresholds, and have at least 0.8 of the best price. They have the
    same rule for ties, also between neighbours; in a chain of near ties, the kernel may choose a
    later threshold.

    Parameters
    ----------
    codes : (m, n) uint8 array
    n_bins, n_thresholds : (n,) int32 arrays
        The first `n_thresholds` thresholds of a feature take part; the others do not exist.
    kinds : (n,) uint8 array
    pairs : (p, 2) int32 array
        Features of every pair, ordered by the first one.
    A : (m, k) array
    q : float
        1, 2 or infinity.
    costs : (p,) array
    most : int

    Returns
    -------
    price : (p, most) array
        Zero where a pair has fewer products.
    thresholds : (p, most, 2) int32 array
    polarity : (p, most) int8 array
    """
    count, tie = pairs.shape[0], tie_width(A)
    price, thresholds = np.zeros((count, most)), np.zeros((count, most, 2), np.int32)
    polarity = np.ones((count, most), np.int8)
    for i, (a, b) in enumerate(pairs.tolist()):
        both = [a, b]
        E = edges_of_pair(
            codes[:, a], codes[:, b], n_bins[both], kinds[both], n_thresholds[both], A
        )
        rows = E.reshape(-1, A.shape[1])
        prices = np.stack([dual_norm(rows, q), dual_norm(-rows, q)], axis=1)
        found = best_products(prices.reshape(*E.shape[:2], 2), tie, most)
        price[i], thresholds[i], polarity[i] = found[0] / costs[i], found[1], found[2]
    return price, thresholds, polarity


def best_products(prices: Array, tie: float, most: int) -> tuple[Array, Ints, Ints]:
    """Return the products that `price_pairs` selects from the prices of one pair at cost 1.

    Parameters
    ----------
    prices : (s, t, 2) array
        Prices by the threshold of the first and of the second feature, for polarity +1 and -1.
    tie : float
        Relative width of a tie.
    most : int

    Returns
    -------
    price : (most,) array
    thresholds : (most, 2) int array
    polarity : (most,) int array
    """
    rows = prices.reshape(prices.shape[0], -1)
    top = rows.max()
    first = int(np.argmax(rows >= top * (1.0 - tie)))
    places, values = [first], [top]
    own = rows.max(axis=1)
    before, after = np.append(0.0, own[:-1]), np.append(own[1:], 0.0)
    peak = (own > before * (1.0 + tie)) & (after <= own * (1.0 + tie)) & (own >= _NEAR * top)
    left = np.where(peak, own, 0.0)
    left[first // rows.shape[1]] = 0.0
    while len(values) < most and left.any():
        row = int(np.argmax(left >= left.max() * (1.0 - tie)))
        places.append(row * rows.shape[1] + int(np.argmax(rows[row] >= own[row] * (1.0 - tie))))
        values.append(left[row])
        left[row] = 0.0
    price, place = np.zeros(most), np.zeros(most, dtype=np.int64)
    price[: len(values)], place[: len(places)] = values, places
    thresholds = np.column_stack(np.divmod(place // 2, prices.shape[1]))
    return price, thresholds, 1 - 2 * (place % 2)
