"""The task of a fit whose rows are on shards."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from ..training.context import SINGLE_PRECISION_SIZE, FitContext, RowSubset, compute_nu_max
from ..training.settings import FitSettings
from . import hinge as kinks
from .block_descent import ShardedRowEvaluator
from .consensus import ShardedConsensus
from .hinge import HingeObjective, HingeStatistics, ShardedSmoothing, SmoothedRemoteScores
from .loading import LoadedShards
from .partial_pricing import PartialPricingOracle, PartialPricingStatistics
from .problem import ShardedBins, ShardedColumns, ShardedObjective, ShardedOracle, ShardedStumps
from .shard import RemoteScores, Shard
from .statistics import ShardedStatistics, sample_rows


class GatheredContext:
    """A task whose rows are on shards, with all of them in this process as well.

    They come one shard after the other, in their order: so what is made of them does not depend
    on the workers.

    Parameters
    ----------
    task : FitContext
    field : ShardedStatistics
        Where its rows are.

    Attributes
    ----------
    task : FitContext
        The plain task of the same rows, with the weights they have on their shards.
    """

    def __init__(self, task: FitContext, field: ShardedStatistics) -> None:
        self._field = field
        taken = field.all_rows
        margin = type(task.objective.margin).from_codes(taken.labels, field.k)
        rows = SampleWeights(taken.c, field.k, margin.true_class)
        self._shard = Shard(taken.binned(field.bins), margin, rows, taken.labels)
        far = task.objective
        self.task = FitContext(
            task.settings, Objective(margin, far.loss, far.penalty, far.nu, rows),
            StumpOracle(self._shard.binned, task.costs, task.team, field.signs), task.costs,
            task.team, taken.labels, taken.c, task.nu_max, task.total_weight, task.keep_dual,
        )  # fmt: skip

    def brought(self, outcome: Solution) -> Solution:
        """Return an answer of the rows on shards with its dual points in this process."""
        state = outcome.state
        assert state.best_U is None or isinstance(state.best_U, RemoteScores)
        proof = None if state.best_U is None else self._weights(state.best_U)
        return replace(outcome, state=replace(state, U=None, A=None, best_U=proof))

    def returned(self, outcome: Solution) -> Solution:
        """Return an answer of this process, on single columns, as one of the rows on shards."""
        state, columns = outcome.state, ShardedStumps(self._field, forget=True)
        W = columns.adopt(state.columns.stumps(state.W))
        back = replace(state, columns=columns, W=W, U=columns.scores(W), A=None, best_U=None)
        return replace(outcome, state=back)

    def _weights(self, place: RemoteScores) -> Array:
        """Return the weights U of all rows at a place, (m, k)."""
        double = place.astype(np.float64)
        if isinstance(double, SmoothedRemoteScores):
            return kinks.weights(self._shard, double)
        scores: Any = self._shard.scores(double)
        return self.task.objective.negative_gradient(scores)


@dataclass(frozen=True)
class ShardedContext(FitContext):
    """`FitContext` on the rows of all shards.

    Attributes
    ----------
    field : ShardedStatistics
    lightest : float
        The smallest weight of a row.
    """

    field: ShardedStatistics | None = None
    lightest: float = 0.0

    #: The U of the proof are made anew in double precision, from scores over the temperature: in
    #: trials their gap was up to 1.045 times that of the loop in single precision.
    smoothing_aim: ClassVar[float] = 0.95

    @property
    def rows(self) -> ShardedStatistics:
        """The field, which is there."""
        assert self.field is not None
        return self.field

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.rows.m

    @property
    def single_precision_pays(self) -> bool:
        """Whether single precision pays, and loses no row."""
        size = self.n_rows * self.objective.margin.k * self.rows.bins.n_bins.size
        return size >= SINGLE_PRECISION_SIZE and self.lightest > LEAST_SINGLE_WEIGHT

    def columns(self) -> FeatureColumns:
        """Return an empty working set of whole features."""
        return ShardedColumns(self.rows, team=self.team)

    def single_columns(self, forget: bool) -> DenseColumns:
        """Return an empty set of generated stumps."""
        return ShardedStumps(self.rows, forget)

    def all_rows(self, precision: "np.dtype[np.floating]") -> RowEvaluator:
        """Return what evaluates points of block descent on all rows."""
        return ShardedRowEvaluator(precision)

    def with_all_rows(
        self,
        solve: Callable[[FitContext, Solution | None], Solution],
        before: Solution | None = None,
    ) -> Solution:
        """Return what `solve` gives for the task with all rows in this process."""
        try:
            near = GatheredContext(self, self.rows)
        except RowsUnavailableError as lost:
            lost.state = None if before is None else before.state
            raise
        except KeyboardInterrupt:
            if before is None:
                raise
            return replace(before, status=Status.INTERRUPTED)
        return near.returned(solve(near.task, None if before is None else near.brought(before)))

    def smoothing(self, precision: type) -> Smoothing:
        """Return what solves the task where the loss has kinks."""
        return ShardedSmoothing(precision)

    def row_subset(self, size: int) -> RowSubset:
        """Return about so many of the rows, with weights that make up for the others."""
        field, objective = self.rows, self.objective
        features = np.arange(field.bins.n_bins.size, dtype=np.int32)
        taken = sample_rows(field.crew, field.class_counts, min(size, field.m), features)
        margin = type(objective.margin).from_codes(taken.labels, field.k)
        rows = SampleWeights.weighted(taken.c * taken.scale, field.k, margin.true_class)
        on_part = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
        return RowSubset(taken.binned(field.bins), np.arange(taken.labels.size), on_part)


def prepare(
    request: FitSettings,
    loaded: LoadedShards,
    costs: Array,
    signs: Ints | None,
    team: Team | None,
    most: int | None = None,
) -> ShardedContext:
    """Make the task of rows on shards with feature costs (d + 1,), at the nu of the request.

    `most` is how many bytes a round may move, None for any number.
    """
    plan, k = loaded.plan, loaded.plan.k
    bins = ShardedBins(**{**vars(plan.bins), "m": loaded.m})
    what = (loaded.crew, request.loss, bins, costs, signs, k, loaded.class_counts)
    kinks = not request.loss.smooth
    whole = HingeStatistics if kinks else ShardedStatistics
    field = whole(*what) if most is None else PartialPricingStatistics(*what, most=most)
    one = plan.margin.from_codes(np.zeros(1, dtype=np.int32), k)
    rows = SampleWeights(np.array([1.0 / k]), k, one.true_class)
    if request.solver is Consensus:
        request = replace(request, solver=ShardedConsensus(loaded.crew))
    ahead = request.solver is BlockDescent
    kind = HingeObjective if kinks else ShardedObjective
    objective = kind(one, request.loss, request.penalty, 1.0, rows, field, ahead)
    oracle = (
        PartialPricingOracle(field)
        if isinstance(field, PartialPricingStatistics)
        else ShardedOracle(field)
    )
    nu_max = compute_nu_max(objective, oracle.reprice)
    none = np.zeros(0)
    task = ShardedContext(
        request, objective, oracle, costs, team, none.astype(np.int32), none, nu_max,
        loaded.total_weight, field=field, lightest=loaded.lightest,
    )  # fmt: skip
    return replace(task, objective=replace(objective, nu=task.absolute_nu(request.nu)))
