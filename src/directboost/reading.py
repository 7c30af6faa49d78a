"""Reads what users hand in as scikit-learn does, and frames of other libraries as it reads pandas.

Names of columns are set by a fit and checked at prediction. Plain arrays of floats are never
copied, and sparse matrices never made dense.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import (
    _get_feature_names,
    check_array,
    check_X_y,
    validate_data,
)

from .arrays import Numbers, is_sparse, tidy
from .encoding import Encoder, by_dtype, learn_encoder, names_categories, numeric_encoder
from .frames import count_missing, is_frame, refuse_lazy
from .model.names import feature_names

_NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
_SPARSE: dict[str, Any] = {"accept_sparse": "csc", **_NUMBERS}
_ANYTHING: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}


def read_training(
    estimator: Any, X: Any, y: Any, **checks: Any
) -> tuple[Numbers, npt.NDArray[Any], Encoder]:
    """Return X as numbers (m, d), y, and how X became numbers.

    Parameters
    ----------
    estimator : estimator
        Its `categorical_features` say which columns hold categories; `n_features_in_` and
        `feature_names_in_` are set.
    **checks
        Of `check_X_y`, for y.
    """
    refuse_lazy("X", X)
    refuse_lazy("y", y)
    if not checks.get("multi_output"):
        refuse_several_labels(y)
    refuse_missing_labels(y)
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
) -> tuple[Numbers, npt.NDArray[Any], Encoder]:
    X, y = validate_data(estimator, X, y, **_SPARSE, **checks)
    names, categorical = feature_names(estimator), estimator.categorical_features
    if names_categories(categorical, names):
        raise ValueError(
            f"categorical_features={categorical!r} does not fit a sparse X, whose columns hold "
            "numbers: give X as an array or a frame, or one column of 0 and 1 per level"
        )
    return tidy(X), y, numeric_encoder(names)


def read_rows(estimator: Any, X: Any, encoder: Encoder) -> Numbers:
    """Return X as numbers (m, d), in the way it was done in training."""
    refuse_lazy("X", X)
    if is_sparse(X):
        if encoder.categorical.any():
            raise ValueError(
                "X is sparse, but the model was fitted to categories, which a sparse matrix "
                "cannot hold: give X as the frame or array it was fitted to"
            )
        return tidy(validate_data(estimator, X, **_SPARSE, reset=False))
    if not encoder.categorical.any() and not is_frame(X):
        with _telling_words(X):
            return _aligned(validate_data(estimator, X, **_NUMBERS, reset=False))
    numbers = encoder.encode(_columns(estimator, X, reset=False))
    return _aligned(check_array(numbers, estimator=estimator, input_name="X", **_NUMBERS))


def read_part(X: Any, encoder: Encoder) -> Numbers:
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


def refuse_missing_labels(y: Any) -> None:
    """Refuse labels that are null, None or NaN."""
    missing = count_missing(y)
    if missing:
        noun = "label" if missing == 1 else "labels"
        other = ", or give them a label of their own" if len(_shape(y)) == 1 else ""
        raise ValueError(
            f"y has {missing} missing {noun} (null, None or NaN): leave those rows out{other}"
        )


def refuse_several_labels(y: Any) -> None:
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
