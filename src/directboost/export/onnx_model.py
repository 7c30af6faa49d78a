"""All trees of a model, gone down together, one step of every row at a time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints
from ..model.learners import CategoryStump, Negated, PoolColumn, Stump, WeakClassifier
from ..model.names import feature_names, has_several_labels
from ..model.trees import Leaf, Tree
from .onnx_graph import End, Graph, ends, onnx_package, sum_of_rows


def stump_scores(graph: Graph, ensemble: Any) -> str:
    """Add nodes that give what stumps and constants add to the scores, (N, k)."""
    if not ensemble.stump_features.size:
        return graph.per_row(ensemble.intercept)
    columns = graph.columns(ensemble.stump_features)
    rows = _table_rows(graph, columns, ensemble.thresholds)
    sums = sum_of_rows(graph, rows, np.concatenate(ensemble.tables))
    return graph.node("Add", sums, ensemble.intercept)


def _table_rows(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that give the row of the joined tables for every value, (features, N).

    A table has a row per count of thresholds below a value, and a last one for missing values.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, before = np.cumsum(counts), 2 * np.arange(counts.size)
    place = _count_below(graph, columns, thresholds)
    row = graph.node("Add", place, _down(before))
    return graph.node("Where", graph.node("IsNaN", columns), _down(ends + before + 1), row)


def _count_below(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that count thresholds below a value, plus all those of the features before.

    The largest step comes first; one beyond the last threshold of a feature ends there.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, most = np.cumsum(counts), int(counts.max())
    joined = np.concatenate([np.zeros(1), *thresholds])  # from place 1 on
    shape = graph.node("Shape", columns)
    place = graph.node("Expand", _down(ends - counts), shape)
    for exponent in reversed(range(most.bit_length())):
        step = graph.node("Add", place, np.array(1 << exponent, dtype=np.int32))
        ahead = graph.node("Min", step, _down(ends))
        above = graph.node("Greater", columns, graph.look_up(joined, ahead, shape))
        place = graph.node("Where", above, ahead, place)
    return place


def _down(numbers: Ints) -> Ints:
    """Return one number per feature as a column, (features, 1)."""
    return numbers.astype(np.int32)[:, None]


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


def ensemble_scores(graph: Graph, ensemble: Any) -> str:
    """Add nodes that give the sums of votes of an `Ensemble`, (N, k); refuse others by name."""
    others = list(zip(ensemble._others, ensemble._other_votes, strict=True))
    for learner, _ in others:
        if not (isinstance(learner, Leaf) or _is_conjunction(learner) or _is_answer(learner)):
            raise ValueError(_refusal(learner))
    chains = [(_chain(h), row) for h, row in others if _is_conjunction(h)]
    trees = [*ensemble._forest, *((chain, _chain_table(chain, row)) for chain, row in chains)]
    answers = [(h, row) for h, row in others if _is_answer(h)]
    parts = [tree_scores(graph, trees)] if trees else []
    parts += [_pool_scores(graph, answers)] if answers else []
    scores = stump_scores(graph, ensemble)
    if not parts:
        return scores
    return graph.node("Add", scores, parts[0] if len(parts) == 1 else graph.node("Add", *parts))


def _refusal(learner: WeakClassifier) -> str:
    count = len(learner.features)
    return (
        "to_onnx writes stumps, trees, conjunctions and pools of responses, but this model has "
        f"{learner.describe('1 feature' if count == 1 else f'{count} features')} "
        f"({type(learner).__name__}); fit with learner='stump' or learner='tree'"
    )


def _is_conjunction(learner: Any) -> bool:
    """Tell whether a weak classifier is that several rules hold together."""
    items = getattr(learner, "items", ())
    return bool(items) and all(isinstance(item, Stump | CategoryStump) for item in items)


def _chain(learner: Any) -> Tree:
    """Return a conjunction as a tree: leaf 0 where all items hold, split j on to leaf j + 1."""
    items = learner.items
    onward = np.array([*range(1, len(items)), ~0])
    away = ~np.arange(1, len(items) + 1)
    is_level = np.array([isinstance(item, CategoryStump) for item in items])
    to_left = is_level == np.array([item.polarity > 0 for item in items])
    return Tree(
        feature=np.array([item.feature for item in items]),
        value=np.array([_value(item) for item in items], dtype=np.float64),
        is_level=is_level,
        missing_left=np.array([isinstance(h, Stump) and not h.missing_right for h in items]),
        left=np.where(to_left, onward, away),
        right=np.where(to_left, away, onward),
    )


def _value(item: Stump | CategoryStump) -> float:
    return item.level if isinstance(item, CategoryStump) else item.threshold


def _chain_table(chain: Tree, votes: Array) -> Array:
    """Return what the leaves of the tree of a conjunction add to the scores, (leaves, k)."""
    return np.where(np.arange(chain.n_leaves)[:, None] == 0, votes, -votes)


def _is_answer(learner: Any) -> bool:
    """Tell whether a weak classifier is a column of X, or the opposite of one."""
    inner = learner.learner if isinstance(learner, Negated) else learner
    return isinstance(inner, PoolColumn)


def _pool_scores(graph: Graph, answers: list[tuple[Any, Array]]) -> str:
    """Add nodes that give the votes of columns of X that are answers themselves, (N, k)."""
    columns = graph.columns(np.array([learner.features[0] for learner, _ in answers]))
    votes = [-row if isinstance(learner, Negated) else row for learner, row in answers]
    return graph.node("MatMul", graph.node("Transpose", columns, perm=[1, 0]), np.stack(votes))


def decoded(graph: Graph, model: Any, votes: str) -> str:
    """Add nodes that give the scores of the classes, (N, k), from sums of votes."""
    decoder = getattr(model, "_decoder", None)
    if decoder is not None:
        return _DECODERS[decoder.__name__](graph, votes, model.code_)
    totals = getattr(model, "_totals", None)
    if totals:
        return graph.node("Div", votes, np.where(totals[-1] > 0.0, totals[-1], 1.0))
    return votes


def _loss_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give -ln sum_j exp(-M_cj f_j) for every class c, (N, k)."""
    column = graph.node("Unsqueeze", bits, np.ones(1, dtype=np.int64))
    losses = graph.node("Mul", column, -code.astype(np.float64))
    sums = graph.node("ReduceLogSumExp", losses, axes=[2], keepdims=0)
    return graph.node("Neg", sums)


def _hamming_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give sum_j M_cj sign(f_j) for every class c, with sign(0) = +1, (N, k)."""
    positive = graph.node("GreaterOrEqual", bits, np.zeros(1))
    signs = graph.node("Where", positive, np.ones(1), -np.ones(1))
    return _linear_scores(graph, signs, code)


def _linear_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give sum_j M_cj f_j for every class c, (N, k)."""
    return graph.node("MatMul", bits, np.ascontiguousarray(code.T, dtype=np.float64))


_DECODERS = {
    "loss_scores": _loss_scores,
    "hamming_scores": _hamming_scores,
    "linear_scores": _linear_scores,
}


def add_labels(graph: Graph, model: Any, scores: str, output: str) -> Any:
    """Add nodes that give what `predict` gives, and return the type of it.

    The class of the largest score, the first of equal ones; or one of two values for every label.
    """
    if has_several_labels(model):
        none, has = _label_values(model)
        positive = graph.node("Greater", scores, np.zeros(1))
        graph.node("Where", positive, has, none, output=output)
        return none.dtype
    classes = _plain(model.classes_)
    column = int(getattr(model, "_single", False))  # y was one column, and so is the answer
    best = graph.node("ArgMax", scores, axis=1, keepdims=column)
    graph.node("Gather", classes, best, output=output)
    return classes.dtype


def _label_values(model: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the values of rows without and with every label, (1, labels) each."""
    pairs = model._values
    joined = _plain(np.stack([np.concatenate([pair[side] for pair in pairs])
                              for side in (np.s_[:1], np.s_[-1:])]))  # fmt: skip
    return joined[:1], joined[1:]


def add_probabilities(graph: Graph, model: Any, scores: str, output: str) -> None:
    """Add nodes that give what `predict_proba` gives, in single precision."""
    factor = np.array([model._factor if model.learners_ else 1.0])
    if has_several_labels(model):
        found = graph.node("Sigmoid", graph.node("Mul", scores, factor))
    elif model.learners_:
        found = graph.node("Softmax", graph.node("Mul", scores, factor), axis=1)
    else:
        found = graph.per_row(model._prior)
    graph.cast(found, np.float32, output)


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as a type that ONNX has: int64, bool, double or words; refuse others."""
    kind = values.dtype.kind
    if kind in "iu" and (values <= np.iinfo(np.int64).max).all():
        return values.astype(np.int64)
    if kind in "bf":
        return values.astype(bool if kind == "b" else np.float64)
    words = [str(value) for value in values.ravel() if isinstance(value, str)]
    if len(words) == values.size:
        return np.array(words, dtype=object).reshape(values.shape)
    raise ValueError(
        f"to_onnx writes labels that are whole numbers, truth values, floats or strings, but this "
        f"model has {values.ravel()[0]!r} of {values.dtype}; fit with labels of one of these types"
    )


_OPSET, _IR_VERSION = 14, 7  # of 2021; runtimes read what is older than themselves


def onnx_model(model: Any) -> Any:
    """Return a fitted estimator as an `onnx.ModelProto`, checked.

    The input is "X" (N, d), float32; the outputs are "label", "probabilities" (float32) and
    "scores" (double), (N, classes) or (N, labels).
    """
    onnx, graph = onnx_package(), Graph(model.n_features_in_)
    scores = graph.node("Identity", _scores(graph, model), output="scores")
    kind = add_labels(graph, model, scores, "label")
    add_probabilities(graph, model, scores, "probabilities")
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, "directboost", *_ends(model, kind), initializer=graph.constants
        ),
        producer_name="directboost",
        producer_version=version("directboost"),
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
    )
    onnx.helper.set_model_props(made, _properties(model))
    onnx.checker.check_model(made, full_check=True)
    return made


def _scores(graph: Graph, model: Any) -> str:
    """Add nodes that give the scores of the classes or labels, (N, k)."""
    if not model.ensemble_.learners:
        return graph.per_row(model._empty_scores())
    return decoded(graph, model, ensemble_scores(graph, model.ensemble_))


def _ends(model: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """Return what goes in and what comes out, with types and shapes."""
    k = len(model.classes_)
    wide = [k] if has_several_labels(model) else [1] if getattr(model, "_single", False) else []
    outputs: dict[str, End] = {
        "label": (label, ("N", *wide)),
        "probabilities": (np.float32, ("N", k)),
        "scores": (np.float64, ("N", k)),
    }
    return ends({"X": (np.float32, ("N", model.n_features_in_))}), ends(outputs)


def _properties(model: Any) -> dict[str, str]:
    """Return what the file says about the model, as JSON by key."""
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
