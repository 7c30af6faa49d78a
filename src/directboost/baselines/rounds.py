"""What a baseline works on, and what it gives back round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers
from ..model.learners import WeakClassifier
from .search import StumpSearch

FLOOR = 1e-10  # of errors in a logarithm: no vote is beyond 11.51
NO_EDGE = 1e-12  # an edge below it counts as none


@dataclass(frozen=True)
class Problem:
    """The rows of a fit.

    Attributes
    ----------
    search : StumpSearch
    labels : (m,) int array
        Classes 0..k-1.
    v : (m,) array
        Weights of the rows, with sum 1.
    k : int
    size : float
        How many rows there are: the sum of the sample weights, at least the number of rows.
    X : (m, d) array or sparse matrix
    random : RandomState
    """

    search: StumpSearch
    labels: Ints
    v: Array
    k: int
    size: float
    X: Numbers
    random: np.random.RandomState

    @cached_property
    def own(self) -> Array:
        """O_ic = 1 where c is the class of row i, else 0, (m, k)."""
        return np.asarray(self.labels[:, None] == np.arange(self.k), dtype=np.float64)

    @cached_property
    def ones(self) -> Array:
        """A one for every row, (m,): `ones @ G` are the sums of the columns of G, fast."""
        return np.ones(self.labels.size)

    @cached_property
    def own_places(self) -> Ints:
        """Places of the entries (i, y_i) in an (m, k) array that is laid out flat, (m,)."""
        return np.arange(self.labels.size) * self.k + self.labels

    @cached_property
    def targets(self) -> Array:
        """Y_ic = +1 where c is the class of row i, else -1, (m, k)."""
        return 2.0 * self.own - 1.0


@dataclass(frozen=True)
class Round:
    """What one round adds: F(x) += right[n] where learners[n] answers +1 to x, else left[n].

    Attributes
    ----------
    learners : sequence of WeakClassifier
    left, right : (n, k) arrays
    vote, error, objective : float
        See `RoundRecord`.
    weights : array or None
        Of a method that goes back to earlier rounds: the factors (n_all,) on the votes of all weak
        classifiers so far, or their votes (n_all, k) themselves, where left = -right.
    """

    learners: Sequence[WeakClassifier]
    left: Array
    right: Array
    vote: float = nan
    error: float = nan
    objective: float = nan
    weights: Array | None = None


def answers(right: Bools, on_left: Array, on_right: Array) -> Array:
    """Return the votes of every row, (m, k): those on the right where it is there."""
    return np.array([on_left, on_right]).take(right.astype(np.intp), axis=0)


def exponentials(right: Bools, votes: Array, own: Ints) -> Array:
    """Return exp(-y_ic h_c(x_i)) for the votes h of the left and of the right, (2, k), as (m, k).

    y is +1 at the flat places `own`, else -1. Exponentials are taken of votes, not of rows.
    """
    factors = answers(right, *np.exp(votes))
    flat = factors.ravel()
    flat[own] = 1.0 / flat[own]
    return factors


def log_odds(error: float) -> float:
    """Return ln((1 - e) / e) of an error, clipped so that it is finite."""
    clipped = min(max(error, FLOOR), 1.0 - FLOOR)
    return float(np.log((1.0 - clipped) / clipped))
