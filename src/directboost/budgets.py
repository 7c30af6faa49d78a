"""Budgets: how many features, weak classifiers or costs a model may have."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .arrays import Bools
from .estimators import DirectBoostClassifier
from .inputs import check_number
from .model_path import ModelPath
from .solving import ENDED_BY_USER

_FINER, _POINTS = 3, 7  # how often so many points are put where a budget ends, until one keeps it

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


def path_within(
    walk: Callable[[Sequence[float]], Iterable[DirectBoostClassifier]],
    grid: Sequence[float],
    budgets: dict[str, float],
) -> ModelPath:
    """Return the models of a grid; where a budget ends between two points, more between them.

    Parameters
    ----------
    walk : callable
        Gives the fitted models of falling points.
    grid : sequence of float
    budgets : dict
    """
    path = ModelPath(list(walk(grid)))
    for _ in range(_FINER if budgets else 0):
        outside = np.flatnonzero(~keep_to(path, budgets))
        if outside.size == 0 or outside[0] == 0 or path[-1].status_ in ENDED_BY_USER:
            break
        high, low = path.nus[outside[0] - 1], path.nus[outside[0]]
        between = np.geomspace(high, low, _POINTS + 2)[1:-1].tolist()
        path = ModelPath(sorted([*path, *walk(between)], key=lambda model: -model.nu))
        if (keep_to(path, budgets) & (path.n_learners > 0)).any():
            break
    return path


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
