"""The parts of the scores as C code: stumps as threshold lists or tables, trees, pool columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Bools, Ints, Scores
from ...model.learners import CategoryStump, Stump
from ...model.trees import Tree
from ..other_learners import tree_depth
from .model import ADDITIONS, BITS, COMPARISONS, PRODUCTS, CModel, ScorePart
from .syntax import (
    CArray,
    Precision,
    count_merged,
    quantized,
    round_down,
    smallest_signed,
    smallest_unsigned,
)

_THRESHOLDS_CODE = """\
/* Adds the coefficients of all thresholds that x exceeds. The thresholds of feature u end at
 * cut_ends[u]; a missing value exceeds those from missing_from[u] on, and no others. A threshold
 * has one bit per class, and one coefficient per bit set. */
static inline void @_add_thresholds(const @_value *x, int all, @_score *scores)
{
    size_t cut = 0, mask = 0, jump = 0, u, first, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        for (; cut < @_cut_ends[u]; ++cut) {
            const int above = value != value ? cut >= @_missing_from[u] : value > @_cuts[cut];
            for (first = 0; first < $_N_CLASSES; first += 8) {
                unsigned bits = @_masks[mask++];
                for (c = first; bits; bits >>= 1, ++c) {
                    if (!(bits & 1)) continue;
                    if (above) scores[c] += @_jumps[jump];
                    ++jump;
                }
            }
        }
    }
}
"""

_TABLES_CODE = """\
/* Adds one table row per feature, in the same order as Python. Row i of a feature is for values
 * that exceed i of its thresholds; its last row is for missing values. */
static inline void @_add_rows(const @_value *x, int all, @_score *scores)
{
    size_t begin = 0, u, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        const size_t end = @_cut_ends[u];
        size_t place = begin, top = end;
        while (place < top) {
            const size_t middle = place + (top - place) / 2;
            if (value > @_cuts[middle]) place = middle + 1;
            else top = middle;
        }
        if (value != value) place = end + 1;
        for (c = 0; c < $_N_CLASSES; ++c)
            scores[c] += @_rows[(place + 2 * u) * $_N_CLASSES + c];
        begin = end;
    }
}
"""

_TREES_CODE = """\
/* Descends every tree and adds the row of the leaf. Bit 0 of the kind of a split: it tests for a
 * level; bit 1: missing values go left. Children are splits, or leaves as ~number. */
static inline void @_add_trees(const @_value *x, int all, @_score *scores)
{
    size_t tree, c;
    for (tree = 0; tree < sizeof @_roots / sizeof @_roots[0]; ++tree) {
        int32_t place = @_roots[tree];
        while (place >= 0) {
            const @_value value = @_read(x, all, @_split_slots[place]);
            const @_value split = @_splits[place];
            const int kind = @_split_kinds[place];
            int right = (kind & 1) ? value != split : value > split;
            if (value != value) right = !(kind & 2);
            place = right ? @_rights[place] : @_lefts[place];
        }
        for (c = 0; c < $_N_CLASSES; ++c)
            scores[c] += @_leaves[(size_t)(-1 - place) * $_N_CLASSES + c];
    }
}
"""

_POOL_CODE = """\
/* Adds the columns of a pool, numbers in [-1, 1], times their weights. */
static inline void @_add_pool(const @_value *x, int all, @_score *scores)
{
    size_t i, c;
    for (i = 0; i < sizeof @_pool_slots / sizeof @_pool_slots[0]; ++i) {
        const @_value value = @_read(x, all, @_pool_slots[i]);
        for (c = 0; c < $_N_CLASSES; ++c)
            scores[c] += value * @_weights[i * $_N_CLASSES + c];
    }
}
"""


# --- Stumps as a list of thresholds ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Scores = base + sum of the jumps of all thresholds that x exceeds, n of them.

    Thresholds are sorted by feature, then by value. The jump of a threshold is its signed
    coefficient.

    Attributes
    ----------
    slot : (n,) int array
        Positions of the features among the used ones.
    cut : (n,) array of the type of the features in C
    takes_missing : (n,) bool array
        Whether a missing value counts as above the threshold.
    jump : (n, k) array
    base : (k,) array
        The part of the scores that does not depend on x.
    n_merged : int
        Number of thresholds that rounding to the type of the features made equal to others.
    """

    slot: Ints
    cut: Scores
    takes_missing: Bools
    jump: Array
    base: Array
    n_merged: int


def make_thresholds(model: CModel, kind: type[Any]) -> Thresholds:
    """Return the thresholds of all stumps and levels; equal ones are merged."""
    places: list[tuple[int, float, bool]] = []
    jumps: list[Array] = []
    base = model.base.copy()
    for stump, votes in zip(model.ensemble.stumps, model.ensemble.stump_weights, strict=True):
        base = base - votes
        for value, takes, sign in _crossings(stump):
            places.append((stump.feature, value, takes))
            jumps.append(2.0 * sign * votes)
    table = np.array(places, dtype=np.float64).reshape(-1, 3)
    slot, threshold, takes_missing = model.slots(table[:, 0]), table[:, 1], table[:, 2] > 0.0
    jump = np.array(jumps).reshape(-1, base.size)
    cut, largest = round_down(threshold, kind), np.finfo(kind).max
    always = np.isneginf(cut)  # all present values are above: swap the roles of missing values
    base = base + jump[always].sum(axis=0)
    jump, takes_missing = np.where(always[:, None], -jump, jump), takes_missing ^ always
    cut = np.where(always, largest, cut)
    never = ~takes_missing & (cut == largest)
    keys = np.column_stack([slot, cut.astype(np.float64), takes_missing])[~never]
    unique, which = np.unique(keys, axis=0, return_inverse=True)
    merged = np.zeros((len(unique), base.size))
    np.add.at(merged, which.reshape(-1), jump[~never])
    return Thresholds(
        slot=unique[:, 0].astype(np.int64),
        cut=unique[:, 1].astype(kind),
        takes_missing=unique[:, 2] > 0.0,
        jump=merged,
        base=base,
        n_merged=count_merged(slot, threshold, kind),
    )


def _crossings(stump: Stump | CategoryStump) -> list[tuple[float, bool, float]]:
    """Return where the vote changes: threshold, whether missing values are above it, sign.

    A stump changes once, the test for a level before and after the level.
    """
    if isinstance(stump, Stump):
        return [(stump.threshold, stump.missing_right, 1.0)]
    return [(stump.level - 0.5, False, 1.0), (stump.level + 0.5, False, -1.0)]


def threshold_part(
    thresholds: Thresholds, n_used: int, precision: Precision, step: float
) -> ScorePart | None:
    """Return the list of thresholds as C code, or None if it is empty.

    Parameters
    ----------
    thresholds : Thresholds
    n_used : int
        Number of used features.
    precision : Precision
    step : float
        Score of an entry of 1.
    """
    entries = _jump_entries(thresholds, precision, step)
    nonzero = np.flatnonzero(entries.any(axis=1))
    if not nonzero.size:
        return None
    order = nonzero[np.lexsort((thresholds.takes_missing[nonzero], thresholds.slot[nonzero]))]
    slot, own = thresholds.slot[order], entries[order]
    ends = np.searchsorted(slot, np.arange(n_used), side="right")
    takers = np.bincount(slot[thresholds.takes_missing[order]], minlength=n_used)
    arrays = [
        CArray("cut_ends", smallest_unsigned(ends)),
        CArray("missing_from", smallest_unsigned(ends - takers)),
        CArray("cuts", thresholds.cut[order]),
        CArray("masks", np.packbits(own != 0, axis=1, bitorder="little")),
        CArray("jumps", own[own != 0]),
    ]
    error = _threshold_error(thresholds, entries.astype(np.float64) * step - thresholds.jump)
    counts = {COMPARISONS: order.size, BITS: own.size, ADDITIONS: int(np.count_nonzero(own))}
    return ScorePart("add_thresholds", arrays, _THRESHOLDS_CODE, counts, error)


def _jump_entries(
    thresholds: Thresholds, precision: Precision, step: float
) -> npt.NDArray[np.number]:
    """Return the jumps as table entries, (n, k).

    Quantized jumps are differences of rounded cumulative sums along the thresholds of a feature,
    so that their rounding errors do not accumulate.
    """
    if not precision.is_quantized:
        return quantized(thresholds.jump, step, precision.entry)
    entries = np.zeros(thresholds.jump.shape, dtype=np.int64)
    for own in _by_feature(thresholds.slot):
        heights = np.rint(np.cumsum(thresholds.jump[own], axis=0) / step).astype(np.int64)
        entries[own] = np.diff(heights, axis=0, prepend=0)
    return entries.astype(precision.entry)


def _threshold_error(thresholds: Thresholds, errors: Array) -> Array:
    """Return a bound on the errors of the scores, (k,), given those of the jumps, (n, k)."""
    total = np.zeros(errors.shape[1])
    for own in _by_feature(thresholds.slot):
        present = np.abs(np.cumsum(errors[own], axis=0)).max(axis=0)
        missing = np.abs(errors[own][thresholds.takes_missing[own]].sum(axis=0))
        total += np.maximum(present, missing)
    return total


def _by_feature(slot: Ints) -> list[Ints]:
    """Return the indices of the thresholds of each feature that has any."""
    return np.split(np.arange(slot.size), np.flatnonzero(np.diff(slot)) + 1) if slot.size else []


# --- Stumps as tables ------------------------------------------------------------------------


def table_part(model: CModel) -> ScorePart | None:
    """Return the stumps of a model as tables of doubles, or None if it has no stumps."""
    ensemble = model.ensemble
    if not ensemble.stump_features.size:
        return None
    k, n = ensemble.k, model.used.size
    cuts, rows = [np.empty(0)] * n, [np.zeros((2, k))] * n
    slots = model.slots(ensemble.stump_features).tolist()
    for slot, own, table in zip(slots, ensemble.thresholds, ensemble.tables, strict=True):
        cuts[slot], rows[slot] = own, table
    counts = np.array([own.size for own in cuts])
    arrays = [
        CArray("cut_ends", smallest_unsigned(np.cumsum(counts))),
        CArray("cuts", np.concatenate(cuts)),
        CArray("rows", np.concatenate(rows)),
    ]
    comparisons = sum(int(count).bit_length() for count in counts)
    operations = {COMPARISONS: comparisons, ADDITIONS: n * k}
    return ScorePart("add_rows", arrays, _TABLES_CODE, operations, np.zeros(k))


# --- Trees -----------------------------------------------------------------------------------


def tree_part(model: CModel, precision: Precision, step: float) -> ScorePart | None:
    """Return the trees of a model as C code, or None if it has no trees."""
    forest, k = model.ensemble.forest, model.ensemble.k
    if not forest:
        return None
    trees = [tree for tree, _ in forest]
    tables = [quantized(table, step, precision.entry) for _, table in forest]
    rows, row_of_leaf = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
    error = np.zeros(k)
    for (_, exact), table in zip(forest, tables, strict=True):
        error += np.abs(table.astype(np.float64) * step - exact).max(axis=0)
    arrays = [
        *_split_arrays(model, trees, precision, row_of_leaf.reshape(-1)),
        CArray("leaves", rows),
    ]
    operations = {COMPARISONS: sum(map(tree_depth, trees)), ADDITIONS: len(tables) * k}
    return ScorePart("add_trees", arrays, _TREES_CODE, operations, error)


def _split_arrays(
    model: CModel, trees: list[Tree], precision: Precision, row_of_leaf: Ints
) -> list[CArray]:
    """Return the splits of all trees, numbered consecutively."""
    sizes = [tree.feature.size for tree in trees]
    first_split = np.cumsum([0, *sizes])
    first_leaf = np.cumsum([0, *(tree.n_leaves for tree in trees)])

    def renumbered(children: Ints, tree: int) -> Ints:
        row = row_of_leaf[first_leaf[tree] + np.where(children < 0, ~children, 0)]
        return np.asarray(np.where(children < 0, ~row, first_split[tree] + children))

    roots = [renumbered(np.array([0 if size else ~0]), i) for i, size in enumerate(sizes)]
    left = np.concatenate([renumbered(tree.left, i) for i, tree in enumerate(trees)])
    right = np.concatenate([renumbered(tree.right, i) for i, tree in enumerate(trees)])
    exact, is_level, missing_left, feature = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("value", "is_level", "missing_left", "feature")
    )
    value = np.where(is_level, exact, 0.0).astype(precision.value)
    value[~is_level] = round_down(exact[~is_level], precision.value)
    always = np.isneginf(value)  # all present values go right: swap sides, so that all go left
    value[always] = np.finfo(value.dtype).max
    return [
        CArray("roots", smallest_signed(np.concatenate(roots))),
        CArray("split_slots", smallest_unsigned(model.slots(feature))),
        CArray("splits", value),
        CArray("split_kinds", smallest_unsigned(is_level + 2 * (missing_left ^ always))),
        CArray("lefts", smallest_signed(np.where(always, right, left))),
        CArray("rights", smallest_signed(np.where(always, left, right))),
    ]


def count_merged_splits(model: CModel, kind: type[Any]) -> int:
    """Return how many thresholds of trees and products coincide with others after rounding."""
    trees = [tree for tree, _ in model.ensemble.forest]
    stumps = [
        stump
        for product in model.ensemble.products
        for stump in (product.first, product.second)
        if isinstance(stump, Stump)
    ]
    own = np.array([stump.feature for stump in stumps], dtype=np.int64)
    feature = np.concatenate([own, *(tree.feature[~tree.is_level] for tree in trees)])
    thresholds = np.array([stump.threshold for stump in stumps])
    value = np.concatenate([thresholds, *(tree.value[~tree.is_level] for tree in trees)])
    return count_merged(feature, value, kind)


# --- Columns of a pool -----------------------------------------------------------------------


def pool_part(model: CModel, precision: Precision) -> ScorePart | None:
    """Return the columns of a pool as C code, or None if the model has none."""
    if not model.others.pool:
        return None
    if precision.is_quantized:
        raise ValueError(
            "dtype='int16' is invalid for a model on columns of a pool, whose values are "
            "multiplied by weights: expected 'float32' or 'float64'"
        )
    weights: dict[int, Array] = {}
    for column, row in model.others.pool:
        weights[column] = weights.get(column, np.zeros(row.size)) + row
    exact = np.array(list(weights.values()))
    table = exact.astype(precision.entry)
    arrays = [
        CArray("pool_slots", smallest_unsigned(model.slots(list(weights)))),
        CArray("weights", table),
    ]
    error = np.abs(table.astype(np.float64) - exact).sum(axis=0)
    error += precision.roundoff * np.abs(exact).sum(axis=0)
    operations = {PRODUCTS: exact.size, ADDITIONS: exact.size}
    return ScorePart("add_pool", arrays, _POOL_CODE, operations, error)
