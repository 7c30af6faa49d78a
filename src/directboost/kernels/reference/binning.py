"""NumPy twins: cuts and codes of a matrix, sums by code, prices of stumps, and scores by code."""

import numpy as np

from ...arrays import Array, Bools, Ints, Scores
from ..step_functions import edges_of, jump_penalty
from ..structs import SPARSE_BLOCK_ROWS, Cuts, SparseCodes, codes_of, tie_width
from ..threads import Team


def list_codes(codes: Ints, most: int, team: Team | None = None) -> SparseCodes:
    """Return the sparse codes of the features with at most `most` rows off the most common code.

    `most` must be well below half the rows: the compiled kernel finds the most common code by a
    majority vote.
    """
    most_common = np.array([_most_common(row, most) for row in codes], dtype=np.int32)
    stored = [
        np.flatnonzero(row != code) if code >= 0 else np.empty(0, dtype=np.intp)
        for row, code in zip(codes, most_common, strict=True)
    ]
    blocks = -(-codes.shape[1] // SPARSE_BLOCK_ROWS)
    counts = [np.bincount(rows // SPARSE_BLOCK_ROWS, minlength=blocks) for rows in stored]
    in_block = [(rows % SPARSE_BLOCK_ROWS).astype(np.uint16) for rows in stored]
    others = [row[rows] for row, rows in zip(codes, stored, strict=True)]
    return SparseCodes(
        most_common=most_common,
        starts=np.cumsum(np.concatenate([[0], *counts]), dtype=np.int64),
        rows=np.concatenate([np.empty(0, dtype=np.uint16), *in_block]),
        codes=np.concatenate([np.empty(0, dtype=codes.dtype), *others]),
    )


def _most_common(row: Ints, most: int) -> int:
    """Return the most common code, or -1 if more than `most` rows have another one."""
    counts = np.bincount(row, minlength=1)
    return int(counts.argmax()) if row.size - int(counts.max()) <= most else -1


def histograms(
    codes: Ints,
    features: Ints,
    n_bins: Ints,
    A: Scores,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> Array:
    """Return the sums of the rows of A (m, k) per code of the given features, (all bins, k)."""
    sums = [
        _histogram(codes_of(codes, sparse, int(f)), int(n), A)
        for f, n in zip(features, n_bins, strict=True)
    ]
    return np.concatenate(sums) if sums else np.empty((0, A.shape[1]))


def _histogram(codes: Ints, n_bins: int, A: Scores) -> Array:
    return np.stack(
        [np.bincount(codes, weights=column, minlength=n_bins) for column in A.T], axis=1
    ).astype(np.float64)


def edges(codes: Ints, n_bins: int, kind: int, A: Scores) -> Array:
    """Return the edges (n_thresholds, k) of the stumps of positive polarity of one feature.

    The edges of a stump are the sum of A over the rows where it is +1 minus the sum over the rows
    where it is -1: the total minus twice the latter. See `step_functions.answers`.
    """
    return edges_of(_histogram(codes, n_bins, A), kind)


def dual_norm(E: Array, q: float) -> Array:
    """Return the q-norm of the positive part of every row, q = 1, 2 or infinity."""
    return np.asarray(np.linalg.norm(np.maximum(E, 0.0), ord=q, axis=1))


def price(
    codes: Ints,
    n_bins: Ints,
    kinds: Ints,
    A: Scores,
    q: float,
    costs: Array,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return for every feature the largest price, and the threshold and polarity that attain it.

    The price of a threshold is the q-norm of the positive part of its edges (of minus its edges for
    polarity -1) divided by the cost of the feature. Prices within 1e-12 relative (1e-6 for single
    precision) are ties: the first threshold wins, then polarity +1. Features without thresholds
    have price 0.
    """
    d, tie = n_bins.size, tie_width(A)
    best, threshold, polarity = np.zeros(d), np.zeros(d, np.int32), np.ones(d, np.int8)
    for f in range(d):
        E = edges(codes_of(codes, sparse, f), int(n_bins[f]), int(kinds[f]), A)
        if E.shape[0]:
            prices = np.stack([dual_norm(E, q), dual_norm(-E, q)], axis=1).ravel()
            first = int(np.argmax(prices >= prices.max() * (1.0 - tie)))
            best[f], threshold[f] = prices.max() / costs[f], first // 2
            polarity[f] = 1 if first % 2 == 0 else -1
    return best, threshold, polarity


def add_tables(
    codes: Ints,
    features: Ints,
    tables: list[Array],
    F: Scores,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> None:
    """Add to F (m, k), in place, the table row of every given feature at the row's code."""
    for feature, table in zip(features, tables, strict=True):
        F += table[codes_of(codes, sparse, int(feature))].astype(F.dtype)


def ranges(X: Scores, team: Team | None = None) -> tuple[Array, Array, Bools]:
    """Return the smallest and largest value of every column, and which have missing values.

    Columns without values have infinity as the smallest and minus infinity as the largest one.
    """
    gone = np.isnan(X)
    low = np.where(gone, np.inf, X).min(axis=0, initial=np.inf).astype(np.float64)
    high = np.where(gone, -np.inf, X).max(axis=0, initial=-np.inf).astype(np.float64)
    return low, high, np.asarray(gone.any(axis=0))


def find_cuts(
    X: Scores, weight: Array | None, max_bins: int | None, team: Team | None = None
) -> Cuts:
    """Return the thresholds of every column of X (m, d); weight None means all ones.

    Columns with at most `max_bins` distinct values (all columns if it is None) are cut between all
    neighbouring values, the others at weighted quantiles.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    found = [_cut_column(x, weight, X.shape[0] if max_bins is None else max_bins) for x in X.T]
    before, after, centre, exact = zip(*found, strict=True) if found else ((), (), (), ())
    return Cuts(
        counts=np.array([x.size for x in before], dtype=np.int32),
        before=np.concatenate([*before, np.empty(0)]),
        after=np.concatenate([*after, np.empty(0)]),
        missing=np.asarray(np.isnan(X).any(axis=0)),
        centre=np.array(centre, dtype=np.int64),
        exact=np.array(exact, dtype=np.bool_),
    )


def _cut_column(x: Scores, weight: Array, max_bins: int) -> tuple[Array, Array, int, bool]:
    present = ~np.isnan(x)
    values, inverse = np.unique(x[present].astype(np.float64), return_inverse=True)
    if values.size == 0:
        return np.empty(0), np.empty(0), 0, True
    mass: Array = np.cumsum(np.bincount(inverse, weights=weight[present]))
    exact = values.size <= max_bins
    after = np.arange(values.size - 1) if exact else quantile_cuts(mass, max_bins)
    median = np.searchsorted(mass, 0.5 * mass[-1] * (1.0 - 1e-12))  # see `quantile_cuts`
    return values[after], values[after + 1], int(np.searchsorted(after, median)), exact


def quantile_cuts(mass: Array, max_bins: int) -> Ints:
    """Return the indices of the values that precede the weighted quantiles.

    The small slack keeps a quantile that falls on a value at this value despite rounding.
    Quantiles on the largest value cut before it, so that a feature with most of its mass there
    keeps a threshold.
    """
    targets = mass[-1] * np.arange(1, max_bins) / max_bins
    cuts = np.searchsorted(mass, targets * (1.0 - 1e-12))
    return np.unique(np.minimum(cuts, mass.size - 2))


def encode(
    X: Scores, thresholds: list[Array], missing: Ints, codes: Ints, team: Team | None = None
) -> None:
    """Write into `codes` (d, m) the number of thresholds of the feature below every x.

    NaN gets the code `missing` of its feature.
    """
    for f, cuts in enumerate(thresholds):
        codes[f] = code_column(X[:, f], cuts, int(missing[f]))


def code_column(x: Scores, thresholds: Array, missing: int) -> Ints:
    """Return the number of thresholds below every x (m,), or `missing` for NaN."""
    below = np.searchsorted(thresholds, x.astype(np.float64), side="left")
    return np.where(np.isnan(x), missing, below)


def penalty(start: Array, end: Array, step: float, first: Ints, nu: Array, p: float) -> float:
    """Return the penalty of the stacked jumps start + step (end - start), (all jumps, k).

    The jumps of feature w lie from first[w] to first[w + 1] and cost nu[w] times the norms of
    their positive and negative parts.
    """
    jumps = end if step == 1.0 else start + step * (end - start)
    bounds = zip(nu, first[:-1], first[1:], strict=True)
    return float(sum(n * jump_penalty(jumps[a:b], p) for n, a, b in bounds))
