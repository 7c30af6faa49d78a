"""The weak classifiers of an ensemble, grouped by the form in which exports write them."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.ensemble import Ensemble
from ..model.learners import (
    CategoryStump,
    Conjunction,
    Constant,
    Negated,
    PoolColumn,
    Stump,
    WeakClassifier,
)
from ..model.trees import Leaf, Tree


@dataclass(frozen=True, eq=False)
class EnsembleParts:
    """Scores = intercept of the ensemble + sum over all parts.

    Attributes
    ----------
    stumps : list of (Stump or CategoryStump, coefficients (k,))
    trees : list of (Tree, scores of its leaves (leaves, k))
    conjunctions : list of (Conjunction, coefficients (k,))
    pool : list of (column, coefficients (k,))
        The coefficients of a negated column have the opposite sign.
    unsupported : list of WeakClassifier
        Weak classifiers that exports cannot write.
    coef : (n, k) array
        Coefficients of all weak classifiers except constants.
    """

    stumps: list[tuple[Stump | CategoryStump, Array]]
    trees: list[tuple[Tree, Array]]
    conjunctions: list[tuple[Conjunction, Array]]
    pool: list[tuple[int, Array]]
    unsupported: list[WeakClassifier]
    coef: Array


def split_ensemble(ensemble: Ensemble) -> EnsembleParts:
    """Return the parts of an ensemble, each in the order of its weak classifiers."""
    parts = EnsembleParts(
        stumps=[],
        trees=[(tree, table) for tree, table in ensemble._forest if isinstance(tree, Tree)],
        conjunctions=[],
        pool=[],
        unsupported=[],
        coef=ensemble.coef[
            np.array([not isinstance(h, Constant) for h in ensemble.learners], dtype=bool)
        ],
    )
    for learner, row in zip(ensemble.learners, ensemble.coef, strict=True):
        match learner:
            case Stump() | CategoryStump():
                parts.stumps.append((learner, row))
            case PoolColumn():
                parts.pool.append((learner.column, row))
            case Negated(learner=PoolColumn() as inner):
                parts.pool.append((inner.column, -row))
            case Conjunction():
                parts.conjunctions.append((learner, row))
            case Constant() | Leaf():
                pass  # part of the intercept, or of `trees`
            case _:
                parts.unsupported.append(learner)
    return parts


def has_only_tables(ensemble: Ensemble) -> bool:
    """Return whether the scores are the intercept plus one table per feature."""
    return not ensemble._others


def tree_depth(tree: Tree) -> int:
    """Return the maximal number of splits between the root of a tree and a leaf."""
    depth = np.zeros(tree.feature.size, dtype=np.int64)
    for split in reversed(range(tree.feature.size)):  # children have larger numbers
        children = [child for child in (tree.left[split], tree.right[split]) if child >= 0]
        depth[split] = 1 + max((depth[child] for child in children), default=0)
    return int(depth[0]) if depth.size else 0
