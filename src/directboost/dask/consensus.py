"""Consensus ADMM with one block of rows per shard: W-updates on the shards, Z on the driver."""

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
from ..solvers.row_blocks import BlockExecutor, is_coupled
from .executor import Executor, PassFunction
from .problem import ShardedStumps, StumpMatrix
from .shard import Shard

_CURVATURE_ROWS = 4096  # rows of a shard from which the initial curvature of L-BFGS is computed


class ShardedConsensus(Consensus):
    """`Consensus` with one block per shard; with one-vs-all margins, per shard and class.

    Paper: Eqs. 51-57 (consensus over blocks of rows).
    Paper: Eq. 65 (classes in parallel, one-vs-all).

    Parameters
    ----------
    executor : Executor
        Holds the shards.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__(blocks=executor.n_shards)
        self._shards = executor

    @contextmanager
    def _executor(
        self, problem: RestrictedProblem, start: Array, U: Any
    ) -> Iterator[BlockExecutor]:
        yield ShardedBlockExecutor(self._shards, problem, start)


@dataclass(frozen=True)
class UpdateRequest:
    """The input of one W-update, except for the rows.

    Attributes
    ----------
    key : str
        Identifies the columns and the coefficients `first`, at which the curvature is computed.
    names : (n, 3) int array
        The stumps.
    loss : Loss
    part : float or None
        Share of the block in the terms that belong to no row; only for coupled rows.
    classes : slice
        One class, or all classes.
    first, x, center : (N,) arrays
        See `BlockUpdate`; x is the previous solution.
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


class ShardedBlockExecutor(BlockExecutor):
    """Updates the blocks on their shards; the driver keeps x of every block."""

    def __init__(self, executor: Executor, problem: RestrictedProblem, start: Array) -> None:
        columns, objective = problem.columns, problem.objective
        assert isinstance(columns, ShardedStumps)
        self._executor, self._k = executor, objective.margin.k
        split = objective.margin.separable and self._k > 1
        self._classes = (
            [slice(r, None, self._k) for r in range(self._k)] if split else [slice(None)]
        )
        coupled = is_coupled(problem) and executor.n_shards > 1
        x = start.ravel()
        if coupled:
            x = np.append(x, objective.loss_value(columns.scores(start)))
        self._request = UpdateRequest(
            key=uuid4().hex, names=columns.array, loss=objective.loss,
            part=1.0 / executor.n_shards if coupled else None, classes=slice(None),
            first=x, x=x, center=x, sigma=1.0, tolerance=0.0,
        )  # fmt: skip
        self._X = np.tile(x, (executor.n_shards, 1))

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        request = replace(self._request, sigma=sigma, tolerance=tolerance)
        self._X = self._gather(_update, request, self._X, centers)
        return self._X

    def multipliers(self) -> Array:
        """Return M of all blocks at the start."""
        return self._gather(_multiplier, self._request, self._X, self._X)

    def weights(self) -> Array:
        """Raise TypeError: the weights of the rows are on the shards."""
        raise TypeError("the weights of the rows are on the workers")

    def _gather(
        self, function: PassFunction, request: UpdateRequest, X: Array, centers: Array
    ) -> Array:
        """Run a pass on every block, and on every class of it if the classes are separate."""
        places = [(q, part) for q in range(self._executor.n_shards) for part in self._classes]
        # Copies: transferred arrays are contiguous, so local ones must be too, for equal bits.
        requests = [
            replace(
                request, classes=part, first=request.first[part].copy(), x=X[q, part].copy(),
                center=centers[q, part].copy(),
            )
            for q, part in places
        ]  # fmt: skip
        results = self._executor.run_each(function, requests, [q for q, _ in places])
        found = np.empty_like(X)
        for (q, part), result in zip(places, results, strict=True):
            found[q, part] = result
        return found


def _update(shard: Shard, request: UpdateRequest) -> Array:
    """Return x after the W-update; it depends only on the rows and the request."""
    loss = _block_loss(shard, request)
    update = SmoothUpdate(loss, request.x, _transform(shard, request, loss))
    return update.update(request.center, request.sigma, request.tolerance)


def _multiplier(shard: Shard, request: UpdateRequest) -> Array:
    return SmoothUpdate(_block_loss(shard, request), request.x).multiplier()


def _transform(shard: Shard, request: UpdateRequest, loss: BlockLoss) -> Transform:
    """Return the change of variables of an update, made from the first coefficients of a solve."""
    notes = shard.notes  # another thread may replace the attribute meanwhile
    if notes.get("solve") != request.key:
        notes = shard.notes = {"solve": request.key}
    key = (request.classes.start, request.sigma)
    found: Transform | None = notes.get(key)
    if found is None:
        found = notes[key] = SmoothUpdate(loss, request.first).transform(request.sigma)
    return found


def _block_loss(shard: Shard, request: UpdateRequest) -> BlockLoss:
    """Return the loss of the rows of a shard, for all classes or one."""
    start, coupled = request.classes.start, request.part is not None
    margin = shard.margin if start is None else shard.margin.split()[start]
    matrix: Any = StumpMatrix(shard, request.names)
    m = shard.labels.size
    some = slice(0, None, max(-(-m // _CURVATURE_ROWS), 1))
    scale = m / max(len(range(m)[some]), 1)  # a shard may have no rows
    rows = SampleWeights(shard.rows.c, shard.rows.k, None if coupled else shard.rows.true_class)
    few_rows = SampleWeights(
        scale * rows.c[some], rows.k, None if rows.true_class is None else rows.true_class[some]
    )
    few = matrix.some_rows(some), margin.take(some), request.loss, few_rows
    if request.part is None:
        return _ShardLoss(matrix, margin, request.loss, rows, BlockLoss(*few))
    part = request.part
    return _LogSumShardLoss(matrix, margin, request.loss, rows, part, LogSumBlock(*few, part))


@dataclass(frozen=True)
class _ShardLoss(BlockLoss):
    """The loss of a shard; the curvature is that of `few` of its rows."""

    few: BlockLoss

    def curvature(self, x: Array) -> Array:
        """Return the curvature of some rows, scaled."""
        return self.few.curvature(x)


@dataclass(frozen=True)
class _LogSumShardLoss(LogSumBlock):
    """The loss of a shard of coupled rows; the curvature is that of `few` of its rows."""

    few: BlockLoss

    def curvature(self, x: Array) -> Array:
        """Return the curvature of some rows, scaled."""
        return self.few.curvature(x)
