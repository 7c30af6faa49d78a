"""Scores of the models of a path, trained on one part of the rows and scored on the other."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .arrays import Array, Ints, Numbers
from .budgets import walk_within
from .estimators import DirectBoostClassifier
from .fold_model import FoldModel


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

    def scores(self, estimator: DirectBoostClassifier, train: Ints, test: Ints) -> Array:
        """Return the score of every point on the rows `test`, trained on the rows `train`, (n,)."""
        here = {
            name: value if value is None else _safe_indexing(value, test)
            for name, value in self.metadata.items()
        }
        weight = None if self.weight is None else self.weight[train]
        classes = np.unique(self.y)
        X_test, y_test = self.X[test], self.y[test]
        scores = np.full(self.nus.size, np.nan)  # where the user ended a fit there are fewer
        walk = partial(estimator._models, self.X[train], self.y[train], weight)
        for place, model in enumerate(walk_within(walk, self.nus.tolist(), self.budgets)):
            fold = FoldModel(model, classes)
            scores[place] = self.scorer(fold, X_test, y_test, **here)
        return scores


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return mean and standard error of every row over the folds that gave a number, (n,)."""
    known = np.isfinite(scores)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, scores, 0.0).sum(axis=1) / count
    squares = np.where(known, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / count)
    return np.where(known.any(axis=1), mean, np.nan), error
