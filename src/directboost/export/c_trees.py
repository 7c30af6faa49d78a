"""Trees as C code: splits that are gone down, and rows of scores at their ends."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Ints
from ..model.trees import Tree
from .c_model import CModel
from .c_parts import ADDITIONS, COMPARISONS, Part
from .c_rounding import Precision, in_steps, rounded_down
from .c_text import CArray, smallest, smallest_signed

_CODE = """\
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


def forest_of(model: CModel) -> Forest:
    """Return the trees of a model."""
    pairs = [(tree, table) for tree, table in model.ensemble._forest if isinstance(tree, Tree)]
    return Forest([tree for tree, _ in pairs], [table for _, table in pairs])


def _depth(tree: Tree) -> int:
    below = np.zeros(tree.feature.size, dtype=np.int64)
    for split in reversed(range(tree.feature.size)):
        children = [child for child in (tree.left[split], tree.right[split]) if child >= 0]
        below[split] = 1 + max((below[child] for child in children), default=0)
    return int(below[0]) if below.size else 0


def tree_part(model: CModel, forest: Forest, precision: Precision, step: float) -> Part | None:
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
    return Part("add_trees", arrays, _CODE, operations, error)


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
