"""Budgets: the largest number of features or weak classifiers, or cost, of a model."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, Protocol

import numpy as np

from ..arrays import Bools
from ..data.validation import check_count, check_number
from ..training.stopping import ENDED_BY_USER
from .classifier import DirectBoostClassifier
from .path import ModelPath

Models = Generator[DirectBoostClassifier, None, None]

_REFINEMENTS, _POINTS = 3, 7  # refinements of the path where a budget is exceeded, and their points

#: By parameter: the limited attribute of a path, and its unit in singular and plural.
BUDGETS = {
    "max_features_used": ("n_features_used", "feature", "features"),
    "max_learners": ("n_learners", "weak classifier", "weak classifiers"),
    "max_cost": ("costs", "as the cost of its features", "as the cost of its features"),
}


def get_budgets(estimator: Any) -> dict[str, float]:
    """Return the budgets of an estimator that are set; reject invalid ones."""
    values = {name: getattr(estimator, name) for name in BUDGETS}
    return {name: _budget(name, value) for name, value in values.items() if value is not None}


def _budget(name: str, value: Any) -> float:
    if name == "max_cost":
        return check_number(name, value, 0.0, strict=True, what="None or a positive number")
    return check_count(name, value, 1, "None or an integer >= 1")


def is_within(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models are within the budgets, (n,)."""
    allowed = np.ones(len(path), dtype=bool)
    for name, most in budgets.items():
        allowed &= getattr(path, BUDGETS[name][0]) <= most
    return allowed


class FitPath(Protocol):
    """Fits models at decreasing nus, with all features or only those of a given model."""

    def __call__(
        self, nus: Sequence[float], *, alone: DirectBoostClassifier | None = None
    ) -> Models:
        """Yield one model per nu."""


def models_within(
    fit_path: FitPath, grid: Sequence[float], budgets: dict[str, float]
) -> Iterator[DirectBoostClassifier]:
    """Yield one model per point; after the budget of features is exceeded, with fixed features.

    The last model within the budget has few features because nu is large, which also keeps its
    coefficients small. At smaller nus, the same features can do more. If the first model exceeds
    the budget, its features are fixed. The number of weak classifiers is not considered here,
    since a choice of features does not limit it.
    """
    inside: list[DirectBoostClassifier] = []
    outside, of_features = None, limits_features(budgets)
    with closing(fit_path(grid)) as models:
        for model in models:
            if not is_within(ModelPath([model]), of_features)[0]:
                outside = model
                break
            inside.append(model)
            yield model
    if outside is not None and not _ended(outside):
        fullest = _fullest(inside or [outside])
        alone = fullest if fullest.n_features_used_ else outside
        yield from fit_path(grid[len(inside) :], alone=alone)


def path_within(fit_path: FitPath, grid: Sequence[float], budgets: dict[str, float]) -> ModelPath:
    """Return the models of a grid within the budgets, with more points where a budget is exceeded.

    First come models over all features, with additional points between the last one within the
    budgets and the first one outside. If features or costs are limited, models at smaller nus
    follow that read only the features of the largest model so far. If no model that reads a
    feature is within the budgets, the models outside are returned as well, since sizes may
    decrease again at smaller nus.
    """
    inside, outside = _until_outside(fit_path(grid), budgets)
    seen = [outside]
    for _ in range(_REFINEMENTS):
        if outside is None or not inside or _ended(inside[-1], outside):
            break
        between = np.geomspace(inside[-1].nu, outside.nu, _POINTS + 2)[1:-1].tolist()
        grid = sorted({*grid, *between}, reverse=True)
        more, nearer = _until_outside(fit_path(between), budgets)
        inside, outside = [*inside, *more], nearer or outside
        seen.append(nearer)
        if inside[-1].n_features_used_:
            break
    if outside is None:
        return ModelPath(inside)
    if not inside or not inside[-1].n_features_used_:
        return ModelPath([*inside, *sorted(filter(None, seen), key=lambda model: -model.nu)])
    if _ended(inside[-1], outside):
        return ModelPath([*inside, outside])
    if not limits_features(budgets):
        return ModelPath(inside)
    rest = [nu for nu in grid if nu < inside[-1].nu]
    refitted, _ = _until_outside(fit_path(rest, alone=_fullest(inside)), budgets)
    return ModelPath([*inside, *refitted])


def _fullest(models: list[DirectBoostClassifier]) -> DirectBoostClassifier:
    """Return the last of the models with the largest number of features."""
    return max(reversed(models), key=lambda model: model.n_features_used_)


def limits_features(budgets: dict[str, float]) -> dict[str, float]:
    """Return the budgets that limit the choice of features."""
    return {name: most for name, most in budgets.items() if name != "max_learners"}


def _ended(*models: DirectBoostClassifier) -> bool:
    return any(model.status_ in ENDED_BY_USER for model in models)


def _until_outside(
    models: Models, budgets: dict[str, float]
) -> tuple[list[DirectBoostClassifier], DirectBoostClassifier | None]:
    """Return the models before the first one outside a budget, and that one, if any."""
    inside: list[DirectBoostClassifier] = []
    with closing(models):  # frees the threads of fits that are no longer needed
        for model in models:
            if not is_within(ModelPath([model]), budgets)[0]:
                return inside, model
            inside.append(model)
    return inside, None


def selectable(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models may be selected, (n,); under a budget, empty models may not.

    Raises ValueError if no model is within the budgets, with the size of the smallest one.
    """
    if not budgets:
        return np.ones(len(path), dtype=bool)
    filled = path.n_learners > 0
    allowed = is_within(path, budgets) & filled
    if allowed.any():
        return allowed
    if not filled.any():
        raise ValueError("all models on the path are empty: use smaller nus, or a smaller nu_min")
    words = " and ".join(_missed(path, name, most, filled) for name, most in budgets.items())
    advice = "find smaller models with a smaller tol"
    if filled[0]:  # it does not start with the empty model
        advice = f"use larger nus: the largest is {path.nus[0]:g}, and models are empty at 1"
    raise ValueError(f"no model on the path is within {words}: increase the budget, or {advice}")


def _missed(path: ModelPath, name: str, most: float, filled: Bools) -> str:
    """Return a budget in words, with the size of the smallest model that is not empty."""
    attribute, one, several = BUDGETS[name]
    least = getattr(path, attribute)[filled].min()
    unit = one if least == 1 else several
    return f"{name}={most:g} (the smallest non-empty model has {least:g} {unit})"
