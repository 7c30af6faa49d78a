"""Trees of a solution are replaced by smaller ones that read, and cost, fewer features."""

from typing import Any

from ..model.trees import pruned
from ..oracles import Oracle, TreeOracle
from ..problem.columns import Columns
from ..problem.feature_columns import FeatureColumns, StepCoefficients


def cheaper_columns(
    oracle: Oracle, columns: Columns, W: Any
) -> tuple[FeatureColumns, StepCoefficients] | None:
    """Return columns of the same scores on trees without unnecessary splits; None if not cheaper.

    The smaller trees join the dictionary, so that a lower bound has to be computed again.
    """
    if not (isinstance(oracle, TreeOracle) and isinstance(columns, FeatureColumns)):
        return None
    before = columns.stumps(W)
    learners = columns.named(before)
    smaller = pruned(learners)
    if all(len(h.features) == len(old.features) for h, old in zip(smaller, learners, strict=True)):
        return None
    after = columns.over([])
    return after, after.adopt(oracle.recall(smaller, before.rows))
