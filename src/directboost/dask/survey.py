"""What a fit must know of all rows before it starts: learnt part by part, then joined."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from ..arrays import Array, Ints, Numbers
from ..data.categories import CategoryEncoder, join_levels, learn_encoder
from ..data.validation import (
    check_finite,
    check_level_counts,
    check_no_missing_labels,
    check_nonnegative,
    check_several_classes,
    check_some_weight,
    class_weights,
    read_part,
    relative_weights,
)
from .partitions import labels_of, rows_of, weights_of

_NO_ORDER = (
    "y holds labels of several types, which have no order: make them all strings or all numbers"
)


@dataclass(frozen=True, eq=False)
class DataSummary:
    """Labels, weights and levels of some rows.

    Attributes
    ----------
    classes : (k,) array
        The labels, ascending; also those that only rows without weight have.
    totals, counts : (k,) int arrays
        Number of rows of every class: of all, and of those with positive weight.
    weights, heaviest : (k,) arrays
        Sum and largest of the weights of every class.
    encoder : CategoryEncoder
        The levels that rows with positive weight have.
    peaks : dict of arrays (L, k), by categorical feature
        Largest weight of every level and class.
    """

    classes: npt.NDArray[Any]
    totals: Ints
    counts: Ints
    weights: Array
    heaviest: Array
    encoder: CategoryEncoder
    peaks: dict[int, Array]

    @property
    def rows(self) -> int:
        """Number of rows with positive weight."""
        return int(self.counts.sum())

    @property
    def largest(self) -> float:
        """The largest weight, 0 without rows."""
        return float(self.heaviest.max(initial=0.0))


def summarize(
    X: Any, y: Any, weight: Any, categorical_features: Any, names: list[str], place: int
) -> DataSummary:
    """Survey the rows of one computed partition, which may be empty, or refuse them.

    Parameters
    ----------
    names : d names
    place : int
        Number of the partition, for messages.
    """
    with _telling("y", place):
        classes, codes = _coded_labels(y)
    m, k = codes.size, classes.size
    with _telling("X", place):
        X, encoder = _checked_rows(rows_of(X), m, categorical_features, names)
    with _telling("sample_weight", place):
        weight = _checked_weights(weights_of(weight, m), m)
    kept = weight > 0.0
    X, encoder = encoder.restricted(X if kept.all() else X[kept])
    with _telling("X", place):
        check_level_counts(encoder.n_levels, None, names)
    return DataSummary(
        classes, np.bincount(codes, minlength=k), np.bincount(codes[kept], minlength=k),
        _sums_at(codes, weight, k), _largest_at((codes,), weight, (k,)), encoder,
        _level_peaks(X, encoder, codes[kept], weight[kept], k),
    )  # fmt: skip


def merge_summaries(parts: Sequence[DataSummary]) -> DataSummary:
    """Join the surveys of some partitions, one at least, in their order."""
    parts = [part for part in parts if part.classes.size] or list(parts[:1])
    classes, at = _joined_labels([part.classes for part in parts])
    k = classes.size
    totals = _sums_at(at, np.concatenate([part.totals for part in parts]), k)
    counts = _sums_at(at, np.concatenate([part.counts for part in parts]), k)
    weights = _sums_at(at, np.concatenate([part.weights for part in parts]), k)
    heaviest = np.concatenate([part.heaviest for part in parts])
    encoder = _joined_encoder([part.encoder for part in parts])
    return DataSummary(
        classes, totals.astype(np.int64), counts.astype(np.int64), weights,
        _largest_at((at,), heaviest, (k,)), encoder, _joined_peaks(parts, encoder, at, k),
    )  # fmt: skip


@contextmanager
def _telling(argument: str, place: int) -> Iterator[None]:
    """Say of what argument and where an error is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} in partition {place}, counted from 0: {error}") from error


def _coded_labels(y: Any) -> tuple[npt.NDArray[Any], Ints]:
    """Return the labels, ascending, (k,), and which of them every row has, (m,)."""
    check_no_missing_labels(y)
    labels = labels_of(y)
    assert_all_finite(labels, input_name="y")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(_NO_ORDER) from None
    # Twice each: labels that are all different would look like a target of a regression.
    check_classification_targets(np.repeat(classes, 2))
    return classes, codes


def _checked_rows(
    X: Any, m: int, categorical_features: Any, names: list[str]
) -> tuple[Numbers, CategoryEncoder]:
    """Return X as numbers (m, d), and how it became such."""
    if X.shape != (m, len(names)):
        raise ValueError(
            f"X has the shape {X.shape}, but there are {m} labels and {len(names)} features: "
            "partition X and y alike, by rows"
        )
    encoder = learn_encoder(X, categorical_features, names)
    numbers = read_part(X, encoder)
    if m:
        check_finite(numbers)
    return numbers, encoder


def _checked_weights(weight: Array, m: int) -> Array:
    if weight.size != m:
        raise ValueError(
            f"sample_weight has {weight.size} values for {m} rows: partition it as X is"
        )
    assert_all_finite(weight, input_name="sample_weight")
    check_nonnegative(weight)
    return weight


def _sums_at(places: Ints, values: Any, k: int) -> Array:
    return np.bincount(places, weights=values, minlength=k).astype(np.float64)


def _largest_at(places: tuple[Ints, ...], weight: Array, shape: tuple[int, ...]) -> Array:
    """Return the largest weight that falls on every entry of a table, 0 where none does."""
    table = np.zeros(shape)
    np.maximum.at(table, places, weight)
    return table


def _level_peaks(
    X: Numbers, encoder: CategoryEncoder, codes: Ints, weight: Array, k: int
) -> dict[int, Array]:
    """Return the largest weight of every level and class, (L, k), of categorical features."""
    peaks = {}
    for feature in np.flatnonzero(encoder.categorical).tolist():
        known = ~np.isnan(X[:, feature])
        places = X[known, feature].astype(np.intp), codes[known]
        peaks[feature] = _largest_at(places, weight[known], (encoder.n_levels[feature], k))
    return peaks


def _joined_labels(found: list[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], Ints]:
    """Return all labels, ascending, and the place of every found one among them."""
    words = {labels.dtype.kind in "OU" for labels in found}
    try:
        together = np.concatenate(found)
        if len(words) == 1:
            classes, at = np.unique(together, return_inverse=True)
            return classes, at
    except TypeError:
        pass
    raise ValueError(f"{_NO_ORDER} in all partitions")


def _joined_encoder(found: list[CategoryEncoder]) -> CategoryEncoder:
    names, categories = found[0].names, []
    for name, *parts in zip(names, *(part.categories for part in found), strict=True):
        some = [levels for levels in parts if levels is not None]
        if some and len(some) < len(parts):
            raise ValueError(
                f"column {name!r} of X holds categories in some partitions and numbers in others: "
                "give it the same type in all"
            )
        categories.append(join_levels(some, name) if some else None)
    return CategoryEncoder(names, tuple(categories))


def _joined_peaks(
    parts: list[DataSummary], encoder: CategoryEncoder, at: Ints, k: int
) -> dict[int, Array]:
    """Return the largest weight of every level and class, whose places are those of all parts."""
    peaks = {}
    places = np.split(at, np.cumsum([part.classes.size for part in parts])[:-1])
    for feature in np.flatnonzero(encoder.categorical).tolist():
        levels: list[Any] = [part.encoder.categories[feature] for part in parts]
        whole: Any = encoder.categories[feature]
        peaks[feature] = np.zeros((whole.size, k))
        for own, place, part in zip(levels, places, parts, strict=True):
            there = np.ix_(np.searchsorted(whole, own), place)
            peaks[feature][there] = np.maximum(peaks[feature][there], part.peaks[feature])
    return peaks


@dataclass(frozen=True, eq=False)
class RowEncoding:
    """How the rows of every partition become those of the fit.

    Attributes
    ----------
    encoder : CategoryEncoder
        The levels of the rows that count.
    classes : (k,) array
        Their labels, ascending.
    class_weight : (k,) array
        What the weights of the rows of every class are multiplied by.
    largest : float
        The largest weight after that, by which all are divided.
    """

    encoder: CategoryEncoder
    classes: npt.NDArray[Any]
    class_weight: Array
    largest: float


def class_weights_of(class_weight: Any, found: DataSummary) -> Array:
    """Return the weight of every label of a survey by `class_weight`, (k,).

    Balanced weights count all rows, also those without weight, as scikit-learn does.
    """
    if class_weight is None:
        return np.ones(found.classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(found.totals.sum() / (found.classes.size * found.totals))
    return class_weights(class_weight, found.classes)


def make_row_encoding(found: DataSummary, class_weight: Any) -> RowEncoding:
    """Return how rows are coded; classes and levels that no row with weight has are left out."""
    if not found.classes.size:
        raise ValueError("X has no rows: every partition is empty")
    c = class_weights_of(class_weight, found)
    heaviest = found.heaviest * c
    largest = float(heaviest.max())
    _, kept = relative_weights(heaviest, largest)
    name = "sample_weight" if class_weight is None else "sample_weight times class_weight"
    check_some_weight(kept, name)
    check_several_classes(found.classes[kept])
    return RowEncoding(_weighty_levels(found, c, largest), found.classes[kept], c[kept], largest)


def prepare_rows(X: Any, y: Any, weight: Any, coding: RowEncoding) -> tuple[Numbers, Ints, Array]:
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


def _weighty_levels(found: DataSummary, c: Array, largest: float) -> CategoryEncoder:
    """Return the encoder without levels whose rows have no weight, by the weights of classes."""
    categories: list[Any] = list(found.encoder.categories)
    for feature, peaks in found.peaks.items():
        _, kept = relative_weights(peaks * c, largest)
        categories[feature] = categories[feature][kept.any(axis=1)]
    return CategoryEncoder(found.encoder.names, tuple(categories))
