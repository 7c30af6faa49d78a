"""Decision trees of a fitted model, and their leaves as weak classifiers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, some_columns
from .learners import WeakClassifier


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree with n splits and n + 1 leaves.

    A value goes to `right[s]` at split s if it is above `value[s]`; at a split of a category, if it
    is another level than `value[s]`. Otherwise it goes to `left[s]`. A child that is >= 0 is the
    number of a split, larger than the number of its parent. A negative child ~j is leaf j.

    Attributes
    ----------
    feature : (n,) int array
        Feature of each split.
    value : (n,) array
        Threshold, or code of the level.
    is_level : (n,) bool array
        Whether the split separates one level of a category from the rest.
    missing_left : (n,) bool array
        Whether a missing value goes to the left.
    left, right : (n,) int arrays
        Children of each split.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.model.trees import Tree
    >>> tree = Tree(  # x0 <= 1: leaf 0; else x1 <= 3: leaf 1, else leaf 2
    ...     feature=np.array([0, 1]),
    ...     value=np.array([1.0, 3.0]),
    ...     is_level=np.array([False, False]),
    ...     missing_left=np.array([True, True]),
    ...     left=np.array([~0, ~1]),
    ...     right=np.array([1, ~2]),
    ... )
    >>> tree.apply(np.array([[0.0, 9.0], [2.0, 0.0], [2.0, 9.0]]))
    array([0, 1, 2])
    >>> tree.depth
    2
    """

    feature: Ints
    value: Array
    is_level: Bools
    missing_left: Bools
    left: Ints
    right: Ints

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.feature.size) + 1

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Features that the tree reads, ascending."""
        return tuple(np.unique(self.feature).tolist())

    @property
    def depth(self) -> int:
        """Largest number of splits between the root and a leaf."""
        below = np.zeros(self.feature.size, dtype=np.int64)
        for split in reversed(range(self.feature.size)):
            children = [child for child in (self.left[split], self.right[split]) if child >= 0]
            below[split] = 1 + max((below[child] for child in children), default=0)
        return int(below[0]) if below.size else 0

    def apply(self, X: Numbers) -> Ints:
        """Return the leaf of every row of X, (m,)."""
        values, feature = some_columns(X, self.feature)
        place = np.full(X.shape[0], 0 if self.feature.size else ~0, dtype=np.int64)
        going = np.flatnonzero(place >= 0)
        while going.size:
            split = place[going]
            x = values[going, feature[split]]
            right = np.where(self.is_level[split], x != self.value[split], x > self.value[split])
            right = np.where(np.isnan(x), ~self.missing_left[split], right)
            place[going] = np.where(right, self.right[split], self.left[split])
            going = going[place[going] >= 0]
        return ~place

    def way_to(self, leaf: int) -> list[tuple[int, bool]]:
        """Return the path from the root to a leaf: pairs of a split and whether it goes right."""
        path: list[tuple[int, bool]] = []
        place = ~leaf
        for split in reversed(range(self.feature.size)):  # parents have smaller numbers
            if place in (self.left[split], self.right[split]):
                path.append((split, bool(place == self.right[split])))
                place = split
        return path[::-1]

    def without_splits_of(self, dead: Bools) -> tuple["Tree", Ints]:
        """Remove the splits below which all leaves are `dead`, (leaves,) bool.

        At least one leaf must not be dead.

        Returns
        -------
        tree : Tree
            The smaller tree.
        leaf : (leaves,) int array
            New number of each leaf, -1 if it was merged with others.
        """
        keep = self._has_living_leaf(~dead)
        number = np.cumsum(keep) - 1
        leaf = np.full(self.n_leaves, -1, dtype=np.int64)
        children = np.empty((int(keep.sum()), 2), dtype=np.int64)
        count = 0
        for split in np.flatnonzero(keep).tolist():
            for side, child in enumerate((self.left[split], self.right[split])):
                if child >= 0 and keep[child]:
                    children[number[split], side] = number[child]
                    continue
                children[number[split], side] = ~count
                if child < 0:
                    leaf[~child] = count
                count += 1
        tree = Tree(
            feature=self.feature[keep],
            value=self.value[keep],
            is_level=self.is_level[keep],
            missing_left=self.missing_left[keep],
            left=children[:, 0],
            right=children[:, 1],
        )
        return tree, leaf

    def _has_living_leaf(self, alive: Bools) -> Bools:
        """Return which splits have a leaf below them that is `alive`, (n,)."""
        lives = np.zeros(self.feature.size, dtype=bool)
        for split in reversed(range(self.feature.size)):
            lives[split] = any(
                alive[~child] if child < 0 else lives[child]
                for child in (self.left[split], self.right[split])
            )
        return lives


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """One leaf of a tree against the rest: h(x) = polarity if x is in the leaf else -polarity.

    Attributes
    ----------
    tree : Tree
        The tree.
    number : int
        Number of the leaf.
    polarity : int
        Response for the rows in the leaf, +1 or -1.
    """

    tree: Tree
    number: int
    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """Features that the tree reads."""
        return self.tree.features

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        inside = self.tree.apply(X) == self.number
        return np.where(inside, float(self.polarity), -float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the number of the leaf; `name` contains the features that the tree reads."""
        sign = "" if self.polarity > 0 else "not "
        return f"{sign}leaf {self.number} of a tree on {name}"


def pruned(learners: list[WeakClassifier], same_features: bool = False) -> list[WeakClassifier]:
    """Return weak classifiers with the same responses, on trees without unnecessary splits.

    With `same_features`, trees that would then read fewer features remain as they are.
    """
    used_leaves: dict[int, set[int]] = {}
    for h in learners:
        if isinstance(h, Leaf):
            used_leaves.setdefault(id(h.tree), set()).add(h.number)
    smaller: dict[int, tuple[Tree, Ints]] = {}
    out: list[WeakClassifier] = []
    for h in learners:
        if not isinstance(h, Leaf):
            out.append(h)
            continue
        key = id(h.tree)
        if key not in smaller:
            unused = ~np.isin(np.arange(h.tree.n_leaves), list(used_leaves[key]))
            smaller[key] = h.tree.without_splits_of(unused)
            if same_features and smaller[key][0].features != h.tree.features:
                smaller[key] = h.tree, np.arange(h.tree.n_leaves)
        tree, numbers = smaller[key]
        out.append(Leaf(tree, int(numbers[h.number]), h.polarity))
    return out
