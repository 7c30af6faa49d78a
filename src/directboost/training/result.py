"""The result of a fit: a certified model, and how it is made of the answer of a solver."""

import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Array, Bools
from ..certificate import Certificate
from ..history import Record, Status
from ..model.learners import WeakClassifier
from ..model.trees import pruned
from ..oracles import StumpOracle
from ..problem.columns import Columns
from ..problem.feature_columns import FeatureColumns
from .column_generation import LoopState, Solution
from .stopping import ENDED_BY_USER
from .task import FitContext

_OWN = ("directboost.", "sklearn.", "contextlib")  # whose lines no warning should point at


@dataclass(frozen=True)
class FitResult:
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


def trained(task: FitContext, outcome: Solution) -> FitResult:
    """Return the model of an answer; warn where it is not within the tolerance."""
    state, request = outcome.state, task.request
    learners, coef = export(state.columns, state.W)
    stages = None
    if request.columns_per_round is not None:
        everything = state.columns.learners(state.W)
        stages = [(everything[: W.shape[0]], W) for W in state.stages]
    _warn(outcome, request.tol)
    tempered = request.parts.loss.probability_scale is not None
    return FitResult(
        learners, coef.reshape(-1, task.k), None if tempered else state.columns.scores(state.W),
        _means(task, state, learners), outcome.certificate, outcome.status,
        state.history, task.objective.nu, task.nu_max, stages, task.oracle.missing,
    )  # fmt: skip


def _means(task: FitContext, state: LoopState, learners: list[WeakClassifier]) -> Array:
    """Return the means over the rows of what every feature adds to the scores, (d, k).

    A weak classifier that reads several features at once belongs to none of them. `learners` are
    those of the stumps with a weight.
    """
    d = task.oracle.missing.size
    if isinstance(task.oracle, StumpOracle) and isinstance(state.columns, FeatureColumns):
        return state.columns.means(state.W, task.weight)[:d]
    stumps = state.columns.stumps(state.W)
    if isinstance(task.oracle, StumpOracle):
        features = task.columns()
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
    stumps = columns.stumps(W)
    return pruned(columns.named(stumps)), stumps.rows


def _warn(outcome: Solution, tol: float) -> None:
    """Say how far the fit got where it did not reach the tolerance, or the end of its path."""
    if outcome.status is Status.BUDGET:
        return
    if outcome.certificate.converged:
        if outcome.state.wish and outcome.status in ENDED_BY_USER:
            _warn_of_the_rest(outcome)
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
        stacklevel=outside_level(),
    )


def _warn_of_the_rest(outcome: Solution) -> None:
    nu = outcome.certificate.nu
    warnings.warn(
        f"the path of nu ended with status '{outcome.status}' at nu = {nu:.3g}, with a model "
        "within the tolerance; those of smaller nus were not looked for",
        ConvergenceWarning,
        stacklevel=outside_level(),
    )


def outside_level() -> int:
    """Return how many frames up the code of the user is, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame, level = frame.f_back, level + 1
    return level
