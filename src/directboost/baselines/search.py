"""The one search that serves all baselines: the edges of every stump there is."""

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..binning import BinnedData
from ..kernels import histograms
from ..kernels.kinds import LEVELS, count_jumps
from ..kernels.team import Team
from ..learners import Learner

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
        counts = count_jumps(n_bins, kinds)
        first = np.cumsum(n_bins) - n_bins
        #: Feature and jump of every place, (n,) each.
        self.feature: Ints = np.repeat(np.arange(n_bins.size), counts)
        self.jump: Ints = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        last = n_bins[self.feature] - 1
        levels = kinds[self.feature] == LEVELS
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
        binned = self._binned
        features = np.arange(binned.n_bins.size, dtype=np.int32)
        rows = np.ascontiguousarray(G)
        sums = histograms(binned.codes, features, binned.n_bins, rows, self._team, binned.sparse)
        prefix = np.zeros((sums.shape[0] + 1, sums.shape[1]))
        np.cumsum(sums, axis=0, out=prefix[1:])
        minus = prefix[self._high] - prefix[self._low]
        if self._to_the_left.size:
            minus[self._to_the_left] += sums[self._missing]
        minus *= -2.0
        minus += sums[-1]  # the last bin is that of the constant
        return np.asarray(minus)

    def right(self, place: int) -> Bools:
        """Return the rows that the stump answers +1, (m,)."""
        return self._binned.response(int(self.feature[place]), int(self.jump[place]), 1) > 0.0

    def learner(self, place: int, polarity: int = 1) -> Learner:
        """Return the stump as a weak classifier."""
        return self._binned.learner(int(self.feature[place]), int(self.jump[place]), polarity)


def first_best(values: Array) -> int:
    """Return the place of the largest value; the first of those that differ by rounding only."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - _TIE * max(abs(largest), 1e-300)))


def signs(values: Array) -> Array:
    """Return the signs of values, +1 for zero."""
    return np.where(values < 0.0, -1.0, 1.0)
