"""A model of one fold, seen with the classes of all rows."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .arrays import Array
from .estimators import DirectBoostClassifier


class FoldModel(ClassifierMixin, BaseEstimator):
    """A fitted model for a scorer that expects all classes, though its fold may have lacked some.

    A class that was never seen has probability 0 and the lowest score.
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

    def _widened(self, values: Array, fill: float) -> Array:
        if values.shape[1] == self.classes_.size:
            return values
        wide = np.full((values.shape[0], self.classes_.size), fill)
        wide[:, np.searchsorted(self.classes_, self.model.classes_)] = values
        return wide
