"""What a shard is asked: each question is one pass over its rows, its answer a sum over them.

The questions of a round, in order: `look` at a new point, its `dual` value, how the loss `bend`s
there, and `search` along a way. Every function takes a shard and a message and gives `Sums`.
"""

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.work import LossPass, Way
from ..losses import Exponential, Loss
from ..problem import Objective
from .places import JumpList, Place
from .shards import Shard
from .sums import Sums


@dataclass(frozen=True)
class LookMessage:
    """A place, and features whose sums are wanted."""

    place: Place
    loss: Loss
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.place.weights.nbytes + self.features.nbytes


@dataclass(frozen=True)
class DualMessage:
    """A place, its loss on all rows, and by how much its weights are shrunk."""

    place: Place
    loss: Loss
    value: float
    tau: float

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.place.weights.nbytes + 16


@dataclass(frozen=True)
class WayMessage:
    """A place, and steps of a way from there."""

    place: Place
    loss: Loss
    change: JumpList
    steps: tuple[float, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.place.weights.nbytes + self.change.nbytes + 8 * len(self.steps)


def is_coupled(objective: Objective) -> bool:
    """Tell whether the loss is the logarithm of a sum over all rows."""
    return isinstance(objective.loss, Exponential) and objective.margin.own is not None


def look(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss, sums of A over the bins of features, (all bins, k), and of |A|, (k,)."""
    objective, found = _evaluated(shard, message.place, message.loss, "A")
    assert found.A is not None
    size = np.abs(found.A).sum(axis=0, dtype=np.float64)
    arrays = (_bin_sums(shard, message.features, found.A), size)
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def bend(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss, and sums of the diagonal curvature over the bins of features."""
    objective, found = _evaluated(shard, message.place, message.loss, "C")
    assert found.C is not None
    arrays = (_bin_sums(shard, message.features, found.C),)
    return Sums(np.array([found.value]), arrays, is_coupled(objective))


def dual(shard: Shard, message: DualMessage) -> Sums:
    """Return the dual objective of weights shrunk by tau.

    Of a coupled loss it is that of the entries r != y_i, and their mass.
    """
    objective, found = _evaluated(shard, message.place, message.loss, "U")
    U = found.U
    assert U is not None
    if not is_coupled(objective):
        shrunk = replace(objective, nu=message.tau)
        return Sums(np.array([shrunk.dual_estimate(U, 1.0)]))
    U *= U.dtype.type(np.exp(found.value - message.value))
    rows = objective.pass_rows(U.dtype)
    assert rows is not None
    return Sums(np.array(kernels.dual_parts(rows, U, message.tau)))


def search(shard: Shard, message: WayMessage) -> Sums:
    """Return the loss after every step of a way."""
    place, objective = message.place, shard.objective(message.loss)
    F, change = shard.scores(place), shard.added(message.change, place.dtype)
    rows = objective.pass_rows(place.dtype)
    values = [
        kernels.loss_pass(rows, F, "", None, Way(change, step)).value
        if rows is not None
        else objective.loss_value(F.astype(np.float64) + step * change.astype(np.float64))
        for step in message.steps
    ]
    return Sums(np.array(values), (), is_coupled(objective))


def value(shard: Shard, message: LookMessage) -> Sums:
    """Return the loss alone."""
    objective, found = _evaluated(shard, message.place, message.loss, "")
    return Sums(np.array([found.value]), (), is_coupled(objective))


def bin_weights(shard: Shard, message: Ints) -> Sums:
    """Return how the rows, by their weights, share the bins of features, (all bins, 1)."""
    share = np.ascontiguousarray(shard.rows.share.reshape(-1, 1))
    return Sums(np.zeros(1), (_bin_sums(shard, message, share),))


def _evaluated(shard: Shard, place: Place, loss: Loss, wanted: str) -> tuple[Objective, LossPass]:
    objective = shard.objective(loss)
    return objective, objective.evaluate(shard.scores(place), wanted)


def _bin_sums(shard: Shard, features: Ints, values: Scores) -> Array:
    binned = shard.binned
    n_bins = np.ascontiguousarray(binned.n_bins[features], dtype=np.int32)
    where = np.ascontiguousarray(features, dtype=np.int32)
    return kernels.histograms(binned.codes, where, n_bins, values, None, binned.sparse)
