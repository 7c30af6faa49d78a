"""Greedy growth of a decision tree on binned data, for all columns of a matrix at once."""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData
from ..kernels import histograms
from ..kernels.step_functions import CATEGORICAL, WITH_MISSING
from ..kernels.threads import Team
from ..model.trees import Tree

_TIE = 1e-7  # relative difference up to which gains are equal: the first split wins
_EMPTY = 1e-6  # share of the weight that rounding errors may leave in an empty bin


@dataclass(frozen=True)
class _Split:
    """A split of a node: its gain, the feature, the bin within it, and the side of missing."""

    gain: float
    feature: int
    bin: int
    missing_left: bool


@dataclass(eq=False)
class _Node:
    """A leaf of the unfinished tree: its rows, its histograms, and its best split.

    `parent` is the number of the split above and whether the node is its right child; None for
    the root.
    """

    rows: Ints
    sums: Array
    best: _Split | None
    parent: tuple[int, bool] | None = None


@dataclass
class _UnfinishedTree:
    """The splits so far, in the order of growth, and the children of every split."""

    splits: list[_Split] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def add(self, split: _Split, parent: tuple[int, bool] | None) -> int:
        number = len(self.splits)
        self.splits.append(split)
        self.children.append([0, 0])
        self.set_child(number, parent)
        return number

    def set_child(self, child: int, parent: tuple[int, bool] | None) -> None:
        if parent is not None:
            self.children[parent[0]][int(parent[1])] = child


class TreeGrower:
    """Growth of trees on the same codes.

    A leaf predicts the sum of its rows of A over the sum of their weights. It explains the square
    of the first sum over the second, and every split is the one with the largest gain in this
    explained sum of squares.

    Parameters
    ----------
    binned : BinnedData
    weight : (m,) array
    max_leaves : int
    min_share : float
        Minimum weight of a leaf, as a share of the weight of the rows the tree is grown on.
    team : Team, optional
        Threads for the kernels.
    """

    def __init__(
        self,
        binned: BinnedData,
        weight: Array,
        max_leaves: int,
        min_share: float,
        team: Team | None = None,
    ) -> None:
        self._binned, self._weight, self._team = binned, weight, team
        self._max_leaves, self._min_share = max_leaves, min_share

    def grow(self, A: Scores, features: Ints, rows: Ints, least_gain: float = 0.0) -> Tree | None:
        """Return a tree for some rows of A (m, k) on some features; None if there is no split.

        Every split has a gain above `least_gain`.
        """
        least_weight = max(self._min_share, _EMPTY) * float(self._weight[rows].sum())
        search = _SplitSearch(self._binned, features, least_weight, least_gain)
        values = np.column_stack([A, self._weight]).astype(A.dtype, copy=False)
        root = _Node(rows, self._sums(values, features, rows), None)
        root.best = search.best(root.sums)
        nodes, tree = [root], _UnfinishedTree()
        while len(nodes) < self._max_leaves:
            gains = np.array([0.0 if node.best is None else node.best.gain for node in nodes])
            node = nodes[int(np.argmax(gains >= (1.0 - _TIE) * gains.max()))]
            if node.best is None:
                break
            nodes.remove(node)
            nodes += self._split(node, tree, values, features, search)
        if not tree.splits:
            return None
        for leaf, node in enumerate(nodes):
            tree.set_child(~leaf, node.parent)
        return _finish(tree, self._binned)

    def _sums(self, values: Scores, features: Ints, rows: Ints) -> Array:
        """Return the histograms of the values of some rows, (bins of the features, k + 1)."""
        binned, n_bins = self._binned, self._binned.n_bins[features]
        if binned.codes.shape[0] < binned.n_bins.size:
            # Some features have lists only: the other rows count as zero.
            own = np.zeros_like(values)
            own[rows] = values[rows]
            used = features.astype(np.int32)
            return histograms(binned.codes, used, n_bins, own, self._team, binned.sparse)
        if rows.size == binned.n_rows:
            used = features.astype(np.int32)
            return histograms(binned.codes, used, n_bins, values, self._team)
        part = np.ascontiguousarray(binned.codes[np.ix_(features, rows)])
        used = np.arange(features.size, dtype=np.int32)
        return histograms(part, used, n_bins, np.ascontiguousarray(values[rows]), self._team)

    def _split(
        self,
        node: _Node,
        tree: _UnfinishedTree,
        values: Scores,
        features: Ints,
        search: "_SplitSearch",
    ) -> list[_Node]:
        """Return the children of a node.

        The sums of the larger child are those of the node minus those of the smaller child.
        """
        assert node.best is not None
        number = tree.add(node.best, node.parent)
        right = _goes_right(self._binned, node.best, node.rows)
        parts = [node.rows[~right], node.rows[right]]
        small = int(parts[1].size < parts[0].size)
        sums = self._sums(values, features, parts[small])
        both = [sums, node.sums - sums] if small == 0 else [node.sums - sums, sums]
        best = [search.best(own) for own in both]
        # A node that cannot be split does not need its sums any more.
        kept = [own if found else own[:0] for own, found in zip(both, best, strict=True)]
        return [_Node(parts[side], kept[side], best[side], (number, bool(side))) for side in (0, 1)]


def _goes_right(binned: BinnedData, split: _Split, rows: Ints) -> Bools:
    """Return which of the rows a split sends to the right."""
    codes, kind = binned.codes_of(split.feature)[rows], binned.kinds[split.feature]
    if kind == CATEGORICAL:
        return np.asarray(codes != split.bin)
    if kind == WITH_MISSING and split.missing_left:
        return np.asarray((codes > split.bin) & (codes < binned.n_bins[split.feature] - 1))
    return np.asarray(codes > split.bin)


class _SplitSearch:
    """Search for the best split of a node, given its sums over the bins of the features."""

    def __init__(
        self, binned: BinnedData, features: Ints, least_weight: float, least_gain: float
    ) -> None:
        n_bins, kinds = binned.n_bins[features], binned.kinds[features]
        self._features, self._least_weight, self._least_gain = features, least_weight, least_gain
        self._first = np.concatenate([[0], np.cumsum(n_bins)])
        self._owner = np.repeat(np.arange(features.size), n_bins)
        place = np.arange(self._first[-1]) - self._first[self._owner]
        self._place, last = place, (n_bins - 1)[self._owner]
        self._levels = (kinds == CATEGORICAL)[self._owner]
        with_missing = (kinds == WITH_MISSING)[self._owner]
        # Bins after which a split is possible, with missing values on the right and on the left.
        self._missing_right = np.where(self._levels, n_bins[self._owner] > 1, place < last)
        self._missing_left = with_missing & (place < last - 1)

    def best(self, sums: Array) -> _Split | None:
        """Return the split of the largest gain; None if no gain exceeds the minimum."""
        total = sums[: self._first[1]].sum(axis=0)
        running = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
        left = running[1:] - running[self._first[self._owner]]
        left = np.where(self._levels[:, None], sums, left)
        gains = [self._gains(left, total, self._missing_right)]
        if self._missing_left.any():
            left += sums[self._first[self._owner + 1] - 1]
            gains.append(self._gains(left, total, self._missing_left))
        gain = float(max(values.max() for values in gains))
        if not gain > self._least_gain:
            return None
        good = [values >= (1.0 - _TIE) * gain for values in gains]
        side = 0 if good[0].any() else 1
        winner = int(np.argmax(good[side]))
        feature = int(self._features[self._owner[winner]])
        return _Split(gain, feature, int(self._place[winner]), side == 1)

    def _gains(self, left: Array, total: Array, allowed: Bools) -> Array:
        right = total - left
        heavy = (left[:, -1] >= self._least_weight) & (right[:, -1] >= self._least_weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = sum((s[:, :-1] ** 2).sum(axis=1) / s[:, -1] for s in (left, right))
        before = float((total[:-1] ** 2).sum() / total[-1])
        return np.where(allowed & heavy, explained - before, -np.inf)


def _finish(tree: _UnfinishedTree, binned: BinnedData) -> Tree:
    """Return the tree with thresholds and levels instead of bins."""
    splits = tree.splits
    children = np.array(tree.children, dtype=np.int64)
    return Tree(
        feature=np.array([s.feature for s in splits]),
        value=np.array([_value(binned, s) for s in splits], dtype=np.float64),
        is_level=np.array([s.bin < binned.levels[s.feature].size for s in splits]),
        missing_left=np.array([_missing_left(binned, s) for s in splits]),
        left=children[:, 0],
        right=children[:, 1],
    )


def _value(binned: BinnedData, split: _Split) -> float:
    """Return the level or threshold; an infinite one separates missing from present values."""
    levels, thresholds = binned.levels[split.feature], binned.thresholds[split.feature]
    if levels.size:
        return float(levels[split.bin]) if split.bin < levels.size else -np.inf
    return float(thresholds[split.bin]) if split.bin < thresholds.size else np.inf


def _missing_left(binned: BinnedData, split: _Split) -> bool:
    """Return whether missing values go left; without any in training, to the heavier side.

    Missing values of a categorical feature belong to the rest, unless the split is on them.
    """
    kind = binned.kinds[split.feature]
    if kind == WITH_MISSING:
        return split.missing_left
    if kind == CATEGORICAL:
        return split.bin == binned.levels[split.feature].size
    return bool(binned.centre[split.feature] <= split.bin)
