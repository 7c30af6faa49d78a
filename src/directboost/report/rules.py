"""The weak classifiers in words, and the classes that each of them serves."""

from typing import Any

import numpy as np

from ..arrays import Ints
from ..model.learners import Level, WeakClassifier
from ..model.names import feature_names
from ..model.summary import describe_rule
from .packing import WHOLE, Room, level_name, short_names, sparse
from .tables import is_sum

_MOST_RULES = 1000
_MOST_WEIGHTS = 40_000


def rules_of(model: Any, room: Room = WHOLE) -> dict[str, Any] | None:
    """Return the strongest rules with their weights by class; None if none are by class."""
    if not is_sum(model):
        return None
    shown = _strongest(model, room)
    learners = [model.learners_[j] for j in shown]
    return {
        "texts": short_names((_words(model, learner) for learner in learners), room),
        "features": [learner.features[0] if learner.features else -1 for learner in learners],
        "weights": sparse(model.coef_[shown]),
        "leftOut": len(model.learners_) - len(learners),
    }


def _words(model: Any, learner: WeakClassifier) -> str:
    """Return a rule in the words of the summary, with quotes where a level needs them."""
    if not isinstance(learner, Level):
        return describe_rule(model, learner)
    level = model.categories_[learner.feature][int(learner.level)]
    return learner.describe(feature_names(model)[learner.feature], level_name(level))


def _strongest(model: Any, room: Room) -> Ints:
    """Return the rules with the largest sums of weights, as many as fit on the page."""
    sizes = np.abs(model.coef_).sum(axis=1)
    order = np.argsort(-sizes, kind="stable")[: room.of(_MOST_RULES)]
    weights = np.cumsum(np.count_nonzero(model.coef_[order], axis=1))
    return np.asarray(order[weights <= room.of(_MOST_WEIGHTS)], dtype=np.intp)
