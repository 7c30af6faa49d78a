"""A model laid out for C: which parts it has, how large they are, how exact."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...model.learners import Constant, Stump
from .model import CModel, ScorePart
from .scores import (
    Forest,
    jump_part,
    make_forest,
    pool_part,
    step_thresholds,
    table_part,
    tree_part,
)
from .syntax import CArray, Precision, count_lost, in_steps, smallest, step_of

_DOUBLE = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores = stumps and `base`, plus the sum of all `others`.

    Attributes
    ----------
    precision : Precision
    step : float
        What a score of 1 stands for.
    stumps : ScorePart or None
    base_first : bool
        Whether sums begin with `base`, or have it added after the stumps, as in Python.
    others : list of ScorePart
    base : CArray
    used : CArray
    score_error : (k,) array
        By how much the scores may differ from Python's, for rows of numbers of the type.
    lost : int
        Thresholds that become the same as others.
    """

    precision: Precision
    step: float
    stumps: ScorePart | None
    base_first: bool
    others: list[ScorePart]
    base: CArray
    used: CArray
    score_error: Array
    lost: int

    @property
    def parts(self) -> list[ScorePart]:
        """All parts."""
        return [*([self.stumps] if self.stumps else []), *self.others]

    @property
    def arrays(self) -> list[CArray]:
        """All tables."""
        reading = [self.used] if self.used.values.size else []
        return [self.base, *reading, *(array for part in self.parts for array in part.arrays)]

    @property
    def margin_error(self) -> float:
        """By how much the difference of two scores may differ from Python's."""
        return float(np.sort(self.score_error)[-2:].sum())


def lay_out(model: CModel, precision: Precision) -> Layout:
    """Return how a model is written in C; doubles add up as in Python, others in the least room."""
    forest, turns = make_forest(model), step_thresholds(model, precision.value)
    exact = precision.value is np.float64
    reach = np.abs(model.base) + np.abs(_weights(model)).sum(axis=0)
    tops = [np.abs(table).max(initial=0.0) for table in (turns.jump, *forest.tables)]
    step = step_of(precision, max(tops), float(reach.max()))
    listed = None if exact else jump_part(turns, model.used.size, precision, step)
    stumps = table_part(model) if exact else listed
    others = [tree_part(model, forest, precision, step), pool_part(model, precision)]
    own = [part for part in others if part is not None]
    base = model.base if exact else turns.base
    entries = in_steps(base, step, precision.score)
    error = np.abs(entries.astype(np.float64) * step - base)
    error += sum((part.error for part in (stumps, *own) if part is not None), np.zeros(base.size))
    return Layout(
        precision, step, stumps, not exact, own,
        CArray("base", entries), CArray("used", smallest(model.used)),
        error + _summation_error(model, precision, reach), _lost(model, forest, precision),
    )  # fmt: skip


def _summation_error(model: CModel, precision: Precision, reach: Array) -> Array:
    """Return how far rounded sums may be apart in C and Python, (k,), if none exceeds `reach`.

    A weak classifier is added at most twice, a level up and down.
    """
    additions = 2 * len(model.ensemble.learners) + 2
    return 1.001 * additions * (precision.roundoff + _DOUBLE) * reach


def _weights(model: CModel) -> Array:
    """Return the coefficients of all weak classifiers that are not constant."""
    own = [not isinstance(learner, Constant) for learner in model.ensemble.learners]
    weights: Array = model.ensemble.coef[np.array(own, dtype=bool)]
    return weights


def _lost(model: CModel, forest: Forest, precision: Precision) -> int:
    """Return how many thresholds become the same as others, of stumps and of trees."""
    stumps = [learner for learner in model.ensemble.learners if isinstance(learner, Stump)]
    features = np.array([stump.feature for stump in stumps], dtype=np.int64)
    thresholds = np.array([stump.threshold for stump in stumps], dtype=np.float64)
    lost = count_lost(features, thresholds, precision.value)
    return lost + count_lost(forest.features, forest.thresholds, precision.value)
