"""Growing a tree on binned data: greedily, one tree for all columns of a matrix."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData
from ..kernels import histograms
from ..kernels.step_functions import CATEGORICAL, WITH_MISSING
from ..kernels.threads import Team
from ..model.trees import Tree

_TIE = 1e-7  # relative difference of gains that is none: the first split wins
_NOTHING = 1e-6  # share of the weight that rounding may leave in an empty bin


@dataclass(frozen=True)
class Shape:
    """How large a tree may grow.

    Attributes
    ----------
    max_leaves : int
    min_share : float
        Least share of the weight of the rows it is grown on that a leaf holds.
    """

    max_leaves: int
    min_share: float


@dataclass(frozen=True)
class _Split:
    """A split of a node and its gain: the place of the bin in its feature, and missing's side."""

    gain: float
    feature: int
    bin: int
    missing_left: bool


@dataclass(eq=False)
class _Node:
    rows: Ints
    sums: Array
    best: _Split | None
    #: Where the number of the split, or of the leaf, is written: a split above, and its side.
    above: tuple[int, bool] | None = None


@dataclass
class _Draft:
    """The splits so far, in the order they were made."""

    splits: list[_Split] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def add(self, split: _Split, above: tuple[int, bool] | None) -> int:
        number = len(self.splits)
        self.splits.append(split)
        self.children.append([0, 0])
        self.hang(number, above)
        return number

    def hang(self, child: int, above: tuple[int, bool] | None) -> None:
        if above is not None:
            self.children[above[0]][int(above[1])] = child


class TreeGrower:
    """Grows trees on the same codes.

    A leaf that answers its mean of the rows of A over their weights explains the square of its sum
    over its weight; every split is the one of the largest gain in this.

    Parameters
    ----------
    binned : BinnedData
    weight : (m,) array
    shape : Shape
    team : Team, optional
    """

    def __init__(
        self, binned: BinnedData, weight: Array, shape: Shape, team: Team | None = None
    ) -> None:
        self._binned, self._weight, self._shape, self._team = binned, weight, shape, team

    def grow(self, A: Scores, features: Ints, rows: Ints, least_gain: float = 0.0) -> Tree | None:
        """Return a tree for the listed rows of A (m, k), on some features; None without a split.

        Splits gain more than `least_gain`.
        """
        least = max(self._shape.min_share, _NOTHING) * float(self._weight[rows].sum())
        search = _Search(self._binned, features, least, least_gain)
        values = np.column_stack([A, self._weight]).astype(A.dtype, copy=False)
        root = _Node(rows, self._sums(values, features, rows), None)
        root.best = search.best(root.sums)
        open_nodes, draft = [root], _Draft()
        while len(open_nodes) < self._shape.max_leaves:
            node = _widest(open_nodes)
            if node.best is None:
                break
            open_nodes.remove(node)
            open_nodes += self._part(node, draft, values, features, search)
        if not draft.splits:
            return None
        for leaf, node in enumerate(open_nodes):
            draft.hang(~leaf, node.above)
        return _finished(draft, self._binned)

    def _sums(self, values: Scores, features: Ints, rows: Ints) -> Array:
        codes, every = self._binned.codes, rows.size == self._binned.n_rows
        if codes.shape[0] < self._binned.n_bins.size:
            return self._sums_of_lists(values, features, rows)
        if every:
            used = features.astype(np.int32)
            return histograms(codes, used, self._binned.n_bins[features], values, self._team)
        part = np.ascontiguousarray(codes[np.ix_(features, rows)])
        used = np.arange(features.size, dtype=np.int32)
        chosen = np.ascontiguousarray(values[rows])
        return histograms(part, used, self._binned.n_bins[features], chosen, self._team)

    def _sums_of_lists(self, values: Scores, features: Ints, rows: Ints) -> Array:
        """Return the sums where some features have lists only: other rows count as zero."""
        own = np.zeros_like(values)
        own[rows] = values[rows]
        binned, used = self._binned, features.astype(np.int32)
        n_bins = binned.n_bins[features]
        return histograms(binned.codes, used, n_bins, own, self._team, binned.sparse)

    def _part(
        self, node: _Node, draft: _Draft, values: Scores, features: Ints, search: "_Search"
    ) -> list[_Node]:
        """Split a node; the sums of the larger child are what the smaller one leaves."""
        assert node.best is not None
        number = draft.add(node.best, node.above)
        right = goes_right(self._binned, node.best, node.rows)
        parts = [node.rows[~right], node.rows[right]]
        small = int(parts[1].size < parts[0].size)
        sums = self._sums(values, features, parts[small])
        both = [sums, node.sums - sums] if small == 0 else [node.sums - sums, sums]
        best = [search.best(own) for own in both]
        # What cannot be split needs no sums any more.
        kept = [own if found else own[:0] for own, found in zip(both, best, strict=True)]
        return [_Node(parts[side], kept[side], best[side], (number, bool(side))) for side in (0, 1)]


def _widest(nodes: list[_Node]) -> _Node:
    """Return the first of the nodes whose split gains most."""
    gains = np.array([0.0 if node.best is None else node.best.gain for node in nodes])
    return nodes[int(np.argmax(gains >= (1.0 - _TIE) * gains.max()))]


def goes_right(binned: BinnedData, split: Any, rows: Ints) -> Bools:
    """Return which of the rows a split sends to the right."""
    codes, kind = binned.codes_of(split.feature)[rows], binned.kinds[split.feature]
    if kind == CATEGORICAL:
        return np.asarray(codes != split.bin)
    if kind == WITH_MISSING and split.missing_left:
        return np.asarray((codes > split.bin) & (codes < binned.n_bins[split.feature] - 1))
    return np.asarray(codes > split.bin)


class _Search:
    """Finds the best split of a node from its sums over the bins of the features."""

    def __init__(self, binned: BinnedData, features: Ints, least: float, least_gain: float) -> None:
        n_bins, kinds = binned.n_bins[features], binned.kinds[features]
        self._features, self._least, self._least_gain = features, least, least_gain
        self._first = np.concatenate([[0], np.cumsum(n_bins)])
        self._owner = np.repeat(np.arange(features.size), n_bins)
        place = np.arange(self._first[-1]) - self._first[self._owner]
        self._place, last = place, (n_bins - 1)[self._owner]
        self._levels = (kinds == CATEGORICAL)[self._owner]
        self._gaps = (kinds == WITH_MISSING)[self._owner]
        self._plain = np.where(self._levels, n_bins[self._owner] > 1, place < last)
        self._other = self._gaps & (place < last - 1)

    def best(self, sums: Array) -> _Split | None:
        """Return the split of the largest gain, None where none gains enough."""
        total = sums[: self._first[1]].sum(axis=0)
        running = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
        left = running[1:] - running[self._first[self._owner]]
        left = np.where(self._levels[:, None], sums, left)
        gains = [self._gains(left, total, self._plain)]
        if self._other.any():
            left += sums[self._first[self._owner + 1] - 1]
            gains.append(self._gains(left, total, self._other))
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
        allowed = allowed & (left[:, -1] >= self._least) & (right[:, -1] >= self._least)
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = sum((s[:, :-1] ** 2).sum(axis=1) / s[:, -1] for s in (left, right))
        before = float((total[:-1] ** 2).sum() / total[-1])
        return np.where(allowed, explained - before, -np.inf)


def _finished(draft: _Draft, binned: BinnedData) -> Tree:
    """Return the tree with thresholds and levels in the place of bins."""
    splits = draft.splits
    children = np.array(draft.children, dtype=np.int64)
    levels = [s.bin < binned.levels[s.feature].size for s in splits]
    values = [_value(binned, s) for s in splits]
    return Tree(
        np.array([s.feature for s in splits]), np.array(values, dtype=np.float64),
        np.array(levels), np.array([_missing_left(binned, s) for s in splits]),
        children[:, 0], children[:, 1],
    )  # fmt: skip


def _value(binned: BinnedData, split: _Split) -> float:
    """Return the level or the threshold; an infinite one parts missing from present values."""
    levels, thresholds = binned.levels[split.feature], binned.thresholds[split.feature]
    if levels.size:
        return float(levels[split.bin]) if split.bin < levels.size else -np.inf
    return float(thresholds[split.bin]) if split.bin < thresholds.size else np.inf


def _missing_left(binned: BinnedData, split: _Split) -> bool:
    """Return where missing values go; where training had none, to the heavier side.

    Those of a category are of the rest, unless the split sets them apart.
    """
    kind = binned.kinds[split.feature]
    if kind == WITH_MISSING:
        return split.missing_left
    if kind == CATEGORICAL:
        return split.bin == binned.levels[split.feature].size
    return bool(binned.centre[split.feature] <= split.bin)
