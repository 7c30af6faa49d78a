"""The hinge on shards: smoothing, its passes and statistics, and the solver.

The weights U of the smoothed hinge lie in the dual domain of the hinge itself, and the dual
objective of the hinge is linear in U. A pass that sums A over bins therefore also returns all
that a lower bound needs, whatever factor shrinks U.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import fsum, log
from typing import Any, ClassVar, cast
from uuid import uuid4

import numpy as np
from scipy.special import log_softmax

from .. import kernels
from ..arrays import Array, Ints, Scores
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
from .passes import GradientRequest, LineRequest, absolute_sums, bin_sums
from .problem import ShardedColumns, ShardedObjective
from .shard import RemoteScores, Shard, SparseCoefficients, Sums, scratch
from .statistics import PassFunctions, ShardedStatistics, read_values

_N_VALUES = 4  # of a gradient pass: smoothed loss, loss, <U, rho> and D(U)


@dataclass(frozen=True, eq=False)
class SmoothingParameters:
    """Parameters of a `SmoothedHinge`, without rows.

    Attributes
    ----------
    mu : float
        The temperature.
    centre : SparseCoefficients or None
        Sum of the coefficients of the solutions it is smoothed around, each over its temperature.
    inverse_sum : float
        Sum of the inverse temperatures of these solutions.
    key : str
        Identifies the parameters in the caches of the shards.
    """

    mu: float
    centre: SparseCoefficients | None = None
    inverse_sum: float = 0.0
    key: str = field(default_factory=lambda: uuid4().hex)

    def around(self, coefficients: SparseCoefficients, mu: float) -> "SmoothingParameters":
        """Return parameters of temperature mu whose prior is the U of this loss at a solution."""
        parts = [(coefficients, 1.0 / self.mu)]
        if self.centre is not None:
            parts.append((self.centre, 1.0))
        features = np.concatenate([np.repeat(part.features, part.counts) for part, _ in parts])
        thresholds = np.concatenate([part.thresholds for part, _ in parts])
        rows = np.concatenate([factor * part.rows for part, factor in parts])
        names = np.column_stack([features, thresholds, np.ones_like(thresholds)]).astype(np.int64)
        centre = SparseCoefficients.from_stumps(ColumnWeights(names, rows))
        return SmoothingParameters(mu, centre, self.inverse_sum + 1.0 / self.mu)

    def make_loss(
        self, scores: Callable[[SparseCoefficients], Scores], margin: Margin, rows: SampleWeights
    ) -> SmoothedHinge:
        """Return the smoothed loss of rows; `scores` gives the scores (m, k) of coefficients."""
        if self.centre is None:
            return SmoothedHinge(self.mu)
        F = scores(self.centre).astype(np.float64, copy=False)
        prior = SmoothedHinge(1.0 / self.inverse_sum).offset(rows) - margin.forward(F)
        if rows.true_class is not None:
            prior = log_softmax(prior, axis=1)
        return SmoothedHinge(self.mu, prior.clip(log(LEAST), -log(LEAST)))

    def at(self, point: RemoteScores) -> "SmoothedRemoteScores":
        """Return a reference to the same scores with the weights U of this loss."""
        if isinstance(point, SmoothedRemoteScores) and point.smoothing is self:
            return point
        return SmoothedRemoteScores(point.coefficients, point.dtype, point.key, smoothing=self)

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return 16 + (0 if self.centre is None else self.centre.nbytes)


@dataclass(frozen=True, eq=False)
class SmoothedRemoteScores(RemoteScores):
    """`RemoteScores` whose U, A and C are those of a smoothed hinge.

    U is a point of the dual domain of the hinge itself. The scores, and so their key, are those of
    the plain `RemoteScores`; the cached statistics are not.
    """

    smoothing: SmoothingParameters = field(kw_only=True)

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.coefficients.nbytes + self.smoothing.nbytes

    def without_cache(self) -> "SmoothedRemoteScores":
        """Return the reference that requests to the shards contain."""
        return SmoothedRemoteScores(
            self.coefficients, self.dtype, self.key, smoothing=self.smoothing
        )

    def astype(self, dtype: Any, copy: bool = False) -> "SmoothedRemoteScores":
        """Return the scores of the same coefficients in another precision."""
        del copy
        if np.dtype(dtype) == self.dtype:
            return self
        return SmoothedRemoteScores(self.coefficients, np.dtype(dtype), smoothing=self.smoothing)


def smoothed_gradient_sums(shard: Shard, request: GradientRequest) -> Sums:
    """Return values of a point, sums of A over the bins of features, and of |A|, (k,).

    The values are the smoothed loss, the loss, <U, rho> and D(U); at a point without smoothing,
    the first two are equal.
    """
    point, objective = request.point, shard.objective(request.loss)
    F = shard.scores(point)
    smoothed_loss, U = None, None
    if isinstance(point, SmoothedRemoteScores):
        found = _hinge_pass(shard, point).evaluate(F, Wanted.NEGATIVE_GRADIENT)
        smoothed_loss, U = found.value, found.U
    A, parts = scratch("A", F), [(0.0, 0.0, 0.0)]  # a shard may have no rows
    for part in row_blocks(F.shape[0]):
        margin, rows = objective.margin.take(part), objective.rows.take(part)
        rho = margin.forward(F[part].astype(np.float64))
        own = objective.loss.negative_gradient(rho, rows) if U is None else U[part]
        inside = in_domain(own, rows)
        A[part] = margin.adjoint(inside)
        parts.append((objective.loss.value(rho, rows), float((inside * rho).sum()),
            objective.loss.dual_value(inside, rows)))  # fmt: skip
    loss, inner, dual = (fsum(values) for values in zip(*parts, strict=True))
    values = np.array([loss if smoothed_loss is None else smoothed_loss, loss, inner, dual])
    return Sums(values, (bin_sums(shard, request.features, A), absolute_sums(shard, A)))


def smoothed_curvature_sums(shard: Shard, request: GradientRequest) -> Sums:
    """Return the smoothed loss, and sums of its diagonal curvature over the bins of features."""
    point = request.point
    assert isinstance(point, SmoothedRemoteScores)
    found = _hinge_pass(shard, point).evaluate(shard.scores(point), Wanted.CURVATURE)
    assert found.C is not None
    return Sums(np.array([found.value]), (bin_sums(shard, request.features, found.C),))


def smoothed_line_losses(shard: Shard, request: LineRequest) -> Sums:
    """Return the smoothed loss after every step along a search direction."""
    point = request.point
    assert isinstance(point, SmoothedRemoteScores)
    smoothed = _hinge_pass(shard, point)
    F = shard.scores(point)
    change = np.subtract(shard.scores(request.end), F, out=scratch("change", F))
    change *= change.dtype.type(1.0 / smoothed.mu)
    start = smoothed.scores(F)
    found = [
        kernels.loss_pass(
            smoothed.rows, start, Wanted.LOSS, None, SearchDirection(change, step)
        ).value
        for step in request.steps
    ]
    return Sums(np.array([smoothed.value(value) for value in found]))


def smoothed_line_losses_and_sums(shard: Shard, request: LineRequest) -> Sums:
    """Return the smoothed gradient sums at the first step, and the losses at the others."""
    others = smoothed_line_losses(shard, replace(request, steps=request.steps[1:]))
    at_end = smoothed_gradient_sums(
        shard, GradientRequest(request.end, request.loss, request.features)
    )
    return Sums(np.concatenate([at_end.values, others.values]), at_end.arrays)


def hinge_weights(shard: Shard, point: SmoothedRemoteScores) -> Array:
    """Return the weights U of the smoothed hinge, in the dual domain of the hinge, (m, k)."""
    U = _hinge_pass(shard, point).evaluate(shard.scores(point), Wanted.NEGATIVE_GRADIENT).U
    assert U is not None
    return in_domain(U, shard.rows)


def _hinge_pass(shard: Shard, point: SmoothedRemoteScores) -> SmoothedHingePass:
    """Return the smoothed hinge of the rows; that of the last pass if it is the same.

    It is built from the request alone and not from earlier passes. A shard that was recomputed
    therefore returns identical bits.
    """
    smoothing = point.smoothing
    key, kept = (smoothing.key, point.dtype), shard.notes.get("hinge pass")
    if kept is None or kept[0] != key:
        shard.notes.pop("hinge pass", None)  # frees memory for the new one
        loss = smoothing.make_loss(
            lambda centre: shard.compute_scores(centre, np.float64), shard.margin, shard.rows
        )
        kept = (key, SmoothedHingePass(shard.objective(loss), point.dtype))
        shard.notes["hinge pass"] = kept
    found: SmoothedHingePass = kept[1]
    return found


@dataclass(eq=False)
class HingeStatistics(ShardedStatistics):
    """`ShardedStatistics` of the hinge; at `SmoothedRemoteScores`, of the smoothed hinge."""

    pass_functions: ClassVar[PassFunctions] = PassFunctions(
        gradient=smoothed_gradient_sums,
        curvature=smoothed_curvature_sums,
        line=smoothed_line_losses,
        line_and_gradient=smoothed_line_losses_and_sums,
        n_values=_N_VALUES,
    )

    def hinge_values(self, point: RemoteScores) -> Array:
        """Return the smoothed loss at a point, the loss, <U, rho> and D(U)."""
        cache = point.cache
        if cache.hinge is None:
            found: Array = self.executor.read(self._gradient_futures(point)[0], read_values)
            cache.hinge = found[:_N_VALUES]
        return cache.hinge

    def value(self, point: RemoteScores) -> float:
        """Return the loss at a point; for `SmoothedRemoteScores`, the smoothed loss."""
        if isinstance(point, SmoothedRemoteScores):
            return float(self.hinge_values(point)[0])
        return super().value(point)


@dataclass(frozen=True)
class HingeObjective(ShardedObjective):
    """`ShardedObjective` of the hinge; its U are those of `SmoothedRemoteScores`."""

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return the dual objective at U, shrunk so that no price exceeds nu.

        For the hinge it is linear in the shrunk entries: D(shrink(U, tau)) = tau D(U).
        """
        del team
        assert isinstance(self.statistics, HingeStatistics)
        return self.feasible_share(max_price) * float(self.statistics.hinge_values(U)[-1])

    def proof(self, U: Any) -> Any:
        """Return U itself: it is recomputed in double precision, inside the dual domain."""
        return U


class ShardedSmoothing(Smoothing):
    """`Smoothing` on shards.

    The smoothed loss is a `SmoothingParameters`, and its U are `SmoothedRemoteScores`.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms.
    """

    def __init__(self, precision: Any) -> None:
        super().__init__(evaluator=SmoothedShardedRowEvaluator(np.dtype(precision)))

    def _true_solution(self, problem: RestrictedProblem, result: SolverResult) -> SmoothedSolution:
        """Return a solution of the smoothed problem as one of the problem itself."""
        objective, iterate = problem.objective, self._descent.iterate
        assert isinstance(objective, HingeObjective)
        assert isinstance(objective.statistics, HingeStatistics)
        point: Any = result.U
        _, loss, inner, D = objective.statistics.hinge_values(point).tolist()
        return SmoothedSolution(point, loss + iterate.penalty, loss + inner - D)

    def _uniform_loss(self, mu: float) -> SmoothingParameters:
        """Return the smoothed loss of temperature mu."""
        return SmoothingParameters(mu)

    def _centred_loss(
        self, solution: SmoothedSolution, mu: float, objective: Objective
    ) -> SmoothingParameters:
        """Return the loss of temperature mu that is smoothed around the last solution."""
        del objective
        point: Any = solution.U
        smoothing: SmoothingParameters = point.smoothing
        return smoothing.around(point.coefficients, mu)


class SmoothedShardedRowEvaluator(ShardedRowEvaluator):
    """Evaluates iterates of the smoothed hinge on the rows of all shards."""

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of `size` rows, or of all rows."""
        assert isinstance(columns, ShardedColumns)
        return SmoothedShardedRowSample(objective, columns.statistics, size)

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> LineSearch:
        """Return the line search towards the minimum of a model."""
        return SmoothedShardedLineSearch(self, objective, columns, model)

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Any,
        penalty: float,
    ) -> Iterate:
        """Return the iterate with coefficients W, scores F and that penalty."""
        smoothing: Any = objective.loss
        return super().evaluate(objective, columns, W, smoothing.at(F), penalty)


class SmoothedShardedLineSearch(ShardedLineSearch):
    """Line search of the smoothed objective, with several steps in one pass."""

    def _scores(self, W: StepCoefficients) -> RemoteScores:
        """Return the scores of coefficients, with the weights of the smoothed loss."""
        smoothing = cast(SmoothingParameters, self._objective.loss)
        return smoothing.at(super()._scores(W))


class SmoothedShardedRowSample(ShardedRowSample):
    """Sample of the rows of all shards, evaluated with the smoothed hinge."""

    _hinge_pass: tuple[tuple[str, Any], SmoothedHingePass] | None = None

    def curvature(
        self, objective: Objective, iterate: Iterate
    ) -> tuple[int, Ints | None, Scores, Scores | None]:
        """Return the second derivative of the loss of every sampled row; see the base class."""
        smooth = SmoothedHinge(cast(SmoothedRemoteScores, iterate.F).smoothing.mu)
        on_sample = replace(self._objective, loss=smooth)
        return RowSample.curvature(self, on_sample, self._at(iterate))

    def _evaluate(self, iterate: Iterate) -> Iterate:
        remote, objective = cast(SmoothedRemoteScores, iterate.F), self._objective
        smoothing, key = remote.smoothing, (remote.smoothing.key, remote.dtype)
        if self._hinge_pass is None or self._hinge_pass[0] != key:
            loss = smoothing.make_loss(
                lambda centre: self.scores(RemoteScores(centre, np.dtype(np.float64))),
                objective.margin, objective.rows,
            )  # fmt: skip
            smoothed = SmoothedHingePass(replace(objective, loss=loss), remote.dtype)
            self._hinge_pass = (key, smoothed)
        F = self.scores(remote)
        return make_iterate(
            iterate.W, F, iterate.penalty, self._hinge_pass[1].evaluate(F, Wanted.DERIVATIVES)
        )
