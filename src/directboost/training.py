"""One fit, from checked rows to a certified model: bins, problem, loop."""

import math
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import kernels
from .arrays import Array
from .binning import BinnedData, bin_features
from .certificate import Certificate
from .column_generation import Callback, Outcome, Plan, run
from .columns import Columns, DenseColumns
from .feature_columns import FeatureColumns
from .history import Record
from .inputs import TrainingRows
from .learners import Learner
from .losses import Rows
from .masters import FeatureBlocks, Master
from .memory import check_memory
from .oracles import StumpOracle
from .problem import Objective
from .settings import Parts
from .status import Status

_AUTO_COLUMNS = 16
_LARGE = 20_000_000  # (row, feature, class) triples from which single precision pays


@dataclass(frozen=True)
class Request:
    """The checked parameters of a fit."""

    parts: Parts
    master: type[Master] | Master
    nu: float
    nu_scale: str
    rule: str
    columns_per_round: int | None
    max_columns: int | None
    tol: float
    max_bins: int | None
    callbacks: Sequence[Callback]


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
    stages: list[tuple[list[Learner], Array]]


def train(request: Request, rows: TrainingRows, costs: Array, pool: Executor | None) -> Trained:
    """Fit a model to rows with feature costs (d + 1,)."""
    kernels.announce()
    k = rows.classes.size
    dense = request.master is not FeatureBlocks
    code_bytes = 1 if request.max_bins is not None and request.max_bins <= 255 else 4
    check_memory(rows.X.shape[0], rows.X.shape[1], k, code_bytes, dense)
    binned = bin_features(rows.X, rows.weight, request.max_bins, pool)
    oracle = StumpOracle(binned, costs, pool)
    margin = request.parts.margin.from_codes(rows.codes, k)
    weights = Rows.weighted(rows.weight, k, margin.own)
    base = Objective(margin, request.parts.loss, request.parts.penalty, 1.0, weights)
    nu_max = _largest_nu(base, oracle)
    nu = _absolute_nu(request, nu_max, float(rows.weight.sum()))
    objective = Objective(margin, base.loss, base.penalty, nu, weights)
    outcome = _solve(request, objective, oracle, binned, costs, pool)
    return _result(request, outcome, nu, nu_max, k)


def _largest_nu(objective: Objective, oracle: StumpOracle) -> float:
    """Return nu_max: the largest price at W = 0, from where on the empty model is optimal."""
    U = objective.loss.start(objective.rows)
    return oracle.price(objective.coefficients(U), objective.penalty).max_price


def _absolute_nu(request: Request, nu_max: float, total_weight: float) -> float:
    if request.nu_scale == "relative":
        # Without any edge the empty model is optimal for every nu.
        return request.nu * (nu_max if nu_max > 1e-12 else 1.0)
    hinge = request.parts.loss.name == "hinge" and request.parts.margin.name == "pairwise"
    if request.nu_scale == "paper" and hinge:
        return request.nu / total_weight
    return request.nu


def _solve(
    request: Request,
    objective: Objective,
    oracle: StumpOracle,
    binned: BinnedData,
    costs: Array,
    pool: Executor | None,
) -> Outcome:
    """Run the loop; in single precision first where that pays, until the proof holds in double."""
    k, columns_per_round = objective.margin.k, request.columns_per_round
    columns: Columns
    W: Any
    if request.master is FeatureBlocks:
        columns, W = FeatureColumns(binned, costs, k, pool), []
    else:
        columns = DenseColumns(binned, costs, forget=columns_per_round is None)
        columns_per_round = columns_per_round or _AUTO_COLUMNS
        W = np.zeros((0, k))
    size = binned.n_rows * k * (binned.n_features + 1)
    single = request.tol >= 1e-3 and size >= _LARGE and request.master is FeatureBlocks
    records: list[Record] = []
    for precision in (np.float32, np.float64) if single else (np.float64,):
        master = request.master
        if isinstance(master, type):
            tuned = master is FeatureBlocks
            master = FeatureBlocks(precision) if tuned else master()
        plan = Plan(
            objective, oracle, master, request.tol, request.rule, columns_per_round,
            request.max_columns, request.columns_per_round is not None, request.callbacks,
        )  # fmt: skip
        outcome = run(plan, columns, W)
        records.extend(outcome.state.history)
        W = outcome.state.W
        if outcome.certificate.converged or outcome.status is not Status.OPTIMAL:
            break
    outcome.state.history[:] = records
    return outcome


def _result(request: Request, outcome: Outcome, nu: float, nu_max: float, k: int) -> Trained:
    state = outcome.state
    learners, coef = export(state.columns, state.W)
    stages = []
    if request.columns_per_round is not None:
        everything = state.columns.learners(state.W)
        stages = [(everything[: W.shape[0]], W) for W in state.stages]
    _warn(outcome, request.tol)
    return Trained(
        learners, coef.reshape(-1, k), outcome.F, outcome.certificate, outcome.status,
        state.history, nu, nu_max, stages,
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
    warnings.warn(
        f"the fit ended with status '{outcome.status}' at a certified relative gap of {shown}, "
        f"above tol={tol:g}; the best model so far is kept, with its certificate",
        ConvergenceWarning,
        stacklevel=4,
    )
