"""A fitted model in plain numbers and words, for machines."""

from dataclasses import asdict
from typing import Any

import numpy as np

from ..model.names import class_names, feature_names
from ..model.summary import describe_rule


def model_facts(model: Any) -> dict[str, Any]:
    """Return size, penalty and certificate of a model, as far as its kind has them."""
    names = feature_names(model)
    facts = {
        "kind": type(model).__name__,
        "classes": model.classes_,
        "n_features_in": model.n_features_in_,
        "features_used": [names[feature] for feature in model.features_used_],
        "n_learners": model.n_learners_,
        "status": model.status_,
        "rounds": model.n_iter_,
    }
    for name in ("nu_", "nu_max_", "cost_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if hasattr(model, "certificate_"):
        facts["certificate"] = asdict(model.certificate_)
    return facts


def rule_facts(model: Any, most: int) -> list[dict[str, Any]]:
    """Return the strongest rules: the words, and the vote for each class it serves."""
    order = np.argsort(-model.coef_.sum(axis=1), kind="stable")[:most]
    classes = class_names(model)
    return [
        {
            "rule": describe_rule(model, model.learners_[j]),
            "votes": {classes[r]: model.coef_[j, r] for r in np.flatnonzero(model.coef_[j])},
        }
        for j in order
    ]
