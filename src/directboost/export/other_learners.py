"""Weak classifiers of an ensemble outside its tables and trees, as exports write them."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.ensemble import Ensemble
from ..model.learners import Conjunction, Negated, PoolColumn, WeakClassifier
from ..model.trees import Tree


@dataclass(frozen=True, eq=False)
class OtherLearners:
    """The `others` of an ensemble, by kind.

    Attributes
    ----------
    pool : list of (column, weights (k,))
        Columns of a pool; the weights of a negated column have the opposite sign.
    conjunctions : list of (Conjunction, weights (k,))
    unsupported : list of WeakClassifier
        Weak classifiers that exports cannot write.
    """

    pool: list[tuple[int, Array]]
    conjunctions: list[tuple[Conjunction, Array]]
    unsupported: list[WeakClassifier]


def split_others(ensemble: Ensemble) -> OtherLearners:
    """Return the `others` of an ensemble by kind, each kind in their order."""
    found = OtherLearners(pool=[], conjunctions=[], unsupported=[])
    for learner, row in ensemble.others:
        match learner:
            case PoolColumn():
                found.pool.append((learner.column, row))
            case Negated(learner=PoolColumn() as inner):
                found.pool.append((inner.column, -row))
            case Conjunction():
                found.conjunctions.append((learner, row))
            case _:
                found.unsupported.append(learner)
    return found


def tree_depth(tree: Tree) -> int:
    """Return the maximal number of splits between the root of a tree and a leaf."""
    depth = np.zeros(tree.feature.size, dtype=np.int64)
    for split in reversed(range(tree.feature.size)):  # children have larger numbers
        children = [child for child in (tree.left[split], tree.right[split]) if child >= 0]
        depth[split] = 1 + max((depth[child] for child in children), default=0)
    return int(depth[0]) if depth.size else 0
