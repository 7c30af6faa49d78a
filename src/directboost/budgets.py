"""Budgets: how many features, weak classifiers or costs a model may have."""

from typing import Any

import numpy as np

from .arrays import Bools
from .inputs import check_number
from .model_path import ModelPath

#: By parameter: what of a path is limited, and how it is called.
BUDGETS = {
    "max_features_used": ("n_features_used", "features"),
    "max_learners": ("n_learners", "weak classifiers"),
    "max_cost": ("costs", "as the cost of its features"),
}


def budgets_of(estimator: Any) -> dict[str, float]:
    """Return the budgets that were set; refuse by name what cannot serve."""
    values = {name: getattr(estimator, name) for name in BUDGETS}
    return {
        name: check_number(name, value, 0.0, strict=True, what="a positive number")
        for name, value in values.items()
        if value is not None
    }


def keep_to(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models keep to the budgets, (n,)."""
    allowed = np.ones(len(path), dtype=bool)
    for name, most in budgets.items():
        allowed &= getattr(path, BUDGETS[name][0]) <= most
    return allowed


def within(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models may be chosen, (n,); the empty one serves no budget.

    Refuses budgets that no model keeps to, with the size of the smallest.
    """
    if not budgets:
        return np.ones(len(path), dtype=bool)
    filled = path.n_learners > 0
    allowed = keep_to(path, budgets) & filled
    if allowed.any():
        return allowed
    if not filled.any():
        raise ValueError("all models of the path are empty: give smaller nus, or a smaller nu_min")
    words = []
    for name, most in budgets.items():
        attribute, unit = BUDGETS[name]
        least = getattr(path, attribute)[filled].min()
        words.append(f"{name}={most:g} (the smallest that is not empty has {least:g} {unit})")
    raise ValueError(
        f"no model of the path keeps to {' and '.join(words)}: raise the budget, or find smaller "
        "models with a smaller tol"
    )
