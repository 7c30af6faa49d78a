"""The one boosting loop: price, certify, add columns, solve, again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ..arrays import Array, Scores
from ..callbacks import Callback
from ..certificate import Certificate, recertify
from ..history import Record, RowsUnavailableError, Status
from ..kernels.structs import Wanted
from ..kernels.threads import Team
from ..oracles.base import Oracle, Pricing
from ..problem.columns import Columns, Proposals
from ..problem.objective import Objective, RestrictedProblem
from ..solvers.base import Solver
from .stopping import PROGRESS, end_of


@dataclass(frozen=True)
class LoopSettings:
    """What stays fixed during the loop.

    Attributes
    ----------
    columns_per_round : int or None
        How many proposals enter per round; None leaves it to the column set.
    first_columns : int or None
        How many enter in the first round, where that differs.
    max_columns : int or None
        Stop after so many generated columns (the paper's T).
    max_rounds : int or None
        Stop after so many rounds.
    aim : float
        Share of tol that the rounds should reach; all of it will do where they end before.
    keep_stages : bool
        Whether the weights of every round are kept, for staged predictions.
    keep_dual : bool
        Whether the dual point of the answer stays in double precision, for answers at other nus.
    team : Team or None
        The threads of the call.
    """

    objective: Objective
    oracle: Oracle
    master: Solver
    tol: float
    rule: str = "exact"
    columns_per_round: int | None = None
    first_columns: int | None = None
    max_columns: int | None = None
    max_rounds: int | None = None
    aim: float = 1.0
    keep_stages: bool = False
    keep_dual: bool = False
    callbacks: Sequence[Callback] = ()
    team: Team | None = None


@dataclass
class LoopState:
    """What changes: the columns, the best weights W so far, and the dual points.

    W never gets worse: an answer of the master that raises the objective is left aside, though
    its dual point U still prices; there is none while the master works, which may be about to make
    its own arrays of that size. `best_U` is the dual point of the best lower bound, `wish` what a
    callback answered that wants an end.
    """

    columns: Columns
    W: Any
    U: Scores | None
    primal: float
    A: Scores | None = None
    best_dual: float = -np.inf
    best_U: Scores | None = None
    round: int = 0
    seconds_pricing: float = 0.0
    seconds_master: float = 0.0
    best_gap: float = np.inf
    stalled: int = 0
    idle: int = 0
    wish: Status | None = None
    history: list[Record] = field(default_factory=list)
    stages: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class WarmStart:
    """Weights W of columns, where known with their loss and a dual point U, of any nu."""

    columns: Columns
    W: Any
    U: Scores | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Solution:
    """The best answer of a run, with its certificate."""

    certificate: Certificate
    status: Status
    state: LoopState
    loss: float

    @property
    def known(self) -> WarmStart:
        """What a run at another nu can start from."""
        return WarmStart(self.state.columns, self.state.W, self.state.U, self.loss)


_SHARE = 0.3  # of the tolerance to which the master solves: the rest is for columns not there yet
_STEP, _LAST_STEP = 0.05, 0.4  # share of the gap a solve aims at; the last over whole features
_NEARLY = 4.0  # so many tolerances from the end one step is the last
_WORTH = 0.5  # share of the tolerance by which a price exceeds nu that is worth a solve


def run(
    plan: LoopSettings,
    columns: Columns,
    W: Any,
    before: Solution | None = None,
    seconds: float = 0.0,
    known: WarmStart | None = None,
) -> Solution:
    """Generate columns until the certified gap is at most tol, or another end comes first.

    Starts from the weights W of the columns, and goes on with the records and the lower bound of
    an earlier run on the same problem. `seconds` were spent on the start. Of W more may be
    `known`. Ctrl-C ends the loop with the best answer so far.
    Paper: Algorithms 1 and 2.
    """
    state = _start(plan, columns, W, known)
    if before is not None:
        _resume(state, before)
    started = time.perf_counter() - (state.history[-1].seconds if state.history else seconds)
    status: Status | None = None
    try:
        while status is None:
            status = step(plan, state, started)
            if status in (Status.OPTIMAL, Status.MAX_ITER) and plan.master.switch_to_double():
                _measure_anew(plan, state)
                status = None
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except RowsUnavailableError as lost:
        lost.state = state
        raise
    return _finish(plan, state, status)


def _start(plan: LoopSettings, columns: Columns, W: Any, known: WarmStart | None) -> LoopState:
    objective, precision = plan.objective, plan.master.precision
    plan.oracle.traffic()  # what travelled before belongs to no round
    if len(columns) == 0:
        return LoopState(columns, W, objective.start(precision), objective.start_value())
    penalty = RestrictedProblem(objective, columns).penalty_value(W)
    if known is not None and known.U is not None and known.loss is not None:
        U = known.U.astype(precision, copy=False)
        return LoopState(columns, W, U, known.loss + penalty)
    F = columns.rounded_scores(W, precision)
    here = objective.evaluate(F, Wanted.NEGATIVE_GRADIENT, plan.team)
    return LoopState(columns, W, here.U, here.value + penalty)


def _resume(state: LoopState, before: Solution) -> None:
    old = before.state
    state.history, state.round, state.wish = old.history, len(old.history), old.wish
    state.best_dual = before.certificate.dual
    # The bound may rest on the weights of the last answer: they are kept as its proof.
    state.best_U = state.U if old.best_U is None else old.best_U
    state.seconds_pricing, state.seconds_master = old.seconds_pricing, old.seconds_master


def _measure_anew(plan: LoopSettings, state: LoopState) -> None:
    """Take the answer on in double precision: the round that ended the loop is done again."""
    state.history.pop()
    state.U, loss, penalty = _evaluate(plan, state)
    state.A, state.primal = None, loss + penalty
    state.best_dual, state.best_gap, state.idle = -np.inf, np.inf, 0


def _evaluate(plan: LoopSettings, state: LoopState) -> tuple[Array, float, float]:
    """Return the dual point, the loss and the penalty at the weights, in double precision."""
    penalty = RestrictedProblem(plan.objective, state.columns).penalty_value(state.W)
    F = state.columns.scores(state.W)
    here = plan.objective.evaluate(F, Wanted.NEGATIVE_GRADIENT, plan.team)
    assert here.U is not None
    return here.U.astype(np.float64, copy=False), here.value, penalty


def step(plan: LoopSettings, state: LoopState, started: float) -> Status | None:
    """Do one round; return why the loop should end, or None."""
    clock = time.perf_counter()
    pricing = _price(plan, state)
    if pricing.complete:
        plan.master.observe_max_price(pricing.max_price)
        _keep_best_dual(plan, state, pricing)
    state.seconds_pricing += time.perf_counter() - clock
    record = _record(plan, state, pricing, started)
    state.history.append(record)
    status = end_of(plan, state, record)
    if status is not None:
        return status
    clock = time.perf_counter()
    added = _add_columns(plan, state, pricing)
    if added == 0 and plan.rule == "paper":
        return Status.NO_BETTER_COLUMN
    if added or pricing.complete:
        state.idle = 0 if added else state.idle + 1
        _solve(plan, state, record.relative_gap)
        if record.primal - state.primal > PROGRESS * record.gap:
            state.idle = 0
    state.seconds_master += time.perf_counter() - clock
    state.round += 1
    return None


def _price(plan: LoopSettings, state: LoopState) -> Pricing:
    assert state.U is not None
    A = state.A if state.A is not None else plan.objective.coefficients(state.U)
    return plan.oracle.price(A, plan.objective.penalty, plan.rule)


def _keep_best_dual(plan: LoopSettings, state: LoopState, pricing: Pricing) -> None:
    assert state.U is not None
    price = pricing.max_price + pricing.rounding
    dual = plan.objective.dual_estimate(state.U, price, plan.team)
    # Where the dictionary has grown, the bounds of earlier rounds no longer hold.
    if dual > state.best_dual or plan.oracle.grows:
        state.best_dual, state.best_U = dual, plan.objective.proof(state.U)


def _record(plan: LoopSettings, state: LoopState, pricing: Pricing, started: float) -> Record:
    gap = max(state.primal - state.best_dual, 0.0)
    return Record(
        round=state.round,
        columns=len(state.columns),
        primal=state.primal,
        dual=state.best_dual,
        gap=gap,
        relative_gap=plan.objective.relative(gap, state.primal),
        max_price=pricing.max_price,
        nu=plan.objective.nu,
        seconds_pricing=state.seconds_pricing,
        seconds_master=state.seconds_master,
        seconds=time.perf_counter() - started,
        bytes_moved=plan.oracle.traffic(),
    )


def _add_columns(plan: LoopSettings, state: LoopState, pricing: Pricing) -> int:
    proposals: Proposals = pricing.proposals
    if plan.rule == "exact":
        # What is hardly above nu can wait until all is priced, or that would never be.
        slack = 0.0 if pricing.complete else _WORTH * plan.tol
        proposals = proposals.above((1.0 + slack) * plan.objective.nu)
    if plan.columns_per_round is not None:
        room = (plan.max_columns or np.inf) - len(state.columns)
        most = plan.columns_per_round if len(state.columns) else plan.first_columns
        proposals = proposals.take(slice(int(min(most or plan.columns_per_round, room))))
    return state.columns.extend(proposals, state.W)


def _solve(plan: LoopSettings, state: LoopState, relative_gap: float) -> None:
    """Let the master solve over the columns, and keep its answer where it is no worse."""
    accuracy = _accuracy(plan, state, relative_gap)
    problem = RestrictedProblem(plan.objective, state.columns)
    state.W = state.columns.grow(state.W)
    state.U = state.A = None
    rough = plan.master.precision == np.float32
    result = plan.master.solve(problem, state.W, accuracy)
    if rough and plan.master.precision == np.float64:  # true values may lie above rounded ones
        state.primal, state.best_dual, state.best_gap = np.inf, -np.inf, np.inf
    value = result.value if result.value is not None else problem.value(result.W)
    state.U, state.A = result.U, result.A
    if value <= state.primal:
        state.W, state.primal = state.columns.prune(result.W), value
    if plan.keep_stages:
        state.stages.append(state.W)


def _accuracy(plan: LoopSettings, state: LoopState, relative_gap: float) -> float:
    """Return the relative gap over the columns to solve to."""
    accuracy = _SHARE * plan.tol
    if plan.columns_per_round is None:
        nearly = relative_gap <= _NEARLY * plan.tol
        accuracy = max(accuracy, (_LAST_STEP if nearly else _STEP) * relative_gap)
    elif _may_be_loose(plan, state, relative_gap):
        accuracy = max(accuracy, _STEP * relative_gap)
    return accuracy if state.columns.whole_features else accuracy * 0.1**state.idle


def _may_be_loose(plan: LoopSettings, state: LoopState, relative_gap: float) -> bool:
    """Tell whether the next column changes the answer anyway, while the gap of all is large.

    With few columns a round tight solves take up to twice the time. Not the last of a budget may be
    loose, nor one by the paper's rule, which takes a loose answer for the end; nor where the gap
    is over the columns themselves, or not known yet. Smoothing of a loss is no faster for it.
    """
    spent = plan.max_columns is not None and len(state.columns) >= plan.max_columns
    lasting = spent or plan.rule == "paper" or not plan.objective.loss.smooth
    return isfinite(relative_gap) and not (lasting or plan.oracle.grows)


def _finish(plan: LoopSettings, state: LoopState, status: Status) -> Solution:
    """Certify the best answer anew, in double precision.

    An interrupt may have come after new columns and before their weights.
    """
    plan.master.free()
    state.W, state.A = state.columns.grow(state.W), None
    U, loss, penalty = _evaluate(plan, state)
    state.U = U if plan.keep_dual else U.astype(plan.master.precision, copy=False)
    duals: list[Array] = [U]
    if state.best_U is not None:
        duals.append(state.best_U.astype(np.float64, copy=False))
    primal = loss + penalty
    certificate = recertify(plan.objective, primal, duals, plan.oracle, plan.tol, plan.team)
    return Solution(certificate, status, state, loss)
