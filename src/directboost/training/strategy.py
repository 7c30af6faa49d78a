"""From a task to a certified answer: which solver, in which precision, from which start."""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Ints
from ..callbacks import TimeLimit
from ..data.binning import BinnedData, ColumnWeights
from ..data.sparse_binning import take_rows
from ..history import Status
from ..kernels.step_functions import CATEGORICAL
from ..kernels.structs import SparseCodes
from ..oracles import StumpOracle
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..solvers import BlockDescent, Conic, LinearProgram, Smoothing, Solver
from .column_generation import LoopSettings, Solution, WarmStart, run
from .settings import LossMarginPenalty
from .stopping import ENDED_BY_USER
from .task import FitContext, RowSubset

_BINS = 32  # of a feature, to begin with
_MANY_BINS = 64  # from which on a feature is made coarse
_ROWS = 15_000
_ENOUGH_ROWS = 3 * _ROWS  # from which on a start pays
_GAP = 0.1  # relative gap of the start
_ROUNDS = 12


@dataclass(frozen=True)
class Coarse:
    """Data with fewer bins or rows.

    Attributes
    ----------
    binned : BinnedData
    jumps : list of int arrays
        For every feature and jump of `binned` the jump of the whole data.
    """

    binned: BinnedData
    jumps: list[Ints]


def coarsened(binned: BinnedData, rows: Ints) -> Coarse:
    """Keep the given rows, and merge neighbouring bins of the features with many."""
    n_bins, centre = binned.n_bins.copy(), binned.centre.copy()
    jumps, thresholds, new_codes = [], [], {}
    for f, bins in enumerate(binned.n_bins.tolist()):
        gone = int(binned.missing[f])
        last = np.arange(bins - gone)  # the last bin of every group
        if binned.kinds[f] == CATEGORICAL:
            jumps.append(np.arange(bins))
            thresholds.append(binned.thresholds[f])
            continue
        if bins > _MANY_BINS:
            group = last * _BINS // last.size
            last = np.flatnonzero(np.diff(group, append=_BINS))
            new_codes[f] = np.append(group, _BINS).astype(binned.codes.dtype)
            n_bins[f], centre[f] = _BINS + gone, group[centre[f]]
        jumps.append(np.concatenate([last, bins - 1 + last[:-1]]) if gone else last[:-1])
        thresholds.append(binned.thresholds[f][last[:-1]] if f < binned.n_features else last)
    codes, sparse = _taken(binned, rows, new_codes)
    coarse = replace(
        binned, codes=codes, n_bins=n_bins, thresholds=thresholds[:-1], centre=centre,
        exact=False, sparse=sparse,
    )  # fmt: skip
    return Coarse(coarse, jumps)


def _taken(
    binned: BinnedData, rows: Ints, new_codes: dict[int, Ints]
) -> tuple[Ints, SparseCodes | None]:
    """Return codes and lists of some rows; where every feature has a row, lists do not pay."""
    lists = binned.sparse
    places = None if lists is None else lists.places
    codes = np.array(binned.codes[:, rows], order="C")
    for f, new in new_codes.items():
        place = f if places is None else places[f]
        if place >= 0:
            codes[place] = new[codes[place]]
    if lists is None or places is None:
        return codes, None
    return codes, take_rows(lists, binned.n_rows, rows, new_codes)


def coarse_start(
    plan: LoopSettings, master: Solver, columns: FeatureColumns, part_of: Callable[[int], RowSubset]
) -> tuple[StepCoefficients, Status | None]:
    """Solve a coarse problem roughly; let its features into `columns`, return their weights.

    `part_of` gives so many of the rows. Without enough rows there are no weights. The status says
    how the start ended; of the callbacks only time limits end it.
    """
    binned, team = columns.binned, columns.team
    if binned.n_rows < _ENOUGH_ROWS or not isinstance(binned, BinnedData):
        return [], None
    part = part_of(_ROWS)
    coarse = coarsened(part.binned, part.rows)
    k, signs = plan.objective.margin.k, columns.signs
    few = FeatureColumns(coarse.binned, columns.feature_costs, k, team, signs)
    rough = replace(
        plan, objective=part.objective,
        oracle=StumpOracle(coarse.binned, columns.feature_costs, team, signs),
        master=master,
        tol=max(plan.tol, _GAP), aim=1.0, max_rounds=_ROUNDS,
        callbacks=[limit for limit in plan.callbacks if isinstance(limit, TimeLimit)],
    )  # fmt: skip
    outcome = run(rough, few, [])
    columns.features = list(few.features)
    fine = columns.grow([])
    for f, wide, narrow in zip(few.features, fine, outcome.state.W, strict=True):
        wide[coarse.jumps[f]] = narrow
    return fine, outcome.status


_MOST_ROUNDS = 150  # rounds block descent gets where an exact solver may finish the work
_FINISHABLE = 20_000  # pairs up to which a solver on columns may go on where smoothing ends
_SMOOTHABLE = 1e-3  # relative gap down to which smoothing a loss with kinks pays
_AIM = 0.8  # share of the tolerance to reach: with nothing left no model can be made smaller


def solve(
    task: FitContext, before: ColumnWeights | WarmStart | None = None, seconds: float = 0.0
) -> Solution:
    """Run the loop with the master of the request.

    Starts from an earlier model: its stumps, or what is known of an answer of the same task at
    another nu. `seconds` were spent before.
    """
    if task.request.columns_per_round is not None:
        before = None  # the paper's algorithms start with nothing, and count their columns
    if task.request.master is BlockDescent:
        return _solve_blocks(task, before, seconds)
    return _solve_columns(task, task.request.master, before, seconds)


def _solve_columns(
    task: FitContext,
    master: type[Solver] | Solver,
    before: ColumnWeights | WarmStart | None,
    seconds: float,
) -> Solution:
    """Run the loop on single columns."""
    forget = task.request.columns_per_round is None
    columns = task.single_columns(forget)
    W = np.zeros((0, task.k)) if before is None else columns.adopt(_stumps(before))
    # A copy: a master may keep a living model, and the one handed in is a parameter.
    plan = task.plan(master() if isinstance(master, type) else copy(master))
    return run(plan, columns, W, seconds=seconds)


def _solve_blocks(
    task: FitContext, before: ColumnWeights | WarmStart | None, seconds: float
) -> Solution:
    """Run block descent; what it cannot finish goes to a solver on single columns.

    That happens to small problems on which it stalls, and to losses with kinks where the
    tolerance is too tight for smoothing. A small linear program is solved at once, and its model
    has few stumps; cones take minutes where smoothing has not brought the stumps together.
    """
    signs = task.oracle.signs
    columns = task.columns()
    exact = _column_master(task.request.parts)
    if task.small and exact is LinearProgram and signs is None:
        return task.with_all_rows(lambda near, _: _solve_columns(near, exact, before, seconds))
    descend = _descend if task.request.parts.loss.smooth else _descend_smoothed
    outcome = descend(task, _feature_start(columns, before), seconds)
    if outcome.certificate.converged or outcome.status in ENDED_BY_USER:
        return outcome
    kinks = not task.request.parts.loss.smooth
    if signs is not None:
        return outcome  # solvers on single columns know nothing of them
    if task.small or (kinks and task.n_rows * task.k <= _FINISHABLE):
        return _finish_on_columns(task, outcome)
    return outcome


@dataclass(frozen=True)
class _Start:
    """Where block descent begins: columns and their weights, maybe known from another nu."""

    columns: FeatureColumns
    W: StepCoefficients
    known: WarmStart | None = None


def _feature_start(columns: FeatureColumns, before: ColumnWeights | WarmStart | None) -> _Start:
    if before is None:
        return _Start(columns, [])
    if isinstance(before, WarmStart) and isinstance(before.columns, FeatureColumns):
        columns.features = list(before.columns.features)
        return _Start(columns, before.W, before)
    return _Start(columns, columns.adopt(_stumps(before)))


def _stumps(before: ColumnWeights | WarmStart) -> ColumnWeights:
    return before if isinstance(before, ColumnWeights) else before.columns.stumps(before.W)


def _descend(task: FitContext, begin: _Start, seconds: float) -> Solution:
    """Run block descent on a smooth loss; in single precision first where that pays.

    The proof is always made in double precision: where it does not hold, double takes over.
    """
    single = task.request.tol >= 1e-3 and not task.small and task.single
    most = _MOST_ROUNDS if task.small else None
    precisions = (np.float32, np.float64) if single else (np.float64,)
    plans = [
        task.plan(
            BlockDescent(evaluator=task.all_rows(np.dtype(precision))),
            columns_per_round=None, max_rounds=most, aim=_AIM,
        )
        for precision in precisions
    ]  # fmt: skip
    outcome = _run(task, plans[0], begin, BlockDescent(precisions[0]), seconds)
    for plan in plans[1:]:
        if outcome.certificate.converged or outcome.status in ENDED_BY_USER:
            break
        outcome = run(plan, begin.columns, outcome.state.W, outcome)
    return outcome


def _descend_smoothed(task: FitContext, begin: _Start, seconds: float) -> Solution:
    """Run block descent on a loss with kinks, down to the gap smoothing is good for.

    In single precision first where that pays; where the proof in double does not hold, double
    takes over.
    """
    tol = max(task.request.tol, _SMOOTHABLE)
    precisions = (np.float32, np.float64) if task.single else (np.float64,)
    plans = [
        task.plan(
            task.smoothing(precision), columns_per_round=None, tol=tol, aim=task.smoothing_aim
        )
        for precision in precisions
    ]
    outcome = _run(task, plans[0], begin, Smoothing(precisions[0]), seconds)
    for plan in plans[1:]:
        if outcome.certificate.converged or outcome.status is not Status.OPTIMAL:
            break
        outcome = run(plan, begin.columns, outcome.state.W, outcome)
    converged = outcome.certificate.relative_gap <= task.request.tol
    status = outcome.status
    if status is Status.OPTIMAL and not converged:
        status = Status.MAX_ITER
    certificate = replace(outcome.certificate, converged=converged)
    return replace(outcome, certificate=certificate, status=status)


def _run(
    task: FitContext, plan: LoopSettings, begin: _Start, master: Solver, seconds: float
) -> Solution:
    """Run the loop from given weights; without any from a coarse start by `master`, if it pays."""
    columns = begin.columns
    if begin.W:
        return run(plan, columns, begin.W, seconds=seconds, known=begin.known)
    began = time.perf_counter()
    try:
        W, status = coarse_start(plan, master, columns, task.part)
    except KeyboardInterrupt:  # before its first round, or after its last
        columns.features, W, status = [], [], Status.INTERRUPTED
    seconds += time.perf_counter() - began
    if status is not Status.INTERRUPTED:
        return run(plan, columns, W, seconds=seconds)
    return replace(run(replace(plan, max_rounds=0), columns, W, seconds=seconds), status=status)


def _finish_on_columns(task: FitContext, outcome: Solution) -> Solution:
    """Go on from the stumps of block descent with a solver on single columns, where one fits."""
    master = _column_master(task.request.parts)
    if master is None:
        return outcome
    stumps = outcome.state.columns.stumps(outcome.state.W)

    def finish(near: FitContext, before: Solution | None) -> Solution:
        columns = near.single_columns(forget=True)
        return run(near.plan(master()), columns, columns.adopt(stumps), before)

    return task.with_all_rows(finish, outcome)


def _column_master(parts: LossMarginPenalty) -> type[Solver] | None:
    """Return an exact solver on single columns that fits, or None."""
    for master in (LinearProgram, Conic):
        if master().supports(parts.loss, parts.margin, parts.penalty) is None:
            return master
    return None
