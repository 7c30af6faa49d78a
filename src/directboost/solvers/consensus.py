"""Consensus ADMM over blocks of rows, and ADMM, which is the case of one block."""

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
from .base import Solver, SolverResult, margin_objection
from .row_blocks import (
    BlockExecutor,
    ProcessBlocks,
    ThreadBlocks,
    cores,
    split_rows,
    start_processes,
)

_LOOSE = 30.0  # residuals at which the gap is first evaluated, in units of the accuracy
_TIGHTER = 0.5  # factor on the residuals for the next evaluation
_FINEST = 1e-15
_MAX_IDLE = 500  # steps without a smaller one: rounding prevents further progress
_LARGE = 300_000  # multiplications of H and W in a task from which threads pay

_RELAXATION = 1.6
_INEXACT = 0.01  # accuracy of a W-update, as a share of the last difference of W and Z
_FIRST_BALANCE = 5  # steps before the first check of sigma; then whenever the number has doubled
_MAX_CHANGE, _MIN_CHANGE = 5.0, 2.0  # factor on sigma
_EPS = float(np.finfo(np.float64).eps)

_MEMORY = 30
_RIDGE = 1e-12  # share of the trace: differences of late steps are nearly parallel
_WORSE = 2.0  # a move longer than this multiple of the shortest one ends the extrapolation
_AS_SHORT = 1.001  # of the moves up to this multiple of the shortest one, the last is used
_MAX_EXTRAPOLATION = 10.0  # in units of the distance covered: c is unbounded if moves are equal


class Consensus(Solver):
    """Losses that are a sum over rows, with any penalty, by ADMM over blocks of rows.

    Every block q has its own weights W_q, a multiplier M_q and the loss f_q of its rows. Z is the
    consensus of the blocks, and the solution::

        W_q <- argmin f_q(W_q) + <M_q, W_q> + sigma/2 ||W_q - Z||^2
        Z   <- argmin over Z >= 0 of nu Omega(Z) + sum_q (-<M_q, Z> + sigma/2 ||W_q - Z||^2)
             = prox_{nu / (sigma Q)} (mean_q (W_q + M_q / sigma))
        M_q <- M_q + sigma (W_q - Z)

    In the last two lines, W_q is replaced by 1.6 W_q - 0.6 Z (over-relaxation). sigma is chosen by
    balancing the residuals ||W - Z|| and sigma ||Z - previous Z||, and the steps are extrapolated
    (`AndersonAcceleration`). The iteration ends when the gap of Z over the columns is at most the
    requested accuracy; the gap is evaluated whenever the residuals are small.

    A warm start needs no multipliers of an earlier call: they are the edges of the columns, -grad
    f_q at W or, for the hinge, those of the last dual weights U. New columns therefore have
    multipliers too, and columns may be removed.

    Paper: Eqs. 51-57 (consensus over blocks of rows).
    Paper: Eqs. 58-59 (Z-update, l1).
    Paper: Eq. 60 (Z-update, l1,2).
    Differs: Z stays non-negative; the paper's soft thresholds let negative weights through.

    Parameters
    ----------
    blocks : int, default=2
        Number of row blocks Q.
    workers : {"threads", "processes"}, default="threads"
        Where the blocks are updated. Processes keep their rows; starting them takes about a second.
    max_iterations : int, default=5000
        Maximum number of steps of one call; if it is reached, `solved` is False.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.solvers import Consensus
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(
    ...     solver=Consensus(blocks=3), penalty="l1", nu=0.3, columns_per_round=4, tol=0.05
    ... )
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "consensus"

    def __init__(
        self, blocks: int = 2, workers: str = "threads", max_iterations: int = 5000
    ) -> None:
        if blocks < 1:
            raise ValueError(f"blocks={blocks!r} is invalid: expected an integer >= 1")
        if workers not in ("threads", "processes"):
            raise ValueError(f"workers={workers!r} is invalid: expected 'threads' or 'processes'")
        self.blocks = blocks
        self.workers = workers
        self.max_iterations = max_iterations
        self._sigma: float | None = None
        self._last_U: Array | None = None
        self._processes: Sequence[Executor] = ()

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a loss that is a sum over blocks of rows, otherwise the reason."""
        if not (loss.smooth or (loss.name == "hinge" and loss.is_built_in())):
            return f"it requires a smooth loss or the hinge, not {loss.name!r}"
        if self.blocks > 1 and not (loss.is_built_in() or isinstance(loss, ElementwiseLoss)):
            return f"the loss {loss.name!r} may not be a sum over rows; try 'admm'"
        if self.workers == "processes" and not _is_picklable(loss):
            return f"the loss {loss.name!r} cannot be pickled; use workers='threads'"
        return margin_objection(loss, margin)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Iterate until the gap over the columns is at most `accuracy`; never end above `start`."""
        U = self._first_duals(problem, start)
        best = _Best(problem, start, U)
        if best.gap <= accuracy or start.size == 0:
            return best.result(accuracy, 0)
        with self._executor(problem, start, U) as executor:
            iteration = ADMMIteration(problem, executor, start, self._sigma)
            self._iterate(iteration, best, accuracy)
        self._sigma, self._last_U = iteration.sigma, best.U
        return best.result(accuracy, iteration.steps)

    def _iterate(self, iteration: "ADMMIteration", best: "_Best", accuracy: float) -> None:
        """Take steps; evaluate the gap whenever the residuals reach the next, smaller level."""
        level, least, idle = _LOOSE * max(accuracy, _FINEST), np.inf, 0
        while iteration.steps < self.max_iterations and level > _FINEST and idle < _MAX_IDLE:
            move = iteration.step()
            least, idle = (move, 0) if move < least else (least, idle + 1)
            if iteration.has_small_residuals(level):
                best.update(iteration.W, iteration.weights())
                if best.gap <= accuracy:
                    return
                level *= _TIGHTER
        best.update(iteration.W, iteration.weights())

    def _first_duals(self, problem: RestrictedProblem, start: Array) -> Array:
        """Return the dual weights at `start`; for the hinge, the last ones if they are better."""
        objective = problem.objective
        U = objective.negative_gradient(problem.columns.scores(start))
        if objective.loss.smooth or self._last_U is None or self._last_U.shape != U.shape:
            return U
        return max(U, self._last_U, key=lambda duals: problem.restricted_bound(start, duals))

    @contextmanager
    def _executor(
        self, problem: RestrictedProblem, start: Array, U: Array
    ) -> Iterator[BlockExecutor]:
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


def _is_picklable(loss: Loss) -> bool:
    try:
        pickle.dumps(loss)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


class ADMM(Consensus):
    """Smooth losses and the hinge with any penalty, by the alternating direction method.

    The problem is split into f(W) + nu Omega(Z) with W = Z >= 0::

        W <- argmin f(W) + <M, W> + sigma/2 ||W - Z||^2
        Z <- prox_{nu / sigma} (W + M / sigma)
        M <- M + sigma (W - Z)

    This is `Consensus` with one block. With one-vs-all margins the W-update separates into the
    classes, which are updated in parallel.

    Paper: Eq. 40 (split of loss and penalty).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Differs: Z stays non-negative.

    Parameters
    ----------
    max_iterations : int, default=5000
        Maximum number of steps of one call; if it is reached, `solved` is False.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(
    ...     solver="admm", penalty="l1,2", nu=0.3, columns_per_round=4, tol=0.05
    ... )
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "admm"

    def __init__(self, max_iterations: int = 5000) -> None:
        super().__init__(blocks=1, max_iterations=max_iterations)


class _Best:
    """The best weights and the best lower bound so far; their difference is the gap."""

    def __init__(self, problem: RestrictedProblem, W: Array, U: Array) -> None:
        self.problem = problem
        self.W, self.value = W, problem.value(W)
        self.U, self.bound = U, problem.restricted_bound(W, U)

    def update(self, W: Array, U: Array) -> None:
        """Keep W if it has a lower value, and U if it has a higher bound."""
        value, bound = self.problem.value(W), self.problem.restricted_bound(W, U)
        if value < self.value:
            self.W, self.value = W, value
        if bound > self.bound:
            self.U, self.bound = U, bound

    @property
    def gap(self) -> float:
        return self.problem.objective.relative(self.value - self.bound, self.value)

    def result(self, accuracy: float, steps: int) -> SolverResult:
        solved = bool(self.gap <= accuracy)
        return SolverResult(self.W, self.U, solved=solved, iterations=steps, value=self.value)


class ADMMIteration:
    """ADMM on the points Y_q = Z + M_q / sigma, which determine Z and the multipliers.

    Z = prox_{nu / (sigma Q)} (mean_q Y_q) and M_q = sigma (Y_q - Z). A step is
    Y_q <- Y_q + 1.6 (W_q - Z) with W_q = argmin f_q(W) + <M_q, W> + sigma/2 ||W - Z||^2. This is
    ADMM with over-relaxation, written as an iteration of one array, which is then extrapolated.

    Paper: Eq. 41 (augmented Lagrangian).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Paper: Eq. 48 (Z-update).
    Paper: Eq. 49 (Z-update as a threshold).
    Differs: the distance of W and Z is squared, which Eq. 41 leaves out.
    Differs: the multiplier is divided by sigma in the Z-update, which Eq. 49 leaves out.

    Parameters
    ----------
    problem : RestrictedProblem
    executor : BlockExecutor
        Updates the blocks.
    start : (n, k) array
        Initial W.
    sigma : float or None
        Initial sigma; None for a default.

    Attributes
    ----------
    Y, X : (Q, N) arrays
        The points, and W_q of the last step.
    Z : (N,) array
        The consensus: W (n, k) row by row, followed by t if the blocks share one.
    sigma : float
    steps : int
    """

    def __init__(
        self,
        problem: RestrictedProblem,
        executor: BlockExecutor,
        start: Array,
        sigma: float | None,
    ) -> None:
        self.problem, self.executor, self.shape = problem, executor, start.shape
        self.thresholds = problem.objective.nu * problem.columns.rows(start)[1]
        M = executor.multipliers()
        # About the mean curvature of the loss of a block, for columns of +1 and -1.
        self.sigma = sigma or 0.25 / (start.shape[1] * M.shape[0])
        x = start.ravel()
        if M.shape[1] > x.size:
            x = np.append(x, problem.objective.loss_value(problem.columns.scores(start)))
        self.Y = x + M / self.sigma
        self.X, self.Z = np.broadcast_to(x, M.shape), self._consensus(self.Y)
        self.steps = 0
        self._primal_residual, self._dual_residual = np.inf, np.inf
        self._next_balance = _FIRST_BALANCE
        self._acceleration = AndersonAcceleration()

    @property
    def W(self) -> Array:
        """The weights (n, k) >= 0 of the consensus."""
        return self.Z[: self.shape[0] * self.shape[1]].reshape(self.shape)

    @property
    def M(self) -> Array:
        """The multipliers (Q, N)."""
        return self.sigma * (self.Y - self.Z)

    def weights(self) -> Array:
        """Return the dual weights U (m, k): at the scores of Z, or the duals of the hinge."""
        objective = self.problem.objective
        if objective.loss.smooth:
            return objective.negative_gradient(self.problem.columns.scores(self.W))
        return self.executor.weights()

    def step(self) -> float:
        """Take one step; return the distance of the new W from the old Z."""
        distance = float(np.abs(self.X - self.Z).max())
        self.X = self.executor.update(
            2.0 * self.Z - self.Y, self.sigma, _INEXACT * self.sigma * max(distance, _EPS)
        )
        move = self.X - self.Z
        self.Y = self._acceleration.next(self.Y, _RELAXATION * move)
        previous, self.Z = self.Z, self._consensus(self.Y)
        change = float(np.linalg.norm(self.Z - previous))
        self._primal_residual = float(np.linalg.norm(self.X - self.Z))
        self._dual_residual = self.sigma * change * len(self.Y) ** 0.5
        self.steps += 1
        if self.steps == self._next_balance:
            self._next_balance *= 2
            self._balance()
        return float(np.linalg.norm(move))

    def has_small_residuals(self, level: float) -> bool:
        """Return whether both residuals are small, by a partly absolute and relative measure."""
        primal_scale, dual_scale = self._scales()
        primal_bound = level * (1.0 + primal_scale)
        dual_bound = level * (self.problem.objective.nu + dual_scale)
        return self._primal_residual <= primal_bound and self._dual_residual <= dual_bound

    def _scales(self) -> tuple[float, float]:
        """Return the norms of W or Z and of M, which the residuals are compared with."""
        primal = max(np.linalg.norm(self.X), np.linalg.norm(self.Z) * len(self.Y) ** 0.5)
        return float(primal), float(np.linalg.norm(self.M))

    def _consensus(self, Y: Array) -> Array:
        """Return Z for the points Y: thresholds for the weights, the plain mean for t."""
        mean = Y.mean(axis=0)
        size = self.shape[0] * self.shape[1]
        step = self.thresholds / (self.sigma * len(Y))
        W = self.problem.objective.penalty.prox(mean[:size].reshape(self.shape), step)
        return np.append(W.ravel(), mean[size:])

    def _balance(self) -> None:
        """Change sigma towards equal relative residuals; Z and M stay the same.

        This is done at growing intervals, because ADMM need not converge if sigma keeps changing.
        """
        primal_scale, dual_scale = self._scales()
        tiny = np.finfo(np.float64).tiny
        primal = self._primal_residual / max(primal_scale, tiny)
        dual = self._dual_residual / max(dual_scale, tiny)
        factor = float(np.clip(np.sqrt(primal / max(dual, tiny)), 1.0 / _MAX_CHANGE, _MAX_CHANGE))
        if 1.0 / _MIN_CHANGE < factor < _MIN_CHANGE:
            return
        M, self.sigma = self.M, self.sigma * factor
        self.Y = self.Z + M / self.sigma
        self._acceleration.reset()


class AndersonAcceleration:
    """Extrapolates the iteration y <- y + move(y) from its last points.

    With the differences dF of the last moves and dG of the last points y + move, the next point
    is y + move - dG c, where c minimises ||move - dF c||. For an affine iteration in few dimensions
    this is the exact fixed point. An iteration with constant moves has no fixed point; dG c is
    therefore limited to a multiple of the distance covered so far. If a move is much longer than an
    earlier one, the memory is cleared and the plain successor of the best point is returned.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear the memory, after the iteration itself has changed."""
        self._moves: list[Array] = []
        self._points: list[Array] = []
        self._lengths: list[float] = []

    def next(self, y: Array, move: Array) -> Array:
        """Return the point after y, whose plain successor is y + move."""
        length = float(np.linalg.norm(move))
        if self._lengths and length > _WORSE * min(self._lengths):
            shortest = np.array(self._lengths) <= _AS_SHORT * min(self._lengths)
            plain = self._points[int(np.flatnonzero(shortest)[-1])]
            self.reset()
            return plain
        self._moves = [*self._moves[-_MEMORY:], move]
        self._points = [*self._points[-_MEMORY:], y + move]
        self._lengths = [*self._lengths[-_MEMORY:], length]
        return self._extrapolate() if len(self._moves) > 1 else self._points[-1]

    def _extrapolate(self) -> Array:
        moves = np.stack(self._moves).reshape(len(self._moves), -1)
        points = np.stack(self._points).reshape(len(self._points), -1)
        dF, dG = np.diff(moves, axis=0), np.diff(points, axis=0)
        gram = dF @ dF.T
        tiny = np.finfo(np.float64).tiny
        gram.flat[:: len(gram) + 1] += _RIDGE * np.trace(gram) + tiny
        correction = np.linalg.solve(gram, dF @ moves[-1]) @ dG
        covered = float(np.linalg.norm(points[-1] - points[0]))
        excess = float(np.linalg.norm(correction)) / max(_MAX_EXTRAPOLATION * covered, tiny)
        correction /= max(excess, 1.0)
        return np.asarray(self._points[-1] - correction.reshape(self._points[-1].shape))
