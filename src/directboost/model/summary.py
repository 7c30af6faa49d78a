"""Text summaries of fitted models: settings, certificate, size and strongest rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from .learners import CategoryStump, Conjunction, Product, Stump, WeakClassifier
from .names import class_names, class_noun, explain_default, feature_names
from .trees import Leaf

_NOTHING = 1e-12  # a nu_max up to this value is rounding error
_MAX_PAIRS = 5
_SMALL_VOTE = 0.01  # share of the largest vote of a rule below which a vote is not listed
_ALIGNED = 88  # maximum number of characters of a rule for its votes to be aligned


def describe(model: Any, loss: str, penalty: str, max_rules: int) -> str:
    """Return the summary of a fitted estimator: settings, certificate, size, strongest rules."""
    lines = [
        *_setting(model, loss, penalty),
        *_choice(model),
        *_proof(model),
        *_size(model),
        *_rules(model, max_rules),
        *_pairs(model, min(max_rules, _MAX_PAIRS)),
        *_key_to_names(model, max_rules),
    ]
    return "\n".join(lines)


def describe_path(models: Sequence[Any]) -> str:
    """Return a one-line summary of a path: number of models, and ranges of nu and of sizes."""
    if not models:
        return "no models"
    first, last = models[0], models[-1]
    learners = _span([model.n_learners_ for model in models], _noun(last))
    features = _span([model.n_features_used_ for model in models], "feature")
    nus = f"nu from {first.nu:.3g} to {last.nu:.3g}" if len(models) > 1 else f"nu {first.nu:.3g}"
    return f"{_count(len(models), 'model')}, {nus}, {learners} on {features}"


def _setting(model: Any, loss: str, penalty: str) -> list[str]:
    classes = class_noun(model)[1]
    nu = f"nu = {model.nu_:.4g}, and nu_max = 0: no {_noun(model)} separates the {classes}"
    if model.nu_max_ > _NOTHING:
        nu = f"nu = {model.nu_ / model.nu_max_:.4g} * nu_max = {model.nu_:.4g}"
    return [f"{type(model).__name__}: {loss} loss, {model.margin} margin, {penalty} penalty, {nu}"]


def _choice(model: Any) -> list[str]:
    """Return the weak learner that learner="auto" stands for, and the reason."""
    return [] if model.learner_choice_ is None else [f"learner:     {model.learner_choice_}"]


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
        return [f"model:       empty; it predicts the {class_noun(model)[0]} frequencies"]
    weights = int(np.count_nonzero(model.weights_))
    sharing, noun = float(np.mean(model.class_sharing_)), _noun(model)
    return [
        f"model:       {_count(model.n_learners_, noun)} on {model.n_features_used_} of "
        f"{_count(model.n_features_in_, 'feature')}, {_count(weights, 'weight')}; a {noun} is used "
        f"by {sharing:.1f} of {model.classes_.size} {class_noun(model)[1]} on average"
    ]


def _noun(model: Any) -> str:
    """Return the noun for the weak classifiers of a model."""
    stumps = isinstance(model.learner_, str) and model.learner_ == "stump"
    return "stump" if stumps else "weak classifier"


def _rules(model: Any, max_rules: int) -> list[str]:
    if model.n_learners_ == 0:
        return []
    order = _strongest(model, max_rules)
    texts = [describe_rule(model, model.learners_[j]) for j in order]
    width = max((len(text) for text in texts if len(text) <= _ALIGNED), default=0)
    one = class_noun(model)[0]
    lines = [f"strongest rules (+v to each {one} where the rule holds, -v where it does not):"]
    for text, j in zip(texts, order, strict=True):
        lines.append(f"  {text:<{width}}  {votes_in_words(model.weights_[j], class_names(model))}")
    left = model.n_learners_ - len(order)
    more = [f"  and {_count(left, 'weaker rule')}"] if left else []
    return [*lines, *more]


def _strongest(model: Any, max_rules: int) -> Ints:
    """Return the positions of the weak classifiers with the largest weights."""
    order: Ints = np.argsort(-model.weights_.sum(axis=1), kind="stable")
    return order[: max(max_rules, 0)]


def _pairs(model: Any, most: int) -> list[str]:
    """Return the pairs of features with the largest purified effects, and their rules."""
    effects, names = model.ensemble_.effects, feature_names(model)
    shown = [effects.pairs[place] for place in effects.strongest_pairs()[: max(most, 0)]]
    if not shown:
        return []
    texts = [" and ".join(names[f] for f in pair.features) for pair in shown]
    rules = [_count(pair.n_rules, "rule") for pair in shown]
    widths = [max(map(len, column)) for column in (texts, rules)]
    what = f"standard deviation of the effect on the score of each {class_noun(model)[0]}"
    lines = [f"strongest pairs ({what}):"]
    for pair, text, count in zip(shown, texts, rules, strict=True):
        votes = votes_in_words(pair.deviations, class_names(model))
        lines.append(f"  {text:<{widths[0]}}  {count:>{widths[1]}}  {votes}")
    left = len(effects.pairs) - len(shown)
    return [*lines, *([f"  and {_count(left, 'weaker pair')}"] if left else [])]


def _key_to_names(model: Any, max_rules: int) -> list[str]:
    """Return a line that explains a default name such as x3, if the rules shown contain one."""
    if hasattr(model, "feature_names_in_") or model.n_learners_ == 0:
        return []
    for learner in (model.learners_[j] for j in _strongest(model, max_rules)):
        # The path to a leaf may use fewer features than its tree.
        for feature in conditions(learner) if isinstance(learner, Leaf) else learner.features:
            return [f"names: {explain_default(feature)}"]
    return []


def describe_rule(model: Any, learner: WeakClassifier) -> str:
    """Return a rule of a fitted model in words.

    Missing values are mentioned if the feature had some in training.
    """
    names = feature_names(model)
    if isinstance(learner, CategoryStump):
        level = model.categories_[learner.feature][int(learner.level)]
        return learner.describe(names[learner.feature], str(level))
    if isinstance(learner, Leaf):
        return leaf_words(learner, {f: _feature_words(model, f) for f in learner.features})
    if isinstance(learner, Product):
        first, second = (describe_rule(model, h) for h in (learner.first, learner.second))
        return f"{first} exactly where {second}"
    if isinstance(learner, Conjunction):
        return " and ".join(describe_rule(model, item) for item in learner.items)
    if not isinstance(learner, Stump):
        return learner.describe(_first_names([names[f] for f in learner.features]))
    words = _feature_words(model, learner.feature)
    text = learner.describe(words.name)
    if np.isinf(learner.threshold):
        text = words.missing if learner.polarity > 0 else words.present
    elif words.boolean:
        text = f"{words.name} is {learner.polarity > 0}"
    holds = learner.missing_right == (learner.polarity > 0)
    known = bool(model.missing_[learner.feature]) and np.isfinite(learner.threshold)
    return f"{text} or missing" if known and holds else text


def _first_names(names: list[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def votes_in_words(votes: Array, classes: list[str], most: int = 5) -> str:
    """Return the largest votes of a rule, at most `most`, and the number of the others.

    Votes below one percent of the largest are among the others.
    """
    sizes = np.abs(votes)
    order = np.argsort(-sizes, kind="stable")[:most]
    large = sizes[order] >= max(_SMALL_VOTE * sizes.max(), np.finfo(float).tiny)
    shown = [f"{classes[r]}: {votes[r]:.3g}" for r in order[large]]
    more = int((votes != 0.0).sum()) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _span(numbers: list[int], noun: str) -> str:
    """Return the range of some numbers as text, a single number if they are equal."""
    low, high = min(numbers), max(numbers)
    return _count(high, noun) if low == high else f"{low} to {_count(high, noun)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass
class Condition:
    """The condition that the splits above a leaf impose on one feature.

    Attributes
    ----------
    low, high : float
        A number must be above `low` and at most `high`.
    level : float or None
        The only admissible level of a category, if there is just one.
    excluded : list of float
        Levels of a category that are not admissible.
    missing : bool
        Whether a missing value satisfies the condition.
    """

    low: float = -np.inf
    high: float = np.inf
    level: float | None = None
    excluded: list[float] = field(default_factory=list)
    missing: bool = True

    def narrow(self, value: float, is_level: bool, right: bool, missing: bool) -> None:
        """Restrict the condition to one side of a split; `missing` if missing values go there."""
        self.missing = self.missing and missing
        if is_level and right:
            self.excluded.append(value)
        elif is_level:
            self.level = value
        elif right:
            self.low = max(self.low, value)
        else:
            self.high = min(self.high, value)


def conditions(leaf: Leaf) -> dict[int, Condition]:
    """Return the condition of a leaf on each feature, in the order of the splits above it."""
    tree = leaf.tree
    found: dict[int, Condition] = {}
    for split, right in tree.way_to(leaf.number):
        condition = found.setdefault(int(tree.feature[split]), Condition())
        missing = bool(tree.missing_left[split]) != right
        condition.narrow(float(tree.value[split]), bool(tree.is_level[split]), right, missing)
    return found


@dataclass(frozen=True)
class FeatureWords:
    """What rules in words say about a feature.

    Attributes
    ----------
    name : str
    levels : list of str or None
        Names of the levels of a category; None for a numeric feature.
    boolean : bool
        Whether the feature is a column of booleans.
    had_missing : bool
        Whether it had missing values in training. Missing values of others are not mentioned.
    joined : bool
        Whether the rare levels of the category are joined with missing values.
    """

    name: str
    levels: list[str] | None = None
    boolean: bool = False
    had_missing: bool = False
    joined: bool = False

    @property
    def missing(self) -> str:
        """The rule that a value is missing."""
        return f"{self.name} is {'rare or missing' if self.joined else 'missing'}"

    @property
    def present(self) -> str:
        """The rule that a value is not missing."""
        return f"{self.name} is {'neither rare nor missing' if self.joined else 'present'}"


def _feature_words(model: Any, feature: int) -> FeatureWords:
    levels = model.categories_[feature]
    return FeatureWords(
        name=feature_names(model)[feature],
        levels=None if levels is None else [str(level) for level in levels],
        boolean=bool(model.boolean_[feature]),
        had_missing=bool(model.missing_[feature]),
        joined=bool(model.joined_[feature]),
    )


def leaf_words(leaf: Leaf, features: Mapping[int, FeatureWords]) -> str:
    """Return the rule of a leaf in words: all of its conditions, or their negation."""
    found = conditions(leaf)
    joined = len(found) > 1
    together = " and ".join(_words(one, features[f], joined) for f, one in found.items())
    return together if leaf.polarity > 0 else f"not ({together})"


def _words(condition: Condition, feature: FeatureWords, joined: bool) -> str:
    """Return a condition in words; if it is `joined` with others, an "or" gets parentheses."""
    if condition.low >= condition.high:
        return feature.missing
    if feature.levels is not None:
        return _level_words(condition, feature, feature.levels)
    text = _range_words(condition.low, condition.high, feature.name)
    if feature.boolean and (condition.low >= 0.0 or condition.high < 1.0):
        text = f"{feature.name} is {condition.low >= 0.0}"
    if not (condition.missing and feature.had_missing):
        return text
    return f"({text} or missing)" if joined else f"{text} or missing"


def _range_words(low: float, high: float, name: str) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"{low:.6g} < {name} <= {high:.6g}"
    if np.isfinite(low):
        return f"{name} > {low:.6g}"
    return f"{name} <= {high:.6g}" if np.isfinite(high) else f"{name} is present"


def _level_words(condition: Condition, feature: FeatureWords, levels: list[str]) -> str:
    """Return a condition on the levels of a category in words."""
    name = feature.name
    if condition.level is not None:
        return f"{name} is {levels[int(condition.level)]}"
    excluded = [levels[int(level)] for level in condition.excluded]
    parts = [f"{name} is {'not' if len(excluded) == 1 else 'none of'} {', '.join(excluded)}"]
    present = [feature.present] if feature.had_missing and not condition.missing else []
    return " and ".join([*(parts if excluded else []), *present])
