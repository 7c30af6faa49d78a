"""Patterns of several features: conjunctions, and the pool that has them beside the stumps."""

import numpy as np

from ..arrays import Array, Bools
from ..model.learners import Conjunction, Learner
from .pattern_mining import mined
from .rounds import Problem
from .search import StumpSearch

_TOGETHER = 1 << 16  # answers that are made numbers at a time, so that they stay in the cache


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
