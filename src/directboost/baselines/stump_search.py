"""Exact search over all stumps, and the data and rounds of a boosting run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores
from ..data.binning import BinnedData
from ..kernels import histograms
from ..kernels.step_functions import CATEGORICAL, count_thresholds, side
from ..kernels.threads import Team
from ..model.learners import Learner, WeakClassifier

FLOOR = 1e-10  # smallest error inside a logarithm: no vote exceeds 11.51
NO_EDGE = 1e-12  # smaller edges count as zero

_STRIP_WIDTH = 16  # columns for which the kernels are specialised
_THREAD_SIZE = 50_000  # entries from which threads are faster than strips
_TIE = 1e-12  # relative difference below which two values are equal


class StumpSearch:
    """All stumps of polarity +1 on binned rows, numbered by place.

    Places are ordered by feature, then by threshold; the constant classifier comes last. The rows
    with h(x) = +1 are on the right of a stump, those with h(x) = -1 on the left.

    Parameters
    ----------
    binned : BinnedData
    team : Team or None

    Attributes
    ----------
    feature, threshold : (n,) int arrays
        Feature of every place, and the number of its threshold within the feature.
    """

    def __init__(self, binned: BinnedData, team: Team | None = None) -> None:
        self._binned, self._team = binned, team
        n_bins, kinds = binned.n_bins.astype(np.int64), binned.kinds
        self._features = np.arange(n_bins.size, dtype=np.int32)
        counts = count_thresholds(n_bins, kinds)
        first = np.cumsum(n_bins) - n_bins
        self.feature: Ints = np.repeat(np.arange(n_bins.size), counts)
        self.threshold: Ints = np.arange(counts.sum()) - np.repeat(
            np.cumsum(counts) - counts, counts
        )
        last = n_bins[self.feature] - 1
        levels = kinds[self.feature] == CATEGORICAL
        # The left side has the bins from `low` up to `high`, and sometimes the missing bin.
        place = first[self.feature] + np.where(
            self.threshold < last, self.threshold, self.threshold - last
        )
        place = np.where(levels, first[self.feature] + self.threshold, place)
        self._low, self._high = np.where(levels, place, first[self.feature]), place + 1
        self._to_the_left = np.flatnonzero((self.threshold >= last) & ~levels)
        self._missing = (first + n_bins)[self.feature[self._to_the_left]] - 1

    def __len__(self) -> int:
        return int(self.threshold.size)

    def edges(self, G: Scores) -> Array:
        """Return the edges E = sum_i G_i h(x_i) for signed weights G (m, q), (n, q).

        E = total - 2 (sum of G on the left). The sum of G on the right is (total + E) / 2, on the
        left (total - E) / 2.
        """
        edges, total = self.left(G)
        edges *= -2.0
        edges += total
        return edges

    def left(self, G: Scores) -> tuple[Array, Array]:
        """Return the sums of G (m, q) on the left of every stump, (n, q), and of all rows, (q,)."""
        sums = self._sums(np.ascontiguousarray(G))
        prefix = _prefix(sums)
        left = np.take(prefix, self._high, axis=0)
        left -= np.take(prefix, self._low, axis=0)
        if self._to_the_left.size:
            left[self._to_the_left] += sums[self._missing]
        return np.asarray(left), sums[-1]  # the last bin belongs to the constant

    def best_stumps(self, G: Scores) -> tuple[Ints, Array]:
        """Return the place of the stump of largest abs(E) for every column, and its E, (q,) each.

        G (m, q) are signed weights, E the edges.
        """
        E = self.edges(G)
        places = first_maxima(np.abs(E))
        return places, E[places, np.arange(places.size)]

    def _sums(self, G: Scores) -> Array:
        """Return the sums of G in every bin; strips of columns are faster if there are many."""
        binned, q = self._binned, G.shape[1]
        if q > _STRIP_WIDTH and G.size < _THREAD_SIZE:
            strips = np.array_split(G, -(-q // _STRIP_WIDTH), axis=1)
            return np.concatenate([self._sums(np.ascontiguousarray(s)) for s in strips], axis=1)
        return histograms(binned.codes, self._features, binned.n_bins, G, self._team, binned.sparse)

    def right(self, place: int) -> Bools:
        """Return a mask of the rows with h(x) = +1, (m,)."""
        binned, f = self._binned, int(self.feature[place])
        bins = side(int(binned.n_bins[f]), int(binned.kinds[f]), int(self.threshold[place]))
        return np.take(bins, binned.codes_of(f))

    def row_hashes(self) -> Ints:
        """Return a hash of the bin codes of every row, (m,): equal rows have equal hashes."""
        binned, random = self._binned, np.random.default_rng(0)
        keys = np.zeros(binned.codes_of(0).size, dtype=np.uint64)
        for feature, count in enumerate(binned.n_bins.tolist()):
            of_bin = random.integers(2**64, size=count, dtype=np.uint64)
            keys += np.take(of_bin, binned.codes_of(feature))
        return keys

    def learner(self, place: int, polarity: int = 1) -> Learner:
        """Return the stump as a weak classifier."""
        return self._binned.learner(int(self.feature[place]), int(self.threshold[place]), polarity)


def _prefix(sums: Array) -> Array:
    """Return the prefix sums of the rows of (n, q), starting with 0, (n + 1, q)."""
    prefix = np.empty((sums.shape[0] + 1, sums.shape[1]))
    prefix[0] = 0.0
    # Every sum depends on the one before it; complex numbers advance two columns at a time.
    number = np.float64 if sums.shape[1] % 2 else np.complex128
    np.cumsum(sums.view(number), axis=0, out=prefix[1:].view(number))
    return prefix


def first_maximum(values: Array) -> int:
    """Return the index of the largest value.

    Values that differ only by rounding are ties; the first of them wins.
    """
    largest = float(values.max())
    return int(np.argmax(values >= largest - _TIE * max(abs(largest), 1e-300)))


def first_maxima(values: Array) -> Ints:
    """Return `first_maximum` of every column of values (n, q), (q,)."""
    largest = values.max(axis=0)
    good = values >= largest - _TIE * np.maximum(np.abs(largest), 1e-300)
    return np.asarray(np.argmax(good, axis=0))


def signs(values: Array) -> Array:
    """Return the signs of values, +1 for zero."""
    return np.where(values < 0.0, -1.0, 1.0)


@dataclass(frozen=True)
class BoostingProblem:
    """The training rows of a fit.

    Attributes
    ----------
    search : StumpSearch
    labels : (m,) int array
        Classes 0..k-1.
    v : (m,) array
        Weights of the rows, with sum 1.
    k : int
        Number of classes.
    size : float
        Number of rows in formulas: the sum of the sample weights, at least m.
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
        """O_ic = 1 if c is the class of row i, else 0, (m, k)."""
        return np.asarray(self.labels[:, None] == np.arange(self.k), dtype=np.float64)

    @cached_property
    def ones(self) -> Array:
        """Vector of ones, (m,): `ones @ G` is a fast way to sum the columns of G."""
        return np.ones(self.labels.size)

    @cached_property
    def own_places(self) -> Ints:
        """Flat indices of the entries (i, y_i) of an (m, k) array, (m,)."""
        return np.arange(self.labels.size) * self.k + self.labels

    @cached_property
    def targets(self) -> Array:
        """Y_ic = +1 if c is the class of row i, else -1, (m, k)."""
        return 2.0 * self.own - 1.0


@dataclass(frozen=True)
class Round:
    """The votes added in one round: F(x) += right[n] if learners[n](x) = +1, else left[n].

    Attributes
    ----------
    learners : sequence of WeakClassifier
    left, right : (n, k) arrays
    vote, error, objective : float
        See `RoundRecord`.
    weights : array or None
        For methods that update earlier rounds: the factors (n_all,) on the votes of all weak
        classifiers so far, or their votes (n_all, k), with left = -right.
    """

    learners: Sequence[WeakClassifier]
    left: Array
    right: Array
    vote: float = nan
    error: float = nan
    objective: float = nan
    weights: Array | None = None


def votes_by_row(right: Bools, on_left: Array, on_right: Array) -> Array:
    """Return the votes of every row, (m, k): `on_right` where `right` is true, else `on_left`."""
    return np.array([on_left, on_right]).take(right.astype(np.intp), axis=0)


def exponentials(right: Bools, votes: Array, own: Ints) -> Array:
    """Return exp(-y_ic h_c(x_i)), (m, k), for the votes h on the left and on the right, (2, k).

    y is +1 at the flat indices `own`, else -1. The exponential function is applied to the votes,
    not to the rows.
    """
    factors = votes_by_row(right, *np.exp(votes))
    flat = factors.ravel()
    flat[own] = 1.0 / flat[own]
    return factors


def log_odds(error: float) -> float:
    """Return ln((1 - e) / e) of an error e, clipped so that the result is finite."""
    clipped = min(max(error, FLOOR), 1.0 - FLOOR)
    return float(np.log((1.0 - clipped) / clipped))
