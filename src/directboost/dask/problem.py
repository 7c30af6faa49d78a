"""The problem on shards: objective, working set of features, oracle and single stumps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.binning import ColumnWeights
from ..kernels import add_tables, histograms
from ..kernels.step_functions import edges_of, tables_of
from ..kernels.structs import EXPONENTIAL, LossRows, LossValues, Wanted, own_class_dual
from ..kernels.threads import Team
from ..oracles.base import rounding_of_sums
from ..oracles.stump import StumpOracle
from ..penalties import Penalty
from ..problem.columns import DenseColumns
from ..problem.feature_columns import FeatureColumns, StepCoefficients, max_entering
from ..problem.objective import Objective
from . import passes
from .passes import DualRequest, is_coupled
from .shard import RemoteScores, Shard, SparseCoefficients
from .statistics import ShardedStatistics, read_values


@dataclass(frozen=True)
class ShardedObjective(Objective):
    """`Objective` whose F, U and A are `RemoteScores`.

    Margin and rows are those of a single row with the weight of all rows.

    Attributes
    ----------
    statistics : ShardedStatistics
    prefetch_curvature : bool
        Whether the pass for the dual value also sums the curvature, which block descent needs next.
    """

    statistics: ShardedStatistics
    prefetch_curvature: bool = True

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.statistics.n_rows

    def loss_value(self, F: Any) -> float:
        """Return L at the scores F."""
        return self.statistics.value(F)

    def negative_gradient(self, F: Any) -> Any:
        """Return the weights U at the scores F."""
        return F

    def start(self, precision: Any) -> Any:
        """Return the weights U at W = 0 in that precision."""
        none = SparseCoefficients.from_features([], [], self.margin.k)
        return self.statistics.remote_scores(none, precision)

    def start_value(self) -> float:
        """Return L at W = 0."""
        return self.statistics.value(self.start(np.float64))

    def evaluate(self, F: Any, wanted: Wanted, team: Team | None = None) -> LossValues:
        """Return L at the scores F; F also refers to the wanted arrays of U, A and C.

        If arrays are wanted, one pass collects the loss and the sums for pricing.
        """
        del team
        if not wanted:
            return LossValues(self.statistics.value(F))
        if not self.statistics.partial_pricing:
            return LossValues(self.statistics.prices(F, self.penalty).loss, F, F, F, F)
        return LossValues(self.statistics.value(F), F, F, F, F)

    def coefficients(self, U: Any) -> Any:
        """Return A, so that the edges of h are h @ A."""
        return U

    def dual_bound(self, U: Any, max_price: float) -> float:
        """Return the dual objective at U, shrunk so that no price exceeds nu."""
        return self.dual_estimate(U, max_price)

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return `dual_bound`; the same pass sums the curvature that is needed next."""
        del team
        statistics, features = self.statistics, None
        if self.prefetch_curvature and not statistics.partial_pricing:
            # The features with non-zero coefficients, and those above nu that will enter.
            prices, active = statistics.prices(U, self.penalty), U.coefficients.features
            order = np.argsort(-prices.best, kind="stable")
            new = order[(prices.best[order] > self.nu) & ~np.isin(order, active)]
            entering = new[: max_entering(prices.best.size, active.size)]
            features = np.union1d(active, entering).astype(np.int32)
        coupled = is_coupled(self)
        request = DualRequest(
            point=U.without_cache(),
            loss=self.loss,
            value=statistics.value(U) if coupled else 0.0,
            tau=self.feasible_share(max_price),
            features=features,
        )
        size = 0 if features is None else statistics.sum_bytes(features)
        future = statistics.executor.submit(passes.dual, request, size)
        if features is not None:
            U.cache.curvature, U.cache.curvature_features = future, features
        found = statistics.executor.read(future, read_values)
        if not coupled:
            return float(found[0])
        rows = LossRows(
            loss=EXPONENTIAL,
            k=self.margin.k,
            labels=self.margin.true_class,
            targets=None,
            c=self.rows.c,
        )
        return float(found[0]) + own_class_dual(rows, float(found[1]))


class ShardedColumns(FeatureColumns):
    """A working set of features whose scores are `RemoteScores`."""

    def __init__(self, statistics: ShardedStatistics, **options: Any) -> None:
        super().__init__(
            statistics.bins, statistics.costs, statistics.k, signs=statistics.signs, **options
        )
        self.statistics = statistics

    def rounded_scores(self, W: StepCoefficients, precision: Any) -> Any:
        """Return the scores F in that precision."""
        k = W[0].shape[1] if W else self.k
        coefficients = SparseCoefficients.from_features(self.features, W, k)
        return self.statistics.remote_scores(coefficients, precision)

    def scores(self, W: StepCoefficients) -> Any:
        """Return the scores F."""
        return self.rounded_scores(W, np.float64)

    def bin_shares(self, weight: Array) -> list[Array]:
        """Return the share of the weight in every bin of every feature of the working set."""
        del weight  # the weights are on the shards
        return [self.statistics.bin_weights[feature] for feature in self.features]


class ShardedOracle(StumpOracle):
    """Prices all stumps from the sums of all shards; only the best of each feature is transferred.

    Parameters
    ----------
    statistics : ShardedStatistics
    """

    def __init__(self, statistics: ShardedStatistics) -> None:
        super().__init__(statistics.bins, statistics.costs, None, statistics.signs)
        self._statistics = statistics
        self._counted = 0

    def traffic(self) -> int:
        """Return the bytes transferred since the last call."""
        total = self._statistics.executor.traffic
        before, self._counted = self._counted, total
        return total - before

    def _best(self, A: Any, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the largest price of every feature, with its threshold and polarity."""
        found = self._statistics.prices(A, penalty)
        return found.best, found.threshold, found.polarity

    def _rounding(self, A: Any, penalty: Penalty) -> float:
        """Bound the error of an edge by the number of additions: rows, bins and shards."""
        if A.dtype != np.float64:
            return 0.0
        statistics = self._statistics
        n_bins, n_shards = int(statistics.bins.n_bins.max()), statistics.executor.n_shards
        terms = statistics.n_rows + 2 * n_bins + n_shards + 8
        sizes = statistics.prices(A, penalty).sizes
        return rounding_of_sums(sizes, penalty, terms, float(min(statistics.costs)))


class ShardedStumps(DenseColumns):
    """Generated stumps whose responses are on the shards; W is (n, k) >= 0."""

    def __init__(self, statistics: ShardedStatistics, forget: bool = False) -> None:
        self._source, self._feature_costs = statistics.bins, statistics.costs
        self._forget, self._statistics = forget, statistics
        self._idle: dict[tuple[int, int, int], int] = {}
        self._keys: list[tuple[int, int, int]] = []
        self._last: tuple[Array, list[tuple[int, int, int]], RemoteScores] | None = None

    @property
    def H(self) -> Array:
        """Raise TypeError: no process has the rows of all shards."""
        raise TypeError("the responses of stumps on shards are on the workers")

    def scores(self, W: Array) -> Any:
        """Return the scores F."""
        return self.rounded_scores(W, np.float64)

    def rounded_scores(self, W: Array, precision: Any) -> Any:
        """Return the scores F in that precision; the same object for the same coefficients."""
        last = self._last
        if last is not None and last[1] == self._keys and np.array_equal(last[0], W):
            return last[2].astype(precision)
        coefficients = SparseCoefficients.from_stumps(self.stumps(W))
        made = RemoteScores(coefficients, np.dtype(precision))
        self._last = (W.copy(), list(self._keys), made)
        return made

    def edges(self, A: Any) -> Array:
        """Return the edges of all stumps, (n, k)."""
        names = self.array
        features, owner = np.unique(names[:, 0], return_inverse=True)
        edges = self._statistics.edges(A, features.astype(np.int32))
        found = [
            polarity * edges[f][threshold]
            for f, (_, threshold, polarity) in zip(owner.ravel(), names.tolist(), strict=True)
        ]
        return np.array(found).reshape(len(self), self._statistics.k)

    @property
    def array(self) -> Ints:
        """Feature, threshold and polarity of every column, (n, 3)."""
        return np.array(self._keys, dtype=np.int64).reshape(-1, 3)

    def keep(self, which: Bools) -> None:
        """Drop the columns where `which` (n,) is false."""
        self._keys = [key for key, stays in zip(self._keys, which, strict=True) if stays]
        self._idle = {key: self._idle.get(key, 0) for key in self._keys}
        self.generation += 1

    def _append(self, key: tuple[int, int, int]) -> None:
        self._keys.append(key)


class StumpMatrix:
    """The responses H (m, n) of stumps on the rows of a shard, as a linear operator.

    H @ W adds up tables, and H.T @ A sums over bins. Both read only the codes of the features of
    the stumps.

    Parameters
    ----------
    shard : Shard
    names : (n, 3) int array
        Feature, threshold and polarity of the stumps.
    """

    def __init__(self, shard: Shard, names: Ints) -> None:
        self._binned, self._names = shard.binned, names
        self.shape = shard.labels.size, names.shape[0]
        self._features = np.unique(names[:, 0]).astype(np.int32)

    def __matmul__(self, W: Array) -> Array:
        binned = self._binned
        coefficients = SparseCoefficients.from_stumps(ColumnWeights(self._names, W))
        jumps = coefficients.to_dense(binned.n_bins, binned.kinds)
        features = coefficients.features
        tables = tables_of(jumps, binned.n_bins[features], binned.kinds[features])
        F = np.zeros((self.shape[0], W.shape[1]))
        add_tables(binned.codes, features, tables, F, None, binned.sparse)
        return F

    @property
    def T(self) -> "_Transposed":
        """The adjoint."""
        return _Transposed(self)

    def edges(self, A: Array) -> Array:
        """Return H.T @ A, (n, k)."""
        binned, features = self._binned, self._features
        n_bins = np.ascontiguousarray(binned.n_bins[features], dtype=np.int32)
        sums = histograms(binned.codes, features, n_bins, A, None, binned.sparse)
        parts = np.split(sums, np.cumsum(n_bins)[:-1])
        kinds = binned.kinds[features].tolist()
        edges = [edges_of(part, kind) for part, kind in zip(parts, kinds, strict=True)]
        place = np.searchsorted(features, self._names[:, 0])
        thresholds, polarities = self._names[:, 1].tolist(), self._names[:, 2].tolist()
        rows = [s * edges[f][j] for f, j, s in zip(place, thresholds, polarities, strict=True)]
        return np.array(rows).reshape(self.shape[1], A.shape[1])

    def some_rows(self, rows: slice) -> Array:
        """Return the responses on some rows, (rows, n)."""
        responses = [self._binned.response(*name)[rows] for name in self._names.tolist()]
        return np.column_stack(responses)


class _Transposed:
    def __init__(self, matrix: StumpMatrix) -> None:
        self._matrix = matrix

    def __matmul__(self, A: Array) -> Array:
        return self._matrix.edges(np.ascontiguousarray(A))
