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
from .base import Solver, SolverResult
from .row_blocks import (
    BlockExecutor,
    ProcessBlocks,
    ThreadBlocks,
    cores,
    split_rows,
    start_processes,
)

_MEMORY = 30
_RIDGE = 1e-12  # share of the trace: differences of late steps are nearly parallel
_WORSE = 2.0  # times the least move remembered: there an extrapolation is given up
_AS_SMALL = 1.001  # times the least move: of such moves the last is taken, so that it goes on
_FURTHEST = 10.0  # times the way of the points remembered: where moves are equal, c knows no bound


class AndersonAcceleration:
    """Extrapolates the iteration y <- y + move(y) from its last points.

    With the differences dF of the last moves and dG of the last points y + move, the next point
    is y + move - dG c, where c minimises ||move - dF c||: for an affine iteration in few
    dimensions the exact fixed point. An iteration that goes straight on has none: there dG c is cut
    to a multiple of the way so far. Where the move has grown since, the memory is given up and the
    plain successor of its best point comes back.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, after the iteration itself has changed."""
        self._moves: list[Array] = []
        self._points: list[Array] = []
        self._sizes: list[float] = []

    def next(self, y: Array, move: Array) -> Array:
        """Return the point after y, whose plain successor is y + move."""
        size = float(np.linalg.norm(move))
        if self._sizes and size > _WORSE * min(self._sizes):
            best = np.flatnonzero(np.array(self._sizes) <= _AS_SMALL * min(self._sizes))[-1]
            plain = self._points[int(best)]
            self.forget()
            return plain
        self._moves = [*self._moves[-_MEMORY:], move]
        self._points = [*self._points[-_MEMORY:], y + move]
        self._sizes = [*self._sizes[-_MEMORY:], size]
        return self._extrapolate() if len(self._moves) > 1 else self._points[-1]

    def _extrapolate(self) -> Array:
        flat = [np.stack(arrays).reshape(len(arrays), -1) for arrays in (self._moves, self._points)]
        dF, dG = (np.diff(rows, axis=0) for rows in flat)
        gram = dF @ dF.T
        gram.flat[:: len(gram) + 1] += _RIDGE * np.trace(gram) + np.finfo(np.float64).tiny
        c = np.linalg.solve(gram, dF @ flat[0][-1])
        correction, way = c @ dG, float(np.linalg.norm(flat[1][-1] - flat[1][0]))
        far = float(np.linalg.norm(correction)) / max(_FURTHEST * way, np.finfo(np.float64).tiny)
        correction /= max(far, 1.0)
        return np.asarray(self._points[-1] - correction.reshape(self._points[-1].shape))


_RELAXATION = 1.6
_INEXACT = 0.01  # accuracy of a W-update, as a share of the last difference of W and Z
_FIRST_BALANCE = 5  # steps; sigma is looked at then and whenever their number has doubled
_MOST_CHANGE = 5.0  # factor on sigma
_LEAST_CHANGE = 2.0
_EPS = float(np.finfo(np.float64).eps)


class ADMMIteration:
    """ADMM on the points Y_q = Z + M_q / sigma, from which Z and the multipliers follow.

    Z = prox_{nu / (sigma Q)} (mean_q Y_q) and M_q = sigma (Y_q - Z). A step is
    Y_q <- Y_q + 1.6 (W_q - Z) with W_q = argmin f_q(W) + <M_q, W> + sigma/2 ||W - Z||^2, which
    is ADMM with over-relaxation, written as an iteration of one array; it is then extrapolated.

    Paper: Eq. 41 (augmented Lagrangian).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Paper: Eq. 48 (Z-update).
    Paper: Eq. 49 (Z-update as a threshold).
    Differs: the distance of W and Z is squared, which Eq. 41 leaves out.
    Differs: the multiplier is divided by sigma in the Z-update, which Eq. 49 leaves out.

    Attributes
    ----------
    Y, X : (Q, N) arrays
        The points, and W_q of the last step.
    Z : (N,) array
        What the blocks agree on: W (n, k) row by row, and t behind it where there is one.
    sigma : float
    steps : int
    """

    def __init__(
        self, problem: RestrictedProblem, crew: BlockExecutor, start: Array, sigma: float | None
    ) -> None:
        self.problem, self.crew, self.shape = problem, crew, start.shape
        self.thresholds = problem.objective.nu * problem.columns.rows(start)[1]
        M = crew.multipliers()
        # About the mean curvature of the loss of a block, for columns of +1 and -1.
        self.sigma = sigma or 0.25 / (start.shape[1] * M.shape[0])
        x = start.ravel()
        if M.shape[1] > x.size:
            x = np.append(x, problem.objective.loss_value(problem.columns.scores(start)))
        self.Y = x + M / self.sigma
        self.X, self.Z = np.broadcast_to(x, M.shape), self._agree(self.Y)
        self.steps = 0
        self._primal, self._dual = np.inf, np.inf
        self._balance_at = _FIRST_BALANCE
        self._acceleration = AndersonAcceleration()

    @property
    def W(self) -> Array:
        """The weights (n, k) >= 0 the blocks agree on."""
        return self.Z[: self.shape[0] * self.shape[1]].reshape(self.shape)

    @property
    def M(self) -> Array:
        """The multipliers (Q, N)."""
        return self.sigma * (self.Y - self.Z)

    def weights(self) -> Array:
        """Return the weights U (m, k): at the scores of Z, or the duals of the hinge."""
        objective = self.problem.objective
        if objective.loss.smooth:
            return objective.negative_gradient(self.problem.columns.scores(self.W))
        return self.crew.weights()

    def step(self) -> float:
        """Do one step; return the distance of W and Z before it."""
        distance = float(np.abs(self.X - self.Z).max())
        self.X = self.crew.update(
            2.0 * self.Z - self.Y, self.sigma, _INEXACT * self.sigma * max(distance, _EPS)
        )
        move = self.X - self.Z
        self.Y = self._acceleration.next(self.Y, _RELAXATION * move)
        before, self.Z = self.Z, self._agree(self.Y)
        self._primal = float(np.linalg.norm(self.X - self.Z))
        self._dual = self.sigma * float(np.linalg.norm(self.Z - before)) * len(self.Y) ** 0.5
        self.steps += 1
        if self.steps == self._balance_at:
            self._balance_at *= 2
            self._balance()
        return float(np.linalg.norm(move))

    def settled(self, level: float) -> bool:
        """Tell whether both residuals are small, in part absolutely and in part relatively."""
        size, force = self._scales()
        nu = self.problem.objective.nu
        return self._primal <= level * (1.0 + size) and self._dual <= level * (nu + force)

    def _scales(self) -> tuple[float, float]:
        """Return the sizes of W or Z and of M, which the residuals are compared with."""
        size = max(np.linalg.norm(self.X), np.linalg.norm(self.Z) * len(self.Y) ** 0.5)
        return float(size), float(np.linalg.norm(self.M))

    def _agree(self, Y: Array) -> Array:
        """Return Z for the points Y: thresholds for the weights, the plain mean for t."""
        mean = Y.mean(axis=0)
        size = self.shape[0] * self.shape[1]
        step = self.thresholds / (self.sigma * len(Y))
        W = self.problem.objective.penalty.prox(mean[:size].reshape(self.shape), step)
        return np.append(W.ravel(), mean[size:])

    def _balance(self) -> None:
        """Change sigma towards equal relative residuals; Z and M stay.

        It is looked at ever more seldom: where sigma never settles, ADMM need not converge.
        """
        size, force = self._scales()
        tiny = np.finfo(np.float64).tiny
        ratio = (self._primal / max(size, tiny)) / max(self._dual / max(force, tiny), tiny)
        factor = float(np.clip(np.sqrt(ratio), 1.0 / _MOST_CHANGE, _MOST_CHANGE))
        if 1.0 / _LEAST_CHANGE < factor < _LEAST_CHANGE:
            return
        M, self.sigma = self.M, self.sigma * factor
        self.Y = self.Z + M / self.sigma
        self._acceleration.forget()


_LOOSE = 30.0  # the residuals at which to look first, in units of the accuracy
_TIGHTER = 0.5
_FINEST = 1e-15
_PATIENCE = 500  # steps without a smaller one: the end of the precision is reached
_LARGE = 300_000  # multiplications of H and W in a task from which threads pay


class Consensus(Solver):
    """Any loss that is a sum over rows with any penalty, by ADMM over blocks of rows.

    Every block q has weights W_q of its own, a multiplier M_q and the loss f_q of its rows; Z is
    what they agree on, and the answer::

        W_q <- argmin f_q(W_q) + <M_q, W_q> + sigma/2 ||W_q - Z||^2
        Z   <- argmin over Z >= 0 of nu Omega(Z) + sum_q (-<M_q, Z> + sigma/2 ||W_q - Z||^2)
             = prox_{nu / (sigma Q)} (mean_q (W_q + M_q / sigma))
        M_q <- M_q + sigma (W_q - Z)

    W_q is replaced by 1.6 W_q - 0.6 Z in the last two lines (over-relaxation), sigma is set by
    balancing the residuals ||W - Z|| and sigma ||Z - Z before||, and the steps are extrapolated
    (`AndersonAcceleration`). The run ends when the gap of Z over the columns is at most the
    accuracy
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

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Step until the gap over the columns is at most `accuracy`; never worse than `start`."""
        U = self._first_duals(problem, start)
        best = _Best(problem, start, U)
        if best.gap <= accuracy or start.size == 0:
            return best.result(accuracy, 0)
        with self._crew(problem, start, U) as crew:
            walk = ADMMIteration(problem, crew, start, self._sigma)
            self._walk(walk, best, accuracy)
        self._sigma, self._duals = walk.sigma, best.U
        return best.result(accuracy, walk.steps)

    def _walk(self, walk: ADMMIteration, best: "_Best", accuracy: float) -> None:
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
        U = objective.negative_gradient(problem.columns.scores(start))
        if objective.loss.smooth or self._duals is None or self._duals.shape != U.shape:
            return U
        return max(U, self._duals, key=lambda duals: problem.restricted_bound(start, duals))

    @contextmanager
    def _crew(self, problem: RestrictedProblem, start: Array, U: Array) -> Iterator[BlockExecutor]:
        blocks = split_rows(problem, start, U, min(self.blocks, U.shape[0]))
        if self.workers == "processes":
            if len(self._processes) != len(blocks):
                self._processes = start_processes(len(blocks))
            yield ProcessBlocks(blocks, self._processes)
            return
        tasks = sum(len(block.parts) for block in blocks)
        if tasks == 1 or start.size * U.shape[0] < _LARGE * tasks:
            yield ThreadBlocks(blocks, None)
            return
        with ThreadPoolExecutor(min(tasks, cores())) as pool:
            yield ThreadBlocks(blocks, pool)


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

    def result(self, accuracy: float, steps: int) -> SolverResult:
        return SolverResult(self.W, self.U, bool(self.gap <= accuracy), steps, self.value)


class ADMM(Consensus):
    """Any smooth loss or the hinge with any penalty, by the alternating direction method.

    The problem is split into f(W) + nu Omega(Z) with W = Z >= 0::

        W <- argmin f(W) + <M, W> + sigma/2 ||W - Z||^2
        Z <- prox_{nu / sigma} (W + M / sigma)
        M <- M + sigma (W - Z)

    which is `Consensus` with one block. With one-vs-all margins the W-update falls apart into
    the classes, and they are updated in parallel.

    Paper: Eq. 40 (split of loss and penalty).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Differs: Z stays non-negative.

    Parameters
    ----------
    max_iterations : int, default=5000
        Steps after which a call gives up, with `solved` false.
    """

    name: ClassVar[str] = "admm"

    def __init__(self, max_iterations: int = 5000) -> None:
        super().__init__(blocks=1, max_iterations=max_iterations)
