"""Scores on the folds of a cross-validation: models, scorers, means, and when to end."""

import warnings
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing

from ..arrays import Array, Bools, Ints, Numbers
from ..data.validation import caller_level
from .budgets import limits_features, models_within
from .classifier import DirectBoostClassifier

_PAST, _LAST_POINTS = 4.0, 3  # how far below the best nu, and for how many points, scores are lower
_LEAST_PROBABILITY = 1e-15  # of the true class in a log-likelihood


class FoldModel(ClassifierMixin, BaseEstimator):
    """A fitted model with all classes, for scorers, even if its fold lacks some of them.

    A class that is not in the training rows of the fold has probability 0 and the lowest score.
    """

    def __init__(self, model: DirectBoostClassifier, classes: Any) -> None:
        self.model = model
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the predicted classes, (m,)."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of all classes, (m, k)."""
        return self._widened(self.model.predict_proba(X), 0.0)

    def decision_function(self, X: Any) -> Array:
        """Return the scores of all classes, (m, k); for two classes (m,)."""
        scores = self.model.decision_function(X)
        if self.model.classes_.size == self.classes_.size:
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores]) / 2.0
        return self._widened(scores, float(scores.min(initial=0.0)) - 1.0)

    def __getattr__(self, name: str) -> Any:
        if name == "model" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)

    def _widened(self, values: Array, fill: float) -> Array:
        if values.shape[1] == self.classes_.size:
            return values
        wide = np.full((values.shape[0], self.classes_.size), fill)
        wide[:, np.searchsorted(self.classes_, self.model.classes_)] = values
        return wide


@dataclass(frozen=True)
class FoldScoring:
    """The data, points and scorer of a cross-validation.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
    y : (m,) or (m, labels) array
    classes : array
        The classes of the rows with a weight.
    weight : (m,) array or None
    nus : (n,) array
        The points of the path, decreasing.
    budgets : dict
        Budgets of the models of every fold, the same as for all rows.
    tol : float
        Tolerance of the solved points.
    scorer : callable
    metadata : dict
        Further arguments of the scorer by name: arrays with one entry per row, or None.
    """

    X: Numbers
    y: Any
    classes: Any
    weight: Array | None
    nus: Array
    budgets: dict[str, float]
    tol: float
    scorer: Any
    metadata: dict[str, Any]

    def scores(
        self, estimator: DirectBoostClassifier, train: Ints, test: Ints
    ) -> Generator[float | ValueError, None, None]:
        """Yield the score of every point on the rows `test`, after training on the rows `train`.

        If the scorer raises ValueError, the error takes the place of the score. Budgets of features
        or costs need the sizes of finished models; otherwise, models are taken as they are solved.
        """
        here = {
            name: value if value is None else _safe_indexing(value, test)
            for name, value in self.metadata.items()
        }
        X, y = self.X[train], self.y[train]
        weight = None if self.weight is None else self.weight[train]
        X_test, y_test = self.X[test], self.y[test]
        nus = self.nus.tolist()
        if limits_features(self.budgets):
            fit_path = partial(estimator._models, X, y, weight)
            models: Iterable[Any] = models_within(fit_path, nus, self.budgets)
        else:
            models = estimator._fold_models(X, y, weight, nus, self.tol)
        for model in models:
            fold = model if self.y.ndim > 1 else FoldModel(model, self.classes)
            try:
                yield self.scorer(fold, X_test, y_test, **here)
            except ValueError as error:
                yield error


def check_fold_classes(y: Any, kept: Bools, splits: list[Any]) -> None:
    """Reject folds with training rows of a single class if the `kept` rows of y have several."""
    several = np.unique(y[kept]).size > 1  # otherwise, the error is about y itself
    for number, (train, _) in enumerate(splits):
        classes = np.unique(y[train])
        if several and classes.size < 2:
            found = f"only the class {classes.tolist()[0]!r}" if classes.size else "no rows"
            raise ValueError(
                f"fold {number} of cv has {found} to train on: use a cv with several classes in "
                "every fold, such as an integer or StratifiedKFold(shuffle=True)"
            )


def warn_of_failed_scores(
    y: Any, splits: list[Any], failures: list[ValueError | None], scoring: Any
) -> None:
    """Warn about folds that the scorer cannot score, with the classes that they lack."""
    for number, ((train, test), error) in enumerate(zip(splits, failures, strict=True)):
        if error is not None:
            trained, scored = (np.setdiff1d(y, y[rows]).tolist() for rows in (train, test))
            warnings.warn(
                f"scoring={scoring!r} gives no number for fold {number}, which is ignored: {error} "
                f"(classes without training rows: {trained}, without test rows: {scored})",
                UserWarning,
                stacklevel=caller_level(),
            )


def log_likelihood(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the weighted mean log-likelihood of the classes (m,), or of the labels (m, k)."""
    P = model.predict_proba(X)
    if y.ndim == 1:
        P = P[np.arange(y.size), np.searchsorted(model.classes_, y)]
    else:
        P = np.where(y, P, 1.0 - P)
    return _mean(np.log(np.maximum(P, _LEAST_PROBABILITY)), sample_weight)


def accuracy(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the weighted share of the classes (m,), or of the labels (m, k), that are right."""
    return _mean(model.predict(X) == y, sample_weight)


def _mean(values: Any, sample_weight: Any) -> float:
    rows = values if values.ndim == 1 else values.mean(axis=1)
    return float(np.average(rows, weights=sample_weight))


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return the mean and standard error of every row over the folds with a score, (n,).

    Both are NaN for a row without a score.
    """
    known = np.isfinite(scores)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, scores, 0.0).sum(axis=1) / count
    squares = np.where(known, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / count)
    scored = known.any(axis=1)
    return np.where(scored, mean, np.nan), np.where(scored, error, np.nan)


def has_passed_best(nus: Array, scores: Array) -> bool:
    """Return whether all of the last scores (n, folds) are clearly lower than the best ones.

    "Clearly" means by more than the standard error of the differences between the folds. The best
    point must be at a nu that is several times larger than the last one, and better than the first:
    with unbalanced classes, the first models that are not empty predict worse probabilities than
    the class frequencies.
    """
    mean, _ = mean_and_error(scores)
    if not np.isfinite(mean).all():
        return False
    best = int(np.argmax(mean))
    lost, error = mean_and_error(scores[best] - scores[-_LAST_POINTS:])
    return bool(mean[best] > mean[0] and nus[best] >= _PAST * nus[-1] and (lost > error).all())
