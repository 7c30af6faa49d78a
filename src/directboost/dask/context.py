"""The context of a fit whose rows are on shards."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..arrays import LEAST_SINGLE_WEIGHT, Array, Ints
from ..history import RowsUnavailableError, Status
from ..kernels.threads import Team
from ..losses import SampleWeights
from ..oracles.stump import StumpOracle
from ..problem.columns import DenseColumns
from ..problem.feature_columns import FeatureColumns
from ..problem.objective import Objective
from ..solvers import BlockDescent, Consensus, Smoothing
from ..solvers.line_search import RowEvaluator
from ..training.column_generation import Solution
from ..training.context import FitContext, RowSubset
from ..training.settings import FitSettings
from .block_descent import ShardedRowEvaluator
from .consensus import ShardedConsensus
from .hinge import (
    HingeObjective,
    HingeStatistics,
    ShardedSmoothing,
    SmoothedRemoteScores,
    hinge_weights,
)
from .loading import LoadedShards
from .partial_pricing import (
    PartialPricingColumns,
    PartialPricingOracle,
    PartialPricingStatistics,
)
from .problem import ShardedColumns, ShardedObjective, ShardedOracle, ShardedStumps
from .shard import RemoteScores, Shard
from .statistics import ShardedStatistics, sample_rows


@dataclass(frozen=True)
class ShardedContext(FitContext):
    """`FitContext` of the rows of all shards.

    Attributes
    ----------
    statistics : ShardedStatistics
    lightest : float
        The smallest weight of a row.
    start_price : float
        Upper bound of the prices at W = 0, including rounding.
    """

    statistics: ShardedStatistics = field(kw_only=True)
    lightest: float = field(kw_only=True)
    start_price: float = field(kw_only=True)

    #: The U of the certificate are recomputed in double precision, from scores over the
    #: temperature. In trials their gap was up to 1.045 times that of the loop in single precision.
    smoothing_aim: ClassVar[float] = 0.95

    @property
    def single_precision_pays(self) -> bool:
        """Whether single precision saves time and represents the weight of every row."""
        return super().single_precision_pays and self.lightest > LEAST_SINGLE_WEIGHT

    def columns(self) -> FeatureColumns:
        """Return an empty working set of whole features."""
        partial = isinstance(self.statistics, PartialPricingStatistics)
        kind = PartialPricingColumns if partial else ShardedColumns
        return kind(self.statistics, team=self.team)

    def single_columns(self, forget: bool) -> DenseColumns:
        """Return an empty set of generated stumps."""
        return ShardedStumps(self.statistics, forget)

    def all_rows(self, precision: "np.dtype[np.floating]") -> RowEvaluator:
        """Return the evaluator of block descent on all rows."""
        return ShardedRowEvaluator(precision)

    def with_all_rows(
        self,
        solve: Callable[[FitContext, Solution | None], Solution],
        before: Solution | None = None,
    ) -> Solution:
        """Return the result of `solve` in a context with all rows on the driver."""
        try:
            gathered = GatheredContext(self)
        except RowsUnavailableError as lost:
            lost.state = None if before is None else before.state
            raise
        except KeyboardInterrupt:
            if before is None:
                raise
            return replace(before, status=Status.INTERRUPTED)
        start = None if before is None else gathered.to_local(before)
        return gathered.to_remote(solve(gathered.context, start))

    def smoothing(self, precision: type) -> Smoothing:
        """Return the solver for a non-smooth loss."""
        return ShardedSmoothing(precision)

    def row_subset(self, size: int) -> RowSubset:
        """Return a sample of about `size` rows, with weights that represent all rows."""
        statistics, objective = self.statistics, self.objective
        features = np.arange(statistics.bins.n_bins.size, dtype=np.int32)
        size = min(size, statistics.n_rows)
        taken = sample_rows(statistics.executor, statistics.class_counts, size, features)
        margin = type(objective.margin).from_codes(taken.labels, statistics.k)
        rows = SampleWeights.weighted(taken.c * taken.scale, statistics.k, margin.true_class)
        on_sample = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
        binned = replace(statistics.bins, codes=taken.codes)
        return RowSubset(binned, np.arange(taken.labels.size), on_sample)


class GatheredContext:
    """A context on shards with all rows on the driver as well.

    The rows are in the order of the shards, so results do not depend on the workers.

    Parameters
    ----------
    remote : ShardedContext

    Attributes
    ----------
    context : FitContext
        The local context of the same rows, with the weights that they have on the shards.
    """

    def __init__(self, remote: ShardedContext) -> None:
        statistics, objective = remote.statistics, remote.objective
        self._statistics = statistics
        taken = statistics.all_rows
        margin = type(objective.margin).from_codes(taken.labels, statistics.k)
        rows = SampleWeights(taken.c, statistics.k, margin.true_class)
        binned = replace(statistics.bins, codes=taken.codes)
        self._shard = Shard(binned, margin, rows, taken.labels)
        self.context = FitContext(
            settings=remote.settings,
            objective=Objective(margin, objective.loss, objective.penalty, objective.nu, rows),
            oracle=StumpOracle(binned, remote.costs, remote.team, statistics.signs),
            costs=remote.costs,
            team=remote.team,
            labels=taken.labels,
            weight=taken.c,
            nu_max=remote.nu_max,
            total_weight=remote.total_weight,
            keep_dual=remote.keep_dual,
        )

    def to_local(self, solution: Solution) -> Solution:
        """Return a solution on shards with its dual point on the driver."""
        state, best_U = solution.state, None
        if state.best_U is not None:
            assert isinstance(state.best_U, RemoteScores)
            point = state.best_U.astype(np.float64)
            if isinstance(point, SmoothedRemoteScores):
                best_U = hinge_weights(self._shard, point)
            else:
                scores: Any = self._shard.scores(point)
                best_U = self.context.objective.negative_gradient(scores)
        return replace(solution, state=replace(state, U=None, A=None, best_U=best_U))

    def to_remote(self, solution: Solution) -> Solution:
        """Return a local solution on single columns as one on shards."""
        state, columns = solution.state, ShardedStumps(self._statistics, forget=True)
        W = columns.adopt(state.columns.stumps(state.W))
        remote = replace(state, columns=columns, W=W, U=columns.scores(W), A=None, best_U=None)
        return replace(solution, state=remote)


def make_context(
    settings: FitSettings,
    loaded: LoadedShards,
    costs: Array,
    signs: Ints | None,
    team: Team | None,
    max_round_bytes: int | None = None,
) -> ShardedContext:
    """Return the context of rows on shards, at the nu of the settings.

    Parameters
    ----------
    settings : FitSettings
    loaded : LoadedShards
    costs : (d + 1,) array
        Costs of the features.
    signs : (d + 1, k) int array or None
    team : Team or None
    max_round_bytes : int or None
        Bytes that a round may transfer.
    """
    plan, loss, n_rows = loaded.plan, settings.loss, int(loaded.class_counts.sum())
    given: dict[str, Any] = {
        "executor": loaded.executor,
        "loss": loss,
        # No codes, but the number of rows of all shards.
        "bins": replace(plan.bins, codes=np.empty((0, n_rows), dtype=plan.bins.codes.dtype)),
        "costs": costs,
        "signs": signs,
        "k": plan.k,
        "class_counts": loaded.class_counts,
    }
    statistics: ShardedStatistics
    oracle: ShardedOracle
    if max_round_bytes is not None:
        statistics = PartialPricingStatistics(**given, max_bytes=max_round_bytes)
        oracle = PartialPricingOracle(statistics)
    else:
        statistics = (ShardedStatistics if loss.smooth else HingeStatistics)(**given)
        oracle = ShardedOracle(statistics)
    one_row = plan.margin.from_codes(np.zeros(1, dtype=np.int32), plan.k)
    if settings.solver is Consensus:
        settings = replace(settings, solver=ShardedConsensus(loaded.executor))
    objective = (ShardedObjective if loss.smooth else HingeObjective)(
        margin=one_row,
        loss=loss,
        penalty=settings.penalty,
        nu=1.0,
        rows=SampleWeights(np.array([1.0 / plan.k]), plan.k, one_row.true_class),
        statistics=statistics,
        prefetch_curvature=settings.solver is BlockDescent,
    )
    pricing = oracle.reprice(objective.start(np.dtype(np.float64)), settings.penalty)
    context = ShardedContext(
        settings=settings,
        objective=objective,
        oracle=oracle,
        costs=costs,
        team=team,
        labels=np.zeros(0, dtype=np.int32),
        weight=np.zeros(0),
        nu_max=pricing.max_price,
        total_weight=loaded.total_weight,
        statistics=statistics,
        lightest=loaded.lightest,
        start_price=pricing.max_price + pricing.rounding,
    )
    return replace(context, objective=replace(objective, nu=context.absolute_nu(settings.nu)))
