"""Parameter selection by cross-validation, and error by the number of weak classifiers."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ... import DirectBoostClassifier, directboost_path
from .base import Results
from .methods import JUDGE_ROUNDS, Method


@dataclass(frozen=True)
class Stage:
    """A model after some rounds: its weak classifiers, features, and error on given rows."""

    learners: int
    features: int
    error: float


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator, and its chosen parameter (None if there is none)."""

    model: Any
    chosen: float | None


def fit(method: Method, X: Any, y: Any, rounds: int, seed: int, folds: int = 5) -> Fitted:
    """Choose the parameter of a method by cross-validation, and fit it to all rows."""
    chosen = choose(method, X, y, seed, folds)
    settings = {} if chosen is None else {method.parameter: chosen}
    with unconverged():
        return Fitted(method.make(rounds, seed, **settings).fit(X, y), chosen)


def choose(method: Method, X: Any, y: Any, seed: int, folds: int = 5) -> float | None:
    """Return the value of the grid with the least mean error; ties go to the largest."""
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
    """Return a fitted model for every value of the grid: optima on one path, or short runs."""
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
    """Suppress warnings about fits that end before their tolerance, as the paper's do."""
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
    """Return the last stage with at most `learners` weak classifiers, or else the first stage."""
    fitting = [stage for stage in curve if stage.learners <= learners]
    return fitting[-1] if fitting else curve[0]


def stage_at(model: Any, X: Any, learners: int) -> Any:
    """Return the classes predicted with at most `learners` weak classifiers, (m,)."""
    fitting = sum(count <= learners for count in _learners(model))
    return next(islice(model.staged_predict(X), max(fitting - 1, 0), None))


def after(model: Any, X: Any, rounds: int) -> Any:
    """Return the classes predicted after `rounds` rounds, or at the end of a shorter run, (m,)."""
    if rounds >= getattr(model, "n_iter_", 0):
        return model.predict(X)
    return next(islice(model.staged_predict(X), rounds - 1, None))


def _learners(model: Any) -> list[int]:
    """Return the number of weak classifiers after every round, as counted in the paper."""
    if isinstance(model, DirectBoostClassifier):  # one record before every solve and one at the end
        return [record.columns for record in model.history_[1:]]
    return [record.learners for record in model.history_]


def mean(results: Results, column: str, **wanted: Any) -> float:
    """Return the mean of a column over the rows with these values; NaN if there are none."""
    values = _values(results, column, wanted)
    return float(np.mean(values)) if values else float("nan")


def deviation(results: Results, column: str, **wanted: Any) -> float:
    """Return the standard deviation of a column over draws; NaN for fewer than two."""
    values = _values(results, column, wanted)
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def mean_and_deviation(results: Results, column: str, **wanted: Any) -> tuple[float, float]:
    """Return the mean and the standard deviation of a column."""
    return mean(results, column, **wanted), deviation(results, column, **wanted)


def in_per_cent(results: Results, column: str, **wanted: Any) -> str:
    """Return the mean of shares in per cent, with the deviation if there are several."""
    several = len(_values(results, column, wanted)) > 1
    spread = f" ({per_cent(deviation(results, column, **wanted))})" if several else ""
    return per_cent(mean(results, column, **wanted)) + spread


def with_spread(middle: float, spread: float, digits: int = 3) -> str:
    """Return a mean with its deviation, unless it is NaN; empty if the mean is NaN."""
    if np.isnan(middle):
        return ""
    return f"{middle:.{digits}f}" + ("" if np.isnan(spread) else f"±{spread:.{digits}f}")


def per_cent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, without the sign; empty for NaN."""
    return "" if np.isnan(share) else f"{100.0 * share:.{digits}f}"


def numbers(results: Results, column: str, **wanted: Any) -> str:
    """Return the distinct values of a column over these rows, in ascending order."""
    return ", ".join(f"{value:g}" for value in sorted(set(_values(results, column, wanted))))


def _values(results: Results, column: str, wanted: dict[str, Any]) -> list[float]:
    rows = results.where(**wanted)
    return [row[column] for row in rows if row.get(column) is not None]
