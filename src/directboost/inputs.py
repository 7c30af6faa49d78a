"""Checks and encodes what users hand in, once, for all public estimators."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from .arrays import Array, Bools, Ints, Numbers, is_sparse
from .encoding import Encoder
from .kernels import ranges
from .kernels.threads import Team
from .model.names import refuse_unknown

MOST_LEVELS = 255  # of a categorical feature: the codes of one byte, but for missing


@dataclass(frozen=True)
class TrainingRows:
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


def refuse_infinite(X: Numbers, team: Team | None = None) -> None:
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


def training_rows(X: Numbers, y: Any, sample_weight: Any, class_weight: Any) -> TrainingRows:
    """Drop rows of weight zero and code the labels; refuse weights and labels that cannot serve."""
    weight = _checked_weights(X, sample_weight)
    name = "sample_weight"
    if class_weight is not None:
        weight, name = weight * class_weights(class_weight, y), "sample_weight times class_weight"
    X, y, weight, largest = _weighted(X, y, weight, name)
    classes, codes = np.unique(y, return_inverse=True)
    refuse_one_class(classes)
    total = largest * float(weight.sum())
    return TrainingRows(X, codes.astype(np.int32), weight, total, classes, _no_levels(X))


def refuse_one_class(classes: npt.NDArray[Any]) -> None:
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
) -> TrainingRows:
    """Drop rows of weight zero; code the labels of Y (m, k) as +1 and -1."""
    X, Y, weight, largest = _weighted(X, Y, _checked_weights(X, sample_weight), "sample_weight")
    columns = [Y[:, r] == pair[-1] for r, pair in enumerate(values)]
    targets = np.where(np.column_stack(columns), 1, -1).astype(np.int8)
    total = largest * float(weight.sum())
    codes = np.zeros(weight.size, dtype=np.int32)
    classes = np.arange(len(values))
    return TrainingRows(X, codes, weight, total, classes, _no_levels(X), targets)


def with_levels(rows: TrainingRows, encoder: Encoder) -> tuple[TrainingRows, Encoder]:
    """Count the levels of encoded rows; those that no row has are left out of the encoder too."""
    X, encoder = encoder.restricted(rows.X)
    return replace(rows, X=X, levels=encoder.n_levels), encoder


def refuse_many_levels(levels: Ints, max_bins: int | None, names: list[str]) -> None:
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
    refuse_negative(weight)
    return np.asarray(weight)


def refuse_negative(weight: Array) -> None:
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
    refuse_no_weight(kept, name)
    if not kept.all():
        X, y, weight = X[kept], y[kept], weight[kept]
    return X, y, weight, largest


def relative_weights(weight: Array, largest: float) -> tuple[Array, Bools]:
    """Return weights over the largest, and which of them count."""
    weight = weight / (largest if largest > 0.0 else 1.0)
    # What is so small beside the largest weight cannot be told from zero in what follows.
    return weight, weight > 1e-290


def refuse_no_weight(kept: Bools, name: str) -> None:
    """Refuse weights of which none counts."""
    if not kept.any():
        raise ValueError(f"{name} is zero for every row; at least one needs weight")


@dataclass(frozen=True)
class ValidationRows:
    """Rows that are not trained on, with classes coded as in training."""

    X: Numbers
    codes: Ints
    weight: Array


def validation_rows(X: Numbers, y: Any, sample_weight: Any, classes: Any) -> ValidationRows:
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
    return ValidationRows(X[kept], np.searchsorted(classes, y[kept]).astype(np.int32), weight[kept])


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
        refuse_unknown("feature_costs", sorted(set(costs) - set(names), key=str), names)
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
