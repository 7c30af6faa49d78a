"""Patterns of several features: conjunctions, and the pool that has them beside the stumps."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Numbers
from ..learners import Learner, Level, Stump
from .pattern_mining import mined
from .rounds import Problem
from .search import StumpSearch

_TOGETHER = 1 << 16  # answers that are made numbers at a time, so that they stay in the cache


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Several rules together: h(x) = 1 if all items answer +1 to x, else -1.

    A missing value is on neither side of a threshold of an item.
    """

    items: tuple[Stump | Level, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """The features the items read, ascending."""
        return tuple(sorted({item.feature for item in self.items}))

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return np.asarray(np.minimum.reduce([item.predict(X) for item in self.items]))

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` lists the features, with commas between them."""
        names = name.split(", ")
        if len(names) != len(self.features):
            names = [f"x{feature}" for feature in self.features]
        known = dict(zip(self.features, names, strict=True))
        return " and ".join(item.describe(known[item.feature]) for item in self.items)


class PatternPool:
    """Stumps and conjunctions by place, the stumps first, to be searched as stumps are.

    Parameters
    ----------
    search : StumpSearch
    conjunctions : list of Conjunction
    holds : (n, m) bool array
        Which rows they answer +1.
    """

    def __init__(self, search: StumpSearch, conjunctions: list[Conjunction], holds: Bools) -> None:
        self._search, self._conjunctions, self._holds = search, conjunctions, holds

    def edges(self, G: Array) -> Array:
        """Return sum_i G_i h(x_i) of every pattern for signed weights G (m, q), (n, q)."""
        step = max(_TOGETHER // G.shape[0], 1)
        parts = [
            self._holds[first : first + step].astype(np.float64) @ G
            for first in range(0, len(self._conjunctions), step)
        ]
        sums = np.concatenate([np.empty((0, G.shape[1])), *parts])
        return np.concatenate([self._search.edges(G), 2.0 * sums - G.sum(axis=0)])

    def right(self, place: int) -> Bools:
        """Return the rows that a pattern answers +1, (m,)."""
        number = place - len(self._search)
        return self._search.right(place) if number < 0 else self._holds[number]

    def learner(self, place: int) -> Learner | Conjunction:
        """Return a pattern as a weak classifier."""
        number = place - len(self._search)
        return self._search.learner(place) if number < 0 else self._conjunctions[number]


def with_conjunctions(problem: Problem, max_len: int) -> PatternPool:
    """Return the stumps of a problem and its best conjunctions of at most `max_len` items."""
    found = mined(problem, max_len)
    conjunctions = [Conjunction(items) for items in found.items]
    return PatternPool(problem.search, conjunctions, found.holds)
