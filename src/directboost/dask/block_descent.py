"""What block descent asks of rows on shards: points, samples, and the way to the next point."""

from typing import Any, ClassVar, cast

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
from .executor import Question
from .passes import WayMessage
from .problem import ShardedColumns
from .shard import RemoteScores
from .statistics import ShardedStatistics, sample_rows, sampled_codes, values_of

_CODE_BYTES = 1 << 24  # of a sample whose codes are fetched at once


class ShardedIterate(Iterate):
    """A point whose arrays of rows are on shards."""

    def sums(self, columns: FeatureColumns) -> tuple[Array, Array]:
        """Return the sums of A and C over the bins of the working set, (all bins, k) each."""
        assert isinstance(columns, ShardedColumns)
        place: Any = self.F
        return columns.field.sums(place, np.array(columns.features, dtype=np.int32))


class ShardedRowEvaluator(RowEvaluator):
    """Evaluates points on the rows of all shards."""

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of so many rows, or all of them."""
        assert isinstance(columns, ShardedColumns)
        return ShardedRowSample(objective, columns.field, columns.field.sampled(size))

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> LineSearch:
        """Return the objective along the way to the minimum of a model."""
        return ShardedLineSearch(self, objective, columns, model)

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Any,
        penalty: float,
    ) -> Iterate:
        """Return the point with jumps W, at the place F, and that penalty."""
        found = objective.evaluate(F, Wanted.DERIVATIVES, columns.team)
        return ShardedIterate(W, F, found.value, penalty, F, F, F)


class ShardedLineSearch(LineSearch):
    """The objective along a way, asked of all shards for several steps at once."""

    #: What is asked: for the losses alone, or with a look at the end, of so many values.
    questions: ClassVar[tuple[Question, Question]] = (
        passes.line_losses,
        passes.line_losses_and_sums,
    )
    facts: ClassVar[int] = 1

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
        self._end = self._place(1.0)
        self._known: dict[float, float] = {}

    def value(self, step: float) -> float:
        """Return the objective a share `step` of the way; infinite where a jump breaks its sign."""
        if step > 1.0 and not self._keeps_signs(step):
            return float("inf")
        if step not in self._known:
            self._ask((step, *_next_steps(step)))
        return self._known[step] + self._model.penalty(self._start, step)

    def _ask(self, steps: tuple[float, ...]) -> None:
        """Ask for the loss after steps; with the first one, the end, for what is wanted there."""
        assert isinstance(self._columns, ShardedColumns)
        field, place = self._columns.field, cast(RemoteScores, self._model.iterate.F)
        strides = steps[0] == 1.0 and len(field.blocks) == 1 and not field.in_turns
        features = field.blocks[0] if strides else np.zeros(0, dtype=np.int32)
        message = WayMessage(place.alone(), field.loss, self._end.alone(), steps, features)
        held = field.crew.hold(self.questions[strides], message, field.size_of(features))
        if strides:
            self._end.known["looks"] = [held]
        found = field.crew.read(held, values_of)
        if strides:  # the loss at the end is the first of what a look has to tell
            found = np.delete(found, np.s_[1 : self.facts])
        self._known |= dict(zip(steps, found.tolist(), strict=True))

    def accept(self, step: float) -> Iterate:
        """Return the point a share `step` of the way."""
        place = self._end if step == 1.0 else self._place(step)
        penalty = self._model.penalty(self._start, step)
        rows = cast(ShardedRowEvaluator, self._evaluator)
        return rows.evaluate(self._objective, self._columns, self._jumps(step), place, penalty)

    def _place(self, step: float) -> RemoteScores:
        place = self._columns.rounded_scores(self._jumps(step), self._evaluator.precision)
        return cast(RemoteScores, place)

    def _jumps(self, step: float) -> StepCoefficients:
        work = self._model.work
        jumps = self._start + step * (work.jumps - self._start) if step != 1.0 else work.jumps
        return apart(jumps, work.first_jump[1:])


def _next_steps(step: float) -> tuple[float, ...]:
    """Return the steps that block descent will look at next, should this one gain or not."""
    if step == 1.0:
        return (EXTENSION,)
    factor = EXTENSION if step > 1.0 else BACKTRACK
    return factor * step, factor * (factor * step)


class ShardedRowSample(RowSample):
    """Some rows of all shards, with codes and scores of their own in this process.

    Parameters
    ----------
    objective : Objective
    field : ShardedStatistics
    size : int
        Rows wanted; from most of them on all are taken.
    """

    def __init__(self, objective: Objective, field: ShardedStatistics, size: int) -> None:
        self._field, self._whole = field, size >= WHOLE_SHARE * field.m
        features, few = self._first_features(field.m if self._whole else size), field.class_counts
        self._taken = sample_rows(field.crew, few, None if self._whole else size, features)
        self._n = self._taken.labels.size
        margin = type(objective.margin).from_codes(self._taken.labels, field.k)
        rows = SampleWeights(self._taken.c, field.k, margin.true_class)
        self._objective = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
        self._place = {f: i for i, f in enumerate(features.tolist())}
        self._codes = self._taken.codes
        self._point: tuple[Any, Iterate] | None = None

    def _first_features(self, n: int) -> Ints:
        """Return the features of which codes come with n rows: all, where they are not too many."""
        bins = self._field.bins
        small = bins.n_bins.size * n * bins.codes.itemsize <= _CODE_BYTES
        count = bins.n_bins.size if small and not self._field.in_turns else 0
        return np.arange(count, dtype=np.int32)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._n

    @property
    def whole(self) -> bool:
        """Whether all rows are taken."""
        return self._whole

    def take(self, array: Scores) -> Scores:
        """Return an array of the sampled rows, scaled: sums over them estimate the whole."""
        if self._whole:
            return array
        scale = self._taken.scale.astype(array.dtype)
        return np.asarray(array * (scale if array.ndim == 1 else scale[:, None]))

    def pick(self, array: Ints) -> Ints:
        """Return an array of the sampled rows as it is."""
        return array

    def labels(self, objective: Objective) -> Ints | None:
        """Return the classes of the sampled rows, None where a row may have several labels."""
        return self._objective.margin.true_class

    def diagonal_curvature(self, point: Iterate) -> Scores:
        """Return the diagonal curvature of the sampled rows at a point, scaled."""
        return self.take(self._at(point).C)

    def curvature(self, objective: Objective, point: Iterate) -> tuple[int, Scores, Scores | None]:
        """Return how the classes of a row couple, and the second derivatives of the rows."""
        return super().curvature(self._objective, self._at(point))

    def _at(self, point: Iterate) -> Iterate:
        """Return the point on the sampled rows alone."""
        if self._point is None or self._point[0] is not point.F:
            self._point = (point.F, self._evaluated(point))
        return self._point[1]

    def scores(self, place: RemoteScores) -> Scores:
        """Return the scores of the sampled rows at a place, (n, k)."""
        weights, bins = place.weights, self._field.bins
        F = np.zeros((self._n, self._field.k), dtype=place.dtype)
        if weights.features.size:
            codes, places = self.codes(weights.features.tolist())
            n_bins, kinds = bins.n_bins[weights.features], bins.kinds[weights.features]
            tables = tables_of(weights.spread(bins.n_bins, bins.kinds), n_bins, kinds)
            add_tables(codes, places, tables, F)
        return F

    def labels_and_weights(self) -> tuple[Ints, Array]:
        """Return the classes of the sampled rows, and weights that make up for the others."""
        return self._taken.labels, self._taken.c * self._taken.scale

    def _evaluated(self, point: Iterate) -> Iterate:
        place: Any = point.F
        F = self.scores(place)
        found = self._objective.evaluate(F, Wanted.DERIVATIVES)
        U, A, C = found.U, found.A, found.C
        assert U is not None
        assert A is not None
        assert C is not None
        if passes.is_coupled(self._objective):  # divided by the sum over the sample only
            factor = F.dtype.type(np.exp(found.value - point.loss))
            U, A, C = U * factor, A * factor, C * factor
        return Iterate(point.W, F, found.value, point.penalty, U, A, C)

    def codes(self, features: list[int]) -> tuple[Ints, Ints]:
        """Return codes of the sampled rows, and which row of them belongs to each feature."""
        new = [f for f in features if f not in self._place]
        if new:
            self._fetch(new)
        return self._codes, np.array([self._place[f] for f in features], dtype=np.int32)

    def _fetch(self, features: list[int]) -> None:
        codes = sampled_codes(self._field.crew, self._taken, np.array(features, dtype=np.int32))
        first = self._codes.shape[0]
        self._codes = np.ascontiguousarray(np.concatenate([self._codes, codes]))
        self._place |= {f: first + i for i, f in enumerate(features)}
