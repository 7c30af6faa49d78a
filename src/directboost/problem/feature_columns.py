"""Whole features as columns: a working set with all thresholds of every feature."""

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..arrays import Array, Ints, Scores
from ..data.binning import ColumnWeights
from ..kernels.step_functions import apart, rows_with_any, tables_of
from ..kernels.threads import Team
from ..model.learners import WeakClassifier
from ..penalties import Penalty
from .columns import BinnedFeatures, Columns, Costs, Proposals

#: Signed coefficients of the thresholds ("jumps"): one array (n_thresholds, k) per feature.
StepCoefficients: TypeAlias = list[Array]

# At least this many features may enter per round, more if the data have many features.
_LEAST_ENTERING = 16
_LEAST_ENTERING_OF_MANY = 64
_MANY_FEATURES = 500


def max_entering(n_features: int, n_active: int) -> int:
    """Return the maximum number of features that enter the working set in one round.

    It is 16 (64 if there are more than 500 features), or twice the number of active features if
    that is larger.

    Parameters
    ----------
    n_features : int
        Number of features of the data, the constant included.
    n_active : int
        Number of features of the working set with a non-zero coefficient.
    """
    least = _LEAST_ENTERING_OF_MANY if n_features > _MANY_FEATURES else _LEAST_ENTERING
    return max(least, 2 * n_active)


class FeatureColumns(Columns):
    """Working set of features; the weights are signed coefficients of thresholds.

    Conventions. W is a list with one array (n_thresholds, k) per feature of the working set. The
    signed coefficient ("jump") of a threshold is the weight of its stump of polarity +1 minus that
    of polarity -1. This loses no generality: at an optimum at most one of the two is non-zero for a
    class. The coefficients of a feature add up to a table, and F_ir = sum_f table_f[code_fi, r].

    Parameters
    ----------
    binned : BinnedFeatures
    feature_costs : Costs
    k : int
        Number of classes.
    team : Team, optional
        Threads for the kernels.
    signs : (d + 1, k) int array, optional
        Signs that the coefficients must have, by feature and class; 0 for no constraint.

    Attributes
    ----------
    features : list of int
        Features of the working set.
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
        self.signs = signs
        self._k = k

    def __len__(self) -> int:
        return len(self.features)

    @property
    def k(self) -> int:
        """Number of classes."""
        return self._k

    def over(self, features: Iterable[int]) -> "FeatureColumns":
        """Return a working set of the given features, in ascending order."""
        other = copy(self)
        other.features = sorted(features)
        return other

    @property
    def feature_costs(self) -> Array:
        """Current cost of every feature; an oracle may add features."""
        return np.asarray(self._feature_costs, dtype=np.float64)

    def signs_of(self, features: list[int]) -> Ints:
        """Return the sign constraints of features, (n, k); those without a row have none."""
        assert self.signs is not None
        places = np.array(features, dtype=np.int64)
        signs = self.signs[np.minimum(places, self.signs.shape[0] - 1)]
        signs[places >= self.signs.shape[0]] = 0
        return np.asarray(signs)

    def extend(self, proposals: Proposals, W: StepCoefficients) -> int:
        """Add the features with the highest prices, at most `max_entering` of them."""
        n_active = len([1 for jumps in W if np.count_nonzero(jumps)])  # quicker than any()
        present = set(self.features)
        new = list(dict.fromkeys(int(f) for f in proposals.feature if int(f) not in present))
        new = new[: max_entering(self.binned.n_bins.size, n_active)]
        # Ordered by feature, since the order of the prices depends on rounding.
        self.features.extend(sorted(new))
        return len(new)

    def grow(self, W: StepCoefficients) -> StepCoefficients:
        """Return W with zero coefficients for the features that have been added."""
        return W + [
            np.zeros((self.binned.n_thresholds(f), self._k)) for f in self.features[len(W) :]
        ]

    def prune(self, W: StepCoefficients) -> StepCoefficients:
        """Drop the features without weight; they return if their price exceeds nu again."""
        active = [bool(np.count_nonzero(jumps)) for jumps in W]
        if not all(active):
            self.features = [f for f, a in zip(self.features, active, strict=True) if a]
            self.generation += 1
        return [jumps for jumps, a in zip(W, active, strict=True) if a]

    def n_bins(self) -> Ints:
        """Return the number of bins of the features of the working set, (n,) int32."""
        return np.ascontiguousarray(self.binned.n_bins[self.features], dtype=np.int32)

    def tables(self, W: StepCoefficients) -> list[Array]:
        """Return the table (n_bins, k) of every feature of the working set."""
        return tables_of(W, self.n_bins(), self.binned.kinds[self.features])

    def rounded_scores(self, W: StepCoefficients, precision: Any) -> Scores:
        """Return F in the given precision, (m, k)."""
        F = np.zeros((self.binned.n_rows, self._k), dtype=precision)
        features = np.array(self.features, dtype=np.int32)
        self.binned.add_scores(features, self.tables(W), F, self.team)
        return F

    def moments(self, W: StepCoefficients, weight: Array) -> tuple[Array, Array]:
        """Return the weighted means of the contributions of features to F, and their variances.

        The means are (d + 1, k), the variances, added up over the scores, (d + 1,). The last row is
        the constant classifier.
        """
        means = np.zeros((self.binned.n_bins.size, self._k))
        variances = np.zeros(self.binned.n_bins.size)
        if not self.features:
            return means, variances
        shares = self.bin_shares(weight)
        for feature, share, table in zip(self.features, shares, self.tables(W), strict=True):
            means[feature] = share @ table
            variances[feature] = share @ ((table - means[feature]) ** 2).sum(axis=1)
        return means, variances

    def bin_shares(self, weight: Array) -> list[Array]:
        """Return the share of the weight in every bin of every feature of the working set."""
        features, n_bins = np.array(self.features, dtype=np.int32), self.n_bins()
        share = (weight / weight.sum()).reshape(-1, 1)
        sums = self.binned.sums(features, share, self.team)
        return apart(sums[:, 0], np.cumsum(n_bins))

    def edges(self, A: Scores) -> Array:
        """Raise TypeError: a feature has one edge per stump, and pricing returns the best one."""
        raise TypeError("edges of single columns require DenseColumns")

    def rows(self, W: StepCoefficients) -> tuple[Array, Array]:
        """Return the non-zero weights of the stumps of both polarities, and their costs."""
        stumps = self.stumps(W)
        return stumps.rows, self.feature_costs[stumps.names[:, 0]]

    def penalty(self, W: StepCoefficients, penalty: Penalty) -> float:
        """Return sum_j cost_j N(W_j:) over the stumps of both polarities."""
        if not W:
            return 0.0
        joined = np.concatenate(W)
        live = rows_with_any(joined)
        costs = np.repeat(self.feature_costs[self.features], [len(jumps) for jumps in W])[live]
        plus, minus = np.maximum(joined[live], 0.0), np.maximum(-joined[live], 0.0)
        return penalty.value(plus, costs) + penalty.value(minus, costs)

    def n_learners(self, W: StepCoefficients) -> int:
        """Return the number of stumps with a non-zero weight; both polarities count."""
        if not W:
            return 0
        joined = np.concatenate(W)
        return sum(rows_with_any(part).size for part in (joined > 0.0, joined < 0.0))

    def learners(self, W: StepCoefficients) -> list[WeakClassifier]:
        """Return the stumps of `rows`, in the same order."""
        return self.named(self.stumps(W))

    def named(self, stumps: ColumnWeights) -> list[WeakClassifier]:
        """Return the weak classifiers with the given names, in order."""
        return [self.binned.learner(*name) for name in stumps.names.tolist()]

    def adopt(self, stumps: ColumnWeights) -> StepCoefficients:
        """Add the features of the stumps; return W without coefficients of a forbidden sign."""
        feature, threshold, polarity = stumps.names.T
        self.features = np.unique(feature).tolist()
        W = self.grow([])
        place = np.searchsorted(self.features, feature)
        for w, jumps in enumerate(W):
            own = place == w
            np.add.at(jumps, threshold[own], polarity[own, None] * stumps.rows[own])
            if self.signs is not None:
                jumps[self.signs_of([self.features[w]])[0] * jumps < 0.0] = 0.0
        return W

    def stumps(self, W: StepCoefficients) -> ColumnWeights:
        """Return the names and weights of the stumps with non-zero weights.

        They are sorted by feature, in the order of the working set, and then by polarity.
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
