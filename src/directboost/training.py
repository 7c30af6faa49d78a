"""One fit, from checked rows to a certified model: bins, problem, loop."""

import math
import time
import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import kernels
from .arrays import Array, Bools, Ints
from .binning import BinnedData, bin_features
from .certificate import Certificate
from .column_generation import Outcome, Plan, run
from .columns import Columns, DenseColumns, Proposals
from .continuation import start
from .feature_columns import FeatureColumns
from .history import Record
from .inputs import TrainingRows
from .kernels.team import Team
from .learners import Learner
from .losses import Rows
from .masters import Conic, FeatureBlocks, LinearProgram, Master, Smoothing
from .memory import check_memory
from .oracles import StumpOracle
from .problem import Objective
from .request import Request
from .settings import Parts
from .status import Status

_AUTO_COLUMNS = 16
_SMALL = 2_000  # (row, class) pairs up to which a conic solver may finish the work
_MOST_ROUNDS = 150  # rounds block descent gets on these
_FINISHABLE = 20_000  # pairs up to which a solver on columns may go on where smoothing ends
_SMOOTHABLE = 1e-3  # relative gap down to which smoothing a loss with kinks pays
_ENDED_BY_USER = (Status.TIME_LIMIT, Status.STOPPED, Status.INTERRUPTED)
_LEAST_WEIGHT = 1e-30  # of a row: below it single precision would lose the row
_LARGE = 200_000  # (row, feature, class) triples from which single precision pays


@dataclass(frozen=True)
class Trained:
    """The result of a fit: non-zero weak classifiers with their weights, and the proof."""

    learners: list[Learner]
    coef: Array
    F: Array
    certificate: Certificate
    status: Status
    history: list[Record]
    nu: float
    nu_max: float
    stages: list[tuple[list[Learner], Array]] | None
    missing: Bools


def train(request: Request, rows: TrainingRows, costs: Array, team: Team | None) -> Trained:
    """Fit a model to rows with feature costs (d + 1,)."""
    kernels.announce()
    k = rows.classes.size
    dense = request.master is not FeatureBlocks
    code_bytes = 1 if request.max_bins is not None and request.max_bins <= 255 else 4
    check_memory(rows.X.shape[0], rows.X.shape[1], k, code_bytes, dense)
    binned = bin_features(rows.X, rows.weight, request.max_bins, team)
    oracle = StumpOracle(binned, costs, team)
    margin = request.parts.margin.from_codes(rows.codes, k)
    weights = Rows.weighted(rows.weight, k, margin.own)
    base = Objective(margin, request.parts.loss, request.parts.penalty, 1.0, weights)
    nu_max = _largest_nu(base, oracle)
    nu = _absolute_nu(request, nu_max, rows.total_weight)
    objective = Objective(margin, base.loss, base.penalty, nu, weights)
    task = _Task(request, objective, oracle, binned, costs, team, rows.codes, rows.weight)
    outcome = _solve(task)
    return _result(request, outcome, nu, nu_max, binned.missing[:-1])


def _largest_nu(objective: Objective, oracle: StumpOracle) -> float:
    """Return nu_max: the largest price at W = 0, from where on the empty model is optimal."""
    A = objective.coefficients(objective.start(np.dtype(np.float64)))
    return oracle.price(A, objective.penalty).max_price


def _absolute_nu(request: Request, nu_max: float, total_weight: float) -> float:
    if request.nu_scale == "relative":
        # Without any edge the empty model is optimal for every nu.
        return request.nu * (nu_max if nu_max > 1e-12 else 1.0)
    hinge = request.parts.loss.name == "hinge" and request.parts.margin.name == "pairwise"
    if request.nu_scale != "paper" or not hinge:
        return request.nu
    nu = request.nu / total_weight
    if not nu > 0.0:
        raise ValueError(
            f"nu={request.nu!r} with nu_scale='paper' vanishes when divided by the sum of the "
            f"weights, {total_weight:g}; scale sample_weight down"
        )
    return nu


@dataclass(frozen=True)
class _Task:
    """What the stages of a fit share."""

    request: Request
    objective: Objective
    oracle: StumpOracle
    binned: BinnedData
    costs: Array
    team: Team | None
    labels: Ints
    weight: Array

    @property
    def k(self) -> int:
        return self.objective.margin.k

    @property
    def small(self) -> bool:
        return self.binned.n_rows * self.k <= _SMALL

    @property
    def single(self) -> bool:
        """Whether single precision pays, and loses no row."""
        size = self.binned.n_rows * self.k * (self.binned.n_features + 1)
        return size >= _LARGE and float(self.objective.rows.c.min()) > _LEAST_WEIGHT

    def plan(self, master: Master, **changes: Any) -> Plan:
        request = self.request
        plan = Plan(
            self.objective, self.oracle, master, request.tol, request.rule,
            request.columns_per_round or _AUTO_COLUMNS,
            # One column alone may do: a model that is good enough should not read more.
            first_columns=1 if request.columns_per_round is None else None,
            max_columns=request.max_columns,
            keep_stages=request.columns_per_round is not None, callbacks=request.callbacks,
            team=self.team,
        )  # fmt: skip
        return replace(plan, **changes)


def _solve(task: _Task) -> Outcome:
    """Run the loop with the master of the request."""
    if task.request.master is FeatureBlocks:
        return _solve_blocks(task)
    return _solve_columns(task, task.request.master)


def _solve_columns(task: _Task, master: type[Master] | Master) -> Outcome:
    """Run the loop on single columns."""
    columns = DenseColumns(task.binned, task.costs, forget=task.request.columns_per_round is None)
    # A copy: a master may keep a living model, and the one handed in is a parameter.
    plan = task.plan(master() if isinstance(master, type) else copy(master))
    return run(plan, columns, np.zeros((0, task.k)))


def _solve_blocks(task: _Task) -> Outcome:
    """Run block descent; what it cannot finish goes to a solver on single columns.

    That happens to small problems on which it stalls, and to losses with kinks where the
    tolerance is too tight for smoothing.
    """
    columns: FeatureColumns = FeatureColumns(task.binned, task.costs, task.k, task.team)
    exact = _column_master(task.request.parts)
    if task.small and exact is not None and not task.request.parts.loss.smooth:
        return _solve_columns(task, exact)
    descend = _descend if task.request.parts.loss.smooth else _descend_smoothed
    outcome = descend(task, columns)
    if outcome.certificate.converged or outcome.status in _ENDED_BY_USER:
        return outcome
    kinks = not task.request.parts.loss.smooth
    if task.small or (kinks and task.binned.n_rows * task.k <= _FINISHABLE):
        return _finish_on_columns(task, columns, outcome)
    return outcome


def _descend(task: _Task, columns: FeatureColumns) -> Outcome:
    """Run block descent on a smooth loss; in single precision first where that pays.

    The proof is always made in double precision: where it does not hold, double takes over.
    """
    single = task.request.tol >= 1e-3 and not task.small and task.single
    most = _MOST_ROUNDS if task.small else None
    precisions = (np.float32, np.float64) if single else (np.float64,)
    plans = [
        task.plan(FeatureBlocks(precision), columns_per_round=None, max_rounds=most)
        for precision in precisions
    ]
    outcome = _run_from_start(task, plans[0], columns, FeatureBlocks(precisions[0]))
    for plan in plans[1:]:
        if outcome.certificate.converged or outcome.status in _ENDED_BY_USER:
            break
        outcome = run(plan, columns, outcome.state.W, outcome)
    return outcome


def _run_from_start(task: _Task, plan: Plan, columns: FeatureColumns, master: Master) -> Outcome:
    """Run the loop from a coarse start by `master`, where there are rows enough for one."""
    began = time.perf_counter()
    try:
        W, status = start(plan, master, columns, task.labels, task.weight)
    except KeyboardInterrupt:  # before its first round, or after its last
        columns.features, W, status = [], [], Status.INTERRUPTED
    seconds = time.perf_counter() - began
    if status is not Status.INTERRUPTED:
        return run(plan, columns, W, seconds=seconds)
    return replace(run(replace(plan, max_rounds=0), columns, W, seconds=seconds), status=status)


def _descend_smoothed(task: _Task, columns: FeatureColumns) -> Outcome:
    """Run block descent on a loss with kinks, down to the gap smoothing is good for."""
    tol = max(task.request.tol, _SMOOTHABLE)
    precision = np.float32 if task.single else np.float64
    plan = task.plan(Smoothing(precision), columns_per_round=None, tol=tol)
    outcome = _run_from_start(task, plan, columns, Smoothing(precision))
    converged = outcome.certificate.relative_gap <= task.request.tol
    status = outcome.status
    if status is Status.OPTIMAL and not converged:
        status = Status.MAX_ITER
    certificate = replace(outcome.certificate, converged=converged)
    return replace(outcome, certificate=certificate, status=status)


def _finish_on_columns(task: _Task, features: FeatureColumns, outcome: Outcome) -> Outcome:
    """Go on from the stumps of block descent with a solver on single columns, where one fits."""
    master = _column_master(task.request.parts)
    if master is None:
        return outcome
    names, rows = features.stumps(outcome.state.W)
    columns = DenseColumns(task.binned, task.costs, forget=True)
    feature, jump, polarity = names.T
    columns.extend(Proposals(feature, jump, polarity, np.zeros(feature.size)))
    return run(task.plan(master()), columns, rows, outcome)


def _column_master(parts: Parts) -> type[Master] | None:
    """Return an exact solver on single columns that fits, or None."""
    for master in (LinearProgram, Conic):
        if master().supports(parts.loss, parts.margin, parts.penalty) is None:
            return master
    return None


def _result(
    request: Request, outcome: Outcome, nu: float, nu_max: float, missing: Bools
) -> Trained:
    state = outcome.state
    learners, coef = export(state.columns, state.W)
    stages = None
    if request.columns_per_round is not None:
        everything = state.columns.learners(state.W)
        stages = [(everything[: W.shape[0]], W) for W in state.stages]
    _warn(outcome, request.tol)
    return Trained(
        learners, coef.reshape(-1, outcome.F.shape[1]), outcome.F, outcome.certificate,
        outcome.status, state.history, nu, nu_max, stages, missing,
    )  # fmt: skip


def export(columns: Columns, W: Any) -> tuple[list[Learner], Array]:
    """Return the weak classifiers with a non-zero weight, and their weights."""
    rows, _ = columns.rows(W)
    alive = (rows != 0.0).any(axis=1)
    learners = [h for h, a in zip(columns.learners(W), alive, strict=True) if a]
    return learners, rows[alive]


def _warn(outcome: Outcome, tol: float) -> None:
    """Say how far the fit got where it did not reach the tolerance."""
    if outcome.certificate.converged or outcome.status is Status.BUDGET:
        return
    gap = outcome.certificate.relative_gap
    shown = f"{gap:.3g}" if math.isfinite(gap) else "unknown"
    hint = ""
    if outcome.status is Status.NO_BETTER_COLUMN:
        hint = "; the rule of the paper finds no further column, pricing='exact' would"
    warnings.warn(
        f"the fit ended with status '{outcome.status}' at a certified relative gap of {shown}, "
        f"above tol={tol:g}; the best model so far is kept, with its certificate{hint}",
        ConvergenceWarning,
        stacklevel=4,
    )
