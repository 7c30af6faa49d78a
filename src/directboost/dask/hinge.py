"""What a shard is asked where the loss has kinks: questions about the hinge and a smoothed one.

The weights U of the smoothed hinge are a point of the dual domain of the hinge itself, and the
dual objective of the hinge is linear in them: so a look at a place tells, besides the sums over
bins, all that a lower bound takes, whatever U is shrunk by.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import fsum, log
from typing import Any, ClassVar, cast
from uuid import uuid4

import numpy as np
from scipy.special import log_softmax

from .. import kernels
from ..arrays import Array, Scores
from ..data.binning import ColumnWeights
from ..kernels.structs import SearchDirection, Wanted
from ..kernels.threads import Team
from ..losses import SampleWeights
from ..losses.hinge import LEAST, SmoothedHinge
from ..margins import Margin
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem, row_blocks
from ..solvers.base import SolverResult
from ..solvers.line_search import LineSearch, make_iterate
from ..solvers.quadratic_model import Iterate, QuadraticModel, RowSample
from ..solvers.smoothing import SmoothedHingePass, SmoothedSolution, Smoothing, in_domain
from .block_descent import ShardedLineSearch, ShardedRowEvaluator, ShardedRowSample
from .executor import Question
from .passes import LookMessage, WayMessage, bin_sums, sizes_of
from .problem import ShardedColumns, ShardedObjective
from .shard import RemoteScores, Shard, SparseCoefficients, Sums, room
from .statistics import ShardedStatistics, values_of


@dataclass(frozen=True, eq=False)
class Softening:
    """A `SmoothedHinge` without rows.

    Attributes
    ----------
    mu : float
        The temperature.
    centre : SparseCoefficients or None
        Sum of the weights of the answers it is smoothed around, each over its temperature.
    pull : float
        Sum of the inverse temperatures of these answers.
    key : str
        Names it, for shards that keep what they made of it.
    """

    mu: float
    centre: SparseCoefficients | None = None
    pull: float = 0.0
    key: str = field(default_factory=lambda: uuid4().hex)

    def around(self, weights: SparseCoefficients, mu: float) -> "Softening":
        """Return the loss of temperature mu whose prior is what this one gives at weights."""
        parts = [(weights, 1.0 / self.mu)]
        if self.centre is not None:
            parts.append((self.centre, 1.0))
        return Softening(mu, _added(parts), self.pull + 1.0 / self.mu)

    def on_rows(
        self, scores: Callable[[SparseCoefficients], Scores], margin: Margin, rows: SampleWeights
    ) -> SmoothedHinge:
        """Return the loss of some rows, which have the scores (m, k) at weights."""
        if self.centre is None:
            return SmoothedHinge(self.mu)
        F = scores(self.centre).astype(np.float64, copy=False)
        prior = SmoothedHinge(1.0 / self.pull).offset(rows) - margin.forward(F)
        if rows.true_class is not None:
            prior = log_softmax(prior, axis=1)
        return SmoothedHinge(self.mu, prior.clip(log(LEAST), -log(LEAST)))

    def at(self, place: RemoteScores) -> "SmoothedRemoteScores":
        """Return the place where the weights of rows are those of this loss."""
        if isinstance(place, SmoothedRemoteScores) and place.soft is self:
            return place
        return SmoothedRemoteScores(place.weights, place.dtype, place.key, soft=self)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return 16 + (0 if self.centre is None else self.centre.nbytes)


@dataclass(frozen=True, eq=False)
class SmoothedRemoteScores(RemoteScores):
    """A place where U, A and C are those of the smoothed hinge; of the hinge itself U is a point.

    The scores are those of the plain place, and so is their key: what is known is not.
    """

    soft: Softening = field(kw_only=True)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.weights.nbytes + self.soft.nbytes

    def alone(self) -> "SmoothedRemoteScores":
        """Return the place without what is known of it."""
        return SmoothedRemoteScores(self.weights, self.dtype, self.key, soft=self.soft)

    def astype(self, dtype: Any, copy: bool = False) -> "SmoothedRemoteScores":
        """Return the place of the same weights in another precision."""
        del copy
        if np.dtype(dtype) == self.dtype:
            return self
        return SmoothedRemoteScores(self.weights, np.dtype(dtype), soft=self.soft)


def _added(parts: list[tuple[SparseCoefficients, float]]) -> SparseCoefficients:
    """Return the sum of weights, each times a factor."""
    features = np.concatenate([np.repeat(part.features, part.counts) for part, _ in parts])
    jumps = np.concatenate([part.jumps for part, _ in parts])
    rows = np.concatenate([factor * part.rows for part, factor in parts])
    names = np.column_stack([features, jumps, np.ones_like(jumps)]).astype(np.int64)
    return SparseCoefficients.of_stumps(ColumnWeights(names, rows))


FACTS = 4  # first values of a look: smoothed loss, loss, <U, rho> and D(U)


def smoothed_gradient_sums(shard: Shard, message: LookMessage) -> Sums:
    """Return the facts of a place, sums of A over the bins of features, and of |A|, (k,).

    Facts are the smoothed loss, the loss, <U, rho> and D(U); where nothing is smoothed the first
    two are the same.
    """
    objective, F = shard.objective(message.loss), shard.scores(message.place)
    value, U = _soft_weights(shard, message.place, F)
    A, parts = room("A", F), [(0.0, 0.0, 0.0)]  # a shard may have no rows
    for part, on_part, rho in _parts(objective, F):
        own = on_part.loss.negative_gradient(rho, on_part.rows) if U is None else U[part]
        inside = in_domain(own, on_part.rows)
        A[part] = on_part.margin.adjoint(inside)
        parts.append((on_part.loss.value(rho, on_part.rows), float((inside * rho).sum()),
            on_part.loss.dual_value(inside, on_part.rows)))  # fmt: skip
    loss, inner, dual = (fsum(values) for values in zip(*parts, strict=True))
    facts = np.array([loss if value is None else value, loss, inner, dual])
    return Sums(facts, (bin_sums(shard, message.features, A), sizes_of(shard, A)))


def smoothed_curvature_sums(shard: Shard, message: LookMessage) -> Sums:
    """Return the smoothed loss, and sums of its diagonal curvature over the bins of features."""
    place = message.place
    assert isinstance(place, SmoothedRemoteScores)
    shifted = _shifted(shard, place.soft, place.dtype)
    found = shifted.evaluate(shard.scores(place), Wanted.CURVATURE)
    assert found.C is not None
    return Sums(np.array([found.value]), (bin_sums(shard, message.features, found.C),))


def smoothed_line_losses(shard: Shard, message: WayMessage) -> Sums:
    """Return the smoothed loss after every step of a way."""
    place = message.place
    assert isinstance(place, SmoothedRemoteScores)
    shifted = _shifted(shard, place.soft, place.dtype)
    F = shard.scores(place)
    change = np.subtract(shard.scores(message.end), F, out=room("change", F))
    change *= change.dtype.type(1.0 / shifted.mu)
    start = shifted.scores(F)
    directions = [SearchDirection(change, step) for step in message.steps]
    found = [
        kernels.loss_pass(shifted.rows, start, Wanted.LOSS, None, direction).value
        for direction in directions
    ]
    return Sums(np.array([shifted.value(value) for value in found]))


def smoothed_line_losses_and_sums(shard: Shard, message: WayMessage) -> Sums:
    """Return the smoothed gradient sums at the first step, and the losses at the others."""
    further = smoothed_line_losses(shard, replace(message, steps=message.steps[1:]))
    there = smoothed_gradient_sums(shard, LookMessage(message.end, message.loss, message.features))
    return Sums(np.concatenate([there.values, further.values]), there.arrays)


def weights(shard: Shard, place: SmoothedRemoteScores) -> Array:
    """Return the weights U of the smoothed hinge, in the dual domain of the hinge, (m, k)."""
    _, U = _soft_weights(shard, place, shard.scores(place))
    assert U is not None
    return in_domain(U, shard.rows)


def _soft_weights(
    shard: Shard, place: RemoteScores, F: Scores
) -> tuple[float | None, Scores | None]:
    """Return the smoothed loss and its weights; nothing at a place where nothing is smoothed."""
    if not isinstance(place, SmoothedRemoteScores):
        return None, None
    found = _shifted(shard, place.soft, place.dtype).evaluate(F, Wanted.NEGATIVE_GRADIENT)
    return found.value, found.U


def _parts(objective: Objective, F: Scores) -> Iterator[tuple[slice, Objective, Array]]:
    """Yield blocks of rows, the objective on them, and their margins in double precision."""
    for part in row_blocks(F.shape[0]):
        margin = objective.margin.take(part)
        on_part = Objective(
            margin, objective.loss, objective.penalty, objective.nu, objective.rows.take(part)
        )
        yield part, on_part, margin.forward(F[part].astype(np.float64))


def _shifted(shard: Shard, soft: Softening, precision: Any) -> SmoothedHingePass:
    """Return the smoothed hinge of the rows; that of the last question where it is the same.

    It is made from nothing, whatever was there before: so a shard that had to be made anew gives
    the same, to the bit.
    """
    key, kept = (soft.key, precision), shard.notes.get("shifted")
    if kept is None or kept[0] != key:
        shard.notes.pop("shifted", None)  # before there is another one
        loss = soft.on_rows(
            lambda centre: shard.added(centre, np.float64), shard.margin, shard.rows
        )
        kept = (key, SmoothedHingePass(shard.objective(loss), precision))
        shard.notes["shifted"] = kept
    found: SmoothedHingePass = kept[1]
    return found


@dataclass(frozen=True, eq=False)
class HingeStatistics(ShardedStatistics):
    """`ShardedStatistics` of the hinge; at `SmoothedRemoteScores`, those of the smoothed hinge."""

    questions: ClassVar[tuple[Question, Question]] = (
        smoothed_gradient_sums,
        smoothed_curvature_sums,
    )

    def facts(self, place: RemoteScores) -> Array:
        """Return the smoothed loss at a place, the loss, <U, rho> and D(U)."""
        if "facts" not in place.known:
            found = self.crew.read(self._looks(place)[0], values_of)
            place.known["facts"] = found[:FACTS]
        facts: Array = place.known["facts"]
        return facts

    def value(self, place: RemoteScores) -> float:
        """Return the loss at a place; the smoothed one, where that is what it is the place of."""
        if isinstance(place, SmoothedRemoteScores):
            return float(self.facts(place)[0])
        return super().value(place)


@dataclass(frozen=True)
class HingeObjective(ShardedObjective):
    """`ShardedObjective` of the hinge; `SmoothedRemoteScores` stand for the U of a smoothed one."""

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return the dual objective at U, shrunk so that no price is above nu.

        For the hinge it is linear in what is shrunk: D(shrink(U, tau)) = tau D(U).
        """
        del team
        assert isinstance(self.field, HingeStatistics)
        tau = 1.0 if max_price <= self.nu else self.nu / max_price
        return tau * float(self.field.facts(U)[-1])

    def proof(self, U: Any) -> Any:
        """Return the point itself: in double precision it is made anew, inside the domain."""
        return U


class ShardedSmoothing(Smoothing):
    """`Smoothing` on shards: `Softening` is the smoothed loss, `SmoothedRemoteScores` its U.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms.
    """

    def __init__(self, precision: Any) -> None:
        super().__init__(evaluator=SmoothedShardedRowEvaluator(np.dtype(precision)))

    def _true_solution(self, problem: RestrictedProblem, result: SolverResult) -> SmoothedSolution:
        """Return an answer of the smoothed problem as one of the problem itself."""
        objective, point = problem.objective, self._descent.iterate
        assert isinstance(objective, HingeObjective)
        assert isinstance(objective.field, HingeStatistics)
        place: Any = result.U
        _, loss, inner, D = objective.field.facts(place).tolist()
        return SmoothedSolution(place, loss + point.penalty, loss + inner - D)

    def _uniform_loss(self, mu: float) -> Softening:
        """Return the smoothed loss of temperature mu."""
        return Softening(mu)

    def _centred_loss(self, answer: SmoothedSolution, mu: float, objective: Objective) -> Softening:
        """Return the loss of temperature mu that is smoothed around the last answer."""
        del objective
        place: Any = answer.U
        soft: Softening = place.soft
        return soft.around(place.weights, mu)


class SmoothedShardedRowEvaluator(ShardedRowEvaluator):
    """Evaluates points of the smoothed hinge on the rows of all shards."""

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of so many rows, or all of them."""
        assert isinstance(columns, ShardedColumns)
        return SmoothedShardedRowSample(objective, columns.field, columns.field.sampled(size))

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> LineSearch:
        """Return the objective along the way to the minimum of a model."""
        return SmoothedShardedLineSearch(self, objective, columns, model)

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Any,
        penalty: float,
    ) -> Iterate:
        """Return the point with jumps W, at the place F, and that penalty."""
        soft: Any = objective.loss
        return super().evaluate(objective, columns, W, soft.at(F), penalty)


class SmoothedShardedLineSearch(ShardedLineSearch):
    """The smoothed objective along a way, asked of all shards for several steps at once."""

    questions: ClassVar[tuple[Question, Question]] = (
        smoothed_line_losses,
        smoothed_line_losses_and_sums,
    )
    facts: ClassVar[int] = FACTS

    def _place(self, step: float) -> RemoteScores:
        soft: Any = self._objective.loss
        place: SmoothedRemoteScores = soft.at(super()._place(step))
        return place


class SmoothedShardedRowSample(ShardedRowSample):
    """Some rows of all shards in this process, at places of the smoothed hinge."""

    _shifted: tuple[tuple[str, Any], SmoothedHingePass] | None = None

    def curvature(self, objective: Objective, point: Iterate) -> tuple[int, Scores, Scores | None]:
        """Return how the classes of a row couple, and the second derivatives of the rows."""
        smooth = SmoothedHinge(cast(SmoothedRemoteScores, point.F).soft.mu)
        on_sample = replace(self._objective, loss=smooth)
        return RowSample.curvature(self, on_sample, self._at(point))

    def _evaluated(self, point: Iterate) -> Iterate:
        place = cast(SmoothedRemoteScores, point.F)
        F = self.scores(place)
        found = self._of(place).evaluate(F, Wanted.DERIVATIVES)
        return make_iterate(point.W, F, point.penalty, found)

    def _of(self, place: SmoothedRemoteScores) -> SmoothedHingePass:
        """Return the smoothed hinge of the sampled rows; the last one where it is the same."""
        soft, key = place.soft, (place.soft.key, place.dtype)
        if self._shifted is None or self._shifted[0] != key:
            objective = self._objective
            loss = soft.on_rows(
                lambda centre: self.scores(RemoteScores(centre, np.dtype(np.float64))),
                objective.margin, objective.rows,
            )  # fmt: skip
            self._shifted = (key, SmoothedHingePass(replace(objective, loss=loss), place.dtype))
        return self._shifted[1]
