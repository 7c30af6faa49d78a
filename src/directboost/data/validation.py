"""Validation and conversion of user input: X, y, weights, costs and parameters."""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import (
    _check_sample_weight,
    _get_feature_names,
    check_array,
    check_X_y,
    validate_data,
)

from ..arrays import Array, Bools, Ints, Numbers, as_csc, is_sparse
from ..kernels import ranges
from ..kernels.threads import Team
from ..model.names import check_known, feature_names, some_of
from .categories import CategoryEncoder, by_dtype, learn_encoder, names_categories, numeric_encoder
from .frames import check_not_lazy, count_missing, is_frame

#: Most levels of a categorical feature: codes of one byte, one of which stands for missing values.
MOST_LEVELS = 255
#: Smallest relative weight of a row. Smaller weights cannot be told from zero later on.
_LEAST_WEIGHT = 1e-290
_MOST = 2**63 - 1  # largest integer that the kernels take

_INTERNAL = ("directboost.", "sklearn.", "contextlib")  # no warning should point at these

_NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
_SPARSE: dict[str, Any] = {"accept_sparse": "csc", **_NUMBERS}
_ANYTHING: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}


def read_training(
    estimator: Any, X: Any, y: Any, **checks: Any
) -> tuple[Numbers, npt.NDArray[Any], CategoryEncoder]:
    """Return X as numbers (m, d), the labels y, and the encoder that converted X.

    Sets `n_features_in_` and `feature_names_in_` of the estimator.

    Parameters
    ----------
    estimator : estimator
        `categorical_features` determines which columns are categorical.
    X, y : array-like, data frame or series
        X may also be a sparse matrix.
    **checks
        Options of `check_X_y` for y.
    """
    check_not_lazy("X", X)
    check_not_lazy("y", y)
    if not checks.get("multi_output"):
        check_single_labels(y)
    check_no_missing_labels(y)
    categorical = estimator.categorical_features
    if is_sparse(X):
        X, y = validate_data(estimator, X, y, **_SPARSE, **checks)
        names = feature_names(estimator)
        if names_categories(categorical, names):
            raise ValueError(
                f"categorical_features={categorical!r} is invalid for a sparse X, whose columns "
                "are numeric: pass X as an array or a data frame, or one column of 0 and 1 per "
                "level"
            )
        return as_csc(X), y, numeric_encoder(names)
    if by_dtype(categorical) and not is_frame(X):
        with _locating_text(X):
            X, y = validate_data(estimator, X, y, **_NUMBERS, **checks)
        encoder = numeric_encoder(feature_names(estimator))
    else:
        X = _columns(estimator, X, reset=True)
        encoder = learn_encoder(X, categorical, feature_names(estimator))
        X, y = check_X_y(encoder.encode(X), y, estimator=estimator, **_NUMBERS, **checks)
    return np.require(X, requirements="A"), y, encoder


def read_rows(estimator: Any, X: Any, encoder: CategoryEncoder) -> Numbers:
    """Return X as numbers (m, d), converted by the encoder of the training data."""
    check_not_lazy("X", X)
    if is_sparse(X):
        if encoder.categorical.any():
            raise ValueError(
                "X is sparse, but the model was fitted with categorical features, which a sparse "
                "matrix cannot hold: pass X as a data frame or an array, as in fit"
            )
        return as_csc(validate_data(estimator, X, **_SPARSE, reset=False))
    if not encoder.categorical.any() and not is_frame(X):
        with _locating_text(X):
            X = validate_data(estimator, X, **_NUMBERS, reset=False)
    else:
        numbers = encoder.encode(_columns(estimator, X, reset=False))
        X = check_array(numbers, estimator=estimator, input_name="X", **_NUMBERS)
    return np.require(X, requirements="A")


def read_part(X: Any, encoder: CategoryEncoder) -> Numbers:
    """Return one part of the rows, a frame or an array that may be empty, as numbers (m, d)."""
    if not encoder.categorical.any() and not is_frame(X):
        with _locating_text(X):
            X = check_array(X, input_name="X", ensure_min_samples=0, **_NUMBERS)
    else:
        X = check_array(encoder.encode(X), input_name="X", ensure_min_samples=0, **_NUMBERS)
    return np.require(X, requirements="A")


@contextmanager
def _locating_text(X: Any) -> Iterator[None]:
    """Report the position of the first text in X if the conversion to numbers fails on it."""
    try:
        yield
    except ValueError as error:
        found = _texts(X) if "could not convert" in str(error) else {}
        if not found:
            raise
        column, (row, text) = next(iter(found.items()))
        others = f"; columns {some_of(list(found))} hold text" if len(found) > 1 else ""
        raise ValueError(
            f"X holds {text!r} in row {row} of column {column} (both counted from 0), which is not "
            f"a number{others}: encode text as numbers, or make its columns categorical with "
            f"categorical_features=[{some_of(list(found))}]"
        ) from None


def _texts(X: Any) -> dict[int, tuple[int, str]]:
    """Return by column of X (m, d) the row and value of its first string that is not a number."""
    values, found = np.array(X, dtype=object), {}
    for column in range(values.shape[1]) if values.ndim == 2 else ():
        for row, value in enumerate(values[:, column].tolist()):
            if isinstance(value, str | bytes) and not _is_number(value):
                found[column] = row, str(value)
                break
    return found


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Set or check the column names and their number; return the frame, or X as an array."""
    if is_frame(X):
        has_names = _get_feature_names(X) is not None
        named = X if has_names else _ColumnNames(X)
        validate_data(estimator, named, skip_check_array=True, reset=reset)
        return X
    if isinstance(X, Sequence):
        X = np.array(X, dtype=object)  # otherwise NumPy converts mixed values to strings
    return validate_data(estimator, X, **_ANYTHING, reset=reset)


class _ColumnNames:
    """Column names of a frame in the form that scikit-learn before 1.9 reads.

    Those versions do not use narwhals.
    """

    def __init__(self, X: Any) -> None:
        import narwhals.stable.v2 as nw

        self._names = nw.from_native(X, eager_only=True).columns
        self.shape = X.shape

    def __dataframe__(self) -> "_ColumnNames":
        return self

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._names)


def check_finite(X: Numbers, team: Team | None = None) -> None:
    """Reject infinite values with scikit-learn's message; missing values are allowed.

    The minimum and maximum of every column come from one pass on all threads, which is several
    times faster than the sum that scikit-learn computes first.
    """
    if is_sparse(X):
        assert_all_finite(X.data, allow_nan=True, input_name="X")
        return
    low, high, _ = ranges(X, team)
    if (low == -np.inf).any() or (high == np.inf).any():
        assert_all_finite(X, allow_nan=True, input_name="X")


def check_no_missing_labels(y: Any) -> None:
    """Reject labels that are null, None or NaN."""
    missing = count_missing(y)
    if missing:
        noun = "label" if missing == 1 else "labels"
        other = ", or give them a label of their own" if np.asarray(y).ndim == 1 else ""
        raise ValueError(
            f"y has {missing} missing {noun} (null, None or NaN): leave those rows out{other}"
        )


def check_single_labels(y: Any) -> None:
    """Reject labels in several columns."""
    shape = tuple(y.shape if hasattr(y, "shape") else np.asarray(y).shape)
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array with one class per row, but has shape {shape}; for rows with "
            "several labels use DirectBoostMultiLabelClassifier"
        )


def check_several_classes(classes: npt.NDArray[Any]) -> None:
    """Reject labels that are all of one class."""
    if classes.size < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}) among the rows with positive weight; "
            "a classifier needs at least two classes"
        )


def caller_level() -> int:
    """Return the `stacklevel` of the user's code, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_INTERNAL):
        frame, level = frame.f_back, level + 1
    return level


def check_level_counts(levels: Ints, max_bins: int | None, names: list[str]) -> None:
    """Reject a categorical feature with more levels than there are bins."""
    most, limit = most_levels(max_bins)
    if (levels > most).any():
        feature = int(np.argmax(levels > most))
        raise ValueError(
            f"column {names[feature]!r} of X has {levels[feature]} levels, above {limit}: merge "
            "rare levels, or encode the column as numbers"
        )


def most_levels(max_bins: int | None) -> tuple[int, str]:
    """Return the largest number of levels of a categorical feature, and the limit in words."""
    if max_bins is not None and max_bins < MOST_LEVELS:
        return max_bins, f"max_bins={max_bins}"
    return MOST_LEVELS, f"the limit of {MOST_LEVELS}"


@dataclass(frozen=True)
class TrainingSet:
    """Training rows with positive weight; classes are coded 0..k-1.

    Attributes
    ----------
    X : (m, d) array or csc_array
    codes : (m,) int array
        Class of every row; zeros if a row may have several labels.
    weight : (m,) array
        Weights divided by the largest one, in (0, 1].
    total_weight : float
        Sum of the weights in the user's unit.
    classes : (k,) array
    levels : (d,) int array
        Number of levels of every categorical feature, whose values in X are 0..levels-1 or NaN; 0
        for a numeric feature.
    targets : (m, k) array of +1 and -1, or None
        Labels of every row if a row may have several.
    signs : (d + 1, k) int8 array or None
        Sign constraints on the coefficients, by feature and class.
    names : tuple of d str or None
        Names of the features.
    joined : tuple of int
        Categorical features whose rare levels are joined with missing values.
    """

    X: Numbers
    codes: Ints
    weight: Array
    total_weight: float
    classes: npt.NDArray[Any]
    levels: Ints
    targets: Ints | None = None
    signs: Ints | None = None
    names: tuple[str, ...] | None = None
    joined: tuple[int, ...] = ()

    @property
    def prior(self) -> Array:
        """Weighted share of the rows that have each class or label, (k,)."""
        if self.targets is not None:
            return np.asarray(self.weight @ (self.targets > 0) / self.weight.sum())
        share = np.bincount(self.codes, weights=self.weight, minlength=self.classes.size)
        return np.asarray(share / share.sum())


def make_training_set(X: Numbers, y: Any, sample_weight: Any, class_weight: Any) -> TrainingSet:
    """Drop rows of weight zero and code the classes; raise ValueError for invalid input."""
    X, y, weight, total_weight = _weighted_rows(X, y, sample_weight, class_weight)
    classes, codes = np.unique(y, return_inverse=True)
    check_several_classes(classes)
    return TrainingSet(
        X=X,
        codes=codes.astype(np.int32),
        weight=weight,
        total_weight=total_weight,
        classes=classes,
        levels=np.zeros(X.shape[1], dtype=np.int32),
    )


def label_values(Y: Any) -> list[npt.NDArray[Any]]:
    """Return the two values of every column of Y (m, k); the second one marks the label.

    A column of zeros and ones always has the values 0 and 1. Otherwise the larger value marks the
    label.
    """
    values = []
    for column in range(Y.shape[1]):
        found = np.unique(Y[:, column])
        if found.size > 2:
            raise ValueError(
                f"column {column} of y has {found.size} distinct values, including "
                f"{found[:3].tolist()}; expected an indicator matrix with one column per label, 1 "
                "where a row has the label and 0 elsewhere; "
                "sklearn.preprocessing.MultiLabelBinarizer converts lists of labels"
            )
        binary = found.dtype.kind in "biuf" and bool(np.isin(found, (0, 1)).all())
        values.append(np.array([0, 1]) if binary else found)
    return values


def label_rows(X: Numbers, Y: Any, sample_weight: Any) -> TrainingSet:
    """Drop rows of weight zero and code the labels Y (m, k), 0 or 1, as -1 and +1."""
    X, Y, weight, total_weight = _weighted_rows(X, Y, sample_weight)
    return TrainingSet(
        X=X,
        codes=np.zeros(weight.size, dtype=np.int32),
        weight=weight,
        total_weight=total_weight,
        classes=np.arange(Y.shape[1]),
        levels=np.zeros(X.shape[1], dtype=np.int32),
        targets=np.where(Y, 1, -1).astype(np.int8),
    )


def with_levels(
    rows: TrainingSet, encoder: CategoryEncoder, max_bins: int | None
) -> tuple[TrainingSet, CategoryEncoder]:
    """Set names and levels of encoded rows; drop unused levels from rows and encoder.

    If a feature has more levels than `max_bins` allows, the rare ones are joined, with a warning.
    """
    X, encoder = encoder.restricted(rows.X)
    counts = encoder.n_levels
    if counts.any():
        most, limit = most_levels(max_bins)
        X, encoder = encoder.with_rare_joined(X, rows.weight, most)
        for feature in encoder.joined:
            remedy = "increase max_bins" if most < MOST_LEVELS else "merge levels yourself"
            warnings.warn(
                f"column {encoder.names[feature]!r} of X has {counts[feature]} levels, above "
                f"{limit}: the {most} most frequent ones are kept, and the "
                f"{counts[feature] - most} others count as one level, together with missing "
                f"values; for another choice, {remedy}",
                UserWarning,
                stacklevel=caller_level(),
            )
    levels, names, joined = encoder.n_levels, encoder.names, encoder.joined
    return replace(rows, X=X, levels=levels, names=names, joined=joined), encoder


@dataclass(frozen=True)
class ValidationSet:
    """Rows that are not used for training, with classes coded as in training.

    Attributes
    ----------
    X : (m, d) array or csc_array
    codes : (m,) int array
    weight : (m,) array, > 0
    """

    X: Numbers
    codes: Ints
    weight: Array


def make_validation_set(X: Numbers, y: Any, sample_weight: Any, classes: Any) -> ValidationSet:
    """Code validation labels by the training classes; reject labels that are not among them."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y_val has labels that y does not have: {unknown.tolist()}")
    kept = weight > 0.0
    check_some_weight(kept, "sample_weight_val")
    return ValidationSet(X[kept], np.searchsorted(classes, y[kept]).astype(np.int32), weight[kept])


def check_nonnegative(weight: Array) -> None:
    """Reject negative sample weights."""
    if (weight < 0.0).any():
        raise ValueError(
            f"sample_weight has negative values (the smallest is {weight.min()}); "
            "weights must be zero or positive"
        )


def _weighted_rows(
    X: Numbers, y: Any, sample_weight: Any, class_weight: Any = None
) -> tuple[Numbers, Any, Array, float]:
    """Return the rows with positive weight, their relative weights, and the sum of all weights."""
    weight = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    check_nonnegative(weight)
    name = "sample_weight"
    if class_weight is not None:
        weight, name = weight * class_weights(class_weight, y), "sample_weight times class_weight"
    largest = float(weight.max())
    weight, kept = relative_weights(weight, largest)
    check_some_weight(kept, name)
    if not kept.all():
        X, y, weight = X[kept], y[kept], weight[kept]
    return X, y, weight, largest * float(weight.sum())


def relative_weights(weight: Array, largest: float) -> tuple[Array, Bools]:
    """Return the weights divided by the largest one, and which rows have positive weight."""
    weight = weight / (largest if largest > 0.0 else 1.0)
    return weight, weight > _LEAST_WEIGHT


def check_some_weight(kept: Bools, name: str) -> None:
    """Reject sample weights that are all zero."""
    if not kept.any():
        raise ValueError(f"{name} is zero for every row; at least one row needs a positive weight")


def class_weights(class_weight: Any, y: Any) -> Array:
    """Return the weight of every row by its class, (m,); raise ValueError for invalid weights."""
    try:
        weight = np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    except OverflowError:
        weight = np.array([np.inf])
    if not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError(
            f"class_weight={class_weight!r} is invalid: expected weights that are finite, zero or "
            "positive"
        )
    return weight


def feature_costs(costs: Any, names: list[str]) -> Array:
    """Return the cost of every feature, followed by cost 1 of the constant, (d + 1,)."""
    d, given = len(names), costs
    if costs is None:
        return np.ones(d + 1)
    if isinstance(costs, Mapping):
        check_known("feature_costs", sorted(set(costs) - set(names), key=str), names)
        costs = [costs.get(name, 1.0) for name in names]
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"feature_costs={given!r} is invalid: expected numbers, one per feature"
        ) from None
    if values.shape != (d,):
        raise ValueError(
            f"feature_costs has shape {values.shape}, but X has {d} features: pass one cost per "
            "feature"
        )
    wrong = ~(np.isfinite(values) & (values > 0.0))
    if wrong.any():
        feature = int(np.argmax(wrong))
        raise ValueError(
            f"feature_costs holds {values[feature]} for the feature {names[feature]!r}; costs must "
            "be positive and finite (for a free feature use a small cost)"
        )
    return np.append(values, 1.0)


def check_number(name: str, value: Any, low: float, *, strict: bool, what: str) -> float:
    """Return a parameter as float; raise ValueError unless it is finite and at least `low`.

    With `strict` it must be above `low`. `what` completes the message "expected ...".
    """
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        number = np.inf
    if not np.isfinite(number) or number < low or (strict and number == low):
        raise _invalid(name, value, what)
    return number


def check_share(name: str, value: Any) -> float:
    """Return a parameter in (0, 1] as float; raise ValueError for other values."""
    what = "a number in (0, 1]"
    share = check_number(name, value, 0.0, strict=True, what=what)
    if share > 1.0:
        raise _invalid(name, value, what)
    return share


def check_count(name: str, value: Any, low: int, what: str) -> int:
    """Return an integer parameter; raise ValueError unless it is an integer of at least `low`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise _invalid(name, value, what)
    if int(value) > _MOST:
        raise _invalid(name, value, f"{what}, below 2**63")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return a string parameter; raise ValueError unless it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise _invalid(name, value, f"one of {', '.join(repr(c) for c in choices)}")
    return value


def _invalid(name: str, value: Any, what: str) -> ValueError:
    return ValueError(f"{name}={value!r} is invalid: expected {what}")
