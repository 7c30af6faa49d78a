"""Columns as whole features: all thresholds of a feature at once, in bin space."""

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..arrays import Array, Ints, Scores
from ..data.binning import ColumnWeights
from ..kernels import add_tables, histograms
from ..kernels.step_functions import apart, has_weight, rows_with_any, tables_of
from ..kernels.threads import Team
from ..model.learners import WeakClassifier
from ..penalties import Penalty
from .columns import BinnedFeatures, Columns, Costs, Proposals

#: Per feature of the working set its signed jumps, (n_jumps, k).
StepCoefficients: TypeAlias = list[Array]

_FEW = 16
_FEW_OF_MANY = 64
_MANY_FEATURES = 500


class FeatureColumns(Columns):
    """The working set of features; the weights are signed jumps.

    Conventions. W is a list with one array (n_jumps, k) per feature of the working set. The jump
    v of a threshold is the weight of its stump of polarity + minus that of polarity -; at an
    optimum never both carry weight for one class, so nothing is lost. With the jumps of a
    feature summed up into a table, F_ir = sum_f table_f[code_fi, r].
    """

    whole_features: ClassVar[bool] = True

    def __init__(
        self,
        binned: BinnedFeatures,
        feature_costs: Costs,
        k: int,
        team: Team | None = None,
        signs: Ints | None = None,
    ) -> None:
        self.binned = binned
        self._feature_costs = feature_costs
        self.features: list[int] = []
        self.team = team
        #: The signs that jumps must keep, by feature and class, or None.
        self.signs = signs
        self._k = k

    def __len__(self) -> int:
        return len(self.features)

    @property
    def k(self) -> int:
        """Number of classes."""
        return self._k

    def over(self, features: Iterable[int]) -> "FeatureColumns":
        """Return a working set of those features, in their order."""
        other = copy(self)
        other.features = sorted(features)
        return other

    @property
    def feature_costs(self) -> Array:
        """Cost of every feature there is by now."""
        return np.asarray(self._feature_costs, dtype=np.float64)

    def extend(self, proposals: Proposals, W: StepCoefficients) -> int:
        """Let the worst violators in, at most twice as many as carry weight already."""
        active = sum(has_weight(jumps) for jumps in W)
        few = _FEW_OF_MANY if self.binned.n_bins.size > _MANY_FEATURES else _FEW
        known = set(self.features)
        new = list(dict.fromkeys(int(f) for f in proposals.feature if int(f) not in known))
        room = max(few, 2 * active)
        # In the order of the features, not of the prices, which differ by rounding.
        self.features.extend(sorted(new[:room]))
        return min(len(new), room)

    def grow(self, W: StepCoefficients) -> StepCoefficients:
        """Return W with zero jumps for the features that came in."""
        return W + [np.zeros((self.binned.n_jumps(f), self._k)) for f in self.features[len(W) :]]

    def prune(self, W: StepCoefficients) -> StepCoefficients:
        """Drop the features without weight; they come back when they violate."""
        alive = [has_weight(jumps) for jumps in W]
        if not all(alive):
            self.features = [f for f, a in zip(self.features, alive, strict=True) if a]
            self.generation += 1
        return [jumps for jumps, a in zip(W, alive, strict=True) if a]

    def n_bins(self) -> Ints:
        """Return the number of bins of the features of the working set, (n,) int32."""
        return np.ascontiguousarray(self.binned.n_bins[self.features], dtype=np.int32)

    def tables(self, W: StepCoefficients) -> list[Array]:
        """Return the table (n_bins, k) of every feature of the working set."""
        return tables_of(W, self.n_bins(), self.binned.kinds[self.features])

    def rounded_scores(self, W: StepCoefficients, precision: Any) -> Scores:
        """Return F in that precision, (m, k)."""
        F = np.zeros((self.binned.n_rows, self._k), dtype=precision)
        features = np.array(self.features, dtype=np.int32)
        add_tables(self.binned.codes, features, self.tables(W), F, self.team, self.binned.sparse)
        return F

    def means(self, W: StepCoefficients, weight: Array) -> Array:
        """Return the weighted mean over the rows of what every feature adds to F, (d + 1, k).

        The last row is the constant classifier.
        """
        out = np.zeros((self.binned.n_bins.size, self._k))
        if not self.features:
            return out
        features, n_bins = np.array(self.features, dtype=np.int32), self.n_bins()
        share = (weight / weight.sum()).reshape(-1, 1)
        binned = self.binned
        sums = histograms(binned.codes, features, n_bins, share, self.team, binned.sparse)
        parts = apart(sums[:, 0], np.cumsum(n_bins))
        for feature, part, table in zip(self.features, parts, self.tables(W), strict=True):
            out[feature] = part @ table
        return out

    def edges(self, A: Scores) -> Array:
        """Refuse: a feature has as many edges as stumps, and pricing gives the best of them."""
        raise TypeError("edges of single columns need DenseColumns")

    def rows(self, W: StepCoefficients) -> tuple[Array, Array]:
        """Return the weights of the stumps of both polarities, non-zero rows only."""
        stumps = self.stumps(W)
        return stumps.rows, self.feature_costs[stumps.names[:, 0]]

    def penalty(self, W: StepCoefficients, penalty: Penalty) -> float:
        """Return sum_j cost_j N(W_j:), of both polarities."""
        if not W:
            return 0.0
        joined = np.concatenate(W)
        live = rows_with_any(joined)
        costs = np.repeat(self.feature_costs[self.features], [len(jumps) for jumps in W])[live]
        parts = np.maximum(joined[live], 0.0), np.maximum(-joined[live], 0.0)
        return sum(penalty.value(part, costs) for part in parts)

    def learners(self, W: StepCoefficients) -> list[WeakClassifier]:
        """Return the stumps of `rows`."""
        return self.named(self.stumps(W))

    def named(self, stumps: ColumnWeights) -> list[WeakClassifier]:
        """Return the weak classifiers of the stumps, in order."""
        return [self.binned.learner(*name) for name in stumps.names.tolist()]

    def adopt(self, stumps: ColumnWeights) -> StepCoefficients:
        """Let the features of the stumps in; return their jumps, without those of a wrong sign."""
        feature, jump, polarity = stumps.names.T
        self.features = np.unique(feature).tolist()
        W = self.grow([])
        place = np.searchsorted(self.features, feature)
        for w, jumps in enumerate(W):
            own = place == w
            np.add.at(jumps, jump[own], polarity[own, None] * stumps.rows[own])
            if self.signs is not None:
                jumps[self.signs[self.features[w]] * jumps < 0.0] = 0.0
        return W

    def stumps(self, W: StepCoefficients) -> ColumnWeights:
        """Return the stumps that carry weight.

        They are sorted by feature in the order of the working set, then by polarity.
        """
        if not self.features:
            return ColumnWeights(np.empty((0, 3), dtype=np.int64), np.empty((0, self._k)))
        joined = np.concatenate(W)
        plus, minus = (rows_with_any(part) for part in (joined > 0.0, joined < 0.0))
        found = np.concatenate([plus, minus])
        polarity = np.repeat([1, -1], [plus.size, minus.size])
        starts = np.cumsum([0, *(jumps.shape[0] for jumps in W)])
        place = np.searchsorted(starts, found, side="right") - 1
        names = np.column_stack([np.array(self.features)[place], found - starts[place], polarity])
        order = np.lexsort((found, -polarity, place))
        found, polarity = found[order], polarity[order]
        return ColumnWeights(names[order], np.maximum(polarity[:, None] * joined[found], 0.0))
