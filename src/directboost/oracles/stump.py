"""Exact pricing of columns on binned features: thresholds, levels or leaves."""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, ColumnWeights, bin_features
from ..kernels import edges, histograms, price
from ..kernels.step_functions import edges_of
from ..kernels.structs import tie_width
from ..kernels.threads import Team
from ..model.learners import Learner, WeakClassifier
from ..penalties import L1, Penalty
from ..problem.columns import BinnedFeatures, Proposals
from .base import Oracle, OracleData, Pricing, best_by_edges, ranking, rounding_of

_AS_GOOD = 1e-6  # relative distance to the best price up to which the constant comes first
_GROUP = 256  # sparse features whose histograms are computed in one call
#: Exponents p of penalties with a native kernel, and their dual exponents q.
NATIVE_NORMS = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}


class BinnedOracle(Oracle):
    """Base class of oracles on binned features.

    Prices every column and the constant exactly, and proposes the best column of each feature.
    A subclass sets `binned` in `start`.

    Paper: Eq. 23 (best weak classifier, group penalties; the rule "paper").
    Differs: with group penalties the rule "exact" uses the dual norm over all classes, which
    optimality requires, where the paper uses the best single class.

    Attributes
    ----------
    binned : BinnedFeatures
        Codes of the training rows; also the `source` of the columns.

    Examples
    --------
    >>> from directboost.oracles import BinnedOracle, StumpOracle, TreeOracle
    >>> issubclass(StumpOracle, BinnedOracle), issubclass(TreeOracle, BinnedOracle)
    (True, True)
    >>> BinnedOracle.whole_features
    True
    """

    whole_features: ClassVar[bool] = True
    takes_sparse = True
    binned: BinnedFeatures
    _team: Team | None = None

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all columns for coefficients A (m, k)."""
        best, threshold, polarity = self._best(A, penalty)
        max_price = float(best.max())
        if rule == "paper":
            best, threshold, polarity = self._best(A, L1())
        # The constant, which uses no feature, comes first if its price is as good as the best.
        constant, largest = self.binned.constant, float(best.max())
        preferred = best.copy()
        if best[constant] >= (1.0 - _AS_GOOD) * largest:
            preferred[constant] = 2.0 * largest
        order = ranking(preferred, tie_width(A))
        order = order[self.binned.n_bins[order] > 1]  # a constant feature has no column
        proposals = Proposals(
            feature=np.arange(best.size), threshold=threshold, polarity=polarity, price=best
        )
        return Pricing(
            max_price=max_price,
            rounding=self._rounding(A, penalty),
            proposals=proposals.take(order),
        )

    def _best(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the best price of every feature, and the threshold and polarity that attain it."""
        data, A, n = self.binned, np.ascontiguousarray(A), self.binned.n_bins.size
        without_kernel = np.arange(n)  # features that the native kernel does not price
        best: Array = np.zeros(n)
        threshold: Ints = np.zeros(n, np.int32)
        polarity: Ints = np.ones(n, np.int8)
        if penalty.p in NATIVE_NORMS:
            q, costs = NATIVE_NORMS[penalty.p], np.asarray(self.costs, dtype=np.float64)
            best, threshold, polarity = price(
                data.codes, data.n_bins, data.kinds, A, q, costs, self._team, data.sparse
            )
            without_kernel = np.flatnonzero([] if self.signs is None else self.signs.any(axis=1))
        for f, E in self._edges(without_kernel, A) if without_kernel.size else ():
            signs = None if self.signs is None else self.signs[f]
            largest, threshold[f], polarity[f] = best_by_edges(E, signs, penalty, tie_width(A))
            best[f] = largest / self.costs[f]
        return best, threshold, polarity

    def _edges(self, features: Ints, A: Scores) -> Iterator[tuple[int, Array]]:
        """Yield every feature with the edges of its thresholds, (n_thresholds, k)."""
        data, lists = self.binned, self.binned.sparse
        places = features if lists is None or lists.places is None else lists.places[features]
        for f, place in zip(features[places >= 0].tolist(), places[places >= 0], strict=True):
            yield f, edges(data.codes[place], int(data.n_bins[f]), int(data.kinds[f]), A)
        sparse = features[places < 0]
        for first in range(0, sparse.size, _GROUP):
            group = sparse[first : first + _GROUP]
            n_bins = data.n_bins[group]
            sums = histograms(data.codes, group, n_bins, A, self._team, lists)
            parts = np.split(sums, np.cumsum(n_bins)[:-1])
            for f, part in zip(group.tolist(), parts, strict=True):
                yield f, edges_of(part, int(data.kinds[f]))

    def _rounding(self, A: Scores, penalty: Penalty) -> float:
        """Bound the rounding error of the prices: one unit per row and per bin.

        This covers a bin of a sparse feature that is the total minus the listed rows: the total
        has one addition per row, and the listed rows, fewer than half, count twice, in their bins
        and in the subtracted sum.
        """
        terms = self.binned.n_rows + 2 * int(self.binned.n_bins.max()) + 8
        return rounding_of(A, penalty, terms, min(self.costs))


class StumpOracle(BinnedOracle):
    """Oracle of decision stumps: ``learner="stump"``.

    Prices every stump and the constant classifier exactly, and proposes the best stump of each
    feature.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).

    Parameters
    ----------
    binned : BinnedData, optional
        Codes of the rows. Without them, `on` bins the rows of a fit.
    feature_costs : (d + 1,) array, optional
        Cost of every feature, and of the constant at the end; 1 by default.
    team : Team, optional
        Threads for the kernels.
    signs : (d + 1, k) int8 array, optional
        Sign constraints on the weights; see `OracleData`.

    Examples
    --------
    The stump "x > 1.5" separates the last row from the others:

    >>> import numpy as np
    >>> from directboost.oracles import OracleData, StumpOracle
    >>> from directboost.penalties import L1
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> data = OracleData(X=X, weight=np.ones(3), total_weight=3.0, costs=np.ones(2))
    >>> oracle = StumpOracle().on(data)
    >>> pricing = oracle.price(np.array([[-1.0], [-1.0], [2.0]]), L1())
    >>> pricing.max_price
    4.0
    >>> best = pricing.proposals
    >>> oracle.source.learner(best.feature[0], best.threshold[0], best.polarity[0]).threshold
    1.5
    """

    binned: BinnedData

    def __init__(
        self,
        binned: BinnedData | None = None,
        feature_costs: Array | None = None,
        team: Team | None = None,
        signs: Ints | None = None,
    ) -> None:
        if binned is not None:
            costs = np.ones(binned.n_features + 1) if feature_costs is None else feature_costs
            self._begin(binned, costs, team, signs)

    def on(self, data: OracleData) -> "StumpOracle":
        """Return a copy of the oracle that has been started on the training data.

        Binning finds the missing values, without a separate pass over X.
        """
        oracle = copy(self)
        oracle.start(data)
        return oracle

    def start(self, data: OracleData) -> None:
        """Bin the training rows."""
        binned = bin_features(data.X, data.weight, data.max_bins, data.team, data.levels)
        self._begin(binned, data.costs, data.team, data.signs, len(data.joined) > 0)

    def _begin(
        self,
        binned: BinnedData,
        feature_costs: Array,
        team: Team | None,
        signs: Ints | None,
        joined: bool = False,
    ) -> None:
        self.binned = self.source = binned
        self.signs = signs
        more = [", rare levels joined" if joined else "", ", monotone" if signs is not None else ""]
        self.dictionary = binned.dictionary + "".join(more)
        self.missing: Bools = binned.missing[:-1]
        self.costs: Array = feature_costs
        self._team = team

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return the stumps of an earlier model, at the next thresholds of these codes."""
        stumps = [h for h in learners if isinstance(h, Learner)]
        found = [isinstance(h, Learner) for h in learners]
        return self.binned.stumps_of(stumps, rows[np.array(found, dtype=bool)])
