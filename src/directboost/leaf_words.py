"""The leaves of trees in words: what a row must be like to fall into one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
