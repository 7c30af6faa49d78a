"""What features and classes are called: in summaries, in pictures and in messages."""

from collections.abc import Sequence
from typing import Any


def feature_names(estimator: Any) -> list[str]:
    """Return the names of the features an estimator has seen, or x0, x1 and so on."""
    names = getattr(estimator, "feature_names_in_", None)
    return default_names(estimator.n_features_in_) if names is None else list(names)


def default_names(count: int) -> list[str]:
    """Return what features without names are called, by their columns."""
    return [f"x{feature}" for feature in range(count)]


def explain_default(feature: int) -> str:
    """Return what the name of a feature without a name of its own means."""
    return f"x{feature} is column {feature} of X, counted from 0"


def class_names(estimator: Any) -> list[str]:
    """Return the names of the classes, or of the labels where rows may have several."""
    names = getattr(estimator, "label_names_", estimator.classes_)
    return [str(name) for name in names]


def class_noun(estimator: Any) -> tuple[str, str]:
    """Return what a model tells apart, one of them and several: classes, or labels."""
    return ("label", "labels") if has_several_labels(estimator) else ("class", "classes")


def has_several_labels(estimator: Any) -> bool:
    """Tell whether an estimator was fitted to rows with several labels."""
    return bool(getattr(estimator, "_several", False))


def some_of(values: Sequence[Any], most: int = 12) -> str:
    """Return the first of some values, and how many more there are."""
    more = len(values) - most
    shown = ", ".join(repr(value) for value in values[:most])
    return f"{shown} and {more} more" if more > 0 else shown


def check_known(argument: str, unknown: Sequence[Any], names: list[str]) -> None:
    """Refuse an argument that names features which X does not have; list those it has."""
    if not unknown:
        return
    message = (
        f"{argument} names features that X does not have: {list(unknown)}; it has {some_of(names)}"
    )
    if names == default_names(len(names)):
        last = explain_default(len(names) - 1)
        message += f": {last}; to use other names, give X as a frame that has them"
    raise ValueError(message)
