"""All trees of a model, gone down together, one step of every row at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Ints
from ..model.trees import Tree
from .onnx_graph import Graph
from .onnx_sums import sum_of_rows


@dataclass(frozen=True)
class _Forest:
    """Trees joined: the leaves of all of them first, numbered as the rows of the joined tables.

    A value goes left where it is between `low` and `high`, which are the level twice where a split
    parts one from the rest. A leaf leads to itself.
    """

    roots: Ints
    feature: Ints
    low: Array
    high: Array
    missing_left: Bools
    left: Ints
    right: Ints
    depth: int


def tree_scores(graph: Graph, trees: Sequence[tuple[Tree, Array]]) -> str:
    """Add nodes that sum up the scores of the leaves a row falls into, (N, k).

    Parameters
    ----------
    trees : pairs of a tree and the scores of its leaves (leaves, k)
    """
    forest = _joined([tree for tree, _ in trees])
    table = np.concatenate([table for _, table in trees])
    return sum_of_rows(graph, _leaves(graph, forest), table)


def _leaves(graph: Graph, forest: _Forest) -> str:
    """Add nodes that go down from the roots, as often as the deepest tree needs, (trees, N)."""
    rows = graph.node("Transpose", graph.per_row(np.zeros(1, dtype=np.int32)))
    roots = graph.node("Add", forest.roots.astype(np.int32)[:, None], rows)
    if not forest.depth:
        return roots
    features, local = np.unique(forest.feature, return_inverse=True)
    inside, place = graph.inner(), graph.name()
    below = _step(inside, forest, graph.columns(features), local, place)
    number, going, still = graph.name(), graph.name(), graph.name()
    inside.node("Identity", going, output=still)
    places = (np.int32, (forest.roots.size, "N"))
    inputs = {number: (np.int64, ()), going: (np.bool_, ()), place: places}
    body = inside.body(inputs, {still: (np.bool_, ()), below: places})
    return graph.node(
        "Loop", np.array(forest.depth, dtype=np.int64), np.array(True), roots, body=body
    )


def _step(inside: Graph, forest: _Forest, columns: str, feature: Ints, place: str) -> str:
    """Add nodes that go from places to those below them; features are rows of `columns`."""
    shape = inside.node("Shape", place)

    def here(values: Array | Ints | Bools) -> str:
        return inside.look_up(values, place, shape)

    x = inside.node("GatherElements", columns, here(feature.astype(np.int32)), axis=0)
    within = inside.node("LessOrEqual", x, here(forest.high))
    if np.isfinite(forest.low).any():
        above = inside.node("GreaterOrEqual", x, here(forest.low))
        within = inside.node("And", within, above)
    missing = inside.node("And", inside.node("IsNaN", x), here(forest.missing_left))
    goes_left = inside.node("Or", within, missing)
    ways = (here(way.astype(np.int32)) for way in (forest.left, forest.right))
    return inside.node("Where", goes_left, *ways)


def _joined(trees: Sequence[Tree]) -> _Forest:
    """Return the forest of some trees."""
    leaf = np.cumsum([0, *(tree.n_leaves for tree in trees)])
    split = leaf[-1] + np.cumsum([0, *(tree.feature.size for tree in trees)])
    firsts = list(zip(trees, leaf.tolist(), split.tolist(), strict=False))
    stay, nothing = np.arange(leaf[-1]), np.zeros(leaf[-1], dtype=np.int64)
    left = [np.where(t.left < 0, a + ~t.left, b + t.left) for t, a, b in firsts]
    right = [np.where(t.right < 0, a + ~t.right, b + t.right) for t, a, b in firsts]
    is_level = np.concatenate([nothing > 0, *(tree.is_level for tree in trees)])
    value = np.concatenate([0.0 * nothing, *(tree.value for tree in trees)])
    feature = np.concatenate([nothing, *(tree.feature for tree in trees)])
    feature[: leaf[-1]] = feature[-1]  # so that leaves read nothing that no split reads
    return _Forest(
        roots=np.array([b if tree.feature.size else a for tree, a, b in firsts]),
        feature=feature,
        low=np.where(is_level, value, -np.inf),
        high=value,
        missing_left=np.concatenate([nothing > 0, *(tree.missing_left for tree in trees)]),
        left=np.concatenate([stay, *left]),
        right=np.concatenate([stay, *right]),
        depth=max(map(_depth, trees)),
    )


def _depth(tree: Tree) -> int:
    """Return the most splits between the root of a tree and a leaf."""
    return max(len(tree.way_to(leaf)) for leaf in range(tree.n_leaves))
