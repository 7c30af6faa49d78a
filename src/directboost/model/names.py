"""Names of features and classes in summaries, plots and error messages."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

_MOST_NAMED = 8  # names in the description of a set of features
_LONGEST_NAME = 40  # characters of such a name


def feature_names(estimator: Any) -> list[str]:
    """Return the feature names of an estimator, or x0, x1 and so on if it has none."""
    names = getattr(estimator, "feature_names_in_", None)
    return default_names(estimator.n_features_in_) if names is None else list(names)


def default_names(count: int) -> list[str]:
    """Return the default names of `count` features: x0, x1 and so on."""
    return [f"x{feature}" for feature in range(count)]


def explain_default(feature: int) -> str:
    """Return a sentence that explains the default name of a feature."""
    return f"x{feature} is column {feature} of X, counted from 0"


def level_names(estimator: Any, feature: int) -> list[str] | None:
    """Return the names of the levels of a category, or False and True; None for a number."""
    levels = estimator.categories_[feature]
    if levels is None:
        return ["False", "True"] if estimator.boolean_[feature] else None
    return [str(level) for level in levels]


def missing_name(estimator: Any, feature: int) -> str:
    """Return the name of missing values, with which the rare levels of a category may be joined."""
    return "rare or missing" if estimator.joined_[feature] else "missing"


def class_names(estimator: Any) -> list[str]:
    """Return the names of the classes, or of the labels of a multi-label model."""
    names = getattr(estimator, "label_names_", estimator.classes_)
    return [str(name) for name in names]


def class_noun(estimator: Any) -> tuple[str, str]:
    """Return the noun for the classes of a model, singular and plural: class or label."""
    return ("label", "labels") if has_several_labels(estimator) else ("class", "classes")


def has_several_labels(estimator: Any) -> bool:
    """Return whether an estimator is a multi-label model."""
    return bool(getattr(estimator, "_several", False))


def some_of(values: Sequence[Any], most: int = 12) -> str:
    """Return the first `most` values as text, and the number of the others."""
    more = len(values) - most
    shown = ", ".join(repr(value) for value in values[:most])
    return f"{shown} and {more} more" if more > 0 else shown


def these_features(names: Sequence[str]) -> str:
    """Return "these 2 features (a, b)": the number of some features and their names.

    The text is bounded, as that of `these_pairs`.
    """
    count = "this feature" if len(names) == 1 else f"these {len(names)} features"
    return f"{count} ({_listed([_in_list(name) for name in names[:_MOST_NAMED]], len(names))})"


def these_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return "these 2 pairs (a and b, a and c)": the number of some pairs, and their features.

    At most eight are listed. Long names lose their middle. A name that a list would not show
    unambiguously is quoted, with unprintable characters escaped.
    """
    shown = [f"{_in_list(one)} and {_in_list(other)}" for one, other in pairs[:_MOST_NAMED]]
    count = "this pair" if len(pairs) == 1 else f"these {len(pairs)} pairs"
    return f"{count} ({_listed(shown, len(pairs))})"


def _listed(shown: list[str], count: int) -> str:
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _in_list(name: str) -> str:
    half = _LONGEST_NAME // 2
    short = name if len(name) <= _LONGEST_NAME else f"{name[:half]}...{name[-half:]}"
    plain = short.isprintable() and short == short.strip() and not set(short) & set(",()'\"")
    return short if plain and short and " and " not in short else repr(short)


def nearest_name(unknown: Any, names: Sequence[Any]) -> str:
    """Return the name that is most similar to an unknown one, as a question, or no text."""
    nearest = get_close_matches(str(unknown), map(str, names), n=1)
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


def check_known(argument: str, unknown: Sequence[Any], names: list[str]) -> None:
    """Raise ValueError if an argument contains `unknown` features; list the names of X.

    If X has names of its own, the message also has the one nearest to the first unknown name.
    """
    if not unknown:
        return
    generic = names == default_names(len(names))
    meant = "" if generic else nearest_name(unknown[0], names)
    message = (
        f"{argument} names features that X does not have: {list(unknown)}{meant}; it has "
        f"{some_of(names)}"
    )
    if generic:
        last = explain_default(len(names) - 1)
        message += f": {last}; to use other names, pass X as a data frame"
    raise ValueError(message)
