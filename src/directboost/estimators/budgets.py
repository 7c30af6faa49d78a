"""Budgets: how many features, weak classifiers or costs a model may have."""

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

_FINER, _POINTS = 3, 7  # how often so many points are put where a budget ends, until one keeps it

#: By parameter: what of a path is limited, and how one and several of it are called.
BUDGETS = {
    "max_features_used": ("n_features_used", "feature", "features"),
    "max_learners": ("n_learners", "weak classifier", "weak classifiers"),
    "max_cost": ("costs", "as the cost of its features", "as the cost of its features"),
}


def budgets_of(estimator: Any) -> dict[str, float]:
    """Return the budgets that were set; refuse by name what cannot serve."""
    values = {name: getattr(estimator, name) for name in BUDGETS}
    return {name: _budget(name, value) for name, value in values.items() if value is not None}


def _budget(name: str, value: Any) -> float:
    if name == "max_cost":
        return check_number(name, value, 0.0, strict=True, what="None or a positive number")
    return check_count(name, value, 1, "None or an integer >= 1")


def keep_to(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models keep to the budgets, (n,)."""
    allowed = np.ones(len(path), dtype=bool)
    for name, most in budgets.items():
        allowed &= getattr(path, BUDGETS[name][0]) <= most
    return allowed


class Descent(Protocol):
    """Gives the fitted models of falling points, of all features or of those of a model alone."""

    def __call__(
        self, nus: Sequence[float], *, alone: DirectBoostClassifier | None = None
    ) -> Models:
        """Yield a model per point."""


def walk_within(
    walk: Descent, grid: Sequence[float], budgets: dict[str, float]
) -> Iterator[DirectBoostClassifier]:
    """Yield a model per point; from where the features end on, with those of one model alone.

    Such a model has few features because nu is large, which also keeps its weights small: at
    smaller nus the same features say more. Where the first model has too many, they stand. How
    many weak classifiers there are does not matter here: no choice of features limits them.
    """
    inside, outside = _until_outside(walk(grid), _of_features(budgets))
    yield from inside
    if outside is not None and not _ended(outside):
        fullest = _fullest(inside or [outside])
        alone = fullest if fullest.n_features_used_ else outside
        yield from walk(grid[len(inside) :], alone=alone)


def path_within(walk: Descent, grid: Sequence[float], budgets: dict[str, float]) -> ModelPath:
    """Return the models of a grid that keep to the budgets, and more where a budget ends.

    First those of all features, with points between the last and the first that breaks a budget;
    then, at smaller nus, those of the features of the fullest one alone, where features or costs
    are limited. Where no model that reads a feature keeps to the budgets, all that were found
    outside are there: sizes may fall again at smaller nus.
    """
    inside, outside = _until_outside(walk(grid), budgets)
    seen = [outside]
    for _ in range(_FINER):
        if outside is None or not inside or _ended(inside[-1], outside):
            break
        between = np.geomspace(inside[-1].nu, outside.nu, _POINTS + 2)[1:-1].tolist()
        grid = sorted({*grid, *between}, reverse=True)
        more, nearer = _until_outside(walk(between), budgets)
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
    if not _of_features(budgets):
        return ModelPath(inside)
    rest = [nu for nu in grid if nu < inside[-1].nu]
    refitted, _ = _until_outside(walk(rest, alone=_fullest(inside)), budgets)
    return ModelPath([*inside, *refitted])


def _fullest(models: list[DirectBoostClassifier]) -> DirectBoostClassifier:
    """Return the last of the models that read most features: fewer may come at a smaller nu."""
    return max(reversed(models), key=lambda model: model.n_features_used_)


def _of_features(budgets: dict[str, float]) -> dict[str, float]:
    """Return the budgets that a choice of features keeps."""
    return {name: most for name, most in budgets.items() if name != "max_learners"}


def _ended(*models: DirectBoostClassifier) -> bool:
    return any(model.status_ in ENDED_BY_USER for model in models)


def _until_outside(
    models: Models, budgets: dict[str, float]
) -> tuple[list[DirectBoostClassifier], DirectBoostClassifier | None]:
    """Return the models before the first that breaks a budget, and that one, if any."""
    inside: list[DirectBoostClassifier] = []
    with closing(models):  # what is not fitted any more needs no threads
        for model in models:
            if not keep_to(ModelPath([model]), budgets)[0]:
                return inside, model
            inside.append(model)
    return inside, None


def within(path: ModelPath, budgets: dict[str, float]) -> Bools:
    """Return which models may be chosen, (n,); the empty one serves no budget.

    Refuses budgets that no model keeps to, with the size of the smallest that was found.
    """
    if not budgets:
        return np.ones(len(path), dtype=bool)
    filled = path.n_learners > 0
    allowed = keep_to(path, budgets) & filled
    if allowed.any():
        return allowed
    if not filled.any():
        raise ValueError("all models of the path are empty: give smaller nus, or a smaller nu_min")
    words = " and ".join(_missed(path, name, most, filled) for name, most in budgets.items())
    advice = "find smaller models with a smaller tol"
    if filled[0]:  # it does not start with the empty model
        advice = f"give larger nus: the largest is {path.nus[0]:g}, and models grow from 1 down"
    raise ValueError(f"no model of the path keeps to {words}: raise the budget, or {advice}")


def _missed(path: ModelPath, name: str, most: float, filled: Bools) -> str:
    """Return a budget in words, beside the least that a model has which is not empty."""
    attribute, one, several = BUDGETS[name]
    least = getattr(path, attribute)[filled].min()
    unit = one if least == 1 else several
    return f"{name}={most:g} (the smallest that is not empty has {least:g} {unit})"
