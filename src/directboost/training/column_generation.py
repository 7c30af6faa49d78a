"""Column generation: the one boosting loop. Price, certify, add columns, solve, repeat."""

import time
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ..arrays import Array, Scores
from ..certificate import Certificate, recertify
from ..history import Record, RowsUnavailableError, Status
from ..kernels.structs import Wanted
from ..kernels.threads import Team
from ..oracles.base import Oracle
from ..problem.columns import Columns
from ..problem.objective import Objective, RestrictedProblem
from ..solvers.base import Solver
from .pruning import cheaper_columns
from .stopping import StoppingRule, stop_request

_SOLVE_SHARE = 0.3  # share of tol that a solve may leave; the rest is for columns to come
_GAP_SHARE, _LAST_GAP_SHARE = 0.05, 0.4  # share of the gap a solve aims at; near the end
_NEAR_END = 4.0  # multiple of tol below which the next solve is likely to be the last one
_PERIOD = 0.1  # seconds between two calls of the callbacks during a solve
_WORTH_ADDING = 0.5  # share of tol by which a price must exceed nu while pricing is partial


@dataclass(frozen=True)
class LoopSettings:
    """What stays fixed during a run.

    Attributes
    ----------
    objective : Objective
    oracle : Oracle
    solver : Solver
    stopping : StoppingRule
        Every run counts from the start, in a copy.
    pricing : {"exact", "paper"}
    columns_per_round : int or None
        Number of proposals that enter per round; None leaves it to the column set.
    first_columns : int or None
        The same for the first round, if different.
    keep_stages : bool
        Keep the coefficients of every round, for staged predictions.
    keep_dual : bool
        Keep the dual point of the solution in double precision, for solutions at other nus.
    team : Team or None
        The threads of the call.
    """

    objective: Objective
    oracle: Oracle
    solver: Solver
    stopping: StoppingRule
    pricing: str = "exact"
    columns_per_round: int | None = None
    first_columns: int | None = None
    keep_stages: bool = False
    keep_dual: bool = False
    team: Team | None = None


@dataclass(frozen=True)
class WarmStart:
    """Coefficients W of columns, with their loss and a dual point U where these are known."""

    columns: Columns
    W: Any
    U: Scores | None = None
    loss: float | None = None


@dataclass
class LoopState:
    """What changes during a run: the columns, the best coefficients W, and the dual points.

    W never gets worse: coefficients that raise the objective are discarded, although their dual
    point U is still priced. U is None while the solver runs, since the solver may be about to
    allocate arrays of that size.

    Attributes
    ----------
    A : (m, k) array or None
        The coefficients of the edges at U, if the solver computed them.
    best_U : (m, k) array or None
        The dual point of the best lower bound.
    iterations, solved : int, bool
        What the solver reported of the last solve, until it is recorded.
    report_due : float
        When a long solve calls the callbacks next.
    """

    columns: Columns
    W: Any
    U: Scores | None
    primal: float
    stopping: StoppingRule
    A: Scores | None = None
    best_dual: float = -np.inf
    best_U: Scores | None = None
    round: int = 0
    seconds_pricing: float = 0.0
    seconds_master: float = 0.0
    iterations: int = 0
    solved: bool = True
    report_due: float = 0.0
    history: list[Record] = field(default_factory=list)
    stages: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Solution:
    """The best coefficients of a run, with their certificate."""

    certificate: Certificate
    status: Status
    state: LoopState
    loss: float

    @property
    def warm_start(self) -> WarmStart:
        """A start for a run at another nu."""
        return WarmStart(self.state.columns, self.state.W, self.state.U, self.loss)


def run(
    settings: LoopSettings, start: WarmStart, seconds: float = 0.0, before: Solution | None = None
) -> Solution:
    """Generate columns until the certified gap is at most tol, or the run ends for another reason.

    Continues the records and the lower bound of an earlier run `before` on the same problem.
    `seconds` is the time spent on the start. Ctrl-C ends the run with the best coefficients so
    far.

    Paper: Algorithms 1 and 2.
    """
    try:
        state = _initial_state(settings, start)
    except RowsUnavailableError as lost:
        lost.state = None if before is None else before.state
        raise
    if before is not None:
        old = before.state
        state.history, state.round = old.history, len(old.history)
        state.stopping.request = old.stopping.request
        state.best_dual = before.certificate.dual
        # The bound may depend on the dual point of the last solution, so it is kept as its proof.
        state.best_U = state.U if old.best_U is None else old.best_U
        state.seconds_pricing, state.seconds_master = old.seconds_pricing, old.seconds_master
    started = time.perf_counter() - (state.history[-1].seconds if state.history else seconds)
    status: Status | None = None
    try:
        try:
            while status is None:
                status = step(settings, state, started)
                done = status in (Status.OPTIMAL, Status.MAX_ITER)
                if done and settings.solver.switch_to_double():
                    _repeat_in_double(settings, state)
                    status = None
                elif status is Status.OPTIMAL and settings.oracle.grows:
                    status = None if _takes_smaller_trees(settings, state) else status
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return _certified(settings, state, status)
    except RowsUnavailableError as lost:
        lost.state = state
        raise


def _initial_state(settings: LoopSettings, start: WarmStart) -> LoopState:
    objective, precision = settings.objective, settings.solver.precision
    stopping = replace(settings.stopping)
    settings.oracle.traffic()  # bytes moved before the first round belong to no round
    if len(start.columns) == 0:
        U, primal = objective.start(precision), objective.start_value()
        return LoopState(start.columns, start.W, U, primal, stopping)
    penalty = RestrictedProblem(objective, start.columns).penalty_value(start.W)
    if start.U is not None and start.loss is not None:
        U = start.U.astype(precision, copy=False)
        return LoopState(start.columns, start.W, U, start.loss + penalty, stopping)
    F = start.columns.rounded_scores(start.W, precision)
    here = objective.evaluate(F, Wanted.NEGATIVE_GRADIENT, settings.team)
    return LoopState(start.columns, start.W, here.U, here.value + penalty, stopping)


def step(settings: LoopSettings, state: LoopState, started: float) -> Status | None:
    """Do one round; return why the run ends, or None if it goes on."""
    objective, oracle = settings.objective, settings.oracle
    clock = time.perf_counter()
    assert state.U is not None
    A = state.A if state.A is not None else objective.coefficients(state.U)
    pricing = oracle.price(A, objective.penalty, settings.pricing)
    if pricing.complete:
        settings.solver.observe_max_price(pricing.max_price)
        price = pricing.max_price + pricing.rounding
        dual = objective.dual_estimate(state.U, price, settings.team)
        # Bounds of earlier rounds do not hold for a dictionary that has grown.
        if dual > state.best_dual or oracle.grows:
            state.best_dual, state.best_U = dual, objective.proof(state.U)
    state.seconds_pricing += time.perf_counter() - clock
    gap = max(state.primal - state.best_dual, 0.0)
    record = Record(
        round=state.round,
        columns=len(state.columns),
        primal=state.primal,
        dual=state.best_dual,
        gap=gap,
        relative_gap=objective.relative(gap, state.primal),
        max_price=pricing.max_price,
        nu=objective.nu,
        seconds_pricing=state.seconds_pricing,
        seconds_master=state.seconds_master,
        seconds=time.perf_counter() - started,
        bytes_moved=oracle.traffic(),
        iterations=state.iterations,
        solved=state.solved,
        learners=state.columns.n_learners(state.W),
    )
    state.history.append(record)
    state.iterations, state.solved = 0, True
    status = state.stopping.status_after(record, state.columns.whole_features)
    if status is not None:
        return status
    clock = time.perf_counter()
    proposals = pricing.proposals
    if settings.pricing == "exact":
        # While pricing is partial, prices just above nu wait; otherwise it would never complete.
        slack = 0.0 if pricing.complete else _WORTH_ADDING * state.stopping.tol
        proposals = proposals.take(proposals.price > (1.0 + slack) * objective.nu)
    if settings.columns_per_round is not None:
        left = (state.stopping.max_columns or np.inf) - len(state.columns)
        most = settings.columns_per_round if len(state.columns) else settings.first_columns
        proposals = proposals.take(slice(int(min(most or settings.columns_per_round, left))))
    added = state.columns.extend(proposals, state.W)
    if added == 0 and settings.pricing == "paper":
        return Status.NO_BETTER_COLUMN
    if added or pricing.complete:
        settings.solver.report = partial(_report, state, started)
        state.report_due = clock + _PERIOD
        _solve(settings, state, record.relative_gap, added)
        if not state.columns.whole_features:
            state.stopping.count_solve(record, state.primal, added)
    state.seconds_master += time.perf_counter() - clock
    state.round += 1
    return None


def _report(state: LoopState, started: float, iterations: int) -> bool:
    """Call the callbacks from time to time during a long solve; return whether it should end."""
    now = time.perf_counter()
    if now < state.report_due:
        return False
    state.report_due = now + _PERIOD
    methods = [getattr(each, "during_solve", None) for each in state.stopping.callbacks]
    record = replace(state.history[-1], seconds=now - started, iterations=iterations)
    return stop_request([method for method in methods if method is not None], record) is not None


def _solve(settings: LoopSettings, state: LoopState, relative_gap: float, added: int) -> None:
    """Solve the restricted master problem; keep the coefficients unless they are worse.

    The accuracy is the relative gap over the generated columns at which the solve may end. While
    the gap is large, the next column changes the solution anyway, and tight solves take up to
    twice the time with few columns per round. Solves are tight if no column may follow (the last
    one of a budget), under the paper's pricing rule (which takes a loose solution for the end),
    for a non-smooth loss (smoothing is not faster), and where the gap covers only the generated
    columns or is unknown.
    """
    tol, max_columns = state.stopping.tol, state.stopping.max_columns
    accuracy = _SOLVE_SHARE * tol
    if settings.columns_per_round is None:
        near_end = relative_gap <= _NEAR_END * tol
        accuracy = max(accuracy, (_LAST_GAP_SHARE if near_end else _GAP_SHARE) * relative_gap)
    else:
        last = max_columns is not None and len(state.columns) >= max_columns
        tight = last or settings.pricing == "paper" or not settings.objective.loss.smooth
        if isfinite(relative_gap) and not (tight or settings.oracle.grows):
            accuracy = max(accuracy, _GAP_SHARE * relative_gap)
    if not state.columns.whole_features and not added:
        accuracy *= 0.1 ** (state.stopping.idle + 1)

    solver, problem = settings.solver, RestrictedProblem(settings.objective, state.columns)
    state.W = state.columns.grow(state.W)
    state.U = state.A = None
    was_single = solver.precision == np.float32
    result = solver.solve(problem, state.W, accuracy)
    if was_single and solver.precision == np.float64:  # exact values may exceed rounded ones
        state.primal, state.best_dual = np.inf, -np.inf
        state.stopping.forget_best_gap()
    value = result.value if result.value is not None else problem.value(result.W)
    state.U, state.A = result.U, result.A
    state.iterations, state.solved = result.iterations, result.solved
    if value <= state.primal:
        state.W, state.primal = state.columns.prune(result.W), value
    if settings.keep_stages:
        state.stages.append(state.W)


def _repeat_in_double(settings: LoopSettings, state: LoopState) -> None:
    """Prepare the state for repeating the last round in double precision."""
    state.history.pop()
    state.U, loss, penalty = _evaluate(settings, state)
    state.A, state.primal = None, loss + penalty
    state.best_dual, state.stopping.idle = -np.inf, 0
    state.stopping.forget_best_gap()


def _takes_smaller_trees(settings: LoopSettings, state: LoopState) -> bool:
    """Replace trees by smaller ones that cost less; return whether there are any.

    The next round prices the leaves of the smaller trees, too.
    """
    found = cheaper_columns(settings.oracle, state.columns, state.W)
    if found is None:
        return False
    state.primal -= RestrictedProblem(settings.objective, state.columns).penalty_value(state.W)
    state.columns, state.W = found
    state.primal += RestrictedProblem(settings.objective, state.columns).penalty_value(state.W)
    state.round += 1
    state.stopping.forget_best_gap()
    return True


def _evaluate(settings: LoopSettings, state: LoopState) -> tuple[Array, float, float]:
    """Return the dual point, the loss and the penalty at W, in double precision."""
    penalty = RestrictedProblem(settings.objective, state.columns).penalty_value(state.W)
    F = state.columns.scores(state.W)
    here = settings.objective.evaluate(F, Wanted.NEGATIVE_GRADIENT, settings.team)
    assert here.U is not None
    return here.U.astype(np.float64, copy=False), here.value, penalty


def _certified(settings: LoopSettings, state: LoopState, status: Status) -> Solution:
    """Return the best coefficients with a certificate that is computed in double precision."""
    settings.solver.free()
    # An interrupt may come after columns were added and before they have coefficients.
    state.W, state.A = state.columns.grow(state.W), None
    U, loss, penalty = _evaluate(settings, state)
    state.U = U if settings.keep_dual else U.astype(settings.solver.precision, copy=False)
    duals: list[Array] = [U]
    if state.best_U is not None:
        best = state.best_U.astype(np.float64, copy=False)
        duals = [best] if settings.oracle.prices_in_parts else [U, best]
    certificate = recertify(
        settings.objective, loss + penalty, duals, settings.oracle, state.stopping.tol,
        settings.team,
    )  # fmt: skip
    return Solution(certificate, status, state, loss)
