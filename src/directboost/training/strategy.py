"""How a problem is solved: by which solver, in which precision, from which start."""

import time
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

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
from .context import FitContext
from .settings import FitSettings
from .stopping import ENDED_BY_USER, StoppingRule

_AUTO_COLUMNS = 16  # columns per round where the user leaves the number to us
_SMALL = 2_000  # (row, class) pairs up to which an exact solver may finish the work
_FINISHABLE = 100_000  # the same where smoothing does not reach the tolerance
_FINISHABLE_BY_CONES = (
    5_000  # the same for the conic solver: at 13 000, an iteration takes a minute
)
_MAX_ROUNDS = 150  # rounds of block descent before an exact solver takes over
_SMOOTHABLE = 1e-3  # relative gap down to which smoothing pays if a linear program can follow
_MAX_SMOOTHED_ROUNDS = 1_000  # most fits stall before
_SINGLE_TOL = 1e-3  # tolerance from which single precision is accurate enough
_AIM = 0.8  # share of tol to reach; the rest lets compaction make the model smaller

_COARSE_BINS = 32  # bins of a feature in the coarse problem
_MANY_BINS = 64  # bins above which a feature is made coarse
_COARSE_ROWS = 15_000
_ENOUGH_ROWS = 3 * _COARSE_ROWS  # rows from which a coarse start pays
_COARSE_GAP = 0.1  # relative gap of the coarse solution
_COARSE_ROUNDS = 12


def solve(
    context: FitContext, start: ColumnWeights | WarmStart | None = None, seconds: float = 0.0
) -> Solution:
    """Solve the problem of a fit by column generation.

    By default, the solver is block descent on whole features. An exact solver on single columns
    finishes the work if block descent stalls on a small problem. For a non-smooth loss, a linear
    program also finishes larger ones, and takes over at tolerances that smoothing reaches slowly.
    A small linear program is solved directly, and its model has few stumps. A conic program would
    take minutes unless smoothing finds most of its stumps first.

    Parameters
    ----------
    start : ColumnWeights, WarmStart or None
        The coefficients of an earlier model, or a solution of the same problem at another nu.
    seconds : float
        Time spent before.
    """
    settings, signs = context.settings, context.oracle.signs
    if settings.columns_per_round is not None:
        start = None  # the paper's algorithms start from the empty model and count their columns
    if settings.solver is not BlockDescent:
        return _solve_on_columns(context, settings.solver, start, seconds)
    smooth, pairs = settings.loss.smooth, context.objective.n_rows * context.objective.margin.k
    small = pairs <= _SMALL
    if small and signs is None and _exact_solver(settings) is LinearProgram:
        return context.with_all_rows(
            lambda near, _: _solve_on_columns(near, LinearProgram, start, seconds)
        )
    # Single precision first, where it pays. The proof is always computed in double precision;
    # where it does not hold, double precision takes over.
    accurate = settings.tol >= _SINGLE_TOL and not small if smooth else True
    single = accurate and context.single_precision_pays
    precisions = (np.float32, np.float64) if single else (np.float64,)
    loops = [_block_descent(context, precision, small) for precision in precisions]
    began = time.perf_counter()
    first, status = _block_start(context, loops[0], start)
    seconds += time.perf_counter() - began
    if status is Status.INTERRUPTED:
        no_rounds = replace(loops[0], stopping=replace(loops[0].stopping, max_rounds=0))
        solution = replace(run(no_rounds, first, seconds), status=status)
    else:
        solution = run(loops[0], first, seconds)
    for loop in loops[1:]:
        ended = solution.status in ENDED_BY_USER if smooth else solution.status != Status.OPTIMAL
        if solution.certificate.converged or ended:
            break
        here = WarmStart(solution.state.columns, solution.state.W)
        solution = run(loop, here, before=solution)
    if not smooth:
        solution = _with_tolerance(solution, settings.tol)
    if solution.certificate.converged or solution.status in ENDED_BY_USER:
        return solution
    return _finish_on_columns(context, solution)


def _loop_settings(context: FitContext, solver: Solver, **limits: Any) -> LoopSettings:
    """Return the settings of a run that adds single columns, with the given limits."""
    settings = context.settings
    per_round = settings.columns_per_round
    rule = {"tol": settings.tol, "max_columns": settings.max_columns, **limits}
    return LoopSettings(
        objective=context.objective,
        oracle=context.oracle,
        solver=solver,
        stopping=StoppingRule(callbacks=settings.callbacks, **rule),
        pricing=settings.pricing,
        columns_per_round=per_round or _AUTO_COLUMNS,
        # One column alone may be enough: a model within the tolerance should not read more.
        first_columns=1 if per_round is None else None,
        keep_stages=per_round is not None,
        keep_dual=context.keep_dual,
        team=context.team,
    )


def _block_descent(context: FitContext, precision: type, small: bool) -> LoopSettings:
    """Return the settings of a run of block descent, by smoothing if the loss is non-smooth."""
    if context.settings.loss.smooth:
        solver: Solver = BlockDescent(evaluator=context.all_rows(np.dtype(precision)))
        limits = {"aim": _AIM, "max_rounds": _MAX_ROUNDS if small else None}
    else:
        solver = context.smoothing(precision)
        quick = small or _finisher(context) is LinearProgram
        limits = {
            "aim": context.smoothing_aim,
            "tol": max(context.settings.tol, _SMOOTHABLE if quick else 0.0),
            "max_rounds": _MAX_SMOOTHED_ROUNDS,
        }
    return replace(_loop_settings(context, solver, **limits), columns_per_round=None)


def _block_start(
    context: FitContext, loop: LoopSettings, start: ColumnWeights | WarmStart | None
) -> tuple[WarmStart, Status | None]:
    """Return the start of block descent: an earlier solution, or a coarse one where it pays.

    The status is that of the coarse solution.
    """
    columns = context.columns()
    if isinstance(start, WarmStart) and isinstance(start.columns, FeatureColumns):
        columns.features = list(start.columns.features)
        start = replace(start, columns=columns)
    else:
        start = WarmStart(columns, [] if start is None else columns.adopt(_column_weights(start)))
    enough = columns.binned.n_rows >= _ENOUGH_ROWS and isinstance(columns.binned, BinnedData)
    if start.W or not enough:
        return start, None
    try:
        W, status = coarse_start(context, loop, columns)
    except KeyboardInterrupt:  # before its first round, or after its last
        columns.features, W, status = [], [], Status.INTERRUPTED
    return WarmStart(columns, W), status


def _with_tolerance(solution: Solution, tol: float) -> Solution:
    """Return the solution judged by the tolerance of the fit, which may be tighter."""
    converged = solution.certificate.relative_gap <= tol
    status = solution.status
    if status is Status.OPTIMAL and not converged:
        status = Status.MAX_ITER
    certificate = replace(solution.certificate, converged=converged)
    return replace(solution, certificate=certificate, status=status)


def _solve_on_columns(
    context: FitContext,
    solver: type[Solver] | Solver,
    start: ColumnWeights | WarmStart | None,
    seconds: float,
) -> Solution:
    """Run column generation on single columns."""
    columns = context.single_columns(forget=context.settings.columns_per_round is None)
    if start is None:
        W = np.zeros((0, context.objective.margin.k))
    else:
        W = columns.adopt(_column_weights(start))
    # A copy: a solver may keep a model between solves, and the one passed in is a parameter.
    loop = _loop_settings(context, solver() if isinstance(solver, type) else copy(solver))
    return run(loop, WarmStart(columns, W), seconds)


def _finish_on_columns(context: FitContext, solution: Solution) -> Solution:
    """Continue from the stumps of block descent with an exact solver, if there is one."""
    solver = _finisher(context)
    if solver is None:
        return solution
    stumps = solution.state.columns.stumps(solution.state.W)

    def finish(near: FitContext, before: Solution | None) -> Solution:
        columns = near.single_columns(forget=True)
        here = WarmStart(columns, columns.adopt(stumps))
        return run(_loop_settings(near, solver()), here, before=before)

    return context.with_all_rows(finish, solution)


def _finisher(context: FitContext) -> type[Solver] | None:
    """Return the exact solver for what block descent leaves, or None if the problem is too large.

    Solvers on single columns do not support monotonic constraints.
    """
    pairs = context.objective.n_rows * context.objective.margin.k
    solver = _exact_solver(context.settings)
    most = _SMALL if context.settings.loss.smooth else _FINISHABLE
    too_large = pairs > most or (solver is Conic and pairs > _FINISHABLE_BY_CONES)
    return None if too_large or context.oracle.signs is not None else solver


def _exact_solver(settings: FitSettings) -> type[Solver] | None:
    """Return an exact solver on single columns that supports the problem, or None."""
    for solver in (LinearProgram, Conic):
        if solver().supports(settings.loss, settings.margin, settings.penalty) is None:
            return solver
    return None


def _column_weights(start: ColumnWeights | WarmStart) -> ColumnWeights:
    return start if isinstance(start, ColumnWeights) else start.columns.stumps(start.W)


def coarse_start(
    context: FitContext, loop: LoopSettings, columns: FeatureColumns
) -> tuple[StepCoefficients, Status]:
    """Solve a coarse problem roughly: a sample of the rows, and few bins per feature.

    Adds its features to `columns` and returns their coefficients, with the status of the coarse
    run. Of the callbacks, only time limits are called.
    """
    team, signs = columns.team, columns.signs
    subset = context.row_subset(_COARSE_ROWS)
    coarse = coarsened(subset.binned, subset.rows)
    k, costs = loop.objective.margin.k, columns.feature_costs
    few = FeatureColumns(coarse.binned, costs, k, team, signs)
    precision = loop.solver.precision.type
    time_limits = [limit for limit in loop.stopping.callbacks if isinstance(limit, TimeLimit)]
    rough = replace(
        loop,
        objective=subset.objective,
        oracle=StumpOracle(coarse.binned, costs, team, signs),
        solver=BlockDescent(precision) if loop.objective.loss.smooth else Smoothing(precision),
        stopping=replace(
            loop.stopping,
            tol=max(loop.stopping.tol, _COARSE_GAP),
            aim=1.0,
            max_rounds=_COARSE_ROUNDS,
            callbacks=time_limits,
        ),
    )
    solution = run(rough, WarmStart(few, []))
    columns.features = list(few.features)
    fine = columns.grow([])
    for f, wide, narrow in zip(few.features, fine, solution.state.W, strict=True):
        wide[coarse.thresholds[f]] = narrow
    return fine, solution.status


@dataclass(frozen=True)
class CoarseData:
    """Data with fewer bins or rows.

    Attributes
    ----------
    binned : BinnedData
    thresholds : list of int arrays
        For every feature and threshold of `binned`, the threshold of the original data.
    """

    binned: BinnedData
    thresholds: list[Ints]


def coarsened(binned: BinnedData, rows: Ints) -> CoarseData:
    """Keep the given rows, and merge neighbouring bins of the features with many bins."""
    n_bins, centre = binned.n_bins.copy(), binned.centre.copy()
    places, thresholds, new_codes = [], [], {}
    for f, bins in enumerate(binned.n_bins.tolist()):
        missing = int(binned.missing[f])
        last = np.arange(bins - missing)  # the last bin of every group
        if binned.kinds[f] == CATEGORICAL:
            places.append(np.arange(bins))
            thresholds.append(binned.thresholds[f])
            continue
        if bins > _MANY_BINS:
            group = last * _COARSE_BINS // last.size
            last = np.flatnonzero(np.diff(group, append=_COARSE_BINS))
            new_codes[f] = np.append(group, _COARSE_BINS).astype(binned.codes.dtype)
            n_bins[f], centre[f] = _COARSE_BINS + missing, group[centre[f]]
        places.append(np.concatenate([last, bins - 1 + last[:-1]]) if missing else last[:-1])
        thresholds.append(binned.thresholds[f][last[:-1]] if f < binned.n_features else last)
    codes, sparse = _coarse_codes(binned, rows, new_codes)
    coarse = replace(
        binned, codes=codes, n_bins=n_bins, thresholds=thresholds[:-1], centre=centre,
        exact=False, sparse=sparse,
    )  # fmt: skip
    return CoarseData(coarse, places)


def _coarse_codes(
    binned: BinnedData, rows: Ints, new_codes: dict[int, Ints]
) -> tuple[Ints, SparseCodes | None]:
    """Return dense and sparse codes of some rows; sparse ones only where they are needed."""
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
