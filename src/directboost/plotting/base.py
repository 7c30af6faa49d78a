"""Shared parts of the plots: colours, axes, legends, and checks of the arguments."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ..arrays import Array, Ints, some_columns
from ..model.names import class_names, class_noun, feature_names, nearest_name, some_of

#: The colour-blind safe palette of Okabe and Ito, without yellow, which is too light for lines on
#: white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Dash patterns; together with the colours they distinguish 28 lines.
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Levels of a category that are drawn; with more, marks and names would overlap.
MOST_LEVELS = 30
#: Width of the strip for missing values, as a share of the range of the axis.
STRIP = 0.12
_MARGIN = 0.12  # share of the range of the thresholds that is drawn on either side of it
_LEGEND_ROWS = 13  # entries per column of a legend


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, which is imported by the first plot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plots need Matplotlib; install it with: pip install "directboost[plot]"',
            name="matplotlib",
        ) from error
    return plt


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure of the given size in inches, with constrained layout."""
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def axis_range(values: Array, pad: bool) -> tuple[float, float]:
    """Return the ends of an axis that shows values (n,), with wide margins if `pad`."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    width = high - low if high > low else max(abs(low), 1.0)
    share = _MARGIN if pad else 0.02
    return low - share * width, high + share * width


def tidy(ax: Any) -> None:
    """Remove the top and right spines and draw a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def others_text(count: int, model: Any) -> str:
    """Return the legend entry of the `count` classes or labels that are drawn in grey."""
    one, several = class_noun(model)
    return f"1 other {one}" if count == 1 else f"{count} other {several}"


def add_legend(ax: Any, outside: bool) -> None:
    """Draw a legend, `outside` on the right if the layout makes space for it, else inside."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if outside else {"loc": "best"}
    columns = -(-len(ax.get_legend_handles_labels()[1]) // _LEGEND_ROWS)
    ax.legend(frameon=not outside, fontsize=9, ncols=max(columns, 1), **place)


def check_model(model: Any) -> None:
    """Raise an error unless `model` is a fitted estimator of this package."""
    check_is_fitted(model)
    if not hasattr(model, "ensemble_"):
        raise TypeError(
            f"model is a {type(model).__name__}, not an estimator of directboost; for a pipeline "
            "or a search, pass the fitted estimator itself"
        )


def check_not_empty(model: Any) -> None:
    """Raise ValueError if the model has no weak classifiers."""
    if model.learners_:
        return
    why = f"its fit ended with status '{model.status_}'"
    if hasattr(model, "nu_max_"):
        nu = model.nu_ / model.nu_max_ if model.nu_max_ > 0.0 else model.nu_
        why = f"fit with a smaller nu than {nu:.3g} * nu_max"
    raise ValueError(f"the model is empty, there is nothing to draw: {why}")


def check_sum(model: Any) -> None:
    """Raise ValueError if the scores of a model are not the sums of its weak classifiers."""
    if not model.learners_:
        return
    row = np.zeros((1, model.n_features_in_))
    if not np.array_equal(model._scores(row, model.ensemble_), model.ensemble_.scores(row)):
        raise ValueError(
            f"the scores of {type(model).__name__} are not sums over its weak classifiers: they "
            "are decoded or scaled class by class, so the votes cannot be drawn by class"
        )


def find_feature(model: Any, feature: Any) -> int:
    """Return the index of a feature that is given by index or name."""
    names, count = feature_names(model), model.n_features_in_
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and -count <= int(feature) < count:
        return range(count)[int(feature)]
    meant = nearest_name(feature, names) if isinstance(feature, str) else ""
    raise ValueError(
        f"feature={feature!r} is invalid: expected an index from 0 to {count - 1} or a name: "
        f"{some_of(names)}{meant}"
    )


def find_classes(model: Any, classes: Any) -> list[int]:
    """Return the indices of classes in `classes_`, or of labels given by name."""
    wanted = [classes] if np.ndim(classes) == 0 else list(classes)
    named = hasattr(model, "label_names_") and all(isinstance(label, str) for label in wanted)
    known = class_names(model) if named else model.classes_.tolist()
    unknown = [label for label in wanted if label not in known]
    if unknown or not wanted:
        raise ValueError(
            f"classes={classes!r} is invalid: expected a list of classes of the model: "
            f"{some_of(known)}"
        )
    return [known.index(label) for label in wanted]


def read_rows(model: Any, X: Any, features: list[int]) -> Array:
    """Return the columns `features` (n,) of X, encoded as in the model, (m, n)."""
    values, place = some_columns(model._checked(X), np.array(features))
    return np.asarray(values[:, place], dtype=np.float64)


def class_scores(model: Any, X: Any) -> Array:
    """Return one score per class, (m, k); for two classes minus and plus half the difference."""
    scores = np.asarray(model.decision_function(X))
    return np.column_stack([-scores, scores]) / 2.0 if scores.ndim == 1 else scores


def class_codes(model: Any, X: Any, y: Any) -> Ints:
    """Return the indices of the labels y (m,) in `classes_`; reject unknown labels."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(
            f"y has labels that the model does not know: {some_of(unknown.tolist())}; expected "
            f"{some_of(model.classes_.tolist())}"
        )
    return np.asarray(np.searchsorted(model.classes_, y))


def label_signs(model: Any, X: Any, y: Any) -> Ints:
    """Return 1 if a row has a label and -1 if not, (m, labels)."""
    Y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    check_consistent_length(X, Y)
    if Y.ndim != 2 or Y.shape[1] != model.classes_.size:
        raise ValueError(
            f"y has the shape {Y.shape}, but the model has {model.classes_.size} labels; pass one "
            "column per label"
        )
    has = [Y[:, label] == pair[-1] for label, pair in enumerate(model._values)]
    return np.where(np.column_stack(has), 1, -1)
