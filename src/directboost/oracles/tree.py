"""Decision trees as weak learners: each tree is shared by all classes, its leaves are columns."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import Array, Ints, Scores
from ..data.binning import CodedFeatures, ColumnWeights, bin_features
from ..data.validation import check_count, check_number, check_share
from ..kernels.step_functions import CATEGORICAL, ORDERED, n_thresholds, side
from ..model.learners import Constant, WeakClassifier
from ..model.trees import Leaf, Tree
from ..penalties import Penalty
from .base import OracleData, Pricing
from .stump import BinnedOracle
from .tree_growth import TreeGrower

#: Most leaves of a tree: the code of a leaf has eight bits.
MOST_LEAVES = 256
_LEAST_GAIN = 1e-6  # least share of the squares of A that a split explains; less is rounding error


class LeafFeatures(CodedFeatures):
    """Growing list of trees as binned features: a tree is categorical, its leaves are the levels.

    Feature 0 is the constant classifier, with two bins and all codes 1; its only threshold is +1
    for every row. A tree of two leaves has one threshold, like ordered codes.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
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
        """Leaf of every row in every tree, after the constant, (trees + 1, m)."""
        return self._codes[: len(self._bins)]

    @property
    def n_bins(self) -> Ints:
        """Number of leaves of every tree, after the constant, (trees + 1,)."""
        return np.array(self._bins, dtype=np.int32)

    @property
    def kinds(self) -> Ints:
        """CATEGORICAL for trees of more than two leaves, otherwise ORDERED, (trees + 1,)."""
        return np.where(self.n_bins > 2, CATEGORICAL, ORDERED).astype(np.uint8)

    @property
    def n_features(self) -> int:
        """Number of trees."""
        return len(self._bins) - 1

    def add(self, tree: Tree, leaves: Ints) -> int:
        """Add a tree with the leaf of every row, (m,); return its number.

        If an existing tree has the same leaf for every row and does not cost more, its number is
        returned instead.
        """
        cost = float(self._feature_costs[list(tree.features)].sum())
        key = (tree.n_leaves, blake2b(leaves.astype(np.uint8).tobytes()).digest())
        number = self._numbers.get(key)
        if number is not None and self.costs[number] <= cost:
            return number
        self._numbers[key] = len(self._bins)
        if len(self._bins) == self._codes.shape[0]:
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        self._codes[len(self._bins)] = leaves
        self._bins.append(tree.n_leaves)
        self._trees.append(tree)
        self.costs.append(cost)
        return self.n_features

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds of a tree."""
        return n_thresholds(self._bins[feature], self._kind(feature))

    def _kind(self, feature: int) -> int:
        return CATEGORICAL if self._bins[feature] > 2 else ORDERED

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return the responses of one leaf against the rest, +1 and -1, (m,)."""
        right = side(self._bins[feature], self._kind(feature), threshold)
        return np.where(right[self._codes[feature]], float(polarity), -float(polarity))

    def learner(self, feature: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a leaf against the rest, or the constant, as a weak classifier."""
        tree = self._trees[feature]
        if tree is None:
            return Constant(polarity)
        if self._kind(feature) == CATEGORICAL:
            return Leaf(tree, threshold, -polarity)
        return Leaf(tree, 1, polarity)


class TreeOracle(BinnedOracle):
    """Oracle of decision trees that are shared by all classes: ``learner="tree"``.

    A column is a leaf of a tree against the rest. Every round grows some trees for the whole
    matrix A; each tree is grown on the part of A that the leaves of the previous trees of the
    round do not explain. All leaves of all trees are priced exactly. The search for trees is
    greedy, so the certificate holds for the leaves of the trees that were grown.

    Paper: Eq. 23 (best weak classifier, group penalties).
    Differs: one tree is shared by all classes, and each of its leaves has its own weights.

    Parameters
    ----------
    max_leaves : int, default=8
        Maximum number of leaves of a tree, 2 to 256.
    trees_per_round : int, default=4
        Number of trees grown in a round.
    row_share, feature_share : float, default=1.0
        Shares of the rows and features on which a tree is grown, drawn for every tree.
    min_share : float, default=0.001
        Minimum weight of a leaf, as a share of the weight of the rows the tree is grown on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.oracles import TreeOracle
    >>> X, y = load_iris(return_X_y=True)
    >>> oracle = TreeOracle(max_leaves=4, trees_per_round=2)
    >>> clf = DirectBoostClassifier(learner=oracle, nu=0.1).fit(X, y)
    >>> clf.certificate_.dictionary
    'generated columns'
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
        what = f"an integer from 2 to {MOST_LEAVES}"
        self.max_leaves = check_count("max_leaves", max_leaves, 2, what)
        if self.max_leaves > MOST_LEAVES:
            raise ValueError(f"max_leaves={max_leaves!r} is invalid: expected {what}")
        self.trees_per_round = check_count("trees_per_round", trees_per_round, 1, "an integer >= 1")
        self.row_share = check_share("row_share", row_share)
        self.feature_share = check_share("feature_share", feature_share)
        self.min_share = check_number(
            "min_share", min_share, 0.0, strict=False, what="a number >= 0"
        )

    def start(self, data: OracleData) -> None:
        """Bin the training rows; there is no tree yet."""
        self._data = data
        self._binned_rows = bin_features(data.X, data.weight, data.max_bins, data.team, data.levels)
        self.binned = self.source = LeafFeatures(self._binned_rows.n_rows, data.costs)
        self.dictionary, self.costs = self.binned.dictionary, self.binned.costs
        self._team = data.team
        self._grower = TreeGrower(
            self._binned_rows, data.weight, self.max_leaves, self.min_share, data.team
        )
        self._random = check_random_state(0 if data.random_state is None else data.random_state)
        self._searched: Scores | None = None

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Grow trees for coefficients A (m, k) and price all leaves.

        Pricing the same coefficients again grows no further trees.
        """
        if self._searched is None or not np.array_equal(self._searched, A):
            self._search(A)
            self._searched = A.copy()
        return super().price(A, penalty, rule)

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the leaves of all trees without growing more."""
        return super().price(A, penalty)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Add the trees of an earlier model."""
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
        if not isinstance(learner, Leaf) or max(learner.features) >= self._binned_rows.n_features:
            return None
        tree = learner.tree
        number = self.binned.add(tree, tree.apply(self._data.X))
        if tree.n_leaves > 2:
            return number, learner.number, -learner.polarity
        return number, 0, learner.polarity if learner.number == 1 else -learner.polarity

    def _search(self, A: Scores) -> None:
        """Grow the trees of a round, each on the residual that the previous ones leave of A."""
        weight = self._data.weight.astype(A.dtype)
        residual = np.array(A)
        least_gain = _LEAST_GAIN * float(((residual**2).sum(axis=1) / weight).sum())
        for _ in range(self.trees_per_round):
            features = _draw(self._random, self._binned_rows.n_features, self.feature_share)
            rows = _draw(self._random, self._binned_rows.n_rows, self.row_share)
            tree = self._grower.grow(residual, features, rows, least_gain)
            if tree is None:
                return
            leaves = tree.apply(self._data.X)
            self.binned.add(tree, leaves)
            residual -= weight[:, None] * _means(residual, weight, leaves, tree.n_leaves)[leaves]


def _draw(random: np.random.RandomState, n: int, share: float) -> Ints:
    """Return a random share of 0..n-1, ascending; all of them, without a draw, if it is 1."""
    if share == 1.0:
        return np.arange(n)
    return np.sort(random.permutation(n)[: max(round(share * n), 1)])


def _means(A: Scores, weight: Scores, leaves: Ints, n_leaves: int) -> Scores:
    """Return the sum of A over the sum of the weights in every leaf, (n_leaves, k)."""
    sums = np.stack([np.bincount(leaves, column, n_leaves) for column in A.T], axis=1)
    whole = np.bincount(leaves, weight, n_leaves)
    means = sums / np.where(whole > 0.0, whole, 1.0)[:, None]
    return np.asarray(means.astype(A.dtype))
