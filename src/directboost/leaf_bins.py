"""Trees as features in bin space: the codes of a tree are the numbers of leaves."""

from hashlib import blake2b

import numpy as np

from .arrays import Array, Ints
from .kernels.step_functions import LEVELS, ORDERED, n_jumps, side
from .model.learners import Constant, WeakClassifier
from .model.trees import Leaf, Tree

#: Most leaves of a tree: a code has eight bits.
MOST_LEAVES = 256


class LeafBins:
    """A growing list of trees, each a category whose levels are its leaves.

    Feature 0 is the constant classifier: two bins and all codes 1, whose only jump answers +1 to
    every row. A tree of two leaves has one jump, as codes in order have.

    Parameters
    ----------
    n_rows : int
    feature_costs : (d + 1,) array
        Cost of every feature of the data, and of the constant at the end.
    """

    constant = 0
    sparse = None
    dictionary = "generated columns"

    def __init__(self, n_rows: int, feature_costs: Array) -> None:
        self.n_rows = n_rows
        self.costs: list[float] = [float(feature_costs[-1])]
        self._feature_costs = feature_costs
        self._trees: list[Tree | None] = [None]
        self._bins = [2]
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._codes = np.ones((16, n_rows), dtype=np.uint8)

    @property
    def codes(self) -> Ints:
        """Leaf of every row in every tree, (trees + 1, m)."""
        return self._codes[: len(self._bins)]

    @property
    def n_bins(self) -> Ints:
        """Number of leaves of every tree, (trees + 1,)."""
        return np.array(self._bins, dtype=np.int32)

    @property
    def kinds(self) -> Ints:
        """Categories, but for two leaves, (trees + 1,)."""
        return np.where(self.n_bins > 2, LEVELS, ORDERED).astype(np.uint8)

    @property
    def n_features(self) -> int:
        """Number of trees."""
        return len(self._bins) - 1

    def add(self, tree: Tree, leaves: Ints) -> int:
        """Take a tree in, with the leaf of every row, (m,); return its number.

        One that parts the rows as another does, leaf by leaf, is that one, unless it costs less.
        """
        cost = float(self._feature_costs[list(tree.features)].sum())
        key = (tree.n_leaves, blake2b(leaves.astype(np.uint8).tobytes()).digest())
        known = self._numbers.get(key)
        if known is not None and self.costs[known] <= cost:
            return known
        self._numbers[key] = len(self._bins)
        if len(self._bins) == self._codes.shape[0]:
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        self._codes[len(self._bins)] = leaves
        self._bins.append(tree.n_leaves)
        self._trees.append(tree)
        self.costs.append(cost)
        return self.n_features

    def codes_of(self, feature: int) -> Ints:
        """Return the leaf of every row in one tree, (m,)."""
        return np.asarray(self._codes[feature])

    def n_jumps(self, feature: int) -> int:
        """Return the number of jumps of a tree."""
        return n_jumps(self._bins[feature], self._kind(feature))

    def _kind(self, feature: int) -> int:
        return LEVELS if self._bins[feature] > 2 else ORDERED

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers +1 and -1 of one leaf against the rest to the rows, (m,)."""
        right = side(self._bins[feature], self._kind(feature), jump)
        return np.where(right[self._codes[feature]], float(polarity), -float(polarity))

    def learner(self, feature: int, jump: int, polarity: int) -> WeakClassifier:
        """Return a leaf against the rest, or the constant, as it serves for prediction."""
        tree = self._trees[feature]
        if tree is None:
            return Constant(polarity)
        if self._kind(feature) == LEVELS:
            return Leaf(tree, jump, -polarity)
        return Leaf(tree, 1, polarity)
