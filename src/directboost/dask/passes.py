"""Passes of a shard over its rows; each one returns sums over the rows.

A round of block descent requests the dual value of the current point (`dual`) and the curvature
there (`curvature_sums`), then a step to the next point: `line_losses_and_sums`, or `line_losses`
to choose the step length and `gradient_sums` at the end of the step. Every pass function takes a
shard and a request, and returns `Sums`.
"""

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.structs import LossValues, SearchDirection, Wanted
from ..losses import Exponential, Loss
from ..problem.objective import Objective
from .shard import RemoteScores, Shard, Sums, scratch


@dataclass(frozen=True)
class GradientRequest:
    """A point, and the features whose sums over bins are requested."""

    point: RemoteScores
    loss: Loss
    features: Ints

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.point.nbytes + self.features.nbytes


@dataclass(frozen=True)
class DualRequest:
    """A point with its loss on all rows, and the factor that shrinks its weights U.

    Attributes
    ----------
    point : RemoteScores
    loss : Loss
    value : float
        The loss of all rows at the point.
    tau : float
        The weights are shrunk by this factor.
    features : int array or None
        Features whose curvature is requested as well.
    """

    point: RemoteScores
    loss: Loss
    value: float
    tau: float
    features: Ints | None = None

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.point.nbytes + 16 + (0 if self.features is None else self.features.nbytes)


@dataclass(frozen=True)
class LineRequest:
    """A search direction, and the steps at which the loss is requested.

    Attributes
    ----------
    point, end : RemoteScores
        Start and end of the search direction.
    loss : Loss
    steps : tuple of float
        Fractions of the distance to the end; they may exceed 1.
    features : int array
        Features whose sums at the end are requested by `line_losses_and_sums`, where the end is
        the first step.
    """

    point: RemoteScores
    loss: Loss
    end: RemoteScores
    steps: tuple[float, ...]
    features: Ints

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        points = self.point.coefficients.nbytes + self.end.nbytes
        return points + 8 * len(self.steps) + self.features.nbytes


def is_coupled(objective: Objective) -> bool:
    """Return whether the loss is the logarithm of a sum over all rows."""
    return isinstance(objective.loss, Exponential) and objective.margin.true_class is not None


def gradient_sums(shard: Shard, request: GradientRequest) -> Sums:
    """Return the loss, sums of A over the bins of features, (all bins, k), and of |A|, (k,)."""
    objective, F = shard.objective(request.loss), shard.scores(request.point)
    found = _evaluate(objective, F, Wanted.COEFFICIENTS)
    assert found.A is not None
    arrays = (bin_sums(shard, request.features, found.A), absolute_sums(shard, found.A))
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def curvature_sums(shard: Shard, request: GradientRequest) -> Sums:
    """Return the loss, and sums of the diagonal curvature over the bins of features."""
    objective, F = shard.objective(request.loss), shard.scores(request.point)
    found = _evaluate(objective, F, Wanted.CURVATURE)
    assert found.C is not None
    arrays = (bin_sums(shard, request.features, found.C),)
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def dual(shard: Shard, request: DualRequest) -> Sums:
    """Return the dual objective of U shrunk by tau; on request, also sums of the curvature.

    For a coupled loss, return the dual objective of the entries r != y_i, and their mass.
    """
    objective, F = shard.objective(request.loss), shard.scores(request.point)
    wanted = Wanted.NEGATIVE_GRADIENT
    if request.features is not None:
        wanted |= Wanted.CURVATURE
    found = _evaluate(objective, F, wanted)
    coupled, U = is_coupled(objective), found.U
    assert U is not None
    factor = float(np.exp(found.value - request.value)) if coupled else 1.0
    arrays: tuple[Array, ...] = ()
    if request.features is not None:
        assert found.C is not None
        arrays = (factor * bin_sums(shard, request.features, found.C),)
    if not coupled:
        shrunk = replace(objective, nu=request.tau)
        return Sums(np.array([shrunk.dual_estimate(U, 1.0)]), arrays)
    U *= U.dtype.type(factor)
    rows = objective.pass_rows(U.dtype)
    assert rows is not None
    return Sums(np.array(kernels.dual_parts(rows, U, request.tau)), arrays)


def line_losses(shard: Shard, request: LineRequest) -> Sums:
    """Return the loss after every step along a search direction."""
    point, objective = request.point, shard.objective(request.loss)
    F, rows = shard.scores(point), objective.pass_rows(point.dtype)
    change = np.subtract(shard.scores(request.end), F, out=scratch("change", F))
    values = [
        kernels.loss_pass(rows, F, Wanted.LOSS, None, SearchDirection(change, step)).value
        if rows is not None
        else objective.loss_value(F.astype(np.float64) + step * change.astype(np.float64))
        for step in request.steps
    ]
    return Sums(np.array(values), (), is_coupled(objective))


def line_losses_and_sums(shard: Shard, request: LineRequest) -> Sums:
    """Return `gradient_sums` at the end, the first step, and `line_losses` at the other steps."""
    others = line_losses(shard, replace(request, steps=request.steps[1:]))
    at_end = gradient_sums(shard, GradientRequest(request.end, request.loss, request.features))
    return Sums(np.concatenate([at_end.values, others.values]), at_end.arrays, at_end.coupled)


def value(shard: Shard, request: GradientRequest) -> Sums:
    """Return the loss alone."""
    objective, F = shard.objective(request.loss), shard.scores(request.point)
    return Sums(np.array([_evaluate(objective, F, Wanted.LOSS).value]), (), is_coupled(objective))


def bin_weights(shard: Shard, features: Ints) -> Sums:
    """Return the total weight of the rows in every bin of features, (all bins, 1)."""
    share = np.ascontiguousarray(shard.rows.share.reshape(-1, 1))
    return Sums(np.zeros(1), (bin_sums(shard, features, share),))


def _evaluate(objective: Objective, F: Scores, wanted: Wanted) -> LossValues:
    """Return the loss and the wanted arrays of U, A and C, in scratch buffers."""
    rows = objective.pass_rows(F.dtype)
    if rows is None:
        return objective.evaluate(F, wanted)
    out = LossValues(0.0, **{name: scratch(name, F) for name in wanted.fields})
    return kernels.loss_pass(rows, F, wanted, None, None, out)


def absolute_sums(shard: Shard, A: Scores) -> Array:
    """Return the sums of |A| over the rows, (k,), as sums over the bin of the constant."""
    constant = np.array([shard.binned.constant], dtype=np.int32)
    return np.asarray(bin_sums(shard, constant, np.abs(A, out=scratch("sizes", A)))[1])


def bin_sums(shard: Shard, features: Ints, values: Scores) -> Array:
    """Return the sums of values (m, k) over the bins of features, (all bins, k)."""
    binned = shard.binned
    n_bins = np.ascontiguousarray(binned.n_bins[features], dtype=np.int32)
    where = np.ascontiguousarray(features, dtype=np.int32)
    return kernels.histograms(binned.codes, where, n_bins, values, None, binned.sparse)
