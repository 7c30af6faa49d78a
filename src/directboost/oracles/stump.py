"""Exact pricing of all decision stumps on binned data."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..binning import BinnedData, bin_features
from ..columns import Proposals, Stumps
from ..kernels import edges, price
from ..kernels.team import Team
from ..learners import Learner, WeakClassifier
from ..penalties import L1, Penalty
from .base import Oracle, OracleData, Pricing
from .ranking import ranking, rounding_of, tie_width

_AS_GOOD = 1e-6  # relative price by which the constant may fall behind and still come first
_NATIVE_NORMS = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}


class StumpOracle(Oracle):
    """Prices every stump and the constant classifier; proposes the best stump of each feature.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).
    Paper: Eq. 23 (best weak classifier, group penalties; the rule "paper").
    Differs: with group penalties the rule "exact" takes the dual norm of all classes, which is
    what optimality asks for, where the paper takes the best single class.

    Parameters
    ----------
    binned : BinnedData
    feature_costs : (d + 1,) array
        Cost of every feature, and of the constant at the end.
    team : Team, optional
        Threads for the kernels.
    """

    def __init__(self, binned: BinnedData, feature_costs: Array, team: Team | None = None) -> None:
        self._begin(binned, feature_costs, team)

    def _begin(self, binned: BinnedData, feature_costs: Array, team: Team | None) -> None:
        self.binned = self.source = binned
        self.dictionary = binned.dictionary
        self.missing: Bools = binned.missing[:-1]
        self.costs: Array = feature_costs
        self._team = team

    def start(self, data: OracleData) -> None:
        """Bin the rows."""
        self._begin(_binned(data), data.costs, data.team)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> Stumps:
        """Return the stumps of an earlier model, at the next thresholds there are here."""
        stumps = [h for h in learners if isinstance(h, Learner)]
        found = [isinstance(h, Learner) for h in learners]
        return self.binned.stumps_of(stumps, rows[np.array(found, dtype=bool)])

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all stumps for coefficients A (m, k)."""
        best, jump, polarity = self._best(A, penalty)
        top = float(best.max())
        if rule == "paper":
            best, jump, polarity = self._best(A, L1())
        order = ranking(self._preferred(best), tie_width(A))
        features = np.arange(best.size)
        proposals = Proposals(features, jump, polarity, best).take(order)
        return Pricing(top, self._rounding(A, penalty), proposals)

    def _best(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        data = self.binned
        if penalty.p in _NATIVE_NORMS:
            q = _NATIVE_NORMS[penalty.p]
            contiguous = np.ascontiguousarray(A)
            return price(
                data.codes, data.n_bins, data.kinds, contiguous, q, self.costs, self._team,
                data.sparse,
            )  # fmt: skip
        return self._best_by_edges(np.ascontiguousarray(A), penalty)

    def _best_by_edges(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Price block by block of edges, for norms the kernel does not know."""
        n = self.binned.codes.shape[0]
        best, jump, polarity = np.zeros(n), np.zeros(n, np.int32), np.ones(n, np.int8)
        for f in range(n):
            kind = int(self.binned.kinds[f])
            E = edges(self.binned.codes[f], int(self.binned.n_bins[f]), kind, A)
            if E.shape[0]:
                both = np.stack([penalty.dual_norm(E), penalty.dual_norm(-E)], axis=1).ravel()
                first = int(np.argmax(both >= both.max() * (1.0 - tie_width(A))))
                best[f], jump[f] = both.max() / self.costs[f], first // 2
                polarity[f] = 1 if first % 2 == 0 else -1
        return best, jump, polarity

    def _preferred(self, prices: Array) -> Array:
        """Let the constant, which reads no feature, come first where it is as good as the best."""
        top = float(prices.max())
        if prices[-1] < (1.0 - _AS_GOOD) * top:
            return prices
        return np.append(prices[:-1], 2.0 * top)

    def _rounding(self, A: Scores, penalty: Penalty) -> float:
        """Bound the error of an edge: as many additions as rows and bins, one unit each.

        A bin that is the total less the listed rows takes that much: the total has one addition
        per row, and the listed rows, fewer than half, count twice, in their bins and in what is
        subtracted.
        """
        terms = self.binned.n_rows + 2 * int(self.binned.n_bins.max()) + 8
        return rounding_of(A, penalty, terms, float(self.costs.min()))


def all_stumps(data: OracleData) -> StumpOracle:
    """Return the oracle of all stumps on these rows."""
    return StumpOracle(_binned(data), data.costs, data.team)


def _binned(data: OracleData) -> BinnedData:
    categories = None if data.levels is None else data.levels > 0
    return bin_features(data.X, data.weight, data.max_bins, data.team, categories)
