"""Scores of the models of a path, trained on one part of the rows and scored on the other."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .arrays import Array, Ints, Numbers
from .budgets import walk_within
from .estimators import DirectBoostClassifier
from .fold_model import FoldModel
from .training.result import outside_level


@dataclass(frozen=True)
class FoldScoring:
    """The rows, points and scorer of a cross-validation.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
    y : (m,) array
    weight : (m,) array or None
    nus : (n,) array
        The points of the path, falling.
    budgets : dict
        What the features of the models of every fold keep to, as those of all rows do.
    scorer : callable
    metadata : dict
        What the scorer takes besides, by name: arrays with one entry per row, or None.
    """

    X: Numbers
    y: Any
    weight: Array | None
    nus: Array
    budgets: dict[str, float]
    scorer: Any
    metadata: dict[str, Any]

    def scores(
        self, estimator: DirectBoostClassifier, train: Ints, test: Ints
    ) -> tuple[Array, ValueError | None]:
        """Return the score of every point on the rows `test`, trained on the rows `train`, (n,).

        It is NaN where the scorer refuses these rows; the second answer says why.
        """
        here = {
            name: value if value is None else _safe_indexing(value, test)
            for name, value in self.metadata.items()
        }
        weight = None if self.weight is None else self.weight[train]
        classes = np.unique(self.y)
        X_test, y_test = self.X[test], self.y[test]
        scores = np.full(self.nus.size, np.nan)  # where the user ended a fit there are fewer
        refusal = None
        walk = partial(estimator._models, self.X[train], self.y[train], weight)
        for place, model in enumerate(walk_within(walk, self.nus.tolist(), self.budgets)):
            fold = FoldModel(model, classes)
            try:
                scores[place] = self.scorer(fold, X_test, y_test, **here)
            except ValueError as error:
                refusal = error
        return scores, refusal


def refuse_single_classes(y: Any, weight: Array | None, splits: list[Any]) -> None:
    """Refuse folds that would train on rows of one class, though y (m,) has several."""
    kept = np.ones(y.size, dtype=bool) if weight is None else weight > 0.0
    several = np.unique(y[kept]).size > 1  # if not, that is said of y itself
    for number, (train, _) in enumerate(splits):
        classes = np.unique(y[train][kept[train]])
        if several and classes.size < 2:
            found = f"the class {classes.tolist()[0]!r} only" if classes.size else "no row at all"
            raise ValueError(
                f"fold {number} of cv would train on {found}: give a cv with several classes in "
                "all folds, such as a number of them or StratifiedKFold(shuffle=True)"
            )


def warn_of_refusals(
    y: Any, splits: list[Any], refusals: list[ValueError | None], scoring: Any
) -> None:
    """Say which folds a scorer has refused, with the classes that they lack, and why."""
    for number, ((train, test), error) in enumerate(zip(splits, refusals, strict=True)):
        if error is not None:
            trained, scored = (np.setdiff1d(y, y[rows]).tolist() for rows in (train, test))
            warnings.warn(
                f"scoring={scoring!r} gives no number for fold {number}, which counts for nothing: "
                f"{error} (classes without a row to train on: {trained}, to score: {scored})",
                UserWarning,
                stacklevel=outside_level(),
            )


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return mean and standard error of every row over the folds that gave a number, (n,)."""
    known = np.isfinite(scores)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, scores, 0.0).sum(axis=1) / count
    squares = np.where(known, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / count)
    return np.where(known.any(axis=1), mean, np.nan), error
