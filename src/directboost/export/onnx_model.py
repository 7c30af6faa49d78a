"""Fitted models in ONNX: scores of stumps, trees and pools, decoding, labels, probabilities."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints
from ..kernels.structs import Products
from ..model.learners import Conjunction, Stump
from ..model.names import feature_names, has_several_labels
from ..model.trees import Tree
from .onnx_graph import Graph, TensorType, onnx_package, sum_of_rows, value_infos
from .other_learners import split_others, tree_depth

_OPSET, _IR_VERSION = 14, 7  # of 2021; runtimes support older versions


def onnx_model(model: Any) -> Any:
    """Return a fitted estimator as a checked `onnx.ModelProto`.

    The input is "X" (N, d), float32. The outputs are "label", "probabilities" (float32) and
    "scores" (double), the last two of shape (N, classes) or (N, labels).
    """
    onnx, graph = onnx_package(), Graph(model.n_features_in_)
    if model.ensemble_.learners:
        found = _decoded_scores(graph, model, _ensemble_scores(graph, model.ensemble_))
    else:
        found = graph.per_row(model._empty_scores())
    scores = graph.node("Identity", found, output="scores")
    label_type = _add_labels(graph, model, scores, "label")
    _add_probabilities(graph, model, scores, "probabilities")
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "directboost",
            *_inputs_and_outputs(model, label_type),
            initializer=graph.constants,
        ),
        producer_name="directboost",
        producer_version=version("directboost"),
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
    )
    onnx.helper.set_model_props(made, _metadata(model))
    onnx.checker.check_model(made, full_check=True)
    return made


def _inputs_and_outputs(model: Any, label_type: Any) -> tuple[list[Any], list[Any]]:
    """Return the declarations of the inputs and outputs of the model."""
    k = len(model.classes_)
    width = [k] if has_several_labels(model) else [1] if getattr(model, "_single", False) else []
    outputs: dict[str, TensorType] = {
        "label": (label_type, ("N", *width)),
        "probabilities": (np.float32, ("N", k)),
        "scores": (np.float64, ("N", k)),
    }
    inputs = {"X": (np.float32, ("N", model.n_features_in_))}
    return value_infos(inputs), value_infos(outputs)


def _metadata(model: Any) -> dict[str, str]:
    """Return the metadata of the file, as JSON by key."""
    levels = [None if found is None else found.tolist() for found in model.categories_]
    known: dict[str, Any] = {
        "estimator": type(model).__name__,
        "feature_names": feature_names(model),
    }
    if any(found is not None for found in levels):
        known["categories"] = levels
    if hasattr(model, "label_names_"):
        known["label_names"] = model.label_names_.tolist()
    if hasattr(model, "certificate_"):
        known["certified_relative_gap"] = model.certificate_.relative_gap
    return {key: json.dumps(value, default=str) for key, value in known.items()}


# --- Scores of an ensemble -------------------------------------------------------------------


def _ensemble_scores(graph: Graph, ensemble: Any) -> str:
    """Add nodes that return the scores of an `Ensemble`, (N, k)."""
    others = split_others(ensemble)
    for learner in others.unsupported:
        count = len(learner.features)
        rule = learner.describe("1 feature" if count == 1 else f"{count} features")
        raise ValueError(
            f"to_onnx does not support the weak classifier {rule} ({type(learner).__name__}): "
            "expected stumps, their products, trees, conjunctions or columns of a pool; fit with "
            "learner='stump', 'pair' or 'tree'"
        )
    trees = [*ensemble.forest, *(_conjunction_tree(h, row) for h, row in others.conjunctions)]
    parts = [_tree_scores(graph, trees)] if trees else []
    if others.pool:
        columns = graph.columns(np.array([column for column, _ in others.pool]))
        rows = graph.node("Transpose", columns, perm=[1, 0])
        parts.append(graph.node("MatMul", rows, np.stack([row for _, row in others.pool])))
    scores = _stump_scores(graph, ensemble)
    if ensemble.products:
        scores = _add_products(graph, scores, ensemble.compiled_products, ensemble.k)
    if not parts:
        return scores
    return graph.node("Add", scores, parts[0] if len(parts) == 1 else graph.node("Add", *parts))


def _stump_scores(graph: Graph, ensemble: Any) -> str:
    """Add nodes that return the scores of stumps and constants, (N, k)."""
    if not ensemble.stump_features.size:
        return graph.per_row(ensemble.intercept)
    columns = graph.columns(ensemble.stump_features)
    rows = _table_rows(graph, columns, ensemble.thresholds)
    sums = sum_of_rows(graph, rows, np.concatenate(ensemble.tables))
    return graph.node("Add", sums, ensemble.intercept)


def _add_products(graph: Graph, scores: str, products: Products, k: int) -> str:
    """Add nodes that add the products of two stumps to the scores, (N, k)."""
    counts, n = products.n_thresholds, products.factors.shape[0]
    thresholds = np.split(products.thresholds, np.cumsum(counts)[:-1])
    rows = _table_rows(graph, graph.columns(products.features), thresholds)
    first_rows = np.cumsum(counts + 2) - (counts + 2)
    holds = []
    for place, first, last in np.moveaxis(products.factors, 0, 2):
        own = graph.node("Gather", rows, place.astype(np.int64), axis=0)
        from_first = graph.node("GreaterOrEqual", own, _column(first_rows[place] + first))
        to_last = graph.node("LessOrEqual", own, _column(first_rows[place] + last))
        holds.append(graph.node("And", from_first, to_last))
    differ = graph.cast(graph.node("Xor", *holds), np.int32)
    numbers = graph.node("Add", differ, _column(2 * np.arange(n)))
    weights = np.zeros((n, k))
    weights[np.repeat(np.arange(n), np.diff(products.starts)), products.classes] = products.weights
    table = np.stack([weights, -weights], axis=1).reshape(-1, k)
    return sum_of_rows(graph, numbers, table, start=scores)


def _table_rows(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that return the row of each value in the concatenated tables, (features, N).

    A table has one row for each number of thresholds below a value, and a last row for missing
    values.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, before = np.cumsum(counts), 2 * np.arange(counts.size)
    place = _count_below(graph, columns, thresholds)
    row = graph.node("Add", place, _column(before))
    return graph.node("Where", graph.node("IsNaN", columns), _column(ends + before + 1), row)


def _count_below(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that count the thresholds below each value, plus those of all previous features.

    This is a bisection of all features at once, the largest step first; steps beyond the last
    threshold of a feature end there.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, most = np.cumsum(counts), int(counts.max())
    joined = np.concatenate([np.zeros(1), *thresholds])  # thresholds start at index 1
    shape = graph.node("Shape", columns)
    place = graph.node("Expand", _column(ends - counts), shape)
    for exponent in reversed(range(most.bit_length())):
        step = graph.node("Add", place, np.array(1 << exponent, dtype=np.int32))
        ahead = graph.node("Min", step, _column(ends))
        above = graph.node("Greater", columns, graph.look_up(joined, ahead, shape))
        place = graph.node("Where", above, ahead, place)
    return place


def _column(numbers: Ints) -> Ints:
    """Return one number per feature as a column, (features, 1)."""
    return numbers.astype(np.int32)[:, None]


# --- Scores of trees -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Forest:
    """All trees in common arrays: first all leaves, in the order of the tables, then all splits.

    A value goes left if it is between `low` and `high`; a split on a level has the level as both.
    Both children of a leaf are the leaf itself.
    """

    roots: Ints
    feature: Ints
    low: Array
    high: Array
    missing_left: Bools
    left: Ints
    right: Ints
    depth: int


def _tree_scores(graph: Graph, trees: Sequence[tuple[Tree, Array]]) -> str:
    """Add nodes that sum the scores of the leaves of each row, (N, k).

    Parameters
    ----------
    graph : Graph
    trees : pairs of a tree and the scores of its leaves (leaves, k)
    """
    forest = _make_forest([tree for tree, _ in trees])
    table = np.concatenate([table for _, table in trees])
    return sum_of_rows(graph, _leaves(graph, forest), table)


def _make_forest(trees: Sequence[Tree]) -> _Forest:
    first_leaf = np.cumsum([0, *(tree.n_leaves for tree in trees)])
    n_leaves = first_leaf[-1]
    first_split = n_leaves + np.cumsum([0, *(tree.feature.size for tree in trees)])
    firsts = list(zip(trees, first_leaf.tolist(), first_split.tolist(), strict=False))
    stay, zeros = np.arange(n_leaves), np.zeros(n_leaves, dtype=np.int64)
    left = [np.where(t.left < 0, a + ~t.left, b + t.left) for t, a, b in firsts]
    right = [np.where(t.right < 0, a + ~t.right, b + t.right) for t, a, b in firsts]
    is_level = np.concatenate([zeros > 0, *(tree.is_level for tree in trees)])
    value = np.concatenate([0.0 * zeros, *(tree.value for tree in trees)])
    feature = np.concatenate([zeros, *(tree.feature for tree in trees)])
    feature[:n_leaves] = feature[-1]  # leaves must not add features that no split reads
    return _Forest(
        roots=np.array([b if tree.feature.size else a for tree, a, b in firsts]),
        feature=feature,
        low=np.where(is_level, value, -np.inf),
        high=value,
        missing_left=np.concatenate([zeros > 0, *(tree.missing_left for tree in trees)]),
        left=np.concatenate([stay, *left]),
        right=np.concatenate([stay, *right]),
        depth=max(map(tree_depth, trees)),
    )


def _leaves(graph: Graph, forest: _Forest) -> str:
    """Add a loop that descends all trees, as often as the deepest one requires, (trees, N)."""
    rows = graph.node("Transpose", graph.per_row(np.zeros(1, dtype=np.int32)))
    roots = graph.node("Add", forest.roots.astype(np.int32)[:, None], rows)
    if not forest.depth:
        return roots
    features, local = np.unique(forest.feature, return_inverse=True)
    inside, place = graph.inner(), graph.name()
    below = _descend(inside, forest, graph.columns(features), local, place)
    iteration, condition, condition_out = graph.name(), graph.name(), graph.name()
    inside.node("Identity", condition, output=condition_out)
    places = (np.int32, (forest.roots.size, "N"))
    inputs = {iteration: (np.int64, ()), condition: (np.bool_, ()), place: places}
    body = inside.body(inputs, {condition_out: (np.bool_, ()), below: places})
    return graph.node(
        "Loop", np.array(forest.depth, dtype=np.int64), np.array(True), roots, body=body
    )


def _descend(inside: Graph, forest: _Forest, columns: str, feature: Ints, place: str) -> str:
    """Add nodes that move every place to a child; `feature` indexes the rows of `columns`."""
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
    children = (here(child.astype(np.int32)) for child in (forest.left, forest.right))
    return inside.node("Where", goes_left, *children)


def _conjunction_tree(learner: Conjunction, row: Array) -> tuple[Tree, Array]:
    """Return a conjunction as a chain of splits, with the scores of the leaves (leaves, k).

    All items hold in leaf 0; the first item that does not hold is item j in leaf j + 1.
    """
    n = len(learner.items)
    onward, away = np.array([*range(1, n), ~0]), ~np.arange(1, n + 1)
    # value, is_level, missing_left, and whether the item holds on the left side
    splits = [
        (item.threshold, False, not item.missing_right, item.polarity < 0)
        if isinstance(item, Stump)
        else (item.level, True, False, item.polarity > 0)
        for item in learner.items
    ]
    value, is_level, missing_left, holds_left = map(np.array, zip(*splits, strict=True))
    chain = Tree(
        feature=np.array([item.feature for item in learner.items]),
        value=value.astype(np.float64),
        is_level=is_level,
        missing_left=missing_left,
        left=np.where(holds_left, onward, away),
        right=np.where(holds_left, away, onward),
    )
    return chain, np.where(np.arange(chain.n_leaves)[:, None] == 0, row, -row)


# --- Decoding --------------------------------------------------------------------------------


def _decoded_scores(graph: Graph, model: Any, votes: str) -> str:
    """Add nodes that return the scores of the classes, (N, k), from sums of votes."""
    decoder = getattr(model, "_decoder", None)
    if decoder is not None:
        decoders = {
            "loss_scores": _loss_scores,
            "hamming_scores": _hamming_scores,
            "linear_scores": _linear_scores,
        }
        return decoders[decoder.__name__](graph, votes, model.code_)
    totals = getattr(model, "_totals", None)
    if totals:
        return graph.node("Div", votes, np.where(totals[-1] > 0.0, totals[-1], 1.0))
    return votes


def _loss_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that return -ln sum_j exp(-M_cj f_j) for every class c, (N, k)."""
    column = graph.node("Unsqueeze", bits, np.ones(1, dtype=np.int64))
    losses = graph.node("Mul", column, -code.astype(np.float64))
    sums = graph.node("ReduceLogSumExp", losses, axes=[2], keepdims=0)
    return graph.node("Neg", sums)


def _hamming_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that return sum_j M_cj sign(f_j) for every class c, with sign(0) = +1, (N, k)."""
    positive = graph.node("GreaterOrEqual", bits, np.zeros(1))
    signs = graph.node("Where", positive, np.ones(1), -np.ones(1))
    return _linear_scores(graph, signs, code)


def _linear_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that return sum_j M_cj f_j for every class c, (N, k)."""
    return graph.node("MatMul", bits, np.ascontiguousarray(code.T, dtype=np.float64))


# --- Labels and probabilities ----------------------------------------------------------------


def _add_labels(graph: Graph, model: Any, scores: str, output: str) -> Any:
    """Add nodes that return the result of `predict`, and return its dtype.

    The class with the largest score, the first one of ties; for multi-label models one of two
    values per label.
    """
    if has_several_labels(model):
        sides = (np.s_[:1], np.s_[-1:])  # the values for rows without and with the label
        values = [np.concatenate([pair[side] for pair in model._values]) for side in sides]
        without, with_label = np.split(_onnx_array(np.stack(values)), 2)
        positive = graph.node("Greater", scores, np.zeros(1))
        graph.node("Where", positive, with_label, without, output=output)
        return without.dtype
    classes = _onnx_array(model.classes_)
    column = int(getattr(model, "_single", False))  # y was one column, so the output is one
    best = graph.node("ArgMax", scores, axis=1, keepdims=column)
    graph.node("Gather", classes, best, output=output)
    return classes.dtype


def _add_probabilities(graph: Graph, model: Any, scores: str, output: str) -> None:
    """Add nodes that return the result of `predict_proba` in single precision."""
    factor = np.array([model._factor if model.learners_ else 1.0])
    if has_several_labels(model):
        found = graph.node("Sigmoid", graph.node("Mul", scores, factor))
    elif model.learners_:
        found = graph.node("Softmax", graph.node("Mul", scores, factor), axis=1)
    else:
        found = graph.per_row(model._prior)
    graph.cast(found, np.float32, output)


def _onnx_array(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels in a type that ONNX supports: int64, bool, double or string."""
    kind = values.dtype.kind
    if kind in "iu" and (values <= np.iinfo(np.int64).max).all():
        return values.astype(np.int64)
    if kind in "bf":
        return values.astype(bool if kind == "b" else np.float64)
    strings = [str(value) for value in values.ravel() if isinstance(value, str)]
    if len(strings) == values.size:
        return np.array(strings, dtype=object).reshape(values.shape)
    raise ValueError(
        f"to_onnx does not support the label {values.ravel()[0]!r} of dtype {values.dtype}: "
        "expected integers of at most 63 bits, booleans, floats or strings"
    )
