"""What a model is, in words and a few numbers."""

from typing import Any

import numpy as np

from ..model.learners import Constant, Level, Stump
from ..model.names import class_names, class_noun, feature_names, has_several_labels
from .packing import WHOLE, Room, short_name, short_names
from .tables import importances, is_sum

_MOST_BARS = 1000  # features whose importance is listed


def learner_noun(model: Any) -> tuple[str, str]:
    """Return what the weak classifiers are called, one of them and several."""
    stumps = all(isinstance(h, Stump | Level | Constant) for h in model.learners_)
    return ("stump", "stumps") if stumps else ("weak classifier", "weak classifiers")


def facts_of(model: Any, room: Room = WHOLE) -> dict[str, Any]:
    """Return names, sizes and settings of a fitted model."""
    return {
        "kind": type(model).__name__,
        "lead": lead(model),
        "setting": _setting(model),
        "several": has_several_labels(model),
        "classNoun": class_noun(model),
        "learnerNoun": learner_noun(model),
        "classes": short_names(class_names(model), room),
        "learners": int(model.n_learners_),
        "featuresUsed": int(model.n_features_used_),
        "features": int(model.n_features_in_),
        "served": float(np.mean(np.count_nonzero(model.coef_, axis=1))) if is_sum(model) else None,
        "probabilities": _probabilities(model),
        "importances": _importances(model, room),
        "defaultNames": not hasattr(model, "feature_names_in_"),
    }


def lead(model: Any) -> str:
    """Return in one sentence what the model is."""
    k, (one, several) = len(class_names(model)), class_noun(model)
    if not model.learners_:
        return f"An empty model: it answers every row with the {one} frequencies of training."
    told = f"finds which of {k} {several} a row has"
    if not has_several_labels(model):
        told = f"tells {k} {several} apart"
    learners = _count(int(model.n_learners_), learner_noun(model))
    read = f"{model.n_features_used_} of {_count(model.n_features_in_, ('feature', 'features'))}"
    kinds = "decision " if learner_noun(model)[0] == "stump" else ""
    number, noun = learners.split(" ", 1)
    return f"A weighted vote of {number} {kinds}{noun} that {told} by {read}."


def _setting(model: Any) -> str:
    """Return how the model was fitted."""
    if hasattr(model, "summary"):
        return str(model.summary(max_rules=0)).partition("\n")[0]
    return f"{type(model).__name__}: {_count(int(model.n_iter_), ('round', 'rounds'))}"


def _probabilities(model: Any) -> dict[str, Any]:
    """Return how scores become probabilities: of each label, or over all classes."""
    factor = float(model._factor) if model.learners_ else 1.0
    return {"logistic": has_several_labels(model), "factor": factor}


def _importances(model: Any, room: Room) -> list[dict[str, Any]]:
    shares, names = importances(model), feature_names(model)
    order = np.argsort(-shares, kind="stable")[: min(room.of(_MOST_BARS), model.n_features_used_)]
    return [
        {"name": short_name(names[f], room), "place": f, "share": float(shares[f])}
        for f in order.tolist()
    ]


def _count(number: int, nouns: tuple[str, str]) -> str:
    return f"{number} {nouns[number != 1]}"
