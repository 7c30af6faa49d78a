"""Items of patterns: single rules that apply to neither too few rows nor too many."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Scores, column
from ..model.learners import Constant, Learner, Level, Stump
from .rounds import Problem

SLACK = 1e-12  # of shares, for rounding
_LOW, _HIGH = 0.05, 0.95  # shares of the rows, by weight, to which a pattern may apply

Item = Stump | Level


def usual_items(problem: Problem) -> tuple[list[Item], Bools]:
    """Return items that are neither rare nor the rule, and the rows (n, m) they apply to."""
    found, sides = [], []
    for item in _items(problem):
        side = item.predict(problem.X) > 0.0
        if is_usual(side @ problem.v):
            found.append(item)
            sides.append(side)
    return found, np.array(sides, dtype=bool).reshape(len(found), problem.v.size)


def _items(problem: Problem) -> Iterator[Item]:
    """Yield all items, feature by feature."""
    search = problem.search
    by_feature = np.split(np.arange(len(search)), np.flatnonzero(np.diff(search.feature)) + 1)
    for places in by_feature[:-1]:  # the last one is the constant
        feature, first = int(search.feature[places[0]]), search.learner(int(places[0]))
        if isinstance(first, Level):
            yield from _levels([search.learner(place) for place in places.tolist()])
        else:
            for q in _thirds(column(problem.X, feature), problem.v):
                yield Stump(feature, q, 1, missing_right=False)
                yield Stump(feature, q, -1, missing_right=True)


def _levels(rules: list[Learner]) -> Iterator[Item]:
    """Yield the rules of a category, and their opposites."""
    for rule in rules:
        assert not isinstance(rule, Constant)
        yield from (rule, replace(rule, polarity=-rule.polarity))


def _thirds(x: Scores, v: Array) -> list[float]:
    """Return the weighted quantiles of 1/3 and 2/3 of the values x (m,) that are there."""
    present = ~np.isnan(x)
    if not present.any():
        return []
    values, place = np.unique(x[present], return_inverse=True)
    mass = np.cumsum(np.bincount(place, v[present]))
    targets = mass[-1] * np.array([1.0, 2.0]) / 3.0 * (1.0 - SLACK)
    return [float(q) for q in np.unique(values[np.searchsorted(mass, targets)])]


def is_usual(share: Any) -> Any:
    """Tell whether shares of the rows are neither rare nor the rule."""
    return (share >= _LOW - SLACK) & (share <= _HIGH + SLACK)
