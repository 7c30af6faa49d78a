"""Exact pricing of all columns on codes: thresholds, levels or leaves."""

from typing import ClassVar

import numpy as np

from ..arrays import Array, Ints, Scores
from ..columns import Bins, Proposals
from ..kernels import edges, price
from ..kernels.team import Team
from ..penalties import L1, Penalty
from .base import Oracle, Pricing
from .ranking import ranking, rounding_of, tie_width

_AS_GOOD = 1e-6  # relative price by which the constant may fall behind and still come first
_NATIVE_NORMS = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}


class BinnedOracle(Oracle):
    """Prices every column on codes and the constant; proposes the best column of each feature.

    Paper: Eq. 23 (best weak classifier, group penalties; the rule "paper").
    Differs: with group penalties the rule "exact" takes the dual norm of all classes, which is
    what optimality asks for, where the paper takes the best single class.

    Attributes
    ----------
    binned : Bins
    """

    whole_features: ClassVar[bool] = True
    binned: Bins
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
        data = self.binned
        if penalty.p in _NATIVE_NORMS:
            q = _NATIVE_NORMS[penalty.p]
            costs = np.asarray(self.costs, dtype=np.float64)
            return price(
                data.codes, data.n_bins, data.kinds, np.ascontiguousarray(A), q, costs, self._team,
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
