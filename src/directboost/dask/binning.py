"""Summaries of the values of some rows that can be put together: quantiles in one pass.

A summary puts neighbouring values of a feature into groups and keeps of each group the largest
value and the weight. The weight of the groups that end at or below x is then at most the weight
of the rows with a value <= x. It falls short of it by at most total / most for every time that
values were put into groups: once in `sketch`, and once in every `merge_sketches` on the way from
the rows to the last summary. Where a feature has at most `most` distinct values there are no
groups of several, and nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, coded, rowless
from ..kernels import encode, find_cuts, ranges
from ..kernels.reference.binning import quantile_cuts
from ..kernels.structs import Cuts, code_dtype, midpoints, split

GROUPS_PER_BIN = 8
_LEAST_GROUPS = 2048
_ROOM = 1 << 22  # codes for which there is room at once


@dataclass(frozen=True)
class QuantileSketch:
    """What is kept of the values of d features on some rows; missing values have no weight.

    Attributes
    ----------
    values : list of d arrays
        Ascending; the largest value of every group, so the distinct values where it is exact.
    weights : list of d arrays
        Weight of every group.
    exact : (d,) bool array
        Whether every distinct value is a group of its own.
    missing : (d,) bool array
        Whether a row has no value.
    least : (d,) array
        The smallest value; infinity where no row has one.
    """

    values: list[Array]
    weights: list[Array]
    exact: Bools
    missing: Bools
    least: Array


def groups_for(max_bins: int | None) -> int | None:
    """Return how many groups to keep so that cuts into `max_bins` bins lie well; None for all."""
    return None if max_bins is None else max(GROUPS_PER_BIN * max_bins, _LEAST_GROUPS)


def sketch(X: Scores, weight: Array, most: int | None) -> QuantileSketch:
    """Return the summary of rows X (m, d), in any order in memory, with weights > 0.

    `most`, at least 2, is the largest number of groups of a feature; None keeps all values.
    """
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    step = max(_ROOM // max(X.shape[0], 1), 16)
    parts = [_of_columns(X[:, f : f + step], weight, most) for f in range(0, X.shape[1], step)]
    return QuantileSketch(
        [values for part in parts for values in part.values],
        [weights for part in parts for weights in part.weights],
        np.concatenate([part.exact for part in parts]),
        np.concatenate([part.missing for part in parts]),
        np.concatenate([part.least for part in parts]),
    )


def _of_columns(X: Scores, weight: Array, most: int | None) -> QuantileSketch:
    low, high, missing = ranges(X)
    cuts = find_cuts(X, None if (weight == 1.0).all() else weight, most)
    ends = split(cuts.before, cuts.counts)
    # Codes of groups, then one for missing values.
    codes = np.empty(X.shape[::-1], dtype=code_dtype(int(cuts.counts.max()) + 2))
    encode(X, ends, cuts.counts + 1, codes)
    present = (low <= high).astype(int)
    values = [np.append(e, h)[: e.size + n] for e, h, n in zip(ends, high, present, strict=True)]
    weights = [_sums(c, weight, v.size) for c, v in zip(codes, values, strict=True)]
    return QuantileSketch(values, weights, cuts.exact, missing, low)


def merge_sketches(parts: Sequence[QuantileSketch], most: int | None) -> QuantileSketch:
    """Return the summary of the rows of all parts, with at most so many groups of a feature.

    `most` is at least 2, or None. Sums are taken in the order of the parts.
    """
    features = range(parts[0].missing.size)
    merged = [_union([p.values[f] for p in parts], [p.weights[f] for p in parts]) for f in features]
    fits = np.array([most is None or values.size <= most for values, _ in merged], dtype=bool)
    kept = [
        groups if most is None or fit else _pruned(*groups, most)
        for groups, fit in zip(merged, fits, strict=True)
    ]
    return QuantileSketch(
        [values for values, _ in kept],
        [weights for _, weights in kept],
        fits & np.all([part.exact for part in parts], axis=0),
        np.any([part.missing for part in parts], axis=0),
        np.min([part.least for part in parts], axis=0),
    )


def _union(values: list[Array], weights: list[Array]) -> tuple[Array, Array]:
    """Return all values, each once, and the sums of their weights."""
    joined = np.concatenate(values)
    order = np.argsort(joined, kind="stable")  # merges runs that are in order, as all of them are
    joined = joined[order]
    first = np.append(True, joined[1:] != joined[:-1])[: joined.size]
    distinct = joined[first]
    return distinct, _sums(np.cumsum(first) - 1, np.concatenate(weights)[order], distinct.size)


def _sums(group: Ints, weight: Array, n: int) -> Array:
    """Return the weights of the first n groups, given the group of every row."""
    return np.bincount(group, weights=weight, minlength=n)[:n].astype(np.float64)


def _pruned(values: Array, weights: Array, most: int) -> tuple[Array, Array]:
    """Put more than `most` groups together to `most` of even weight, or fewer."""
    last = np.append(quantile_cuts(np.cumsum(weights), most), values.size - 1)
    first = np.append(0, last[:-1] + 1)
    return values[last], np.add.reduceat(weights, first)


__all__ = ["coded", "make_bins"]


def make_bins(
    sketch: QuantileSketch, max_bins: int | None, levels: Ints | None = None
) -> BinnedData:
    """Return the bins of all rows, without rows; `coded` gives them the codes of a part.

    They are those of `binning.bin_features` where the summary is exact. Where it is not, a
    threshold is the largest value of a group, and bins are as even as the groups allow.

    Parameters
    ----------
    sketch : QuantileSketch
    max_bins : int or None
        None cuts after every group.
    levels : (d,) int array, optional
        How many values, at most `max_bins`, a category has; 0 for a feature of numbers.
    """
    cuts = [_cuts(sketch, f, max_bins) for f in range(sketch.missing.size)]
    thresholds = [_thresholds(c, bool(e)) for c, e in zip(cuts, sketch.exact, strict=True)]
    return rowless(cuts, thresholds, None if levels is None else levels > 0)


def _cuts(sketch: QuantileSketch, feature: int, max_bins: int | None) -> Cuts:
    """Cut between the groups of a feature as if each were a row of its weight."""
    groups, own = sketch.values[feature][:, None], slice(feature, feature + 1)
    cuts = find_cuts(groups, sketch.weights[feature], max_bins)
    return replace(cuts, missing=sketch.missing[own], exact=cuts.exact & sketch.exact[own])


def _thresholds(cuts: Cuts, exact: bool) -> Array:
    """Return thresholds midway between values; after groups at their end, as rows lie above it."""
    return midpoints(cuts.before, cuts.after) if exact else cuts.before
