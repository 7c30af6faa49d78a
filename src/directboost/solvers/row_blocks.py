"""Blocks of rows, and their updates in threads or processes."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from ..arrays import Array
from ..losses import Exponential, SampleWeights
from ..problem.objective import RestrictedProblem
from .admm_updates import BlockLoss, BlockUpdate, HingeUpdate, LogSumBlock, SmoothUpdate
from .margin_matrix import dense_columns


@dataclass(frozen=True)
class RowBlock:
    """The updates of one block of rows: one for all classes, or one for each class.

    Conventions: x (N,) is W (n, k) flattened row by row, followed by the scalar t if the blocks
    share one.

    Attributes
    ----------
    size : int
        N.
    parts : list of (slice, BlockUpdate)
        The updates, each with the entries of x it is for.
    """

    size: int
    parts: Sequence[tuple[slice, BlockUpdate]]

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Return x after the W-update."""
        return self._gather(lambda entries, part: part.update(center[entries], sigma, tolerance))

    def multiplier(self) -> Array:
        """Return the M (N,) for which x is a fixed point."""
        return self._gather(lambda entries, part: part.multiplier())

    def weights(self) -> Array:
        """Return the dual weights U (m_q, k) of the rows at x."""
        return np.hstack([part.weights() for _, part in self.parts])

    def _gather(self, compute: Callable[[slice, BlockUpdate], Array]) -> Array:
        x = np.empty(self.size)
        for entries, part in self.parts:
            x[entries] = compute(entries, part)
        return x


def split_rows(problem: RestrictedProblem, W: Array, U: Array, count: int) -> list[RowBlock]:
    """Distribute the rows round-robin over `count` blocks that start at W (n, k) and U (m, k).

    Data are often sorted by class; this way every block has rows of each class.
    """
    blocks = [slice(q, None, count) for q in range(count)]
    if is_coupled(problem) and count > 1:
        return [_log_sum_block(problem, W, rows, 1.0 / count) for rows in blocks]
    return [_row_block(problem, W, U, rows) for rows in blocks]


def is_coupled(problem: RestrictedProblem) -> bool:
    """Return whether the loss is the logarithm of a sum over all rows."""
    loss, rows = problem.objective.loss, problem.objective.rows
    return isinstance(loss, Exponential) and rows.true_class is not None


def _row_block(problem: RestrictedProblem, W: Array, U: Array, rows: slice) -> RowBlock:
    """Return the updates of some rows, one for each class if the margin is separable."""
    objective, H = problem.objective, _responses(problem, rows)
    true_class = None if objective.rows.true_class is None else objective.rows.true_class[rows]
    weights = SampleWeights(objective.rows.c[rows], objective.rows.k, true_class)
    margins = objective.margin.take(rows).split()
    parts: list[tuple[slice, BlockUpdate]] = []
    for r, margin in enumerate(margins):
        loss = BlockLoss(H, margin, objective.loss, weights)
        classes = slice(r, None, len(margins))
        if objective.loss.smooth:
            parts.append((classes, SmoothUpdate(loss, W[:, classes].ravel())))
        else:
            parts.append((classes, HingeUpdate(loss, U[rows, classes])))
    return RowBlock(W.size, parts)


def _log_sum_block(problem: RestrictedProblem, W: Array, rows: slice, part: float) -> RowBlock:
    """Return the update of (W, t) for some rows, starting from the best t for W."""
    objective = problem.objective
    t = objective.loss_value(problem.columns.scores(W))
    weights = SampleWeights(objective.rows.c[rows], objective.rows.k, None)
    margin = objective.margin.take(rows)
    loss = LogSumBlock(_responses(problem, rows), margin, objective.loss, weights, part)
    update = SmoothUpdate(loss, np.append(W.ravel(), t))
    return RowBlock(W.size + 1, [(slice(None), update)])


def _responses(problem: RestrictedProblem, rows: slice) -> Array:
    return np.asfortranarray(dense_columns(problem, "consensus").H[rows])


class BlockExecutor(ABC):
    """Runs the updates of all row blocks; x and M of all blocks are (Q, N)."""

    @abstractmethod
    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""

    @abstractmethod
    def multipliers(self) -> Array:
        """Return the initial M of all blocks."""

    @abstractmethod
    def weights(self) -> Array:
        """Return the dual weights U (m, k) of all rows, each at the x of its block."""


class ThreadBlocks(BlockExecutor):
    """Updates the blocks in this process; every class of every block is a separate task.

    Paper: Eq. 65 (classes in parallel, one-vs-all).

    Parameters
    ----------
    blocks : list of RowBlock
    pool : Executor or None
        Threads that run the tasks; None runs them one after the other.
    """

    def __init__(self, blocks: Sequence[RowBlock], pool: Executor | None) -> None:
        self.blocks = blocks
        self.pool = pool

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        tasks = [
            (part, center[entries])
            for block, center in zip(self.blocks, centers, strict=True)
            for entries, part in block.parts
        ]
        run: Callable[..., Any] = self.pool.map if self.pool is not None else map
        results = iter(run(lambda task: task[0].update(task[1], sigma, tolerance), tasks))
        X = np.empty_like(centers)
        for x, block in zip(X, self.blocks, strict=True):
            for entries, _ in block.parts:
                x[entries] = next(results)
        return X

    def multipliers(self) -> Array:
        """Return the initial M of all blocks."""
        return np.stack([block.multiplier() for block in self.blocks])

    def weights(self) -> Array:
        """Return the dual weights U (m, k) of all rows."""
        return interleave([block.weights() for block in self.blocks])


class ProcessBlocks(BlockExecutor):
    """Updates every block in a process of its own, which keeps the rows; only x and M are sent."""

    def __init__(self, blocks: Sequence[RowBlock], processes: Sequence[Executor]) -> None:
        self.processes = processes
        self._call(_set_block, [(block,) for block in blocks])

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        return np.stack(self._call(_update, [(center, sigma, tolerance) for center in centers]))

    def multipliers(self) -> Array:
        """Return the initial M of all blocks."""
        return np.stack(self._call(_multiplier, [()] * len(self.processes)))

    def weights(self) -> Array:
        """Return the dual weights U (m, k) of all rows."""
        return interleave(self._call(_weights, [()] * len(self.processes)))

    def _call(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        futures = [
            process.submit(function, *values)
            for process, values in zip(self.processes, arguments, strict=True)
        ]
        return [future.result() for future in futures]


def start_processes(count: int) -> list[Executor]:
    """Return executors with one process each, so that all calls of one reach the same process."""
    # Not fork: the child would inherit locks held by threads of the parent, such as those of BLAS.
    context = get_context("spawn")
    return [ProcessPoolExecutor(1, mp_context=context) for _ in range(count)]


def interleave(parts: Sequence[Array]) -> Array:
    """Return the rows of round-robin blocks in their original order."""
    whole = np.empty((sum(len(part) for part in parts), parts[0].shape[1]))
    for q, part in enumerate(parts):
        whole[q :: len(parts)] = part
    return whole


def cores() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: The block of a process started by `start_processes`.
_process_block: dict[str, RowBlock] = {}


def _set_block(block: RowBlock) -> None:
    _process_block["block"] = block


def _update(center: Array, sigma: float, tolerance: float) -> Array:
    return _process_block["block"].update(center, sigma, tolerance)


def _multiplier() -> Array:
    return _process_block["block"].multiplier()


def _weights() -> Array:
    return _process_block["block"].weights()
