"""Consensus ADMM: the rows in blocks, each with its own weights, which come to agree."""

import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..losses.elementwise import ElementwiseLoss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .alternation import Alternation
from .base import Master, MasterResult
from .row_blocks import (
    Crew,
    LocalCrew,
    ProcessCrew,
    cores,
    split_rows,
    start_processes,
)

_LOOSE = 30.0  # the residuals at which to look first, in units of the accuracy
_TIGHTER = 0.5
_FINEST = 1e-15
_PATIENCE = 500  # steps without a smaller one: the end of the precision is reached
_LARGE = 300_000  # multiplications of H and W in a task from which threads pay


class Consensus(Master):
    """Any loss that is a sum over rows with any penalty, by ADMM over blocks of rows.

    Every block q has weights W_q of its own, a multiplier M_q and the loss f_q of its rows; Z is
    what they agree on, and the answer::

        W_q <- argmin f_q(W_q) + <M_q, W_q> + sigma/2 ||W_q - Z||^2
        Z   <- argmin over Z >= 0 of nu Omega(Z) + sum_q (-<M_q, Z> + sigma/2 ||W_q - Z||^2)
             = prox_{nu / (sigma Q)} (mean_q (W_q + M_q / sigma))
        M_q <- M_q + sigma (W_q - Z)

    W_q is replaced by 1.6 W_q - 0.6 Z in the last two lines (over-relaxation), sigma is set by
    balancing the residuals ||W - Z|| and sigma ||Z - Z before||, and the steps are extrapolated
    (`Acceleration`). The run ends when the gap of Z over the columns is at most the accuracy
    asked for; small residuals say when to look at it.

    A start needs no multipliers of an earlier call: they are the edges of the columns, -grad f_q
    at W or, for the hinge, those of the last duals U of the rows. So columns that are new have
    theirs too, and columns may go.

    Paper: Eqs. 51-57 (consensus over blocks of rows).
    Paper: Eqs. 58-59 (Z-update, l1).
    Paper: Eq. 60 (Z-update, l1,2).
    Differs: Z stays non-negative; the paper's soft thresholds let negative weights through.

    Parameters
    ----------
    blocks : int, default=2
        Number of row blocks Q.
    workers : {"threads", "processes"}, default="threads"
        Where the blocks are updated. Processes keep their rows; starting them takes a second.
    max_iterations : int, default=5000
        Steps after which a call gives up, with `solved` false.
    """

    name: ClassVar[str] = "consensus"

    def __init__(
        self, blocks: int = 2, workers: str = "threads", max_iterations: int = 5000
    ) -> None:
        if blocks < 1:
            raise ValueError(f"blocks={blocks!r} does not fit: it takes a whole number >= 1")
        if workers not in ("threads", "processes"):
            raise ValueError(f"workers={workers!r} is not known; it takes 'threads', 'processes'")
        self.blocks = blocks
        self.workers = workers
        self.max_iterations = max_iterations
        self._sigma: float | None = None
        self._duals: Array | None = None
        self._processes: Sequence[Executor] = ()

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a loss that can be cut into blocks of rows, else the reason."""
        if margin.name not in loss.margins:
            return f"the loss {loss.name!r} has no {margin.name} form, only {loss.margins[0]}"
        if not (loss.smooth or (loss.name == "hinge" and loss.is_built_in())):
            return f"it needs a smooth loss or the hinge, not {loss.name!r}"
        if self.blocks > 1 and not (loss.is_built_in() or isinstance(loss, ElementwiseLoss)):
            return f"the loss {loss.name!r} may not be a sum over rows; 'admm' keeps them together"
        if self.workers == "processes" and not _travels(loss):
            return f"the loss {loss.name!r} cannot be sent to processes; workers='threads' would do"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> MasterResult:
        """Step until the gap over the columns is at most `accuracy`; never worse than `start`."""
        U = self._first_duals(problem, start)
        best = _Best(problem, start, U)
        if best.gap <= accuracy or start.size == 0:
            return best.result(accuracy, 0)
        with self._crew(problem, start, U) as crew:
            walk = Alternation(problem, crew, start, self._sigma)
            self._walk(walk, best, accuracy)
        self._sigma, self._duals = walk.sigma, best.U
        return best.result(accuracy, walk.steps)

    def _walk(self, walk: Alternation, best: "_Best", accuracy: float) -> None:
        """Step, and look at the gap whenever the residuals are small, then smaller still."""
        level, least, idle = _LOOSE * max(accuracy, _FINEST), np.inf, 0
        while walk.steps < self.max_iterations and level > _FINEST and idle < _PATIENCE:
            move = walk.step()
            least, idle = (move, 0) if move < least else (least, idle + 1)
            if walk.settled(level):
                best.offer(walk.W, walk.weights())
                if best.gap <= accuracy:
                    return
                level *= _TIGHTER
        best.offer(walk.W, walk.weights())

    def _first_duals(self, problem: RestrictedProblem, start: Array) -> Array:
        """Return the weights at `start`; for the hinge the last duals where they fit."""
        objective = problem.objective
        U = objective.weights(problem.columns.scores(start))
        if objective.loss.smooth or self._duals is None or self._duals.shape != U.shape:
            return U
        return max(U, self._duals, key=lambda duals: problem.restricted_bound(start, duals))

    @contextmanager
    def _crew(self, problem: RestrictedProblem, start: Array, U: Array) -> Iterator[Crew]:
        blocks = split_rows(problem, start, U, min(self.blocks, U.shape[0]))
        if self.workers == "processes":
            if len(self._processes) != len(blocks):
                self._processes = start_processes(len(blocks))
            yield ProcessCrew(blocks, self._processes)
            return
        tasks = sum(len(block.parts) for block in blocks)
        if tasks == 1 or start.size * U.shape[0] < _LARGE * tasks:
            yield LocalCrew(blocks, None)
            return
        with ThreadPoolExecutor(min(tasks, cores())) as pool:
            yield LocalCrew(blocks, pool)


def _travels(loss: Loss) -> bool:
    try:
        pickle.dumps(loss)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


class _Best:
    """The best weights and the best lower bound so far: their distance is the gap."""

    def __init__(self, problem: RestrictedProblem, W: Array, U: Array) -> None:
        self.problem = problem
        self.W, self.value = W, problem.value(W)
        self.U, self.bound = U, problem.restricted_bound(W, U)

    def offer(self, W: Array, U: Array) -> None:
        """Keep what is better of the two."""
        value, bound = self.problem.value(W), self.problem.restricted_bound(W, U)
        if value < self.value:
            self.W, self.value = W, value
        if bound > self.bound:
            self.U, self.bound = U, bound

    @property
    def gap(self) -> float:
        return self.problem.objective.relative(self.value - self.bound, self.value)

    def result(self, accuracy: float, steps: int) -> MasterResult:
        return MasterResult(self.W, self.U, bool(self.gap <= accuracy), steps, self.value)
