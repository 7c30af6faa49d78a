"""The one search that serves all baselines: the edges of every stump there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores
from ..data.binning import BinnedData
from ..kernels import histograms
from ..kernels.step_functions import CATEGORICAL, count_jumps, side
from ..kernels.threads import Team
from ..model.learners import Learner, WeakClassifier

_WIDE, _SMALL = 16, 50_000  # columns that kernels know, and the size from where on threads pay
_TIE = 1e-12  # share of the largest value within which others are as good


class StumpSearch:
    """All stumps of polarity +1 on coded rows, by place: feature, then threshold; constant last.

    Parameters
    ----------
    binned : BinnedData
    team : Team or None
    """

    def __init__(self, binned: BinnedData, team: Team | None = None) -> None:
        self._binned, self._team = binned, team
        n_bins, kinds = binned.n_bins.astype(np.int64), binned.kinds
        self._features = np.arange(n_bins.size, dtype=np.int32)
        counts = count_jumps(n_bins, kinds)
        first = np.cumsum(n_bins) - n_bins
        #: Feature and jump of every place, (n,) each.
        self.feature: Ints = np.repeat(np.arange(n_bins.size), counts)
        self.jump: Ints = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        last = n_bins[self.feature] - 1
        levels = kinds[self.feature] == CATEGORICAL
        # A jump answers -1 to the bins from `low` up to `high`, and some to the missing one too.
        place = first[self.feature] + np.where(self.jump < last, self.jump, self.jump - last)
        place = np.where(levels, first[self.feature] + self.jump, place)
        self._low, self._high = np.where(levels, place, first[self.feature]), place + 1
        self._to_the_left = np.flatnonzero((self.jump >= last) & ~levels)
        self._missing = (first + n_bins)[self.feature[self._to_the_left]] - 1

    def __len__(self) -> int:
        return int(self.jump.size)

    def edges(self, G: Scores) -> Array:
        """Return E = sum_i G_i h(x_i) for signed weights G (m, q), (n, q).

        E = total - 2 (sum of G over the rows that h answers -1). The weight of those it answers
        +1 is (total + E) / 2, of the others (total - E) / 2.
        """
        edges, total = self.left(G)
        edges *= -2.0
        edges += total
        return edges

    def left(self, G: Scores) -> tuple[Array, Array]:
        """Return the sums of G (m, q) over the rows that every stump answers -1, and over all.

        They are (n, q) and (q,).
        """
        sums = self._sums(np.ascontiguousarray(G))
        prefix = _prefix(sums)
        left = np.take(prefix, self._high, axis=0)
        left -= np.take(prefix, self._low, axis=0)
        if self._to_the_left.size:
            left[self._to_the_left] += sums[self._missing]
        return np.asarray(left), sums[-1]  # the last bin is that of the constant

    def bests(self, G: Scores) -> tuple[Ints, Array]:
        """Return the places of the stumps of the largest abs(E) by column, and their E, (q,) each.

        G (m, q) are signed weights, and E the edges.
        """
        E = self.edges(G)
        places = first_bests(np.abs(E))
        return places, E[places, np.arange(places.size)]

    def _sums(self, G: Scores) -> Array:
        """Return the sums of G over the rows of every bin; wide ones in strips, which is faster."""
        binned, q = self._binned, G.shape[1]
        if q > _WIDE and G.size < _SMALL:
            strips = np.array_split(G, -(-q // _WIDE), axis=1)
            return np.concatenate([self._sums(np.ascontiguousarray(s)) for s in strips], axis=1)
        return histograms(binned.codes, self._features, binned.n_bins, G, self._team, binned.sparse)

    def right(self, place: int) -> Bools:
        """Return the rows that the stump answers +1, (m,)."""
        binned, f = self._binned, int(self.feature[place])
        answers = side(int(binned.n_bins[f]), int(binned.kinds[f]), int(self.jump[place]))
        return np.take(answers, binned.codes_of(f))

    def fingerprints(self) -> Ints:
        """Return numbers that are equal for rows with the same codes, (m,); others differ."""
        binned, random = self._binned, np.random.default_rng(0)
        keys = np.zeros(binned.codes_of(0).size, dtype=np.uint64)
        for feature, count in enumerate(binned.n_bins.tolist()):
            of_bin = random.integers(2**64, size=count, dtype=np.uint64)
            keys += np.take(of_bin, binned.codes_of(feature))
        return keys

    def learner(self, place: int, polarity: int = 1) -> Learner:
        """Return the stump as a weak classifier."""
        return self._binned.learner(int(self.feature[place]), int(self.jump[place]), polarity)


def _prefix(sums: Array) -> Array:
    """Return the sums of the rows before every row of (n, q), and of all, (n + 1, q)."""
    prefix = np.empty((sums.shape[0] + 1, sums.shape[1]))
    prefix[0] = 0.0
    # A sum waits for the one before it: as complex numbers, two columns wait together.
    number = np.float64 if sums.shape[1] % 2 else np.complex128
    np.cumsum(sums.view(number), axis=0, out=prefix[1:].view(number))
    return prefix


def first_best(values: Array) -> int:
    """Return the place of the largest value; the first of those that differ by rounding only."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - _TIE * max(abs(largest), 1e-300)))


def first_bests(values: Array) -> Ints:
    """Return `first_best` of every column of values (n, q), (q,)."""
    largest = values.max(axis=0)
    good = values >= largest - _TIE * np.maximum(np.abs(largest), 1e-300)
    return np.asarray(np.argmax(good, axis=0))


def signs(values: Array) -> Array:
    """Return the signs of values, +1 for zero."""
    return np.where(values < 0.0, -1.0, 1.0)


FLOOR = 1e-10  # of errors in a logarithm: no vote is beyond 11.51
NO_EDGE = 1e-12  # an edge below it counts as none


@dataclass(frozen=True)
class BoostingProblem:
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
