"""One fit, from checked rows to a certified model, or several in a row."""

import math
import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import kernels
from .arrays import Array, Bools
from .certificate import Certificate
from .column_generation import Outcome, State
from .columns import Columns, Stumps
from .compaction import compact
from .feature_columns import FeatureColumns
from .history import Record
from .inputs import TrainingRows
from .kernels.team import Team
from .learners import WeakClassifier
from .oracles import StumpOracle
from .request import Request
from .solving import ENDED_BY_USER, solve
from .status import Status
from .task import Task, prepare
from .trees import pruned

_OWN = ("directboost.", "sklearn.", "contextlib")  # whose lines no warning should point at


@dataclass(frozen=True)
class Trained:
    """The result of a fit: non-zero weak classifiers with their weights, and the proof.

    `F` (m, k) are the scores of the rows, where the loss needs them to make probabilities of
    scores; `means` (d, k) is what every feature adds to them on average, by weight.
    """

    learners: list[WeakClassifier]
    coef: Array
    F: Array | None
    means: Array
    certificate: Certificate
    status: Status
    history: list[Record]
    nu: float
    nu_max: float
    stages: list[tuple[list[WeakClassifier], Array]] | None
    missing: Bools


def task_of(request: Request, rows: TrainingRows, costs: Array, team: Team | None) -> Task:
    """Return the task of a fit to rows with feature costs (d + 1,)."""
    kernels.announce()
    return prepare(request, rows, costs, team)


class Walk:
    """Fits a task at one nu after the other; each fit starts from the model before.

    Seconds in the records count from the start of the walk.

    Parameters
    ----------
    task : Task
    before : Stumps, optional
        The start of the first fit.
    """

    def __init__(self, task: Task, before: Stumps | None = None) -> None:
        self.task = task
        #: Whether the user ended the last fit, so that another one is not wanted.
        self.ended = False
        self._before: Stumps | Outcome | None = before
        self._began = time.perf_counter()

    def to(self, nu: float) -> Trained:
        """Return the model of that nu, absolute."""
        task = self.task.at(nu)
        outcome = solve(task, self._before, time.perf_counter() - self._began)
        self._before = outcome  # not the smaller model: the next fit starts from the better one
        outcome = compact(task, outcome)
        self.ended = outcome.status in ENDED_BY_USER
        return _result(task, outcome)


def _result(task: Task, outcome: Outcome) -> Trained:
    state, request = outcome.state, task.request
    learners, coef = export(state.columns, state.W)
    stages = None
    if request.columns_per_round is not None:
        everything = state.columns.learners(state.W)
        stages = [(everything[: W.shape[0]], W) for W in state.stages]
    _warn(outcome, request.tol)
    tempered = request.parts.loss.temper is not None
    return Trained(
        learners, coef.reshape(-1, task.k), None if tempered else state.columns.scores(state.W),
        _means(task, state, learners), outcome.certificate, outcome.status,
        state.history, task.objective.nu, task.nu_max, stages, task.oracle.missing,
    )  # fmt: skip


def _means(task: Task, state: State, learners: list[WeakClassifier]) -> Array:
    """Return the means over the rows of what every feature adds to the scores, (d, k).

    A weak classifier that reads several features at once belongs to none of them. `learners` are
    those of the stumps with a weight.
    """
    d = task.oracle.missing.size
    if isinstance(task.oracle, StumpOracle) and isinstance(state.columns, FeatureColumns):
        return state.columns.means(state.W, task.weight)[:d]
    stumps = state.columns.stumps(state.W)
    if isinstance(task.oracle, StumpOracle):
        features = FeatureColumns(task.oracle.binned, task.costs, task.k, task.team)
        return features.means(features.adopt(stumps), task.weight)[:d]
    means, share = np.zeros((d, task.k)), task.weight / task.weight.sum()
    alive = stumps.rows.any(axis=1)
    names, rows = stumps.names[alive].tolist(), stumps.rows[alive]
    for name, row, learner in zip(names, rows, learners, strict=True):
        if len(learner.features) == 1:
            means[learner.features[0]] += (share @ task.oracle.source.response(*name)) * row
    return means


def export(columns: Columns, W: Any) -> tuple[list[WeakClassifier], Array]:
    """Return the weak classifiers with a non-zero weight, and their weights."""
    rows, _ = columns.rows(W)
    alive = (rows != 0.0).any(axis=1)
    learners = [h for h, a in zip(columns.learners(W), alive, strict=True) if a]
    return pruned(learners), rows[alive]


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
        stacklevel=_outside(),
    )


def _outside() -> int:
    """Return how many frames up the code of the user is, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame, level = frame.f_back, level + 1
    return level
