"""Classes, weights and categories of all rows, from summaries of the partitions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from .partitions import partition_labels, partition_rows, partition_weights

_MIXED_LABELS = (
    "y has labels of several types, which cannot be sorted: make them all strings or all numbers"
)


@dataclass(frozen=True, eq=False)
class DataSummary:
    """Labels, weights and categories of some rows.

    Attributes
    ----------
    classes : (k,) array
        The labels, ascending, including those of rows with zero weight only.
    totals, counts : (k,) int arrays
        Number of rows of every class: all rows, and rows with positive weight.
    weights, max_weights : (k,) arrays
        Sum and maximum of the weights of every class.
    encoder : CategoryEncoder
        The categories of rows with positive weight.
    level_weights : dict of (L, k) arrays, by categorical feature
        Largest weight of every category and class.
    """

    classes: npt.NDArray[Any]
    totals: Ints
    counts: Ints
    weights: Array
    max_weights: Array
    encoder: CategoryEncoder
    level_weights: dict[int, Array]


def summarize(
    X: Any, y: Any, weight: Any, categorical_features: Any, names: list[str], partition: int
) -> DataSummary:
    """Check and summarize the rows of one computed partition, which may be empty.

    Parameters
    ----------
    X, y, weight : computed partition
    categorical_features
        The parameter of the estimator.
    names : list of d str
    partition : int
        Number of the partition, for error messages.
    """
    with _naming("y", partition):
        classes, codes = _encode_labels(y)
    m, k = codes.size, classes.size
    with _naming("X", partition):
        X = partition_rows(X)
        if X.shape != (m, len(names)):
            raise ValueError(
                f"X has the shape {X.shape}, but there are {m} labels and {len(names)} features: "
                "partition X and y alike, by rows"
            )
        encoder = learn_encoder(X, categorical_features, names)
        numbers = read_part(X, encoder)
        if m:
            check_finite(numbers)
    with _naming("sample_weight", partition):
        weight = partition_weights(weight, m)
        if weight.size != m:
            raise ValueError(
                f"sample_weight has {weight.size} values for {m} rows: partition it like X"
            )
        assert_all_finite(weight, input_name="sample_weight")
        check_nonnegative(weight)
    kept = weight > 0.0
    numbers, encoder = encoder.restricted(numbers if kept.all() else numbers[kept])
    with _naming("X", partition):
        check_level_counts(encoder.n_levels, None, names)
    level_weights = {}
    for feature in np.flatnonzero(encoder.categorical).tolist():
        known = ~np.isnan(numbers[:, feature])
        places = numbers[known, feature].astype(np.intp), codes[kept][known]
        shape = (encoder.n_levels[feature], k)
        level_weights[feature] = _largest_at(places, weight[kept][known], shape)
    return DataSummary(
        classes=classes,
        totals=np.bincount(codes, minlength=k),
        counts=np.bincount(codes[kept], minlength=k),
        weights=_sums_at(codes, weight, k),
        max_weights=_largest_at((codes,), weight, (k,)),
        encoder=encoder,
        level_weights=level_weights,
    )


def merge_summaries(parts: Sequence[DataSummary]) -> DataSummary:
    """Merge the summaries of at least one partition, in their order."""
    parts = [part for part in parts if part.classes.size] or list(parts[:1])
    if len({part.classes.dtype.kind in "OU" for part in parts}) > 1:
        raise ValueError(f"{_MIXED_LABELS} in all partitions")
    try:
        labels = np.concatenate([part.classes for part in parts])
        classes, at = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(f"{_MIXED_LABELS} in all partitions") from None
    k, encoder = classes.size, _merge_encoders([part.encoder for part in parts])
    places = np.split(at, np.cumsum([part.classes.size for part in parts])[:-1])
    level_weights = {}
    for feature in np.flatnonzero(encoder.categorical).tolist():
        levels: Any = encoder.categories[feature]
        table = level_weights[feature] = np.zeros((levels.size, k))
        for place, part in zip(places, parts, strict=True):
            own: Any = part.encoder.categories[feature]
            there = np.ix_(np.searchsorted(levels, own), place)
            table[there] = np.maximum(table[there], part.level_weights[feature])
    totals = _sums_at(at, np.concatenate([part.totals for part in parts]), k)
    counts = _sums_at(at, np.concatenate([part.counts for part in parts]), k)
    max_weights = np.concatenate([part.max_weights for part in parts])
    return DataSummary(
        classes=classes,
        totals=totals.astype(np.int64),
        counts=counts.astype(np.int64),
        weights=_sums_at(at, np.concatenate([part.weights for part in parts]), k),
        max_weights=_largest_at((at,), max_weights, (k,)),
        encoder=encoder,
        level_weights=level_weights,
    )


@contextmanager
def _naming(argument: str, partition: int) -> Iterator[None]:
    """Name the argument and the partition in the message of an error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} in partition {partition}, counted from 0: {error}") from error


def _encode_labels(y: Any) -> tuple[npt.NDArray[Any], Ints]:
    """Return the labels, ascending, (k,), and the place of the label of every row, (m,)."""
    check_no_missing_labels(y)
    labels = partition_labels(y)
    assert_all_finite(labels, input_name="y")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(_MIXED_LABELS) from None
    # Each label twice: labels that are all different look like a regression target.
    check_classification_targets(np.repeat(classes, 2))
    return classes, codes


def _merge_encoders(found: list[CategoryEncoder]) -> CategoryEncoder:
    names, categories = found[0].names, []
    for name, *parts in zip(names, *(part.categories for part in found), strict=True):
        some = [levels for levels in parts if levels is not None]
        if some and len(some) < len(parts):
            raise ValueError(
                f"column {name!r} of X is categorical in some partitions and numeric in others: "
                "use the same type in all"
            )
        categories.append(join_levels(some, name) if some else None)
    boolean = set(found[0].boolean).intersection(*(part.boolean for part in found))
    return CategoryEncoder(names, tuple(categories), tuple(sorted(boolean)))


def _sums_at(places: Ints, values: Any, k: int) -> Array:
    return np.bincount(places, weights=values, minlength=k).astype(np.float64)


def _largest_at(places: tuple[Ints, ...], weight: Array, shape: tuple[int, ...]) -> Array:
    """Return the largest weight at every entry of a table; 0 for entries without a weight."""
    table = np.zeros(shape)
    np.maximum.at(table, places, weight)
    return table


@dataclass(frozen=True, eq=False)
class RowEncoding:
    """How the rows of every partition are converted to the rows of the fit.

    Attributes
    ----------
    encoder : CategoryEncoder
        The categories of the training rows.
    classes : (k,) array
        Their labels, ascending.
    class_weight : (k,) array
        Factor on the weights of the rows of every class.
    largest : float
        The largest weight after that; all weights are divided by it.
    """

    encoder: CategoryEncoder
    classes: npt.NDArray[Any]
    class_weight: Array
    largest: float


def make_row_encoding(summary: DataSummary, class_weight: Any) -> RowEncoding:
    """Return the encoding of all rows, without classes and categories of zero total weight.

    Balanced class weights count all rows, including those with zero weight, as in scikit-learn.
    """
    if not summary.classes.size:
        raise ValueError("X has no rows: every partition is empty")
    c = np.ones(summary.classes.size)
    if isinstance(class_weight, str) and class_weight == "balanced":
        c = np.asarray(summary.totals.sum() / (summary.classes.size * summary.totals))
    elif class_weight is not None:
        c = class_weights(class_weight, summary.classes)
    heaviest = summary.max_weights * c
    largest = float(heaviest.max())
    _, kept = relative_weights(heaviest, largest)
    name = "sample_weight" if class_weight is None else "sample_weight times class_weight"
    check_some_weight(kept, name)
    check_several_classes(summary.classes[kept])
    categories: list[Any] = list(summary.encoder.categories)
    for feature, level_weights in summary.level_weights.items():
        _, counts = relative_weights(level_weights * c, largest)
        categories[feature] = categories[feature][counts.any(axis=1)]
    return RowEncoding(
        encoder=replace(summary.encoder, categories=tuple(categories)),
        classes=summary.classes[kept],
        class_weight=c[kept],
        largest=largest,
    )


def prepare_rows(X: Any, y: Any, weight: Any, encoding: RowEncoding) -> tuple[Numbers, Ints, Array]:
    """Return the training rows of one computed partition.

    Returns
    -------
    X : (m, d) array of numbers
    codes : (m,) int32 array
        The classes.
    weight : (m,) array
        In (0, 1].
    """
    X, y = read_part(partition_rows(X), encoding.encoder), partition_labels(y)
    codes = np.searchsorted(encoding.classes, y).clip(max=encoding.classes.size - 1)
    # Only rows with zero weight have labels that are not among the classes.
    own = np.where(encoding.classes[codes] == y, encoding.class_weight[codes], 0.0)
    weight, kept = relative_weights(partition_weights(weight, y.size) * own, encoding.largest)
    if not kept.all():
        X, codes, weight = X[kept], codes[kept], weight[kept]
    return X, codes.astype(np.int32), weight
