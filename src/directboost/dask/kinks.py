"""What a shard is asked where the loss has kinks: questions about the hinge and a smoothed one.

The weights U of the smoothed hinge are a point of the dual domain of the hinge itself, and the
dual objective of the hinge is linear in them: so a look at a place tells, besides the sums over
bins, all that a lower bound takes, whatever U is shrunk by.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..kernels.structs import Way
from ..problem.objective import Objective, row_blocks
from ..solvers.smoothing import ShiftedHinge, in_domain
from .passes import LookMessage, WayMessage, bin_sums, sizes_of
from .places import Place
from .scratch import room
from .shards import Shard
from .softening import Softening, SoftPlace
from .sums import Sums

FACTS = 4  # first values of a look: smoothed loss, loss, <U, rho> and D(U)


def look(shard: Shard, message: LookMessage) -> Sums:
    """Return the facts of a place, sums of A over the bins of features, and of |A|, (k,).

    Facts are the smoothed loss, the loss, <U, rho> and D(U); where nothing is smoothed the first
    two are the same.
    """
    objective, F = shard.objective(message.loss), shard.scores(message.place)
    value, U = _soft_weights(shard, message.place, F)
    A, parts = room("A", F), [(0.0, 0.0, 0.0)]  # a shard may have no rows
    for part, on_part, rho in _parts(objective, F):
        own = on_part.loss.weights(rho, on_part.rows) if U is None else U[part]
        inside = in_domain(own, on_part.rows)
        A[part] = on_part.margin.adjoint(inside)
        parts.append((on_part.loss.value(rho, on_part.rows), float((inside * rho).sum()),
            on_part.loss.dual_value(inside, on_part.rows)))  # fmt: skip
    loss, inner, dual = (fsum(values) for values in zip(*parts, strict=True))
    facts = np.array([loss if value is None else value, loss, inner, dual])
    return Sums(facts, (bin_sums(shard, message.features, A), sizes_of(shard, A)))


def bend(shard: Shard, message: LookMessage) -> Sums:
    """Return the smoothed loss, and sums of its diagonal curvature over the bins of features."""
    place = message.place
    assert isinstance(place, SoftPlace)
    found = _shifted(shard, place.soft, place.dtype).evaluate(shard.scores(place), "C")
    assert found.C is not None
    return Sums(np.array([found.value]), (bin_sums(shard, message.features, found.C),))


def search(shard: Shard, message: WayMessage) -> Sums:
    """Return the smoothed loss after every step of a way."""
    place = message.place
    assert isinstance(place, SoftPlace)
    shifted = _shifted(shard, place.soft, place.dtype)
    F = shard.scores(place)
    change = np.subtract(shard.scores(message.end), F, out=room("change", F))
    change *= change.dtype.type(1.0 / shifted.mu)
    start = shifted.scores(F)
    found = [
        kernels.loss_pass(shifted.rows, start, "", None, Way(change, step)).value
        for step in message.steps
    ]
    return Sums(np.array([shifted.value(value) for value in found]))


def stride(shard: Shard, message: WayMessage) -> Sums:
    """Return what a `look` at the end gives, which is the first step; then the other steps."""
    further = search(shard, replace(message, steps=message.steps[1:]))
    there = look(shard, LookMessage(message.end, message.loss, message.features))
    return Sums(np.concatenate([there.values, further.values]), there.arrays)


def weights(shard: Shard, place: SoftPlace) -> Array:
    """Return the weights U of the smoothed hinge, in the dual domain of the hinge, (m, k)."""
    _, U = _soft_weights(shard, place, shard.scores(place))
    assert U is not None
    return in_domain(U, shard.rows)


def _soft_weights(shard: Shard, place: Place, F: Scores) -> tuple[float | None, Scores | None]:
    """Return the smoothed loss and its weights; nothing at a place where nothing is smoothed."""
    if not isinstance(place, SoftPlace):
        return None, None
    found = _shifted(shard, place.soft, place.dtype).evaluate(F, "U")
    return found.value, found.U


def _parts(objective: Objective, F: Scores) -> Iterator[tuple[slice, Objective, Array]]:
    """Yield blocks of rows, the objective on them, and their margins in double precision."""
    for part in row_blocks(F.shape[0]):
        margin = objective.margin.take(part)
        on_part = Objective(
            margin, objective.loss, objective.penalty, objective.nu, objective.rows.take(part)
        )
        yield part, on_part, margin.forward(F[part].astype(np.float64))


def _shifted(shard: Shard, soft: Softening, precision: Any) -> ShiftedHinge:
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
        kept = (key, ShiftedHinge(shard.objective(loss), precision))
        shard.notes["shifted"] = kept
    found: ShiftedHinge = kept[1]
    return found
