"""Single stumps as columns, whose rows are on shards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.binning import BinnedData, ColumnWeights
from ..kernels import add_tables, histograms
from ..kernels.step_functions import edges_of, rows_with_any, tables_of
from ..kernels.structs import EXPONENTIAL, LossRows, LossValues, Wanted, own_class_dual
from ..kernels.threads import Team
from ..oracles.base import rounding_of_sums
from ..oracles.stump import StumpOracle
from ..penalties import Penalty
from ..problem.columns import DenseColumns, Proposals
from ..problem.feature_columns import FeatureColumns, StepCoefficients, max_entering
from ..problem.objective import Objective
from . import passes
from .passes import DualMessage, is_coupled
from .shard import RemoteScores, Shard, SparseCoefficients
from .statistics import Prices, ShardedStatistics, values_of


@dataclass(frozen=True)
class ShardedObjective(Objective):
    """`Objective` where a `RemoteScores` stands for F, U and A.

    Its margin and rows are those of one row that has all the weight.

    Attributes
    ----------
    field : ShardedStatistics
    ahead : bool
        Whether the curvature at a place will be asked for after its dual value.
    """

    field: ShardedStatistics
    ahead: bool = True

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.field.m

    def loss_value(self, F: Any) -> float:
        """Return L at the scores F."""
        return self.field.value(F)

    def negative_gradient(self, F: Any) -> Any:
        """Return the weights U at the scores F."""
        return F

    def start(self, precision: Any) -> Any:
        """Return the weights U at W = 0 in that precision."""
        return self.field.place(SparseCoefficients.of([], [], self.margin.k), precision)

    def start_value(self) -> float:
        """Return L at W = 0."""
        return self.loss_value(self.start(np.float64))

    def evaluate(self, F: Any, wanted: Wanted, team: Team | None = None) -> LossValues:
        """Return L at the scores F; where more is wanted, F is the place of it."""
        del team
        if not wanted:
            return LossValues(self.loss_value(F))
        if not self.field.in_turns:
            self.field.prices(F, self.penalty)
        return LossValues(value=self.field.value(F), F=F, U=F, A=F, C=F)

    def coefficients(self, U: Any) -> Any:
        """Return A, so that the edges of h are h @ A."""
        return U

    def dual_bound(self, U: Any, max_price: float) -> float:
        """Return the dual objective at U, shrunk so that no price is above nu."""
        return self.dual_estimate(U, max_price)

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return `dual_bound`; in the same pass the shards sum the curvature asked for next."""
        del team
        tau = 1.0 if max_price <= self.nu else self.nu / max_price
        value = self.field.value(U) if is_coupled(self) else 0.0
        features = None
        if self.ahead and not self.field.in_turns:
            features = self._next_features(U, self.field.prices(U, self.penalty))
        message = DualMessage(U.alone(), self.loss, value, tau, features)
        size = 0 if features is None else self.field.size_of(features)
        held = self.field.crew.hold(passes.dual, message, size)
        if features is not None:
            U.known["bend"] = (features, held)
        found = self.field.crew.read(held, values_of)
        if not is_coupled(self):
            return float(found[0])
        rows = LossRows(
            loss=EXPONENTIAL,
            k=self.margin.k,
            labels=self.margin.true_class,
            targets=None,
            c=self.rows.c,
        )
        return float(found[0]) + own_class_dual(rows, float(found[1]))

    def _next_features(self, U: Any, prices: Prices) -> Any:
        """Return the features with weight, and those above nu that will be let in."""
        active = U.weights.features
        order = np.argsort(-prices.best, kind="stable")
        new = order[(prices.best[order] > self.nu) & ~np.isin(order, active)]
        new = new[: max_entering(prices.best.size, active.size)]
        return np.union1d(active, new).astype(np.int32)


@dataclass(frozen=True)
class ShardedBins(BinnedData):
    """Bins whose rows are elsewhere.

    Attributes
    ----------
    m : int
        Number of rows.
    """

    m: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.m


class ShardedColumns(FeatureColumns):
    """A working set of features whose scores are places."""

    def __init__(self, field: ShardedStatistics, **more: Any) -> None:
        super().__init__(field.bins, field.costs, field.k, signs=field.signs, **more)
        self.field = field

    def extend(self, proposals: Proposals, W: StepCoefficients) -> int:
        """Let the worst violators in, as many as the field has room for."""
        before = list(self.features)
        added = super().extend(proposals, W)
        live = sum(rows_with_any(jumps).size for jumps in W)
        kept = self.field.fitting(self.features, added, live)
        if kept < added:
            best = [f for f in proposals.feature.tolist() if f in self.features[len(before) :]]
            self.features = [*before, *sorted(best[:kept])]
        return kept

    def rounded_scores(self, W: StepCoefficients, precision: Any) -> Any:
        """Return the place of the scores F in that precision."""
        k = W[0].shape[1] if W else self.k
        return self.field.place(SparseCoefficients.of(self.features, W, k), precision)

    def scores(self, W: StepCoefficients) -> Any:
        """Return the place of the scores F."""
        return self.rounded_scores(W, np.float64)

    def means(self, W: StepCoefficients, weight: Array) -> Array:
        """Return the weighted mean over the rows of what every feature adds to F, (d + 1, k)."""
        del weight  # the field has it
        out = np.zeros((self.binned.n_bins.size, self._k))
        for feature, table in zip(self.features, self.tables(W) if W else [], strict=True):
            out[feature] = self.field.bin_weights[feature] @ table
        return out


class ShardedOracle(StumpOracle):
    """Prices every stump from the sums of all shards; only the best of each feature travel."""

    def __init__(self, field: ShardedStatistics) -> None:
        super().__init__(field.bins, field.costs, None, field.signs)
        self._field = field
        self._counted = 0

    def traffic(self) -> int:
        """Return the bytes that have travelled since the last call."""
        total = self._field.crew.traffic
        before, self._counted = self._counted, total
        return total - before

    def _best(self, A: Any, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the best price of every feature, and the jump and polarity that have it."""
        found = self._field.prices(A, penalty)
        return found.best, found.jump, found.polarity

    def _rounding(self, A: Any, penalty: Penalty) -> float:
        """Bound the error of an edge: as many additions as rows, bins and shards."""
        if A.dtype != np.float64:
            return 0.0
        field = self._field
        terms = field.m + 2 * int(field.bins.n_bins.max()) + field.crew.count + 8
        sizes = field.prices(A, penalty).sizes
        return rounding_of_sums(sizes, penalty, terms, float(min(field.costs)))


class ShardedStumps(DenseColumns):
    """Generated stumps without responses; W is (n, k) >= 0."""

    def __init__(self, field: ShardedStatistics, forget: bool = False) -> None:
        self._source, self._feature_costs = field.bins, field.costs
        self._forget, self._field = forget, field
        self._idle: dict[tuple[int, int, int], int] = {}
        self._keys: list[tuple[int, int, int]] = []
        self._last: tuple[Array, list[tuple[int, int, int]], RemoteScores] | None = None

    @property
    def H(self) -> Array:
        """Refuse: no process has the rows of all shards."""
        raise TypeError("the responses of stumps on shards are on the workers")

    def scores(self, W: Array) -> Any:
        """Return the place of the scores F."""
        return self.rounded_scores(W, np.float64)

    def rounded_scores(self, W: Array, precision: Any) -> Any:
        """Return the place of the scores F in that precision; the same one for the same weights."""
        last = self._last
        if last is not None and last[1] == self._keys and np.array_equal(last[0], W):
            return last[2].astype(precision)
        place = RemoteScores(SparseCoefficients.of_stumps(self.stumps(W)), np.dtype(precision))
        self._last = (W.copy(), list(self._keys), place)
        return place

    def edges(self, A: Any) -> Array:
        """Return the edges of all stumps, (n, k)."""
        names = self.array
        features, owner = np.unique(names[:, 0], return_inverse=True)
        edges = self._field.edges(A, features.astype(np.int32))
        found = [
            polarity * edges[f][jump]
            for f, (_, jump, polarity) in zip(owner.ravel(), names.tolist(), strict=True)
        ]
        return np.array(found).reshape(len(self), self._field.k)

    @property
    def array(self) -> Ints:
        """Feature, jump and polarity of every column, (n, 3)."""
        return np.array(self._keys, dtype=np.int64).reshape(-1, 3)

    def keep(self, which: Bools) -> None:
        """Drop the columns where `which` (n,) is false."""
        self._keys = [key for key, stays in zip(self._keys, which, strict=True) if stays]
        self._idle = {key: self._idle.get(key, 0) for key in self._keys}
        self.generation += 1

    def _append(self, key: tuple[int, int, int]) -> None:
        self._keys.append(key)


class StumpMatrix:
    """The responses H (m, n) of stumps to the rows of a shard: as a map, without an array.

    H @ W adds up tables, H.T @ A takes sums over bins: both touch the codes of the features that
    are read, and nothing else.
    """

    def __init__(self, shard: Shard, names: Ints) -> None:
        self._binned, self._names = shard.binned, names
        self.shape = shard.n_rows, names.shape[0]
        self._features = np.unique(names[:, 0]).astype(np.int32)

    def __matmul__(self, W: Array) -> Array:
        weights, binned = SparseCoefficients.of_stumps(ColumnWeights(self._names, W)), self._binned
        n_bins, kinds = (all_[weights.features] for all_ in (binned.n_bins, binned.kinds))
        tables = tables_of(weights.spread(binned.n_bins, binned.kinds), n_bins, kinds)
        F = np.zeros((self.shape[0], W.shape[1]))
        add_tables(binned.codes, weights.features, tables, F, None, binned.sparse)
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
        jumps, polarities = self._names[:, 1].tolist(), self._names[:, 2].tolist()
        rows = [s * edges[f][j] for f, j, s in zip(place, jumps, polarities, strict=True)]
        return np.array(rows).reshape(self.shape[1], A.shape[1])

    def some_rows(self, rows: slice) -> Array:
        """Return the responses to some rows, (rows, n)."""
        responses = [self._binned.response(*name)[rows] for name in self._names.tolist()]
        return np.column_stack(responses)


class _Transposed:
    def __init__(self, matrix: StumpMatrix) -> None:
        self._matrix = matrix

    def __matmul__(self, A: Array) -> Array:
        return self._matrix.edges(np.ascontiguousarray(A))
