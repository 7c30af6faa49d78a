"""NumPy twin of the pricing of pairs: products of two stumps on different features."""

import numpy as np

from ...arrays import Array, Ints, Scores
from ..step_functions import answers
from ..structs import tie_width
from ..threads import Team
from .binning import dual_norm


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
    team: Team | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return for every pair of features the largest price, and the product that attains it.

    The price of a product is the q-norm of the positive part of its edges (of minus its edges for
    polarity -1) divided by the cost of the pair. Prices within 1e-12 relative (1e-6 for single
    precision) are ties: the first threshold of the first feature wins, then of the second feature,
    then polarity +1.

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

    Returns
    -------
    price : (p,) array
    thresholds : (p, 2) int32 array
    polarity : (p,) int8 array
    """
    count, tie = pairs.shape[0], tie_width(A)
    best, thresholds = np.zeros(count), np.zeros((count, 2), np.int32)
    polarity = np.ones(count, np.int8)
    for i, (a, b) in enumerate(pairs.tolist()):
        both = [a, b]
        E = edges_of_pair(
            codes[:, a], codes[:, b], n_bins[both], kinds[both], n_thresholds[both], A
        )
        E = E.reshape(-1, A.shape[1])
        prices = np.stack([dual_norm(E, q), dual_norm(-E, q)], axis=1).ravel()
        first = int(np.argmax(prices >= prices.max() * (1.0 - tie)))
        best[i], polarity[i] = prices.max() / costs[i], 1 if first % 2 == 0 else -1
        thresholds[i] = divmod(first // 2, int(n_thresholds[b]))
    return best, thresholds, polarity
