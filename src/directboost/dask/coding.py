"""How the rows of every partition become those of the fit, by a survey of all of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints, Numbers
from ..data.categories import Encoder
from ..data.validation import (
    class_weights,
    read_part,
    refuse_no_weight,
    refuse_one_class,
    relative_weights,
)
from .partitions import labels_of, rows_of, weights_of
from .survey import Survey


@dataclass(frozen=True, eq=False)
class Coding:
    """How the rows of every partition become those of the fit.

    Attributes
    ----------
    encoder : Encoder
        The levels of the rows that count.
    classes : (k,) array
        Their labels, ascending.
    class_weight : (k,) array
        What the weights of the rows of every class are multiplied by.
    largest : float
        The largest weight after that, by which all are divided.
    """

    encoder: Encoder
    classes: npt.NDArray[Any]
    class_weight: Array
    largest: float


def class_weights_of(class_weight: Any, found: Survey) -> Array:
    """Return the weight of every label of a survey by `class_weight`, (k,).

    Balanced weights count all rows, also those without weight, as scikit-learn does.
    """
    if class_weight is None:
        return np.ones(found.classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(found.totals.sum() / (found.classes.size * found.totals))
    return class_weights(class_weight, found.classes)


def coding_of(found: Survey, class_weight: Any) -> Coding:
    """Return how rows are coded; classes and levels that no row with weight has are left out."""
    if not found.classes.size:
        raise ValueError("X has no rows: every partition is empty")
    c = class_weights_of(class_weight, found)
    heaviest = found.heaviest * c
    largest = float(heaviest.max())
    _, kept = relative_weights(heaviest, largest)
    name = "sample_weight" if class_weight is None else "sample_weight times class_weight"
    refuse_no_weight(kept, name)
    refuse_one_class(found.classes[kept])
    return Coding(_weighty_levels(found, c, largest), found.classes[kept], c[kept], largest)


def prepare_rows(X: Any, y: Any, weight: Any, coding: Coding) -> tuple[Numbers, Ints, Array]:
    """Return the rows of one computed partition that count, as they are trained on.

    Returns
    -------
    X : (m, d) array of numbers
    codes : (m,) int32 array
        The classes.
    weight : (m,) array
        In (0, 1].
    """
    X, y = read_part(rows_of(X), coding.encoder), labels_of(y)
    codes = np.searchsorted(coding.classes, y).clip(max=coding.classes.size - 1)
    # Only rows without weight have labels that are no classes.
    own = np.where(coding.classes[codes] == y, coding.class_weight[codes], 0.0)
    weight, kept = relative_weights(weights_of(weight, y.size) * own, coding.largest)
    if not kept.all():
        X, codes, weight = X[kept], codes[kept], weight[kept]
    return X, codes.astype(np.int32), weight


def _weighty_levels(found: Survey, c: Array, largest: float) -> Encoder:
    """Return the encoder without levels whose rows have no weight, by the weights of classes."""
    categories: list[Any] = list(found.encoder.categories)
    for feature, peaks in found.peaks.items():
        _, kept = relative_weights(peaks * c, largest)
        categories[feature] = categories[feature][kept.any(axis=1)]
    return Encoder(found.encoder.names, tuple(categories))
