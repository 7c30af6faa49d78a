"""The scores of a fitted model as nodes of ONNX, added up in the order of Python."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..model.learners import Level, Opposite, PoolColumn, Stump, WeakClassifier
from ..model.trees import Leaf, Tree
from .onnx_graph import Graph
from .onnx_stumps import stump_scores
from .onnx_trees import tree_scores


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
    return bool(items) and all(isinstance(item, Stump | Level) for item in items)


def _chain(learner: Any) -> Tree:
    """Return a conjunction as a tree: leaf 0 where all items hold, split j on to leaf j + 1."""
    items = learner.items
    onward = np.array([*range(1, len(items)), ~0])
    away = ~np.arange(1, len(items) + 1)
    is_level = np.array([isinstance(item, Level) for item in items])
    to_left = is_level == np.array([item.polarity > 0 for item in items])
    return Tree(
        feature=np.array([item.feature for item in items]),
        value=np.array([_value(item) for item in items], dtype=np.float64),
        is_level=is_level,
        missing_left=np.array([isinstance(h, Stump) and not h.missing_right for h in items]),
        left=np.where(to_left, onward, away),
        right=np.where(to_left, away, onward),
    )


def _value(item: Stump | Level) -> float:
    return item.level if isinstance(item, Level) else item.threshold


def _chain_table(chain: Tree, votes: Array) -> Array:
    """Return what the leaves of the tree of a conjunction add to the scores, (leaves, k)."""
    return np.where(np.arange(chain.n_leaves)[:, None] == 0, votes, -votes)


def _is_answer(learner: Any) -> bool:
    """Tell whether a weak classifier is a column of X, or the opposite of one."""
    inner = learner.learner if isinstance(learner, Opposite) else learner
    return isinstance(inner, PoolColumn)


def _pool_scores(graph: Graph, answers: list[tuple[Any, Array]]) -> str:
    """Add nodes that give the votes of columns of X that are answers themselves, (N, k)."""
    columns = graph.columns(np.array([learner.features[0] for learner, _ in answers]))
    votes = [-row if isinstance(learner, Opposite) else row for learner, row in answers]
    return graph.node("MatMul", graph.node("Transpose", columns, perm=[1, 0]), np.stack(votes))
