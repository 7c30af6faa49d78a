"""Rows drawn of every class, parts to train and to test on, and the best rule for a draw."""

from typing import Any, TypeAlias

import numpy as np

from ..arrays import Array, Ints

#: Rows and class codes.
Part: TypeAlias = tuple[Any, Ints]


def draw_of_each(y: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Return the places of `count` rows of every class, in random order.

    Parameters
    ----------
    y : (m,) int array
        Class codes; a class with fewer rows gives all of them.
    count : int
    rng : numpy.random.Generator
    """
    drawn = [rng.permutation(np.flatnonzero(y == c))[:count] for c in np.unique(y)]
    return rng.permutation(np.concatenate(drawn))


class TrueRule:
    """The best rule for clusters of equal size: the class of the largest normal density.

    Parameters
    ----------
    centres : (k, d) array
    deviations : (k,) array
        The same in all directions.
    """

    def __init__(self, centres: Array, deviations: Array) -> None:
        self._centres, self._deviations = centres, deviations

    def predict(self, X: Array) -> Any:
        """Return class codes, (m,)."""
        squares = ((X[:, None] - self._centres) ** 2).sum(axis=2)
        d = X.shape[1]
        logs = -squares / (2.0 * self._deviations**2) - d * np.log(self._deviations)
        return logs.argmax(axis=1)
