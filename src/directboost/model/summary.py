"""A fitted model in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from .learners import CategoryStump, Stump, WeakClassifier
from .names import class_names, class_noun, explain_default, feature_names
from .trees import Leaf


@dataclass
class Condition:
    """What the splits above a leaf leave of the values of one feature.

    Attributes
    ----------
    low, high : float
        Numbers are above `low` and at most `high`.
    level : float or None
        The only level of a category, if the splits leave one.
    others : list of float
        Levels that are left out.
    missing : bool
        Whether a missing value passes all splits.
    """

    low: float = -np.inf
    high: float = np.inf
    level: float | None = None
    others: list[float] = field(default_factory=list)
    missing: bool = True

    def narrow(self, value: float, is_level: bool, right: bool, missing: bool) -> None:
        """Go on to one side of a split, where missing values go or not."""
        self.missing = self.missing and missing
        if is_level and right:
            self.others.append(value)
        elif is_level:
            self.level = value
        elif right:
            self.low = max(self.low, value)
        else:
            self.high = min(self.high, value)


def conditions(leaf: Leaf) -> dict[int, Condition]:
    """Return what a leaf asks of every feature above it, in the order of the splits."""
    tree = leaf.tree
    found: dict[int, Condition] = {}
    for split, right in tree.way_to(leaf.number):
        own = found.setdefault(int(tree.feature[split]), Condition())
        passes = bool(tree.missing_left[split]) != right
        own.narrow(float(tree.value[split]), bool(tree.is_level[split]), right, passes)
    return found


def leaf_words(
    leaf: Leaf, names: Sequence[str], categories: Sequence[Any], missing: Sequence[bool]
) -> str:
    """Return the rule of a leaf: its conditions, or that they do not all hold.

    Parameters
    ----------
    names : d names of features
    categories : d arrays of levels, None where a feature holds numbers
    missing : d bool
        Which features had missing values in training; of others nothing is said of them.
    """
    found = conditions(leaf)
    texts = [
        _words(one, names[f], categories[f], bool(missing[f]), len(found) > 1)
        for f, one in found.items()
    ]
    together = " and ".join(texts)
    return together if leaf.polarity > 0 else f"not ({together})"


def _words(one: Condition, name: str, levels: Any, had_missing: bool, joined: bool) -> str:
    """Return a condition in words; `joined` with others, what has an "or" gets brackets."""
    if one.low >= one.high:
        return f"{name} is missing"
    if levels is not None:
        return _level_words(one, name, [str(level) for level in levels], had_missing)
    text = _range_words(one.low, one.high, name)
    if not (one.missing and had_missing):
        return text
    return f"({text} or missing)" if joined else f"{text} or missing"


def _range_words(low: float, high: float, name: str) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"{low:.6g} < {name} <= {high:.6g}"
    if np.isfinite(low):
        return f"{name} > {low:.6g}"
    return f"{name} <= {high:.6g}" if np.isfinite(high) else f"{name} is present"


def _level_words(one: Condition, name: str, levels: list[str], had_missing: bool) -> str:
    """Return a condition on levels; a missing value is none of them, unless that is said too."""
    if one.level is not None:
        return f"{name} is {levels[int(one.level)]}"
    listed = [levels[int(level)] for level in one.others]
    parts = [f"{name} is {'not' if len(listed) == 1 else 'none of'} {', '.join(listed)}"]
    present = [f"{name} is present"] if had_missing and not one.missing else []
    return " and ".join([*(parts if listed else []), *present])


_NOTHING = 1e-12  # nu_max that is rounding error
_ALIGNED = 88  # characters of a rule up to which the votes stand in one column


def describe(model: Any, loss: str, penalty: str, max_rules: int) -> str:
    """Return a text about a fitted estimator: setting, proof, size, strongest rules."""
    lines = [
        *_setting(model, loss, penalty),
        *_proof(model),
        *_size(model),
        *_rules(model, max_rules),
    ]
    return "\n".join(lines)


def describe_path(models: Sequence[Any]) -> str:
    """Return a line about fitted estimators of falling nu: how many, and from where to where."""
    if not models:
        return "no models"
    first, last = models[0], models[-1]
    learners = _span([model.n_learners_ for model in models], _noun(last))
    features = _span([model.n_features_used_ for model in models], "feature")
    nus = f"nu from {first.nu:.3g} to {last.nu:.3g}" if len(models) > 1 else f"nu {first.nu:.3g}"
    return f"{_count(len(models), 'model')}, {nus}, {learners} on {features}"


def _setting(model: Any, loss: str, penalty: str) -> list[str]:
    several = class_noun(model)[1]
    nu = f"nu = {model.nu_:.4g}, and nu_max = 0: no {_noun(model)} tells the {several} apart"
    if model.nu_max_ > _NOTHING:
        nu = f"nu = {model.nu_ / model.nu_max_:.4g} * nu_max = {model.nu_:.4g}"
    return [f"{type(model).__name__}: {loss} loss, {model.margin} margin, {penalty} penalty, {nu}"]


def _proof(model: Any) -> list[str]:
    c = model.certificate_
    return [
        f"certificate: objective {c.primal:.6g}, no model over {c.dictionary} goes below "
        f"{c.dual:.6g}",
        f"             gap {c.relative_gap:.3g} of the reducible part (tol {model.tol:g}), "
        f"status {model.status_}, {_count(model.n_iter_, 'round')}",
    ]


def _size(model: Any) -> list[str]:
    if model.n_learners_ == 0:
        return [f"model:       empty; it answers with the {class_noun(model)[0]} frequencies"]
    weights = int(np.count_nonzero(model.coef_))
    sharing, noun = float(np.mean(model.class_sharing_)), _noun(model)
    return [
        f"model:       {_count(model.n_learners_, noun)} on {model.n_features_used_} of "
        f"{_count(model.n_features_in_, 'feature')}, {_count(weights, 'weight')}; a {noun} serves "
        f"{sharing:.1f} of {model.classes_.size} {class_noun(model)[1]} on average"
    ]


def _noun(model: Any) -> str:
    """Return what the weak classifiers of a model are called."""
    stumps = isinstance(model.learner, str) and model.learner == "stump"
    return "stump" if stumps else "weak classifier"


def _rules(model: Any, max_rules: int) -> list[str]:
    if model.n_learners_ == 0:
        return []
    order = np.argsort(-model.coef_.sum(axis=1), kind="stable")[: max(max_rules, 0)]
    texts = [describe_rule(model, model.learners_[j]) for j in order]
    width = max((len(text) for text in texts if len(text) <= _ALIGNED), default=0)
    one = class_noun(model)[0]
    lines = [f"strongest rules (+v to each {one} where the rule holds, -v where it does not):"]
    for text, j in zip(texts, order, strict=True):
        lines.append(f"  {text:<{width}}  {_votes(model.coef_[j], class_names(model))}")
    left = model.n_learners_ - len(order)
    more = [f"  and {_count(left, 'weaker rule')}"] if left else []
    return [*lines, *more, *_key_to_names(model, [model.learners_[j] for j in order])]


def _key_to_names(model: Any, shown: list[WeakClassifier]) -> list[str]:
    """Return a line that says what x3 means, where the rules shown name features so."""
    read = [feature for learner in shown for feature in _told(learner)]
    if not read or hasattr(model, "feature_names_in_"):
        return []
    return [f"names: {explain_default(read[0])}"]


def _told(learner: WeakClassifier) -> list[int]:
    """Return the features that the words of a rule name; a tree may read more."""
    return list(conditions(learner)) if isinstance(learner, Leaf) else list(learner.features)


def describe_rule(model: Any, learner: WeakClassifier) -> str:
    """Return a rule of a fitted model in words; with the side of missing values, if it had some."""
    names = feature_names(model)
    if isinstance(learner, CategoryStump):
        level = model.categories_[learner.feature][int(learner.level)]
        return learner.describe(names[learner.feature], str(level))
    if isinstance(learner, Leaf):
        return leaf_words(learner, names, model.categories_, model.missing_)
    if not isinstance(learner, Stump):
        return learner.describe(_listed([names[f] for f in learner.features]))
    text = learner.describe(names[learner.feature])
    holds = learner.missing_right == (learner.polarity > 0)
    known = bool(model.missing_[learner.feature]) and np.isfinite(learner.threshold)
    return f"{text} or missing" if known and holds else text


def _listed(names: list[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _votes(weights: Array, classes: list[str], most: int = 5) -> str:
    order = np.argsort(-weights, kind="stable")
    shown = [f"{classes[r]}: {weights[r]:.3g}" for r in order[:most] if weights[r] > 0.0]
    more = int((weights > 0.0).sum()) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _span(numbers: list[int], noun: str) -> str:
    """Return the smallest and the largest of some numbers, one of them where they are equal."""
    low, high = min(numbers), max(numbers)
    return _count(high, noun) if low == high else f"{low} to {_count(high, noun)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
