"""Block descent on a smoothed hinge whose rows are on shards."""

from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np

from ..arrays import Scores
from ..losses.hinge import SmoothedHinge
from ..problem.feature_columns import FeatureColumns, Jumps
from ..problem.objective import Objective, RestrictedProblem
from ..solvers.base import MasterResult
from ..solvers.line_search import Line, point_of
from ..solvers.quadratic_model import Point, QuadraticModel, RowSample
from ..solvers.smoothing import Answer, ShiftedHinge, Smoothing
from . import kinks
from .columns import ShardedColumns
from .crew import Question
from .hinge import HingeField, HingeObjective
from .kinks import FACTS
from .places import Place
from .rows import ShardedLine, ShardedRows, ShardedSample
from .softening import Softening, SoftPlace


class ShardedSmoothing(Smoothing):
    """`Smoothing` where a `Softening` stands for the smoothed loss, a `SoftPlace` for its U.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms.
    """

    def __init__(self, precision: Any) -> None:
        super().__init__(all_rows=SoftRows(np.dtype(precision)))

    def _judged(self, problem: RestrictedProblem, result: MasterResult) -> Answer:
        """Return an answer of the smoothed problem as one of the problem itself."""
        objective, point = problem.objective, self._blocks.answer
        assert isinstance(objective, HingeObjective)
        assert isinstance(objective.field, HingeField)
        place: Any = result.U
        _, loss, inner, D = objective.field.facts(place).tolist()
        return Answer(place, loss + point.penalty, loss + inner - D)

    def _cold(self, mu: float) -> Softening:
        """Return the smoothed loss of temperature mu."""
        return Softening(mu)

    def _around(self, answer: Answer, mu: float, objective: Objective) -> Softening:
        """Return the loss of temperature mu that is smoothed around the last answer."""
        del objective
        place: Any = answer.U
        soft: Softening = place.soft
        return soft.around(place.weights, mu)


class SoftRows(ShardedRows):
    """Evaluates points of the smoothed hinge on the rows of all shards."""

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of so many rows, or all of them."""
        assert isinstance(columns, ShardedColumns)
        return SoftSample(objective, columns.field, columns.field.sampled(size))

    def line(self, objective: Objective, columns: FeatureColumns, model: QuadraticModel) -> Line:
        """Return the objective along the way to the minimum of a model."""
        return SoftLine(self, objective, columns, model)

    def point(
        self, objective: Objective, columns: FeatureColumns, W: Jumps, F: Any, penalty: float
    ) -> Point:
        """Return the point with jumps W, at the place F, and that penalty."""
        soft: Any = objective.loss
        return super().point(objective, columns, W, soft.at(F), penalty)


class SoftLine(ShardedLine):
    """The smoothed objective along a way, asked of all shards for several steps at once."""

    questions: ClassVar[tuple[Question, Question]] = (kinks.search, kinks.stride)
    facts: ClassVar[int] = FACTS

    def _place(self, step: float) -> Place:
        soft: Any = self._objective.loss
        place: SoftPlace = soft.at(super()._place(step))
        return place


class SoftSample(ShardedSample):
    """Some rows of all shards in this process, at places of the smoothed hinge."""

    _shifted: tuple[tuple[str, Any], ShiftedHinge] | None = None

    def curvature(self, objective: Objective, point: Point) -> tuple[int, Scores, Scores | None]:
        """Return how the classes of a row couple, and the second derivatives of the rows."""
        smooth = SmoothedHinge(cast(SoftPlace, point.F).soft.mu)
        on_sample = replace(self._objective, loss=smooth)
        return RowSample.curvature(self, on_sample, self._at(point))

    def _evaluated(self, point: Point) -> Point:
        place = cast(SoftPlace, point.F)
        F = self.scores(place)
        return point_of(point.W, F, point.penalty, self._of(place).evaluate(F, "UAC"))

    def _of(self, place: SoftPlace) -> ShiftedHinge:
        """Return the smoothed hinge of the sampled rows; the last one where it is the same."""
        soft, key = place.soft, (place.soft.key, place.dtype)
        if self._shifted is None or self._shifted[0] != key:
            objective = self._objective
            loss = soft.on_rows(
                lambda centre: self.scores(Place(centre, np.dtype(np.float64))),
                objective.margin, objective.rows,
            )  # fmt: skip
            self._shifted = (key, ShiftedHinge(replace(objective, loss=loss), place.dtype))
        return self._shifted[1]
