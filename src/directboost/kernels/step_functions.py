"""Step functions of one feature, written as jumps or as a table; edges of the thresholds.

A jump is the signed coefficient of one threshold (or one category) for every class; see the
glossary. The table of a feature holds the scores that its jumps add up to at every code.
"""

import numpy as np

from ..arrays import Array, Bools, Ints
from .prox import row_norms

#: Kinds of features: ordered codes; ordered codes and a last one for missing; unordered codes; the
#: two codes of a product of stumps, which are ordered.
ORDERED, WITH_MISSING, CATEGORICAL, PRODUCT = range(4)


def n_thresholds(n_bins: int, kind: int) -> int:
    """Return the number of thresholds of a feature."""
    if n_bins < 2:
        return 0
    if kind == CATEGORICAL:
        return n_bins
    return n_bins - 1 + (n_bins - 2 if kind == WITH_MISSING else 0)


def count_thresholds(n_bins: Ints, kinds: Ints) -> Ints:
    """Return the number of thresholds of every feature, (n,)."""
    bins = n_bins.astype(np.int64)
    counts = bins - 1 + (bins - 2) * (kinds == WITH_MISSING) + (kinds == CATEGORICAL)
    return np.where(bins < 2, 0, counts)


def side(n_bins: int, kind: int, threshold: int) -> Bools:
    """Return the codes at which a threshold is +1, as a mask (n_bins,); it is -1 at the others.

    Threshold j < n_bins - 1 of ordered codes is +1 at codes > j. With a missing code, which is the
    last, threshold n_bins - 1 + b is +1 at present codes > b. Threshold j of a categorical feature
    is -1 at code j only.
    """
    codes, last = np.arange(n_bins), n_bins - 1
    if kind == CATEGORICAL:
        return np.asarray(codes != threshold)
    if threshold < last:
        return np.asarray(codes > threshold)
    return np.asarray((codes > threshold - last) & (codes < last))


def answers(n_bins: int, kind: int) -> Array:
    """Return the value of every threshold at every code, +1 or -1, (n_thresholds, n_bins)."""
    sides = [side(n_bins, kind, number) for number in range(n_thresholds(n_bins, kind))]
    return np.where(np.array(sides).reshape(-1, n_bins), 1.0, -1.0)


def apart(stacked: Array, ends: Ints) -> list[Array]:
    """Return views of consecutive parts of an array; they end before the rows `ends`."""
    places = ends.tolist()
    return [stacked[i:j] for i, j in zip([0, *places], places, strict=False)]


def rows_with_any(values: Array | Bools) -> Ints:
    """Return the rows of (n, k) values with a non-zero entry; fast where they are few."""
    rows = np.flatnonzero(values) // values.shape[1]
    first = np.ones(rows.size, dtype=bool)
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    return np.asarray(rows[first])


def live_jumps(jumps: Array) -> Bools:
    """Return which jumps are non-zero, (n_thresholds,)."""
    return np.asarray((jumps != 0.0).any(axis=1))


def jump_penalty(jumps: Array, p: float) -> float:
    """Return the sum over the jumps of ||v_+||_p + ||v_-||_p."""
    live = jumps[live_jumps(jumps)]
    if live.size == 0:
        return 0.0
    parts = (np.maximum(live, 0.0), np.maximum(-live, 0.0))
    return float(sum(row_norms(part, p).sum() for part in parts))


def tables_of(jumps: list[Array], n_bins: Ints, kinds: Ints) -> list[Array]:
    """Return the table of every feature; features with ordered codes are computed together."""
    tables = [np.empty(0)] * len(jumps)
    others = (kinds == WITH_MISSING) | (kinds == CATEGORICAL)
    for f in np.flatnonzero(others).tolist():
        tables[f] = table_of(jumps[f], int(n_bins[f]), int(kinds[f]))
    ordered = np.flatnonzero(~others)
    if ordered.size:
        n_bins, joined = n_bins[ordered], np.concatenate([jumps[f] for f in ordered.tolist()])
        sums = np.zeros((joined.shape[0] + 1, joined.shape[1]))
        np.cumsum(joined, axis=0, out=sums[1:])
        ends = np.cumsum(n_bins)
        shift = np.arange(n_bins.size)  # every feature has one bin more than it has jumps
        first, last = sums[ends - n_bins - shift], sums[ends - 1 - shift]
        rows = np.arange(int(ends[-1])) - np.repeat(shift, n_bins)
        table = 2.0 * sums[rows] - np.repeat(first + last, n_bins, axis=0)
        for f, size, end in zip(ordered.tolist(), n_bins.tolist(), ends.tolist(), strict=True):
            tables[f] = table[end - size : end]
    return tables


def table_of(jumps: Array, n_bins: int, kind: int) -> Array:
    """Return the table (n_bins, k) of a feature from its jumps (n_thresholds, k).

    g[t] = sum of the jumps that are +1 at code t minus the sum of those that are -1.
    """
    table = np.zeros((n_bins, jumps.shape[1]))
    if n_bins < 2:
        return table
    if kind == CATEGORICAL:
        return np.asarray(jumps.sum(axis=0) - 2.0 * jumps)
    missing = kind == WITH_MISSING
    present = n_bins - 1 if missing else n_bins
    right = jumps[: n_bins - 1]
    table[1:] = 2.0 * np.cumsum(right, axis=0)
    table -= right.sum(axis=0)
    if missing and n_bins > 2:
        left = jumps[n_bins - 1 :]
        table[1:present] += 2.0 * np.cumsum(left, axis=0)
        table -= left.sum(axis=0)
    return table


def edges_of(sums: Array, kind: int) -> Array:
    """Return the edges (n_thresholds, k) of a feature from sums over its bins (n_bins, k).

    The edges of a threshold are the sum over the bins where it is +1 minus the sum over the others:
    the total minus twice the latter.
    """
    n_bins = sums.shape[0]
    if n_bins < 2:
        return np.zeros((0, sums.shape[1]))
    total = sums.sum(axis=0)
    if kind == CATEGORICAL:
        return np.asarray(total - 2.0 * sums)
    prefix = np.cumsum(sums, axis=0)
    right = np.asarray(total - 2.0 * prefix[:-1])
    if kind != WITH_MISSING:
        return right
    return np.concatenate([right, total - 2.0 * (prefix[: n_bins - 2] + sums[-1])])
