"""Exact pricing of all columns on codes: thresholds, levels or leaves."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, ColumnWeights, bin_features
from ..kernels import edges, histograms, price
from ..kernels.step_functions import edges_of
from ..kernels.threads import Team
from ..model.learners import Learner, WeakClassifier
from ..penalties import L1, Penalty
from ..problem.columns import BinnedFeatures, Proposals
from .base import Oracle, OracleData, Pricing, best_by_edges, ranking, rounding_of, tie_width

_AS_GOOD = 1e-6  # relative price by which the constant may fall behind and still come first
_TOGETHER = 256  # features whose sums are taken in one call
_NATIVE_NORMS = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}


class BinnedOracle(Oracle):
    """Prices every column on codes and the constant; proposes the best column of each feature.

    Paper: Eq. 23 (best weak classifier, group penalties; the rule "paper").
    Differs: with group penalties the rule "exact" takes the dual norm of all classes, which is
    what optimality asks for, where the paper takes the best single class.

    Attributes
    ----------
    binned : BinnedFeatures
    """

    whole_features: ClassVar[bool] = True
    takes_sparse = True
    binned: BinnedFeatures
    _team: Team | None = None

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all columns for coefficients A (m, k)."""
        best, jump, polarity = self._best(A, penalty)
        top = float(best.max())
        if rule == "paper":
            best, jump, polarity = self._best(A, L1())
        order = ranking(self._preferred(best), tie_width(A))
        features = np.arange(best.size)
        proposals = Proposals(features, jump, polarity, best).take(order)
        return Pricing(top, self._rounding(A, penalty), proposals)

    def _best(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the best price of every feature, and the jump and polarity that have it."""
        data, A, n = self.binned, np.ascontiguousarray(A), self.binned.n_bins.size
        apart = np.arange(n)
        best: Array = np.zeros(n)
        jump: Ints = np.zeros(n, np.int32)
        polarity: Ints = np.ones(n, np.int8)
        if penalty.p in _NATIVE_NORMS:
            q, costs = _NATIVE_NORMS[penalty.p], np.asarray(self.costs, dtype=np.float64)
            best, jump, polarity = price(
                data.codes, data.n_bins, data.kinds, A, q, costs, self._team, data.sparse
            )
            apart = np.flatnonzero([] if self.signs is None else self.signs.any(axis=1))
        for f, E in self._edges(apart, A):
            signs = None if self.signs is None else self.signs[f]
            found = best_by_edges(E, signs, penalty, tie_width(A))
            best[f], jump[f], polarity[f] = found[0] / self.costs[f], *found[1:]
        return best, jump, polarity

    def _edges(self, features: Ints, A: Scores) -> Iterator[tuple[int, Array]]:
        """Yield features and the edges of their jumps, (n_jumps, k)."""
        data, lists = self.binned, self.binned.sparse
        places = features if lists is None or lists.places is None else lists.places[features]
        for f, place in zip(features[places >= 0].tolist(), places[places >= 0], strict=True):
            yield f, edges(data.codes[place], int(data.n_bins[f]), int(data.kinds[f]), A)
        listed = features[places < 0]
        for first in range(0, listed.size, _TOGETHER):
            group = listed[first : first + _TOGETHER]
            n_bins = data.n_bins[group]
            sums = histograms(data.codes, group, n_bins, A, self._team, lists)
            parts = np.split(sums, np.cumsum(n_bins)[:-1])
            for f, part in zip(group.tolist(), parts, strict=True):
                yield f, edges_of(part, int(data.kinds[f]))

    def _preferred(self, prices: Array) -> Array:
        """Let the constant, which reads no feature, come first where it is as good as the best."""
        top, constant = float(prices.max()), self.binned.constant
        if prices[constant] < (1.0 - _AS_GOOD) * top:
            return prices
        preferred = prices.copy()
        preferred[constant] = 2.0 * top
        return preferred

    def _rounding(self, A: Scores, penalty: Penalty) -> float:
        """Bound the error of an edge: as many additions as rows and bins, one unit each.

        A bin that is the total less the listed rows takes that much: the total has one addition
        per row, and the listed rows, fewer than half, count twice, in their bins and in what is
        subtracted.
        """
        terms = self.binned.n_rows + 2 * int(self.binned.n_bins.max()) + 8
        return rounding_of(A, penalty, terms, min(self.costs))


class StumpOracle(BinnedOracle):
    """Prices every stump and the constant classifier; proposes the best stump of each feature.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).

    Parameters
    ----------
    binned : BinnedData
    feature_costs : (d + 1,) array
        Cost of every feature, and of the constant at the end.
    team : Team, optional
        Threads for the kernels.
    signs : (d + 1, k) int8 array, optional
        See `OracleData`.
    """

    binned: BinnedData

    def __init__(
        self,
        binned: BinnedData,
        feature_costs: Array,
        team: Team | None = None,
        signs: Ints | None = None,
    ) -> None:
        self._begin(binned, feature_costs, team, signs)

    def _begin(
        self, binned: BinnedData, feature_costs: Array, team: Team | None, signs: Ints | None
    ) -> None:
        self.binned = self.source = binned
        self.signs = signs
        self.dictionary = binned.dictionary + (", monotone" if signs is not None else "")
        self.missing: Bools = binned.missing[:-1]
        self.costs: Array = feature_costs
        self._team = team

    def start(self, data: OracleData) -> None:
        """Bin the rows."""
        self._begin(binned_rows(data), data.costs, data.team, data.signs)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return the stumps of an earlier model, at the next thresholds there are here."""
        stumps = [h for h in learners if isinstance(h, Learner)]
        found = [isinstance(h, Learner) for h in learners]
        return self.binned.stumps_of(stumps, rows[np.array(found, dtype=bool)])


def all_stumps(data: OracleData) -> StumpOracle:
    """Return the oracle of all stumps on these rows."""
    return StumpOracle(binned_rows(data), data.costs, data.team, data.signs)


def binned_rows(data: OracleData) -> BinnedData:
    """Return the codes of the rows of a fit."""
    categories = None if data.levels is None else data.levels > 0
    return bin_features(data.X, data.weight, data.max_bins, data.team, categories)
