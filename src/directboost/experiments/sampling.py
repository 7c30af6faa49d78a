"""Rows drawn of every class, and parts to train and to test on."""

from typing import Any, TypeAlias

import numpy as np

from ..arrays import Ints

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
