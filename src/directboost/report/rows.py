"""The rows a model is judged by: what they are, and what the model says."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers
from ..data.frames import one_array, refuse_lazy
from ..model.names import has_several_labels
from ..plotting.base import class_codes, label_signs


@dataclass(frozen=True)
class JudgedRows:
    """Rows with their classes, or labels, and those the model gives them.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
        As the model reads it: categories are numbers.
    F, P : (m, k) arrays
        Scores and probabilities.
    has, says : (m, k) bool arrays
        Which classes a row has, and which the model says it has.
    """

    X: Numbers
    F: Array
    P: Array
    has: Bools
    says: Bools

    @property
    def wrong(self) -> Bools:
        """Rows that the model gets wrong, (m,)."""
        return np.asarray((self.has != self.says).any(axis=1))


def judge(model: Any, X: Any, y: Any) -> JudgedRows:
    """Let a model answer for the rows of X (m, d), and compare with y; refuse unknown classes."""
    numbers = model._checked(X)
    refuse_lazy("y", y)
    F = model._scores(numbers, model.ensemble_)
    several = has_several_labels(model)
    has = label_signs(model, numbers, y) > 0 if several else _own(_codes(model, numbers, y), F)
    says = F > 0.0 if several else _own(F.argmax(axis=1), F)
    return JudgedRows(numbers, F, _probabilities(model, X), has, says)


def _codes(model: Any, X: Numbers, y: Any) -> Ints:
    values = one_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.shape[0] != X.shape[0]:
        raise ValueError(
            f"y has the shape {values.shape}, but X has {X.shape[0]} rows: give one class per row"
        )
    return class_codes(model, X, values)


def _own(codes: Ints, F: Array) -> Bools:
    """Return the matrix that is true at the class of every row, (m, k)."""
    return np.asarray(codes[:, None] == np.arange(F.shape[1]))


def _probabilities(model: Any, X: Any) -> Array:
    return np.asarray(model.predict_proba(X), dtype=np.float64)
