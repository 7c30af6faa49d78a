"""What every experiment measures: a number chosen by folds, errors by weak classifiers."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from .. import DirectBoostClassifier, directboost_path
from .methods import JUDGE_ROUNDS, Method


@dataclass(frozen=True)
class Stage:
    """A model after some rounds: its weak classifiers, features, and error on some rows."""

    learners: int
    features: int
    error: float


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator, and the number that was chosen for it (None where there is none)."""

    model: Any
    chosen: float | None


def fit(method: Method, X: Any, y: Any, rounds: int, seed: int, folds: int = 5) -> Fitted:
    """Choose the number of the method by folds of the rows, and fit it to all of them."""
    chosen = choose(method, X, y, seed, folds)
    settings = {} if chosen is None else {method.parameter: chosen}
    with unconverged():
        return Fitted(method.make(rounds, seed, **settings).fit(X, y), chosen)


def choose(method: Method, X: Any, y: Any, seed: int, folds: int = 5) -> float | None:
    """Return the number of the grid with the least mean error; of equals the largest."""
    if len(method.grid) < 2:
        return method.grid[0] if method.grid else None
    errors = np.zeros(len(method.grid))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(splitter.split(X, y))
    for train, test in parts:
        models = _judges(method, X[train], y[train], seed)
        errors += [np.mean(model.predict(X[test]) != y[test]) for model in models]
    best = np.flatnonzero(errors <= errors.min() + 1e-12)
    return float(np.max(np.array(method.grid)[best]))


def _judges(method: Method, X: Any, y: Any, seed: int) -> list[Any]:
    """Return a fitted model for every number of the grid: optima down one path, or short runs."""
    with unconverged():
        if method.judge is None:
            return [method.make(JUDGE_ROUNDS, seed, **{method.parameter: number}).fit(X, y)
                for number in method.grid]  # fmt: skip
        choices = method.judge(seed, nu=method.grid[0]).get_params(deep=False)
        del choices["nu"]
        falling = sorted(method.grid, reverse=True)
        models = dict(zip(falling, directboost_path(X, y, nus=falling, **choices), strict=True))
        return [models[nu] for nu in method.grid]


@contextmanager
def unconverged() -> Iterator[None]:
    """Keep quiet about fits that end before their tolerance: the paper's do so as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def stages(model: Any, X: Any, y: Any) -> Iterator[Stage]:
    """Yield the model after every round, with its error on the rows."""
    counts = _learners(model)
    features = model.staged_features_used()
    for learners, used, predicted in zip(counts, features, model.staged_predict(X), strict=True):
        yield Stage(learners, int(used.size), float(np.mean(predicted != y)))


def at(curve: Sequence[Stage], learners: int) -> Stage:
    """Return the last stage with at most so many weak classifiers; the first where none has."""
    fitting = [stage for stage in curve if stage.learners <= learners]
    return fitting[-1] if fitting else curve[0]


def stage_at(model: Any, X: Any, learners: int) -> Any:
    """Return the classes predicted with at most so many weak classifiers, (m,)."""
    fitting = sum(count <= learners for count in _learners(model))
    return next(islice(model.staged_predict(X), max(fitting - 1, 0), None))


def after(model: Any, X: Any, rounds: int) -> Any:
    """Return the classes predicted after so many rounds, or at the end of a shorter run, (m,)."""
    if rounds >= getattr(model, "n_iter_", 0):
        return model.predict(X)
    return next(islice(model.staged_predict(X), rounds - 1, None))


def _learners(model: Any) -> list[int]:
    """Return how many weak classifiers a model has after every round, as the paper counts them."""
    if isinstance(model, DirectBoostClassifier):  # a record before every solve, and one at the end
        return [record.columns for record in model.history_[1:]]
    return [record.learners for record in model.history_]
