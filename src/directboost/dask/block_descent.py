"""Block descent on shards: iterates, samples of the rows, and the line search."""

from typing import Any, cast

import numpy as np

from ..arrays import Array, Ints, Scores
from ..kernels import add_tables
from ..kernels.step_functions import apart, tables_of
from ..kernels.structs import Wanted
from ..losses import SampleWeights
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective
from ..solvers.block_descent import BACKTRACK, EXTENSION
from ..solvers.line_search import LineSearch, RowEvaluator
from ..solvers.quadratic_model import WHOLE_SHARE, Iterate, QuadraticModel, RowSample
from . import passes
from .passes import LineRequest
from .problem import ShardedColumns
from .shard import RemoteScores
from .statistics import ShardedStatistics, read_values, sample_rows, sampled_codes

_CODE_BYTES = 1 << 24  # of the codes of a sample that are fetched at once


class ShardedIterate(Iterate):
    """An iterate whose arrays of rows are on the shards."""

    def sums(self, columns: FeatureColumns) -> tuple[Array, Array]:
        """Return the sums of A and C over the bins of the working set, (all bins, k) each."""
        assert isinstance(columns, ShardedColumns)
        F: Any = self.F
        return columns.statistics.sums(F, np.array(columns.features, dtype=np.int32))


class ShardedRowEvaluator(RowEvaluator):
    """Evaluates iterates on the rows of all shards."""

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of `size` rows, or of all rows."""
        assert isinstance(columns, ShardedColumns)
        return ShardedRowSample(objective, columns.statistics, size)

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> LineSearch:
        """Return the line search towards the minimum of a model."""
        return ShardedLineSearch(self, objective, columns, model)

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Any,
        penalty: float,
    ) -> Iterate:
        """Return the iterate with coefficients W, scores F and that penalty."""
        loss = objective.evaluate(F, Wanted.DERIVATIVES, columns.team).value
        return ShardedIterate(W, F, loss, penalty, F, F, F)


class ShardedLineSearch(LineSearch):
    """Line search that requests the losses of several steps in one pass."""

    def __init__(
        self,
        evaluator: RowEvaluator,
        objective: Objective,
        columns: FeatureColumns,
        model: QuadraticModel,
    ) -> None:
        self._evaluator, self._objective = evaluator, objective
        self._columns, self._model = columns, model
        self._start: Array = np.concatenate(model.iterate.W)
        self._end = self._scores(self._coefficients(1.0))
        self._losses: dict[float, float] = {}

    def value(self, step: float) -> float:
        """Return the objective after a step; infinite if a coefficient violates its sign."""
        signs = self._model.work.signs
        if signs is not None and not self._keeps_signs(signs, step):
            return float("inf")
        if step not in self._losses:
            # The steps that block descent tries next.
            factor = EXTENSION if step > 1.0 else BACKTRACK
            further = (EXTENSION,) if step == 1.0 else (factor * step, factor * (factor * step))
            self._request((step, *further))
        return self._losses[step] + self._model.penalty(self._start, step)

    def _request(self, steps: tuple[float, ...]) -> None:
        """Request the losses after steps; at the end, also the sums that are needed there."""
        statistics = cast(ShardedColumns, self._columns).statistics
        functions, start = statistics.pass_functions, cast(RemoteScores, self._model.iterate.F)
        with_sums = (
            steps[0] == 1.0 and len(statistics.blocks) == 1 and not statistics.partial_pricing
        )
        features = statistics.blocks[0] if with_sums else np.zeros(0, dtype=np.int32)
        request = LineRequest(
            point=start.without_cache(),
            loss=statistics.loss,
            end=self._end.without_cache(),
            steps=steps,
            features=features,
        )
        function = functions.line_and_gradient if with_sums else functions.line
        future = statistics.executor.submit(function, request, statistics.sum_bytes(features))
        losses = statistics.executor.read(future, read_values)
        if with_sums:  # the first value of the pass at the end is the loss there
            self._end.cache.gradient = [future]
            losses = np.delete(losses, np.s_[1 : functions.n_values])
        self._losses |= dict(zip(steps, losses.tolist(), strict=True))

    def accept(self, step: float) -> Iterate:
        """Return the iterate after a step."""
        W = self._coefficients(step)
        F: Any = self._end if step == 1.0 else self._scores(W)
        penalty = self._model.penalty(self._start, step)
        return self._evaluator.evaluate(self._objective, self._columns, W, F, penalty)

    def _coefficients(self, step: float) -> StepCoefficients:
        """Return the coefficients after a step."""
        work = self._model.work
        jumps = self._start + step * (work.jumps - self._start) if step != 1.0 else work.jumps
        return apart(jumps, work.first_threshold[1:])

    def _scores(self, W: StepCoefficients) -> RemoteScores:
        """Return the scores of coefficients."""
        return cast(RemoteScores, self._columns.rounded_scores(W, self._evaluator.precision))


class ShardedRowSample(RowSample):
    """Sample of the rows of all shards, with its codes and scores on the driver.

    Parameters
    ----------
    objective : Objective
    statistics : ShardedStatistics
    size : int
        Number of rows; if it is most of the rows, all are taken.
    """

    def __init__(self, objective: Objective, statistics: ShardedStatistics, size: int) -> None:
        n_rows, n_features = statistics.n_rows, statistics.bins.n_bins.size
        size = min(size, statistics.max_sample)
        self._statistics, self.whole = statistics, size >= WHOLE_SHARE * n_rows
        # If they are small, the codes of all features are fetched with the rows.
        code_bytes = n_features * statistics.bins.codes.itemsize * (n_rows if self.whole else size)
        at_once = code_bytes <= _CODE_BYTES and not statistics.partial_pricing
        features = np.arange(n_features if at_once else 0, dtype=np.int32)
        self._taken = sample_rows(
            statistics.executor, statistics.class_counts, None if self.whole else size, features
        )
        self.n = int(self._taken.labels.size)
        labels, k = self._taken.labels, statistics.k
        margin = type(objective.margin).from_codes(labels, k)
        rows = SampleWeights(self._taken.c, k, margin.true_class)
        self._objective = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
        self._place = {f: i for i, f in enumerate(features.tolist())}
        self._codes = self._taken.codes
        self._iterate: tuple[Any, Iterate] | None = None

    def take(self, array: Scores) -> Scores:
        """Return an array of the sampled rows, scaled so that its sums estimate all rows."""
        if self.whole:
            return array
        scale = self._taken.scale.astype(array.dtype)
        return np.asarray(array * (scale if array.ndim == 1 else scale[:, None]))

    def pick(self, array: Ints) -> Ints:
        """Return an array of the sampled rows unchanged."""
        return array

    def diagonal_curvature(self, iterate: Iterate) -> Scores:
        """Return the diagonal curvature of the sampled rows at an iterate, scaled."""
        return self.take(self._at(iterate).C)

    def curvature(
        self, objective: Objective, iterate: Iterate
    ) -> tuple[int, Ints | None, Scores, Scores | None]:
        """Return the second derivative of the loss of every sampled row; see the base class."""
        return super().curvature(self._objective, self._at(iterate))

    def _at(self, iterate: Iterate) -> Iterate:
        """Return the iterate with the arrays of the sampled rows."""
        if self._iterate is None or self._iterate[0] is not iterate.F:
            self._iterate = (iterate.F, self._evaluate(iterate))
        return self._iterate[1]

    def scores(self, point: RemoteScores) -> Scores:
        """Return the scores of the sampled rows at a point, (n, k)."""
        coefficients, bins = point.coefficients, self._statistics.bins
        F = np.zeros((self.n, self._statistics.k), dtype=point.dtype)
        features = coefficients.features
        if features.size:
            codes, places = self.codes(features.tolist())
            jumps = coefficients.to_dense(bins.n_bins, bins.kinds)
            tables = tables_of(jumps, bins.n_bins[features], bins.kinds[features])
            add_tables(codes, places, tables, F)
        return F

    def labels_and_weights(self) -> tuple[Ints, Array]:
        """Return the classes of the sampled rows, and weights that represent all rows."""
        return self._taken.labels, self._taken.c * self._taken.scale

    def _evaluate(self, iterate: Iterate) -> Iterate:
        F = self.scores(cast(Any, iterate.F))
        found = self._objective.evaluate(F, Wanted.DERIVATIVES)
        U, A, C = found.U, found.A, found.C
        assert U is not None
        assert A is not None
        assert C is not None
        if passes.is_coupled(self._objective):  # divided by the sum over the sample only
            factor = F.dtype.type(np.exp(found.value - iterate.loss))
            U, A, C = U * factor, A * factor, C * factor
        return Iterate(iterate.W, F, found.value, iterate.penalty, U, A, C)

    def codes(self, features: list[int]) -> tuple[Ints, Ints]:
        """Return codes of the sampled rows, and the row of the codes of each feature."""
        new = [f for f in features if f not in self._place]
        if new:
            wanted = np.array(new, dtype=np.int32)
            codes = sampled_codes(self._statistics.executor, self._taken, wanted)
            first = self._codes.shape[0]
            self._codes = np.ascontiguousarray(np.concatenate([self._codes, codes]))
            self._place |= {f: first + i for i, f in enumerate(new)}
        return self._codes, np.array([self._place[f] for f in features], dtype=np.int32)
