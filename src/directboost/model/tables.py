"""Look-up tables: the sum of stumps on one feature, and of products of stumps on two features."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints, Scores
from .learners import CategoryStump, Product, Stump


def codes_of(x: Scores, cuts: Array) -> Ints:
    """Return the number of the `cuts` (c,) below every value of x (m,), c + 1 for missing ones."""
    return np.asarray(
        np.where(np.isnan(x), cuts.size + 1, np.searchsorted(cuts, x.astype(np.float64)))
    )


def stump_tables(
    stumps: Sequence[Stump | CategoryStump], votes: Array
) -> tuple[Ints, list[Array], list[Array]]:
    """Return the features that stumps read, ascending, and thresholds and table of each.

    Below all thresholds the value of a table is minus the sum of all votes. A stump changes the
    sign of its vote at its threshold, a category stump just below its level and back just above.

    Parameters
    ----------
    stumps : n stumps
        The stumps.
    votes : (n, k) array
        Their weights, multiplied by their polarity.
    """
    changes: list[tuple[int, float, float]] = []  # stump, threshold, direction
    for i, h in enumerate(stumps):
        if isinstance(h, Stump):
            changes.append((i, h.threshold, 1.0))
        else:
            changes += [(i, h.level - 0.5, 1.0), (i, h.level + 0.5, -1.0)]
    which, threshold, sign = np.array(changes, dtype=np.float64).reshape(-1, 3).T
    stump = which.astype(np.int64)
    feature = np.array([h.feature for h in stumps], dtype=np.int32)
    right = np.array([isinstance(h, Stump) and h.missing_right for h in stumps], dtype=bool)
    missing = np.where(right[:, None], votes, -votes)
    order = np.argsort(feature, kind="stable")
    features, starts = np.unique(feature[order], return_index=True)
    thresholds, tables = [], []
    for own in np.split(order, starts[1:]) if len(stumps) else []:
        mine = np.isin(stump, own)
        cuts = np.unique(threshold[mine])
        finite = cuts[: cuts.size - int(np.isinf(cuts[-1]))]
        table = np.zeros((cuts.size + 2, votes.shape[1]))
        places = np.searchsorted(cuts, threshold[mine]) + 1
        np.add.at(table, places, 2.0 * sign[mine, None] * votes[stump[mine]])
        table[0] = -votes[own].sum(axis=0)
        table = np.cumsum(table, axis=0)[: finite.size + 2]
        table[-1] = missing[own].sum(axis=0)
        thresholds.append(finite)
        tables.append(table)
    return features, thresholds, tables


@dataclass(frozen=True, eq=False)
class PairTable:
    """Sum of the products of stumps on two features, as a table of their values.

    Attributes
    ----------
    features : (int, int)
    thresholds : pair of arrays
        Ascending thresholds of each feature, (c,) and (d,).
    values : (c + 2, d + 2, k) array
        Entry (i, j) is the contribution of values with i and j thresholds below them. The last
        row and column are those of missing values.
    """

    features: tuple[int, int]
    thresholds: tuple[Array, Array]
    values: Array


def by_pair(products: Sequence[Product]) -> dict[tuple[int, int], list[int]]:
    """Return the positions of the products of every pair of features; pairs are ascending."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, product in enumerate(products):
        found.setdefault(product.features, []).append(number)
    return dict(sorted(found.items()))


def pair_tables(products: Sequence[Product], weights: Array) -> list[PairTable]:
    """Return the sum of the products of every pair of features; pairs are ascending.

    Parameters
    ----------
    products : n products
        The products.
    weights : (n, k) array
        Their weights.
    """
    tables = []
    for pair, numbers in by_pair(products).items():
        own = [products[number] for number in numbers]
        first_cuts, first = responses_by_cell([h.first for h in own])
        second_cuts, second = responses_by_cell([h.second for h in own])
        values = np.einsum("na,nb,nr->abr", first, second, weights[numbers], optimize=True)
        tables.append(PairTable(pair, (first_cuts, second_cuts), values))
    return tables


def responses_by_cell(stumps: Sequence[Stump | CategoryStump]) -> tuple[Array, Array]:
    """Return the thresholds of stumps on one feature, and their responses between them.

    The responses are (n, c + 2) for c thresholds; the last column is that of missing values.
    """
    edges = [
        [h.threshold] if isinstance(h, Stump) else [h.level - 0.5, h.level + 0.5] for h in stumps
    ]
    cuts = np.unique(np.array([t for own in edges for t in own if np.isfinite(t)]))
    cells = np.arange(cuts.size + 2)
    responses = np.empty((len(stumps), cells.size))
    for i, (h, own) in enumerate(zip(stumps, edges, strict=True)):
        places = np.searchsorted(cuts, own)
        if isinstance(h, Stump):
            above = cells > places[0]
            above[-1] = h.missing_right
        else:
            above = (cells > places[0]) & (cells <= places[1])
            above[-1] = False
        responses[i] = np.where(above, h.polarity, -h.polarity)
    return cuts, responses
