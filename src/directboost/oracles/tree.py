"""Trees grown on binned data, one for all classes; their leaves are the columns."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import Array, Ints, Scores
from ..data.binning import ColumnWeights
from ..data.validation import check_count, check_number, check_share
from ..kernels.step_functions import CATEGORICAL, ORDERED, n_jumps, side
from ..model.learners import Constant, WeakClassifier
from ..model.trees import Leaf, Tree
from ..penalties import Penalty
from .base import OracleData, Pricing
from .stump import BinnedOracle, binned_rows
from .tree_growth import Shape, TreeGrower

#: Most leaves of a tree: a code has eight bits.
MOST_LEAVES = 256


class LeafFeatures:
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
        return np.where(self.n_bins > 2, CATEGORICAL, ORDERED).astype(np.uint8)

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
        return CATEGORICAL if self._bins[feature] > 2 else ORDERED

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers +1 and -1 of one leaf against the rest to the rows, (m,)."""
        right = side(self._bins[feature], self._kind(feature), jump)
        return np.where(right[self._codes[feature]], float(polarity), -float(polarity))

    def learner(self, feature: int, jump: int, polarity: int) -> WeakClassifier:
        """Return a leaf against the rest, or the constant, as it serves for prediction."""
        tree = self._trees[feature]
        if tree is None:
            return Constant(polarity)
        if self._kind(feature) == CATEGORICAL:
            return Leaf(tree, jump, -polarity)
        return Leaf(tree, 1, polarity)


_LEAST = 1e-6  # share of the squares of A that a split explains at least; less is rounding


class TreeOracle(BinnedOracle):
    """Grows trees for the whole matrix A, and prices all leaves there are exactly.

    A leaf against the rest is a column. Every round grows some trees; each takes what its leaves
    explain of A away before the next is grown. The search is greedy, so what is proved holds for
    the leaves of the trees that were grown.

    Paper: Eq. 23 (best weak classifier, group penalties).
    Differs: one tree serves all classes, and each of its leaves has weights of its own.

    Parameters
    ----------
    max_leaves : int, default=8
        Most leaves of a tree, 2 to 256.
    trees_per_round : int, default=4
    row_share, feature_share : float, default=1.0
        Shares of the rows and features, drawn anew for every tree, on which it is grown.
    min_share : float, default=0.001
        Least share of the weight of the rows it is grown on that a leaf holds.
    """

    grows: ClassVar[bool] = True
    binned: LeafFeatures

    def __init__(
        self,
        max_leaves: int = 8,
        trees_per_round: int = 4,
        row_share: float = 1.0,
        feature_share: float = 1.0,
        min_share: float = 0.001,
    ) -> None:
        self.max_leaves = check_count("max_leaves", max_leaves, 2, "a whole number of at least 2")
        if self.max_leaves > MOST_LEAVES:
            raise ValueError(f"max_leaves={max_leaves!r} does not fit: at most {MOST_LEAVES}")
        self.trees_per_round = check_count("trees_per_round", trees_per_round, 1, "1 or more")
        self.row_share = check_share("row_share", row_share)
        self.feature_share = check_share("feature_share", feature_share)
        self.min_share = check_number("min_share", min_share, 0.0, strict=False, what="0 or more")

    def start(self, data: OracleData) -> None:
        """Bin the rows; there is no tree yet."""
        self._data, self._stumps = data, binned_rows(data)
        self.binned = self.source = LeafFeatures(self._stumps.n_rows, data.costs)
        self.dictionary, self.costs = self.binned.dictionary, self.binned.costs
        self._team = data.team
        shape = Shape(self.max_leaves, self.min_share)
        self._grower = TreeGrower(self._stumps, data.weight, shape, data.team)
        self._random = check_random_state(0 if data.random_state is None else data.random_state)
        self._searched: Scores | None = None

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Grow trees for coefficients A (m, k), once, and price all leaves."""
        if self._searched is None or not np.array_equal(self._searched, A):
            self._search(A)
            self._searched = A.copy()
        return super().price(A, penalty, rule)

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the leaves of the trees that were grown."""
        return super().price(A, penalty)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Take the trees of an earlier model in."""
        names, weights = [], []
        for learner, row in zip(learners, rows, strict=True):
            name = self._name(learner)
            if name is not None:
                names.append(name)
                weights.append(row)
        return ColumnWeights(
            np.array(names, dtype=np.int64).reshape(-1, 3),
            np.array(weights).reshape(-1, rows.shape[1]),
        )

    def _name(self, learner: WeakClassifier) -> tuple[int, int, int] | None:
        if isinstance(learner, Constant):
            return self.binned.constant, 0, learner.polarity
        if not isinstance(learner, Leaf) or max(learner.features) >= self._stumps.n_features:
            return None
        place, _ = self._add(learner.tree)
        if learner.tree.n_leaves > 2:
            return place, learner.number, -learner.polarity
        return place, 0, learner.polarity if learner.number == 1 else -learner.polarity

    def _add(self, tree: Tree) -> tuple[int, Ints]:
        """Take a tree in; return its number and the leaf of every row."""
        leaves = tree.apply(self._data.X)
        return self.binned.add(tree, leaves), leaves

    def _search(self, A: Scores) -> None:
        weight = self._data.weight.astype(A.dtype)
        left = np.array(A)
        least_gain = _LEAST * float(((left**2).sum(axis=1) / weight).sum())
        for _ in range(self.trees_per_round):
            tree = self._grower.grow(left, self._features(), self._rows(), least_gain)
            if tree is None:
                return
            _, leaves = self._add(tree)
            left -= weight[:, None] * _means(left, weight, leaves, tree.n_leaves)[leaves]

    def _features(self) -> Ints:
        return _drawn(self._random, self._stumps.n_features, self.feature_share)

    def _rows(self) -> Ints:
        return _drawn(self._random, self._stumps.n_rows, self.row_share)


def grown_trees(data: OracleData) -> TreeOracle:
    """Return the oracle of trees of the usual size on these rows."""
    oracle = TreeOracle().on(data)
    assert isinstance(oracle, TreeOracle)
    return oracle


def _drawn(random: np.random.RandomState, n: int, share: float) -> Ints:
    """Return a share of 0..n-1, ascending; all of them without a draw where it is 1."""
    if share == 1.0:
        return np.arange(n)
    return np.sort(random.permutation(n)[: max(round(share * n), 1)])


def _means(A: Scores, weight: Scores, leaves: Ints, n_leaves: int) -> Scores:
    """Return the mean of the rows of A over their weights in every leaf, (n_leaves, k)."""
    sums = np.stack([np.bincount(leaves, column, n_leaves) for column in A.T], axis=1)
    whole = np.bincount(leaves, weight, n_leaves)
    means = sums / np.where(whole > 0.0, whole, 1.0)[:, None]
    return np.asarray(means.astype(A.dtype))
