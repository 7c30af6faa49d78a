"""Trees as C code: splits that are gone down, and rows of scores at their ends."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Bools, Ints, Scores
from ...model.learners import CategoryStump, Negated, PoolColumn, Stump
from ...model.trees import Tree
from .model import ADDITIONS, BITS, COMPARISONS, PRODUCTS, CModel, ScorePart
from .syntax import CArray, Precision, in_steps, rounded_down, smallest, smallest_signed


@dataclass(frozen=True, eq=False)
class StepThresholds:
    """Scores are `base` plus the jumps of all turns that hold, n of them.

    A turn holds where the value of its feature is above its threshold, and for a missing value
    where it `takes_missing`. Turns are in the order of their features and of their thresholds.

    Attributes
    ----------
    slot : (n,) int array
        Places of the features among those that are read.
    cut : (n,) array of the type that is compared
    takes_missing : (n,) bool array
    jump : (n, k) array
    base : (k,) array
        With what else does not depend on x.
    """

    slot: Ints
    cut: Scores
    takes_missing: Bools
    jump: Array
    base: Array


def step_thresholds(model: CModel, kind: type[Any]) -> StepThresholds:
    """Return the turns of the stumps and levels of a model, those at equal places joined."""
    found = _Finder(model)
    cut = rounded_down(found.threshold, kind)
    takes, jump, base = found.takes_missing, found.jump, found.base
    always = np.isneginf(cut)  # all numbers are above: what is left tells missing ones
    base = base + jump[always].sum(axis=0)
    jump, takes = np.where(always[:, None], -jump, jump), takes ^ always
    cut = np.where(always, np.finfo(kind).max, cut)
    never = ~takes & (cut == np.finfo(kind).max)
    keys = np.column_stack([found.slot, cut.astype(np.float64), takes])[~never]
    places, which = np.unique(keys, axis=0, return_inverse=True)
    joined = np.zeros((len(places), base.size))
    np.add.at(joined, which.reshape(-1), jump[~never])
    slot, cut, takes = places[:, 0].astype(np.int64), places[:, 1].astype(kind), places[:, 2] > 0.0
    return StepThresholds(slot, cut, takes, joined, base)


class _Finder:
    """Collects the turns one by one: a stump turns once, a level before itself and back after."""

    def __init__(self, model: CModel) -> None:
        places: list[tuple[int, float, bool]] = []
        jumps: list[Array] = []
        self.base = model.base.copy()
        for learner, row in zip(model.ensemble.learners, model.ensemble.coef, strict=True):
            if isinstance(learner, Stump | CategoryStump):
                votes = learner.polarity * row
                self.base = self.base - votes
                for threshold, takes, sign in _places(learner):
                    places.append((learner.feature, threshold, takes))
                    jumps.append(2.0 * sign * votes)
        table = np.array(places, dtype=np.float64).reshape(-1, 3)
        self.slot = model.slots(table[:, 0])
        self.threshold, self.takes_missing = table[:, 1], table[:, 2] > 0.0
        self.jump = np.array(jumps).reshape(-1, self.base.size)


def _places(learner: Stump | CategoryStump) -> list[tuple[float, bool, float]]:
    """Return where a weak classifier turns: threshold, whether missing values turn, direction."""
    if isinstance(learner, Stump):
        return [(learner.threshold, learner.missing_right, 1.0)]
    return [(learner.level - 0.5, False, 1.0), (learner.level + 0.5, False, -1.0)]


_JUMPS_CODE = """\
/* Adds the jumps of all turns that hold. The turns of a feature are those that a missing value
 * does not take, then those it takes; a turn has one bit per class, and a jump per bit set. */
static inline void @_add_jumps(const @_value *x, int all, @_score *scores)
{
    size_t turn = 0, mask = 0, jump = 0, u, first, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        for (; turn < @_turn_ends[u]; ++turn) {
            const int holds = value != value ? turn >= @_takers[u] : value > @_cuts[turn];
            for (first = 0; first < $_N_CLASSES; first += 8) {
                unsigned bits = @_masks[mask++];
                for (c = first; bits; bits >>= 1, ++c) {
                    if (!(bits & 1)) continue;
                    if (holds) scores[c] += @_jumps[jump];
                    ++jump;
                }
            }
        }
    }
}
"""


def jump_part(
    turns: StepThresholds, n_used: int, precision: Precision, step: float
) -> ScorePart | None:
    """Return the list of turns as C code, None where there is none.

    Parameters
    ----------
    n_used : int
        Number of features that are read.
    step : float
        What an entry of 1 stands for.
    """
    entries = _entries(turns, precision, step)
    alive = np.flatnonzero(entries.any(axis=1))
    if not alive.size:
        return None
    order = alive[np.lexsort((turns.takes_missing[alive], turns.slot[alive]))]
    slot, own = turns.slot[order], entries[order]
    ends = np.searchsorted(slot, np.arange(n_used), side="right")
    takers = np.bincount(slot[turns.takes_missing[order]], minlength=n_used)
    arrays = [
        CArray("turn_ends", smallest(ends)),
        CArray("takers", smallest(ends - takers)),
        CArray("cuts", turns.cut[order]),
        CArray("masks", np.packbits(own != 0, axis=1, bitorder="little")),
        CArray("jumps", own[own != 0]),
    ]
    error = _error(turns, entries.astype(np.float64) * step - turns.jump)
    counts = {COMPARISONS: order.size, BITS: own.size, ADDITIONS: int(np.count_nonzero(own))}
    return ScorePart("add_jumps", arrays, _JUMPS_CODE, counts, error)


def _entries(turns: StepThresholds, precision: Precision, step: float) -> npt.NDArray[np.number]:
    """Return the jumps as the table holds them, (n, k).

    Whole steps are rounded along the thresholds of a feature, so that errors do not add up.
    """
    if not precision.is_whole:
        return in_steps(turns.jump, step, precision.entry)
    entries = np.zeros(turns.jump.shape, dtype=np.int64)
    for own in _by_feature(turns.slot):
        heights = np.rint(np.cumsum(turns.jump[own], axis=0) / step).astype(np.int64)
        entries[own] = np.diff(heights, axis=0, prepend=0)
    return entries.astype(precision.entry)


def _error(turns: StepThresholds, off: Array) -> Array:
    """Return the most that the scores may be off, (k,), if each jump is `off` (n, k) by itself."""
    total = np.zeros(off.shape[1])
    for own in _by_feature(turns.slot):
        present = np.abs(np.cumsum(off[own], axis=0)).max(axis=0)
        missing = np.abs(off[own][turns.takes_missing[own]].sum(axis=0))
        total += np.maximum(present, missing)
    return total


def _by_feature(slot: Ints) -> list[Ints]:
    """Return the turns of each feature that has some."""
    return np.split(np.arange(slot.size), np.flatnonzero(np.diff(slot)) + 1) if slot.size else []


_TABLES_CODE = """\
/* Adds one row of a table per feature, in the order of Python. A feature has one row more than
 * thresholds, by their number below its value, and one for a missing value. */
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


def table_part(model: CModel) -> ScorePart | None:
    """Return the stumps of a model as tables of doubles, None where it has no stumps."""
    ensemble = model.ensemble
    if not ensemble.stump_features.size:
        return None
    k, n = ensemble.k, model.used.size
    cuts, rows = [np.empty(0)] * n, [np.zeros((2, k))] * n
    places = model.slots(ensemble.stump_features).tolist()
    for place, own, table in zip(places, ensemble.thresholds, ensemble.tables, strict=True):
        cuts[place], rows[place] = own, table
    counts = np.array([own.size for own in cuts])
    arrays = [
        CArray("cut_ends", smallest(np.cumsum(counts))),
        CArray("cuts", np.concatenate(cuts)),
        CArray("rows", np.concatenate(rows)),
    ]
    comparisons = sum(int(count).bit_length() for count in counts)
    operations = {COMPARISONS: comparisons, ADDITIONS: n * k}
    return ScorePart("add_rows", arrays, _TABLES_CODE, operations, np.zeros(k))


_TREES_CODE = """\
/* Goes down every tree, and adds the row of the leaf. A split of kind 1 asks for a level, and kind
 * 2 sends a missing value to the left; children are splits, or leaves as ~number. */
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


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees with their rows of scores, (leaves, k) each."""

    trees: list[Tree]
    tables: list[Array]

    @property
    def depth(self) -> int:
        """Splits on the longest ways down all trees, together."""
        return sum(_depth(tree) for tree in self.trees)

    @property
    def features(self) -> Ints:
        """Features of all splits that compare with a threshold."""
        parts = [tree.feature[~tree.is_level] for tree in self.trees]
        return np.concatenate([*parts, np.empty(0, dtype=np.int64)])

    @property
    def thresholds(self) -> Array:
        """Thresholds of the same splits."""
        parts = [tree.value[~tree.is_level] for tree in self.trees]
        return np.concatenate([*parts, np.empty(0)])


def make_forest(model: CModel) -> Forest:
    """Return the trees of a model."""
    pairs = [(tree, table) for tree, table in model.ensemble._forest if isinstance(tree, Tree)]
    return Forest([tree for tree, _ in pairs], [table for _, table in pairs])


def _depth(tree: Tree) -> int:
    below = np.zeros(tree.feature.size, dtype=np.int64)
    for split in reversed(range(tree.feature.size)):
        children = [child for child in (tree.left[split], tree.right[split]) if child >= 0]
        below[split] = 1 + max((below[child] for child in children), default=0)
    return int(below[0]) if below.size else 0


def tree_part(model: CModel, forest: Forest, precision: Precision, step: float) -> ScorePart | None:
    """Return the trees of a model as C code, None where there is none."""
    if not forest.trees:
        return None
    tables = [in_steps(table, step, precision.entry) for table in forest.tables]
    rows, number = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
    error = np.zeros(model.ensemble.k)
    for exact, table in zip(forest.tables, tables, strict=True):
        error += np.abs(table.astype(np.float64) * step - exact).max(axis=0)
    arrays = [*_split_arrays(model, forest, precision, number.reshape(-1)), CArray("leaves", rows)]
    operations = {COMPARISONS: forest.depth, ADDITIONS: len(tables) * model.ensemble.k}
    return ScorePart("add_trees", arrays, _TREES_CODE, operations, error)


def _split_arrays(
    model: CModel, forest: Forest, precision: Precision, number: Ints
) -> list[CArray]:
    """Return the splits of all trees, numbered through; `number` has the row of every leaf."""
    joined = _Splits(forest.trees, number)
    value = np.where(joined.is_level, joined.value, 0.0).astype(precision.value)
    value[~joined.is_level] = rounded_down(joined.value[~joined.is_level], precision.value)
    always = np.isneginf(value)  # the other way round it is a split that holds never
    value[always] = np.finfo(value.dtype).max
    left = np.where(always, joined.right, joined.left)
    right = np.where(always, joined.left, joined.right)
    kind = joined.is_level + 2 * (joined.missing_left ^ always)
    return [
        CArray("roots", smallest_signed(joined.roots)),
        CArray("split_slots", smallest(model.slots(joined.feature))),
        CArray("splits", value),
        CArray("split_kinds", smallest(kind)),
        CArray("lefts", smallest_signed(left)),
        CArray("rights", smallest_signed(right)),
    ]


class _Splits:
    """The splits of several trees, one after the other, with children by their common numbers."""

    def __init__(self, trees: list[Tree], number: Ints) -> None:
        sizes = [tree.feature.size for tree in trees]
        splits = np.cumsum([0, *sizes])
        leaves = np.cumsum([0, *(tree.n_leaves for tree in trees)])

        def child(places: Ints, tree: int) -> Ints:
            leaf = number[leaves[tree] + np.where(places < 0, ~places, 0)]
            return np.asarray(np.where(places < 0, ~leaf, splits[tree] + places))

        first = [np.array([0 if size else ~0]) for size in sizes]
        self.roots = np.concatenate([child(place, i) for i, place in enumerate(first)])
        self.left = np.concatenate([child(tree.left, i) for i, tree in enumerate(trees)])
        self.right = np.concatenate([child(tree.right, i) for i, tree in enumerate(trees)])
        self.feature: Ints = np.concatenate([tree.feature for tree in trees])
        self.value: Array = np.concatenate([tree.value for tree in trees])
        self.is_level: Bools = np.concatenate([tree.is_level for tree in trees])
        self.missing_left: Bools = np.concatenate([tree.missing_left for tree in trees])


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


def pool_part(model: CModel, precision: Precision) -> ScorePart | None:
    """Return the columns of a pool as C code, None where there is none."""
    weights = _weights(model)
    if not weights:
        return None
    if precision.is_whole:
        raise ValueError(
            "dtype='int16' does not fit a model on columns of a pool, whose values are weighed: "
            "it takes 'float32' or 'float64'"
        )
    exact = np.array(list(weights.values()))
    table = exact.astype(precision.entry)
    arrays = [
        CArray("pool_slots", smallest(model.slots(list(weights)))),
        CArray("weights", table),
    ]
    error = np.abs(table.astype(np.float64) - exact).sum(axis=0)
    error += precision.roundoff * np.abs(exact).sum(axis=0)
    return ScorePart(
        "add_pool", arrays, _POOL_CODE, {PRODUCTS: exact.size, ADDITIONS: exact.size}, error
    )


def _weights(model: CModel) -> dict[int, Array]:
    """Return the weights of every column that has some, (k,) each."""
    found: dict[int, Any] = {}
    for learner, row in zip(model.ensemble.learners, model.ensemble.coef, strict=True):
        inner = learner.learner if isinstance(learner, Negated) else learner
        if isinstance(inner, PoolColumn):
            found.setdefault(inner.column, np.zeros(row.size))
            found[inner.column] += -row if isinstance(learner, Negated) else row
    return found
