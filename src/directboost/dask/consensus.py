"""Consensus ADMM with a block of rows for every shard: W-updates there, Z here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import numpy as np

from ..arrays import Array, Ints
from ..losses import Loss, SampleWeights
from ..problem.objective import RestrictedProblem
from ..solvers.admm_updates import BlockLoss, LogSumBlock, SmoothUpdate, Transform
from ..solvers.consensus import Consensus
from ..solvers.row_blocks import BlockExecutor as BlockCrew
from ..solvers.row_blocks import is_coupled
from .executor import Executor
from .problem import ShardedStumps, StumpMatrix
from .shard import Shard

_ROWS = 4096  # of a shard, from which the curvature is known that L-BFGS starts with


class ShardedConsensus(Consensus):
    """`Consensus` where every shard is a block; with one-vs-all margins every class of it.

    Paper: Eqs. 51-57 (consensus over blocks of rows).
    Paper: Eq. 65 (classes in parallel, one-vs-all).
    """

    def __init__(self, crew: Executor) -> None:
        super().__init__(blocks=crew.count)
        self._shards = crew

    @contextmanager
    def _executor(self, problem: RestrictedProblem, start: Array, U: Any) -> Iterator[BlockCrew]:
        yield ShardedBlockExecutor(self._shards, problem, start)


@dataclass(frozen=True)
class UpdateMessage:
    """What one W-update needs besides the rows.

    Attributes
    ----------
    key : str
        Names the columns and the weights `first`, at which the curvature is taken.
    names : (n, 3) int array
        The stumps.
    loss : Loss
    part : float or None
        Share of the block in what belongs to no row, where all rows are coupled.
    classes : slice
        The class, or all of them.
    first, x, center : (N,) arrays
        See `BlockUpdate`; x is the answer before.
    sigma, tolerance : float
    """

    key: str
    names: Ints
    loss: Loss
    part: float | None
    classes: slice
    first: Array
    x: Array
    center: Array
    sigma: float
    tolerance: float


class ShardedBlockExecutor(BlockCrew):
    """Updates the blocks on their shards; x of every block is kept here."""

    def __init__(self, crew: Executor, problem: RestrictedProblem, start: Array) -> None:
        columns, objective = problem.columns, problem.objective
        assert isinstance(columns, ShardedStumps)
        self._crew, self._k = crew, objective.margin.k
        split = objective.margin.separable and self._k > 1
        self._classes = (
            [slice(r, None, self._k) for r in range(self._k)] if split else [slice(None)]
        )
        coupled = is_coupled(problem) and crew.count > 1
        x = start.ravel()
        if coupled:
            x = np.append(x, objective.loss_value(columns.scores(start)))
        self._message = UpdateMessage(
            uuid4().hex, columns.array, objective.loss, 1.0 / crew.count if coupled else None,
            slice(None), x, x, x, 1.0, 0.0,
        )  # fmt: skip
        self._X = np.tile(x, (crew.count, 1))

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        message = replace(self._message, sigma=sigma, tolerance=tolerance)
        self._X = self._gather(_update, message, self._X, centers)
        return self._X

    def multipliers(self) -> Array:
        """Return M of all blocks at the start."""
        return self._gather(_multiplier, self._message, self._X, self._X)

    def weights(self) -> Array:
        """Refuse: the weights of rows are on their shards."""
        raise TypeError("the weights of rows on shards are on the workers")

    def _gather(self, question: Any, message: UpdateMessage, X: Array, centers: Array) -> Array:
        """Ask every block, and every class of it where they are apart."""
        places = [(q, part) for q in range(self._crew.count) for part in self._classes]
        # Copies: an array that has travelled has its numbers side by side, and so do these.
        messages = [
            replace(
                message, classes=part, first=message.first[part].copy(), x=X[q, part].copy(),
                center=centers[q, part].copy(),
            )
            for q, part in places
        ]  # fmt: skip
        answers = self._crew.each(question, messages, [q for q, _ in places])
        found = np.empty_like(X)
        for (q, part), answer in zip(places, answers, strict=True):
            found[q, part] = answer
        return found


def _update(shard: Shard, message: UpdateMessage) -> Array:
    """Return x after the W-update: it depends on the rows and the message only."""
    loss = _block_loss(shard, message)
    update = SmoothUpdate(loss, message.x, _transform(shard, message, loss))
    return update.update(message.center, message.sigma, message.tolerance)


def _multiplier(shard: Shard, message: UpdateMessage) -> Array:
    return SmoothUpdate(_block_loss(shard, message), message.x).multiplier()


def _transform(shard: Shard, message: UpdateMessage, loss: BlockLoss) -> Transform:
    """Return the variables of an update, which are those of the first weights of a solve."""
    if shard.notes.get("solve") != message.key:
        shard.notes.clear()
        shard.notes["solve"] = message.key
    key = (message.classes.start, message.sigma)
    if key not in shard.notes:
        shard.notes[key] = SmoothUpdate(loss, message.first).transform(message.sigma)
    found: Transform = shard.notes[key]
    return found


def _block_loss(shard: Shard, message: UpdateMessage) -> BlockLoss:
    """Return the loss of the rows of a shard, of all classes or one."""
    start, coupled = message.classes.start, message.part is not None
    margin = shard.margin if start is None else shard.margin.split()[start]
    matrix: Any = StumpMatrix(shard, message.names)
    some = slice(0, None, -(-shard.n_rows // _ROWS))
    scale = shard.n_rows / len(range(shard.n_rows)[some])
    rows = SampleWeights(shard.rows.c, shard.rows.k, None if coupled else shard.rows.true_class)
    few_rows = SampleWeights(
        scale * rows.c[some], rows.k, None if rows.true_class is None else rows.true_class[some]
    )
    few = matrix.some_rows(some), margin.take(some), message.loss, few_rows
    if message.part is None:
        return _ShardLoss(matrix, margin, message.loss, rows, BlockLoss(*few))
    part = message.part
    return _LogSumShardLoss(matrix, margin, message.loss, rows, part, LogSumBlock(*few, part))


@dataclass(frozen=True)
class _ShardLoss(BlockLoss):
    """The loss of a shard; `few` of its rows tell the curvature."""

    few: BlockLoss

    def curvature(self, x: Array) -> Array:
        """Return the curvature that some rows have, scaled."""
        return self.few.curvature(x)


@dataclass(frozen=True)
class _LogSumShardLoss(LogSumBlock):
    """The loss of a shard of coupled rows; `few` of its rows tell the curvature."""

    few: BlockLoss

    def curvature(self, x: Array) -> Array:
        """Return the curvature that some rows have, scaled."""
        return self.few.curvature(x)
