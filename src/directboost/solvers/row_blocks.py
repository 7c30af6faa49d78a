"""The rows of a problem in blocks, and the crews that update them: threads or processes."""

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
    """The updates of one block of rows: one of all classes, or one of each class.

    Conventions: x (N,) is W (n, k) flattened row by row, and behind it the number t where the
    blocks have to agree on one.

    Attributes
    ----------
    size : int
        N.
    parts : list of (slice, BlockUpdate)
        Which entries of x an update is for.
    """

    size: int
    parts: Sequence[tuple[slice, BlockUpdate]]

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Return x after the W-update."""
        return self._gather(lambda place, part: part.update(center[place], sigma, tolerance))

    def multiplier(self) -> Array:
        """Return M (N,) at which x stays where it is."""
        return self._gather(lambda place, part: part.multiplier())

    def weights(self) -> Array:
        """Return the weights U (m_q, k) of the rows at x."""
        return np.hstack([part.weights() for _, part in self.parts])

    def _gather(self, ask: Callable[[slice, BlockUpdate], Array]) -> Array:
        x = np.empty(self.size)
        for place, part in self.parts:
            x[place] = ask(place, part)
        return x


def split_rows(problem: RestrictedProblem, W: Array, U: Array, count: int) -> list[RowBlock]:
    """Deal the rows to `count` blocks like cards, which start at W (n, k) and U (m, k).

    Data often come sorted by class; dealt rows give every block some of each.
    """
    deals = [slice(q, None, count) for q in range(count)]
    if is_coupled(problem) and count > 1:
        return [_log_sum_block(problem, W, rows, 1.0 / count) for rows in deals]
    return [_row_block(problem, W, U, rows) for rows in deals]


def is_coupled(problem: RestrictedProblem) -> bool:
    """Tell whether the loss has a logarithm around the sum over all rows."""
    loss, rows = problem.objective.loss, problem.objective.rows
    return isinstance(loss, Exponential) and rows.true_class is not None


def _row_block(problem: RestrictedProblem, W: Array, U: Array, rows: slice) -> RowBlock:
    """Build the updates of some rows, class by class where the margin is separable."""
    objective, H = problem.objective, _responses(problem, rows)
    own = None if objective.rows.true_class is None else objective.rows.true_class[rows]
    weights = SampleWeights(objective.rows.c[rows], objective.rows.k, own)
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
    """Build the update of (W, t) for some rows, from the best t for W."""
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
    """Works on the row blocks; x and M of all blocks are (Q, N)."""

    @abstractmethod
    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""

    @abstractmethod
    def multipliers(self) -> Array:
        """Return M of all blocks at the start."""

    @abstractmethod
    def weights(self) -> Array:
        """Return the weights U (m, k) of all rows, each at the x of its block."""


class ThreadBlocks(BlockExecutor):
    """Blocks in this process; every class of every block is a task of its own.

    Paper: Eq. 65 (classes in parallel, one-vs-all).
    """

    def __init__(self, blocks: Sequence[RowBlock], pool: Executor | None) -> None:
        self.blocks = blocks
        self.pool = pool

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        tasks = [
            (part, center[place])
            for block, center in zip(self.blocks, centers, strict=True)
            for place, part in block.parts
        ]
        run: Callable[..., Any] = self.pool.map if self.pool is not None else map
        answers = iter(run(lambda task: task[0].update(task[1], sigma, tolerance), tasks))
        X = np.empty_like(centers)
        for x, block in zip(X, self.blocks, strict=True):
            for place, _ in block.parts:
                x[place] = next(answers)
        return X

    def multipliers(self) -> Array:
        """Return M of all blocks at the start."""
        return np.stack([block.multiplier() for block in self.blocks])

    def weights(self) -> Array:
        """Return the weights U (m, k) of all rows."""
        return deal_back([block.weights() for block in self.blocks])


class ProcessBlocks(BlockExecutor):
    """One process for each block, which keeps its rows; only x and M travel."""

    def __init__(self, blocks: Sequence[RowBlock], processes: Sequence[Executor]) -> None:
        self.processes = processes
        self._ask(_hold, [(block,) for block in blocks])

    def update(self, centers: Array, sigma: float, tolerance: float) -> Array:
        """Return x of all blocks after the W-update."""
        return np.stack(self._ask(_update, [(center, sigma, tolerance) for center in centers]))

    def multipliers(self) -> Array:
        """Return M of all blocks at the start."""
        return np.stack(self._ask(_multiplier, [()] * len(self.processes)))

    def weights(self) -> Array:
        """Return the weights U (m, k) of all rows."""
        return deal_back(self._ask(_weights, [()] * len(self.processes)))

    def _ask(self, question: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        asked = [
            process.submit(question, *some)
            for process, some in zip(self.processes, arguments, strict=True)
        ]
        return [answer.result() for answer in asked]


def start_processes(count: int) -> list[Executor]:
    """Return executors of one process each: what one is asked, the same process answers."""
    # Not fork: threads of the parent, those of BLAS among them, would leave locks behind.
    context = get_context("spawn")
    return [ProcessPoolExecutor(1, mp_context=context) for _ in range(count)]


def deal_back(parts: Sequence[Array]) -> Array:
    """Put the rows of dealt blocks back in their order."""
    whole = np.empty((sum(len(part) for part in parts), parts[0].shape[1]))
    for q, part in enumerate(parts):
        whole[q :: len(parts)] = part
    return whole


def cores() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_held: dict[str, RowBlock] = {}


def _hold(block: RowBlock) -> None:
    """Keep a block, in the process that works on it."""
    _held["block"] = block


def _update(center: Array, sigma: float, tolerance: float) -> Array:
    return _held["block"].update(center, sigma, tolerance)


def _multiplier() -> Array:
    return _held["block"].multiplier()


def _weights() -> Array:
    return _held["block"].weights()
