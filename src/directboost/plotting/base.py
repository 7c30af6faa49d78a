"""What the pictures read of a fitted model, and what they refuse."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ..arrays import Array, Ints, some_columns
from ..model.names import class_names, class_noun, feature_names, some_of

#: Okabe and Ito's colours, which colour-blind readers can tell apart, but for the yellow: it is
#: too light for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Dashes for more lines than colours: 28 pairs.
DASHES = ("-", "--", ":", "-.")
_LEGEND_ROWS = 13
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, imported at the first picture."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'pictures need Matplotlib: pip install "directboost[plot]"', name="matplotlib"
        ) from error
    return plt


def new_axes(width: float, height: float) -> Any:
    """Return the only axes of a new figure, in inches, that makes room for what is beside it."""
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Leave the frame open and draw a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def others_text(count: int, model: Any) -> str:
    """Return how the legend calls the classes, or labels, that are grey."""
    one, several = class_noun(model)
    return f"1 other {one}" if count == 1 else f"{count} other {several}"


def add_legend(ax: Any, beside: bool) -> None:
    """Put the legend beside axes of our own, which make room, and else where it fits best."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if beside else {"loc": "best"}
    columns = -(-len(ax.get_legend_handles_labels()[1]) // _LEGEND_ROWS)
    ax.legend(frameon=not beside, fontsize=9, ncols=max(columns, 1), **place)


def check_model(model: Any) -> None:
    """Refuse what is not a fitted estimator of this package."""
    check_is_fitted(model)
    if not hasattr(model, "ensemble_"):
        raise TypeError(
            f"model is a {type(model).__name__}, not an estimator of directboost; of a pipeline "
            "or a search give the fitted estimator itself"
        )


def check_not_empty(model: Any) -> None:
    """Refuse the model without weak classifiers."""
    if model.learners_:
        return
    why = f"its fit ended with status '{model.status_}'"
    if hasattr(model, "nu_max_"):
        nu = model.nu_ / model.nu_max_ if model.nu_max_ > 0.0 else model.nu_
        why = f"fit with a smaller nu than {nu:.3g} * nu_max"
    raise ValueError(f"the model is empty, so there is nothing to draw: {why}")


def check_sum(model: Any) -> None:
    """Refuse a model whose scores are made of the sums of votes by a further step."""
    if not model.learners_:
        return
    row = np.zeros((1, model.n_features_in_))
    if not np.array_equal(model._scores(row, model.ensemble_), model.ensemble_.scores(row)):
        raise ValueError(
            f"the scores of {type(model).__name__} are not sums over its weak classifiers: they "
            "are decoded, or scaled, class by class, so that the votes cannot be drawn by class"
        )


def find_feature(model: Any, feature: Any) -> int:
    """Return the index of a feature given by index or name."""
    names, count = feature_names(model), model.n_features_in_
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and -count <= int(feature) < count:
        return range(count)[int(feature)]
    raise ValueError(
        f"feature={feature!r} is not known; it takes a number from 0 to {count - 1} or a name: "
        f"{some_of(names)}"
    )


def find_classes(model: Any, classes: Any) -> list[int]:
    """Return the places of classes in `classes_`, or of labels by their names."""
    wanted = [classes] if np.ndim(classes) == 0 else list(classes)
    named = hasattr(model, "label_names_") and all(isinstance(label, str) for label in wanted)
    known = class_names(model) if named else model.classes_.tolist()
    unknown = [label for label in wanted if label not in known]
    if unknown or not wanted:
        raise ValueError(
            f"classes={classes!r} does not fit: it takes a list of classes of the model: "
            f"{some_of(known)}"
        )
    return [known.index(label) for label in wanted]


def read_rows(model: Any, X: Any, features: list[int]) -> Array:
    """Return the columns `features` (n,) of X as the model reads it, (m, n)."""
    values, place = some_columns(model._checked(X), np.array(features))
    return np.asarray(values[:, place], dtype=np.float64)


def class_scores(model: Any, X: Any) -> Array:
    """Return one score per class, (m, k); for two classes half the difference and its negative."""
    scores = np.asarray(model.decision_function(X))
    return np.column_stack([-scores, scores]) / 2.0 if scores.ndim == 1 else scores


def class_codes(model: Any, X: Any, y: Any) -> Ints:
    """Return the places of the labels y (m,) in `classes_`; refuse labels the model never saw."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(
            f"y has labels that the model does not know: {some_of(unknown.tolist())}; it knows "
            f"{some_of(model.classes_.tolist())}"
        )
    return np.asarray(np.searchsorted(model.classes_, y))


def label_signs(model: Any, X: Any, y: Any) -> Ints:
    """Return 1 where a row has a label and -1 where not, (m, labels)."""
    Y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    check_consistent_length(X, Y)
    if Y.ndim != 2 or Y.shape[1] != model.classes_.size:
        raise ValueError(
            f"y has the shape {Y.shape}, but the model has {model.classes_.size} labels: give one "
            "column for each"
        )
    has = [Y[:, label] == pair[-1] for label, pair in enumerate(model._values)]
    return np.where(np.column_stack(has), 1, -1)
