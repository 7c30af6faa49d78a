"""Decision trees of a fitted model, and their leaves as weak classifiers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, some_columns
from .learners import WeakClassifier


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of splits; every row of X ends in one of its leaves.

    Conventions. Split s sends a value to `right[s]` where it is above `value[s]`, or, where it
    `is_level[s]`, where it is another level; else to `left[s]`. Numbers of splits are at least 0,
    larger than those above; ~j, negative, is leaf j.

    Attributes
    ----------
    feature : (n,) int array
    value : (n,) array
    is_level, missing_left : (n,) bool arrays
    left, right : (n,) int arrays
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
        """The features the tree reads, ascending."""
        return tuple(np.unique(self.feature).tolist())

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
        """Return the splits above a leaf, the first one first, each with whether it goes right."""
        way: list[tuple[int, bool]] = []
        place = ~leaf
        for split in reversed(range(self.feature.size)):  # those above have smaller numbers
            if place in (self.left[split], self.right[split]):
                way.append((split, bool(place == self.right[split])))
                place = split
        return way[::-1]

    def without_splits_of(self, dead: Bools) -> tuple["Tree", Ints]:
        """Return a tree in which neighbours among the `dead` leaves are one, and the new numbers.

        A split goes where all leaves below it are dead, (leaves,); at least one leaf is not.
        """
        keep = self._with_life(~dead)
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
            self.feature[keep], self.value[keep], self.is_level[keep], self.missing_left[keep],
            children[:, 0], children[:, 1],
        )  # fmt: skip
        return tree, leaf

    def _with_life(self, alive: Bools) -> Bools:
        """Return which splits have a living leaf below them; splits come after those above."""
        lives = np.zeros(self.feature.size, dtype=bool)
        for split in reversed(range(self.feature.size)):
            lives[split] = any(
                alive[~child] if child < 0 else lives[child]
                for child in (self.left[split], self.right[split])
            )
        return lives


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """One leaf of a tree against the rest: h(x) = polarity if x falls into it else -polarity."""

    tree: Tree
    number: int
    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """The features the tree reads."""
        return self.tree.features

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        own = self.tree.apply(X) == self.number
        return np.where(own, float(self.polarity), -float(self.polarity))

    def describe(self, name: str) -> str:
        """Return what it is; `name` lists the features the tree reads."""
        sign = "" if self.polarity > 0 else "not "
        return f"{sign}leaf {self.number} of a tree on {name}"


def pruned(learners: list[WeakClassifier]) -> list[WeakClassifier]:
    """Return weak classifiers with the same answers, on trees without splits nobody needs."""
    living: dict[int, set[int]] = {}
    for h in learners:
        if isinstance(h, Leaf):
            living.setdefault(id(h.tree), set()).add(h.number)
    smaller: dict[int, tuple[Tree, Ints]] = {}
    out: list[WeakClassifier] = []
    for h in learners:
        if not isinstance(h, Leaf):
            out.append(h)
            continue
        key = id(h.tree)
        if key not in smaller:
            dead = ~np.isin(np.arange(h.tree.n_leaves), list(living[key]))
            smaller[key] = h.tree.without_splits_of(dead)
        tree, numbers = smaller[key]
        out.append(Leaf(tree, int(numbers[h.number]), h.polarity))
    return out
