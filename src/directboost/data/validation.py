"""Checks and encodes what users hand in, once, for all public estimators."""

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
from ..model.names import check_known, feature_names
from .categories import CategoryEncoder, by_dtype, learn_encoder, names_categories, numeric_encoder
from .frames import check_not_lazy, count_missing, is_frame

MOST_LEVELS = 255  # of a categorical feature: the codes of one byte, but for missing


@dataclass(frozen=True)
class TrainingSet:
    """The rows that count: weights in (0, 1], classes coded 0..k-1.

    Attributes
    ----------
    codes : (m,) int array
        The class of every row; with several labels per row zeros.
    total_weight : float
    classes : (k,) array
    levels : (d,) int array
        Number of levels of every categorical feature, whose values in X are 0..levels-1 or NaN; 0
        for a feature of numbers.
    targets : (m, k) array of +1 and -1, or None
        Which labels a row has, where it may have several.
    signs : (d + 1, k) int8 array or None
        Signs that the weights of features and classes must keep.
    """

    X: Numbers
    codes: Ints
    weight: Array
    total_weight: float
    classes: npt.NDArray[Any]
    levels: Ints
    targets: Ints | None = None
    signs: Ints | None = None

    @property
    def prior(self) -> Array:
        """Share of the rows, by weight, that have each class or label, (k,)."""
        if self.targets is not None:
            return np.asarray(self.weight @ (self.targets > 0) / self.weight.sum())
        share = np.bincount(self.codes, weights=self.weight, minlength=self.classes.size)
        return np.asarray(share / share.sum())


def check_finite(X: Numbers, team: Team | None = None) -> None:
    """Refuse infinite values in scikit-learn's words; missing ones are welcome.

    The extremes of the columns come from one pass on all threads, several times faster than the
    sum that scikit-learn would take first.
    """
    if is_sparse(X):
        assert_all_finite(X.data, allow_nan=True, input_name="X")
        return
    low, high, _ = ranges(X, team)
    if (low == -np.inf).any() or (high == np.inf).any():
        assert_all_finite(X, allow_nan=True, input_name="X")


def make_training_set(X: Numbers, y: Any, sample_weight: Any, class_weight: Any) -> TrainingSet:
    """Drop rows of weight zero and code the labels; refuse weights and labels that cannot serve."""
    weight = _checked_weights(X, sample_weight)
    name = "sample_weight"
    if class_weight is not None:
        weight, name = weight * class_weights(class_weight, y), "sample_weight times class_weight"
    X, y, weight, largest = _weighted(X, y, weight, name)
    classes, codes = np.unique(y, return_inverse=True)
    check_several_classes(classes)
    total = largest * float(weight.sum())
    return TrainingSet(X, codes.astype(np.int32), weight, total, classes, _no_levels(X))


def check_several_classes(classes: npt.NDArray[Any]) -> None:
    """Refuse rows that are all of one class."""
    if classes.size < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}) among the rows with positive weight; "
            "a classifier needs at least two classes"
        )


def label_values(Y: Any) -> list[npt.NDArray[Any]]:
    """Return the two values of every column of Y (m, k): that of rows without the label first.

    0 and 1, in any case; of other values the larger one stands for the label.
    """
    values = []
    for column in range(Y.shape[1]):
        found = np.unique(Y[:, column])
        if found.size > 2:
            raise ValueError(
                f"column {column} of y holds {found.size} values, {found[:3].tolist()} among them; "
                "it takes an indicator matrix: one column per label, 1 where a row has it and 0 "
                "where not; sklearn.preprocessing.MultiLabelBinarizer makes one of lists"
            )
        binary = found.dtype.kind in "biuf" and bool(np.isin(found, (0, 1)).all())
        values.append(np.array([0, 1]) if binary else found)
    return values


def label_rows(
    X: Numbers, Y: Any, values: list[npt.NDArray[Any]], sample_weight: Any
) -> TrainingSet:
    """Drop rows of weight zero; code the labels of Y (m, k) as +1 and -1."""
    X, Y, weight, largest = _weighted(X, Y, _checked_weights(X, sample_weight), "sample_weight")
    columns = [Y[:, r] == pair[-1] for r, pair in enumerate(values)]
    targets = np.where(np.column_stack(columns), 1, -1).astype(np.int8)
    total = largest * float(weight.sum())
    codes = np.zeros(weight.size, dtype=np.int32)
    classes = np.arange(len(values))
    return TrainingSet(X, codes, weight, total, classes, _no_levels(X), targets)


def with_levels(rows: TrainingSet, encoder: CategoryEncoder) -> tuple[TrainingSet, CategoryEncoder]:
    """Count the levels of encoded rows; those that no row has are left out of the encoder too."""
    X, encoder = encoder.restricted(rows.X)
    return replace(rows, X=X, levels=encoder.n_levels), encoder


def check_level_counts(levels: Ints, max_bins: int | None, names: list[str]) -> None:
    """Refuse a categorical feature with more levels than there are bins."""
    most, limit = MOST_LEVELS, f"the limit of {MOST_LEVELS}"
    if max_bins is not None and max_bins < MOST_LEVELS:
        most, limit = max_bins, f"max_bins={max_bins}"
    if (levels > most).any():
        feature = int(np.argmax(levels > most))
        raise ValueError(
            f"column {names[feature]!r} of X has {levels[feature]} levels, above {limit}: join "
            "rare levels, or turn it into numbers"
        )


def _no_levels(X: Numbers) -> Ints:
    return np.zeros(X.shape[1], dtype=np.int32)


def _checked_weights(X: Numbers, sample_weight: Any) -> Array:
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    check_nonnegative(weight)
    return np.asarray(weight)


def check_nonnegative(weight: Array) -> None:
    """Refuse negative weights of rows."""
    if (weight < 0.0).any():
        raise ValueError(
            f"sample_weight has negative values (the smallest is {weight.min()}); "
            "weights must be zero or positive"
        )


def _weighted(X: Numbers, y: Any, weight: Array, name: str) -> tuple[Numbers, Any, Array, float]:
    """Return the rows with weight, their weights over the largest, and that."""
    largest = float(weight.max())
    weight, kept = relative_weights(weight, largest)
    check_some_weight(kept, name)
    if not kept.all():
        X, y, weight = X[kept], y[kept], weight[kept]
    return X, y, weight, largest


def relative_weights(weight: Array, largest: float) -> tuple[Array, Bools]:
    """Return weights over the largest, and which of them count."""
    weight = weight / (largest if largest > 0.0 else 1.0)
    # What is so small beside the largest weight cannot be told from zero in what follows.
    return weight, weight > 1e-290


def check_some_weight(kept: Bools, name: str) -> None:
    """Refuse weights of which none counts."""
    if not kept.any():
        raise ValueError(f"{name} is zero for every row; at least one needs weight")


@dataclass(frozen=True)
class ValidationSet:
    """Rows that are not trained on, with classes coded as in training."""

    X: Numbers
    codes: Ints
    weight: Array


def make_validation_set(X: Numbers, y: Any, sample_weight: Any, classes: Any) -> ValidationSet:
    """Code the labels of other rows by the classes of training; refuse labels it did not have."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y_val has labels that y does not have: {unknown.tolist()}")
    if not weight.sum() > 0.0:
        raise ValueError("sample_weight_val is zero for every row; at least one needs weight")
    kept = weight > 0.0
    return ValidationSet(X[kept], np.searchsorted(classes, y[kept]).astype(np.int32), weight[kept])


def class_weights(class_weight: Any, y: Any) -> Array:
    """Return the weight of every row by its class, or refuse weights that cannot serve."""
    weight = np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    if not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError(
            f"class_weight={class_weight!r} does not fit: weights must be finite, zero or positive"
        )
    return weight


def feature_costs(costs: Any, names: list[str]) -> Array:
    """Return the cost of every feature and, at the end, 1 for the constant, (d + 1,)."""
    d, given = len(names), costs
    if costs is None:
        return np.ones(d + 1)
    if isinstance(costs, Mapping):
        check_known("feature_costs", sorted(set(costs) - set(names), key=str), names)
        costs = [costs.get(name, 1.0) for name in names]
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"feature_costs={given!r} does not fit: it takes numbers, one per feature"
        ) from None
    if values.shape != (d,):
        raise ValueError(
            f"feature_costs has shape {values.shape}, but X has {d} features: give one cost each"
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
    """Return a real parameter as float, or refuse it by name."""
    fits = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not fits or float(value) < low or (strict and float(value) == low):
        raise ValueError(f"{name}={value!r} does not fit: it takes {what}")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """Return a parameter in (0, 1] as float, or refuse it by name."""
    share = check_number(name, value, 0.0, strict=True, what="(0, 1]")
    if share > 1.0:
        raise ValueError(f"{name}={value!r} does not fit: it takes (0, 1]")
    return share


def check_count(name: str, value: Any, low: int, what: str) -> int:
    """Return an integer parameter, or refuse it by name."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name}={value!r} does not fit: it takes {what}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return a named choice, or refuse it with the list of names."""
    if not isinstance(value, str) or value not in choices:
        names = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name}={value!r} is not known; it takes one of {names}")
    return value


_NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
_SPARSE: dict[str, Any] = {"accept_sparse": "csc", **_NUMBERS}
_ANYTHING: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}


def read_training(
    estimator: Any, X: Any, y: Any, **checks: Any
) -> tuple[Numbers, npt.NDArray[Any], CategoryEncoder]:
    """Return X as numbers (m, d), y, and how X became numbers.

    Parameters
    ----------
    estimator : estimator
        Its `categorical_features` say which columns hold categories; `n_features_in_` and
        `feature_names_in_` are set.
    **checks
        Of `check_X_y`, for y.
    """
    check_not_lazy("X", X)
    check_not_lazy("y", y)
    if not checks.get("multi_output"):
        check_single_labels(y)
    check_no_missing_labels(y)
    categorical = estimator.categorical_features
    if is_sparse(X):
        return _read_sparse(estimator, X, y, **checks)
    if by_dtype(categorical) and not is_frame(X):
        with _telling_words(X):
            X, y = validate_data(estimator, X, y, **_NUMBERS, **checks)
        return _aligned(X), y, numeric_encoder(feature_names(estimator))
    X = _columns(estimator, X, reset=True)
    encoder = learn_encoder(X, categorical, feature_names(estimator))
    X, y = check_X_y(encoder.encode(X), y, estimator=estimator, **_NUMBERS, **checks)
    return _aligned(X), y, encoder


def _read_sparse(
    estimator: Any, X: Any, y: Any, **checks: Any
) -> tuple[Numbers, npt.NDArray[Any], CategoryEncoder]:
    X, y = validate_data(estimator, X, y, **_SPARSE, **checks)
    names, categorical = feature_names(estimator), estimator.categorical_features
    if names_categories(categorical, names):
        raise ValueError(
            f"categorical_features={categorical!r} does not fit a sparse X, whose columns hold "
            "numbers: give X as an array or a frame, or one column of 0 and 1 per level"
        )
    return as_csc(X), y, numeric_encoder(names)


def read_rows(estimator: Any, X: Any, encoder: CategoryEncoder) -> Numbers:
    """Return X as numbers (m, d), in the way it was done in training."""
    check_not_lazy("X", X)
    if is_sparse(X):
        if encoder.categorical.any():
            raise ValueError(
                "X is sparse, but the model was fitted to categories, which a sparse matrix "
                "cannot hold: give X as the frame or array it was fitted to"
            )
        return as_csc(validate_data(estimator, X, **_SPARSE, reset=False))
    if not encoder.categorical.any() and not is_frame(X):
        with _telling_words(X):
            return _aligned(validate_data(estimator, X, **_NUMBERS, reset=False))
    numbers = encoder.encode(_columns(estimator, X, reset=False))
    return _aligned(check_array(numbers, estimator=estimator, input_name="X", **_NUMBERS))


def read_part(X: Any, encoder: CategoryEncoder) -> Numbers:
    """Return a part of the rows, a frame or an array that may be empty, as numbers (m, d)."""
    if not encoder.categorical.any() and not is_frame(X):
        with _telling_words(X):
            return _aligned(check_array(X, input_name="X", ensure_min_samples=0, **_NUMBERS))
    numbers = encoder.encode(X)
    return _aligned(check_array(numbers, input_name="X", ensure_min_samples=0, **_NUMBERS))


@contextmanager
def _telling_words(X: Any) -> Iterator[None]:
    """Say where X holds a word, when it cannot be read as numbers for that reason."""
    try:
        yield
    except ValueError as error:
        place = _first_word(X) if "could not convert" in str(error) else None
        if place is None:
            raise
        row, column, word = place
        raise ValueError(
            f"X holds {word!r} in row {row} of column {column}, both counted from 0, which is not "
            "a number: turn the column into numbers, or fit with it as categories (list it in "
            "categorical_features)"
        ) from None


def _first_word(X: Any) -> tuple[int, int, str] | None:
    """Return row, column and value of the first string of X (m, d) that is not a number."""
    values = np.array(X, dtype=object)
    for (row, column), value in np.ndenumerate(values) if values.ndim == 2 else ():
        if isinstance(value, str | bytes) and not _is_number(value):
            return row, column, str(value)
    return None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Set or check names and number of the columns; return the frame, or X as an array (m, d)."""
    if is_frame(X):
        known = _get_feature_names(X) is not None
        named = X if known else _ColumnNames(X)
        validate_data(estimator, named, skip_check_array=True, reset=reset)
        return X
    if isinstance(X, Sequence):
        X = np.array(X, dtype=object)  # or NumPy would make strings of all of it
    return validate_data(estimator, X, **_ANYTHING, reset=reset)


class _ColumnNames:
    """The names of a frame as scikit-learn before 1.9 reads them, which knows no narwhals."""

    def __init__(self, X: Any) -> None:
        import narwhals.stable.v2 as nw

        self._names = nw.from_native(X, eager_only=True).columns
        self.shape = X.shape

    def __dataframe__(self) -> "_ColumnNames":
        return self

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._names)


def check_no_missing_labels(y: Any) -> None:
    """Refuse labels that are null, None or NaN."""
    missing = count_missing(y)
    if missing:
        noun = "label" if missing == 1 else "labels"
        other = ", or give them a label of their own" if len(_shape(y)) == 1 else ""
        raise ValueError(
            f"y has {missing} missing {noun} (null, None or NaN): leave those rows out{other}"
        )


def check_single_labels(y: Any) -> None:
    """Refuse labels in several columns."""
    shape = _shape(y)
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, one class per row, but has the shape {shape}; rows with "
            "several labels go to DirectBoostMultiLabelClassifier"
        )


def _shape(y: Any) -> tuple[int, ...]:
    return tuple(y.shape if hasattr(y, "shape") else np.asarray(y).shape)


def _aligned(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.require(X, requirements="A")
