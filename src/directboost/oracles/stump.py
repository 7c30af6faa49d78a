"""Exact pricing of all decision stumps on binned data."""

import numpy as np

from ..arrays import Array, Ints, Scores
from ..binning import BinnedData
from ..columns import Proposals
from ..kernels import edges, price
from ..kernels.team import Team
from ..penalties import L1, Penalty
from .base import Oracle, Pricing

_AS_GOOD = 1e-6  # relative price by which the constant may fall behind and still come first
_BLOCK = 4096  # rows that are summed together, so that they stay in the cache
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
        self.binned = binned
        self.dictionary = binned.dictionary
        self._costs = feature_costs
        self._team = team

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all stumps for coefficients A (m, k)."""
        best, jump, polarity = self._best(A, penalty)
        top = float(best.max())
        if rule == "paper":
            best, jump, polarity = self._best(A, L1())
        order = _ranking(self._preferred(best), _tie(A))
        features = np.arange(best.size)
        proposals = Proposals(features, jump, polarity, best).take(order)
        return Pricing(top, self._rounding(A, penalty), proposals)

    def _best(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        data = self.binned
        if penalty.p in _NATIVE_NORMS:
            q = _NATIVE_NORMS[penalty.p]
            contiguous = np.ascontiguousarray(A)
            return price(
                data.codes, data.n_bins, data.kinds, contiguous, q, self._costs, self._team,
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
                first = int(np.argmax(both >= both.max() * (1.0 - _tie(A))))
                best[f], jump[f] = both.max() / self._costs[f], first // 2
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

        In single precision, of which no proof is made, it is 0. A unit is twice the error of one
        addition. A bin that is the total less the listed rows
        takes that much: the total has one addition per row, and the listed rows, fewer than half,
        count twice, in their bins and in what is subtracted.
        """
        if A.dtype != np.float64:
            return 0.0
        terms = self.binned.n_rows + 2 * int(self.binned.n_bins.max()) + A.shape[1] + 8
        blocks = range(0, A.shape[0], _BLOCK)
        sums = sum(np.abs(A[first : first + _BLOCK]).sum(axis=0) for first in blocks)
        size = float(penalty.dual_norm(np.asarray(sums)[None, :])[0]) / float(self._costs.min())
        return float(terms * np.finfo(np.float64).eps * size)


def _tie(A: Scores) -> float:
    return 1e-12 if A.dtype == np.float64 else 1e-6


def _ranking(prices: Array, tie: float) -> Ints:
    """Order features by price; runs of prices within the tie width go by feature."""
    falling = np.argsort(-prices, kind="stable")
    ordered = prices[falling]
    starts = np.append(True, ordered[1:] < ordered[:-1] * (1.0 - tie))
    return falling[np.lexsort((falling, np.cumsum(starts)))]
