"""The passes of a shard over its rows; each returns sums over the rows.

A round of block descent asks for the dual value of the current point (`dual`) and its curvature
(`curvature_sums`), then for a step to the next point: `line_losses_and_sums`, or `line_losses` to
choose the step and `gradient_sums` at its end. Every function takes a shard and a message, and
returns `Sums`.
"""

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.structs import LossValues, SearchDirection, Wanted
from ..losses import Exponential, Loss
from ..problem.objective import Objective
from .shard import RemoteScores, Shard, Sums, room


@dataclass(frozen=True)
class LookMessage:
    """A place, and features whose sums are wanted."""

    place: RemoteScores
    loss: Loss
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.place.nbytes + self.features.nbytes


@dataclass(frozen=True)
class DualMessage:
    """A place, its loss on all rows, by how much its weights are shrunk, and what else is wanted.

    That is the curvature of features, None for nothing.
    """

    place: RemoteScores
    loss: Loss
    value: float
    tau: float
    features: Ints | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        more = 0 if self.features is None else self.features.nbytes
        return self.place.weights.nbytes + 16 + more


@dataclass(frozen=True)
class WayMessage:
    """A place, the end of a way from there, and steps: shares of the way, or beyond it.

    Of `features` the sums at the end are wanted as well, where it is the first step.
    """

    place: RemoteScores
    loss: Loss
    end: RemoteScores
    steps: tuple[float, ...]
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        weights = self.place.weights.nbytes + self.end.nbytes
        return weights + 8 * len(self.steps) + self.features.nbytes


def is_coupled(objective: Objective) -> bool:
    """Tell whether the loss is the logarithm of a sum over all rows."""
    return isinstance(objective.loss, Exponential) and objective.margin.true_class is not None


def gradient_sums(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss, sums of A over the bins of features, (all bins, k), and of |A|, (k,)."""
    objective, found = _evaluated(shard, message.place, message.loss, Wanted.COEFFICIENTS)
    assert found.A is not None
    arrays = (bin_sums(shard, message.features, found.A), sizes_of(shard, found.A))
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def curvature_sums(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss, and sums of the diagonal curvature over the bins of features."""
    objective, found = _evaluated(shard, message.place, message.loss, Wanted.CURVATURE)
    assert found.C is not None
    arrays = (bin_sums(shard, message.features, found.C),)
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def dual(shard: Shard, message: DualMessage) -> Sums:
    """Return the dual objective of weights shrunk by tau; with sums of the curvature, if wanted.

    Of a coupled loss it is that of the entries r != y_i, and their mass.
    """
    wanted = Wanted.NEGATIVE_GRADIENT
    if message.features is not None:
        wanted |= Wanted.CURVATURE
    objective, found = _evaluated(shard, message.place, message.loss, wanted)
    coupled, U = is_coupled(objective), found.U
    assert U is not None
    factor = float(np.exp(found.value - message.value)) if coupled else 1.0
    arrays: tuple[Array, ...] = ()
    if message.features is not None:
        assert found.C is not None
        arrays = (factor * bin_sums(shard, message.features, found.C),)
    if not coupled:
        shrunk = replace(objective, nu=message.tau)
        return Sums(np.array([shrunk.dual_estimate(U, 1.0)]), arrays)
    U *= U.dtype.type(factor)
    rows = objective.pass_rows(U.dtype)
    assert rows is not None
    return Sums(np.array(kernels.dual_parts(rows, U, message.tau)), arrays)


def line_losses(shard: Shard, message: WayMessage) -> Sums:
    """Return the loss after every step of a way."""
    place, objective = message.place, shard.objective(message.loss)
    F, rows = shard.scores(place), objective.pass_rows(place.dtype)
    change = np.subtract(shard.scores(message.end), F, out=room("change", F))
    values = [
        kernels.loss_pass(rows, F, Wanted.LOSS, None, SearchDirection(change, step)).value
        if rows is not None
        else objective.loss_value(F.astype(np.float64) + step * change.astype(np.float64))
        for step in message.steps
    ]
    return Sums(np.array(values), (), is_coupled(objective))


def line_losses_and_sums(shard: Shard, message: WayMessage) -> Sums:
    """Return `gradient_sums` at the end, the first step, and `line_losses` at the other steps."""
    further = line_losses(shard, replace(message, steps=message.steps[1:]))
    there = gradient_sums(shard, LookMessage(message.end, message.loss, message.features))
    values = np.concatenate([there.values, further.values])
    return Sums(values, there.arrays, there.coupled)


def value(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss alone."""
    objective, found = _evaluated(shard, message.place, message.loss, Wanted.LOSS)
    return Sums(np.array([found.value]), (), is_coupled(objective))


def bin_weights(shard: Shard, message: Ints) -> Sums:
    """Return how the rows, by their weights, share the bins of features, (all bins, 1)."""
    share = np.ascontiguousarray(shard.rows.share.reshape(-1, 1))
    return Sums(np.zeros(1), (bin_sums(shard, message, share),))


def _evaluated(
    shard: Shard, place: RemoteScores, loss: Loss, wanted: Wanted
) -> tuple[Objective, LossValues]:
    """Return the loss at a place and the wanted ones of U, A and C, which are soon written over."""
    objective, F = shard.objective(loss), shard.scores(place)
    rows = objective.pass_rows(F.dtype)
    if rows is None:
        return objective, objective.evaluate(F, wanted)
    out = LossValues(0.0, **{name: room(name, F) for name in wanted.fields})
    return objective, kernels.loss_pass(rows, F, wanted, None, None, out)


def sizes_of(shard: Shard, A: Scores) -> Array:
    """Return the sums of |A| over the rows, (k,): those over the bin of the constant."""
    constant = np.array([shard.binned.constant], dtype=np.int32)
    return np.asarray(bin_sums(shard, constant, np.abs(A, out=room("sizes", A)))[1])


def bin_sums(shard: Shard, features: Ints, values: Scores) -> Array:
    """Return the sums of values (m, k) over the bins of features, (all bins, k)."""
    binned = shard.binned
    n_bins = np.ascontiguousarray(binned.n_bins[features], dtype=np.int32)
    where = np.ascontiguousarray(features, dtype=np.int32)
    return kernels.histograms(binned.codes, where, n_bins, values, None, binned.sparse)
