"""Bins of all rows from quantile sketches of their parts, in one pass over the data.

A sketch puts neighbouring values of a feature into groups and keeps the largest value and the
weight of each group. The weight of the groups that end at or below x is then at most the weight
of the rows with a value <= x. The difference is at most total / max_groups for every time that
values were grouped: once in `sketch`, and once in every `merge_sketches` on the way from the rows
to the final sketch. If a feature has at most `max_groups` distinct values, every group is one
value, and the sketch is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, rowless
from ..kernels import encode, find_cuts, ranges
from ..kernels.reference.binning import quantile_cuts
from ..kernels.step_functions import apart
from ..kernels.structs import code_dtype, midpoints

GROUPS_PER_BIN = 8
_MIN_GROUPS = 2048
_BUFFER_CODES = 1 << 22  # largest number of codes in memory at a time


@dataclass(frozen=True)
class QuantileSketch:
    """Summary of the values of d features on some rows, without missing values.

    Attributes
    ----------
    values : list of d arrays
        The largest value of every group, ascending; all distinct values if the sketch is exact.
    weights : list of d arrays
        Weight of every group.
    exact : (d,) bool array
        Whether every distinct value is a group of its own.
    missing : (d,) bool array
        Whether a row has a missing value.
    least : (d,) array
        The smallest value; infinity if all values are missing.
    """

    values: list[Array]
    weights: list[Array]
    exact: Bools
    missing: Bools
    least: Array


def groups_for(max_bins: int | None) -> int | None:
    """Return the number of groups of a sketch for `max_bins` bins; None keeps all values."""
    return None if max_bins is None else max(GROUPS_PER_BIN * max_bins, _MIN_GROUPS)


def sketch(X: Scores, weight: Array, max_groups: int | None) -> QuantileSketch:
    """Return the sketch of rows X (m, d), in any memory order, with weights > 0.

    `max_groups`, at least 2, is the largest number of groups of a feature; None keeps all values.
    """
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    step = max(_BUFFER_CODES // max(X.shape[0], 1), 16)
    equal = None if (weight == 1.0).all() else weight
    values, weights, exact, missing, least = [], [], [], [], []
    for first in range(0, X.shape[1], step):
        part = X[:, first : first + step]
        low, high, gaps = ranges(part)
        cuts = find_cuts(part, equal, max_groups)
        ends = apart(cuts.before, np.cumsum(cuts.counts))
        # Codes of groups, then one for missing values.
        codes = np.empty(part.shape[::-1], dtype=code_dtype(int(cuts.counts.max()) + 2))
        encode(part, ends, cuts.counts + 1, codes)
        present = (low <= high).astype(int)
        groups = [
            np.append(e, h)[: e.size + n] for e, h, n in zip(ends, high, present, strict=True)
        ]
        values += groups
        weights += [_group_weights(c, weight, g.size) for c, g in zip(codes, groups, strict=True)]
        exact.append(cuts.exact)
        missing.append(gaps)
        least.append(low)
    return QuantileSketch(
        values=values,
        weights=weights,
        exact=np.concatenate(exact),
        missing=np.concatenate(missing),
        least=np.concatenate(least),
    )


def merge_sketches(parts: Sequence[QuantileSketch], max_groups: int | None) -> QuantileSketch:
    """Return the sketch of the rows of all parts, with at most `max_groups` groups of a feature.

    `max_groups` is at least 2, or None. Weights are added in the order of the parts.
    """
    values, weights, fits = [], [], []
    for f in range(parts[0].missing.size):
        joined = np.concatenate([part.values[f] for part in parts])
        order = np.argsort(joined, kind="stable")  # fast, since every part is sorted
        joined = joined[order]
        first = np.append(True, joined[1:] != joined[:-1])[: joined.size]
        distinct = joined[first]
        weight = np.concatenate([part.weights[f] for part in parts])[order]
        weight = _group_weights(np.cumsum(first) - 1, weight, distinct.size)
        fits.append(max_groups is None or distinct.size <= max_groups)
        if max_groups is not None and distinct.size > max_groups:
            # Merge neighbouring groups to at most `max_groups` of about equal weight.
            last = np.append(quantile_cuts(np.cumsum(weight), max_groups), distinct.size - 1)
            weight = np.add.reduceat(weight, np.append(0, last[:-1] + 1))
            distinct = distinct[last]
        values.append(distinct)
        weights.append(weight)
    return QuantileSketch(
        values=values,
        weights=weights,
        exact=np.array(fits, dtype=bool) & np.all([part.exact for part in parts], axis=0),
        missing=np.any([part.missing for part in parts], axis=0),
        least=np.min([part.least for part in parts], axis=0),
    )


def _group_weights(group: Ints, weight: Array, n: int) -> Array:
    """Return the weights of the first n groups, given the group of every row."""
    return np.bincount(group, weights=weight, minlength=n)[:n].astype(np.float64)


def make_bins(
    sketch: QuantileSketch, max_bins: int | None, levels: Ints | None = None
) -> BinnedData:
    """Return the bins of all rows, without rows; `coded` adds the codes of a part.

    If the sketch is exact, they are those of `binning.bin_features`. Otherwise a threshold is the
    largest value of a group, and the bins are as even as the groups allow.

    Parameters
    ----------
    sketch : QuantileSketch
    max_bins : int or None
        None makes a bin of every group.
    levels : (d,) int array, optional
        Number of values, at most `max_bins`, of a categorical feature; 0 for a numeric one.
    """
    cuts, thresholds = [], []
    for f in range(sketch.missing.size):
        # Cut between the groups as if each group were a row of that weight.
        own = slice(f, f + 1)
        found = find_cuts(sketch.values[f][:, None], sketch.weights[f], max_bins)
        found = replace(found, missing=sketch.missing[own], exact=found.exact & sketch.exact[own])
        cuts.append(found)
        exact = bool(sketch.exact[f])
        # Midway between values; for groups at their end, since the next rows lie right above it.
        thresholds.append(midpoints(found.before, found.after) if exact else found.before)
    return rowless(cuts, thresholds, levels)
