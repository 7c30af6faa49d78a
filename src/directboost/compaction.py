"""Spending what is left of the tolerance on a smaller model."""

from copy import copy
from dataclasses import replace

import numpy as np

from .arrays import Array
from .boosting_run import Outcome
from .certificate import Certificate, certify
from .history import Status
from .masters.moves import all_moves, count_stumps
from .masters.point import Point
from .masters.quadratic import QuadraticModel
from .masters.row_sample import first_size
from .problem.feature_columns import FeatureColumns, Jumps
from .problem.objective import RestrictedProblem
from .task import Task

_PASSES, _QUICK_PASSES = 3, 2
_SPENT = 0.98  # share of the tolerance that may be spent: the rest is for rounding
_LOOSEST = 0.5  # relative gap beyond which no model goes, whatever the tolerance
_GIVEN_BACK = 0.25  # most of what the model gains over the empty one that is given back for size
_SHARE = 2.0  # of the slack that moves may cost by estimate: the Newton step wins half back
_LESS = 0.4  # of the costs allowed after a pass that came to more than was estimated
_WORTH = 0.1  # share of the stumps a pass has to save
_LITTLE, _QUICK_LITTLE = 0.2, 0.4  # share of the slack that is too little for another pass
_ITERATIONS, _RESIDUAL, _REPEATS, _WHOLE = 5, 0.1, 2, 0.5  # of the Newton step


def compact(task: Task, outcome: Outcome, quick: bool = False) -> Outcome:
    """Return an answer with fewer stumps within the tolerance, or the same one.

    A `quick` search ends where more passes would save little.

    Near the optimum many models are about as good. Stumps that hardly matter give their weights
    to a neighbour on the same feature, or lose them; the others make up for it by a Newton step.
    What the lower bound of the certificate still proves to be within the tolerance is kept.
    """
    columns, request = outcome.state.columns, task.request
    if not (outcome.certificate.converged and request.parts.loss.smooth):
        return outcome
    if not isinstance(columns, FeatureColumns) or not len(columns):
        return outcome
    search = _Search(task, copy(columns), outcome.certificate, quick)
    try:
        return _certified(task, outcome, search.columns, search.smallest(outcome.state.W))
    except KeyboardInterrupt:
        return replace(outcome, status=Status.INTERRUPTED)


def _certified(task: Task, outcome: Outcome, columns: FeatureColumns, W: Jumps) -> Outcome:
    """Return the answer W with its certificate in double precision, if it keeps the tolerance."""
    objective, before = task.objective, outcome.certificate
    penalty = RestrictedProblem(objective, columns).penalty_value(W)
    loss = objective.evaluate(columns.scores(W), "", task.team).value
    primal, price = loss + penalty, before.max_price
    after = certify(objective, primal, before.dual, price, before.dictionary, task.request.tol)
    if not after.converged:
        return outcome
    state = replace(outcome.state, columns=columns, W=W, primal=primal)
    return Outcome(after, outcome.status, state, loss)


class _Search:
    """Goes to smaller and smaller models over the features of one.

    Parameters
    ----------
    task : Task
    columns : FeatureColumns
        Features without weight are dropped from it.
    proof : Certificate
        That of the model.
    quick : bool
    """

    def __init__(
        self, task: Task, columns: FeatureColumns, proof: Certificate, quick: bool
    ) -> None:
        self.columns = columns
        self._passes = _QUICK_PASSES if quick else _PASSES
        self._little = _QUICK_LITTLE if quick else _LITTLE
        objective = self._objective = task.objective
        single = task.single and task.request.tol >= 1e-3
        self._rows = task.all_rows(np.dtype(np.float32 if single else np.float64))
        self._sample = self._rows.sample(objective, columns, first_size(task.n_rows))
        spent = min(_SPENT * task.request.tol, _LOOSEST)
        within = (proof.dual - spent * objective.constant) / (1.0 - spent)
        # Near nu_max the tolerance is more than a model gains over the empty one.
        gain = max(objective.start_value() - proof.primal, 0.0)
        self._ceiling = min(within, proof.primal + _GIVEN_BACK * gain)

    def smallest(self, W: Jumps) -> Jumps:
        """Return the smallest model found from W whose objective stays below the ceiling."""
        point, share = self._rows.at(self._objective, self.columns, W), _SHARE
        least = self._little * (self._ceiling - point.value)
        for _ in range(self._passes):
            if self._ceiling - point.value <= least:
                break
            model = QuadraticModel(self._objective, self.columns, point, self._sample, 0.0)
            smaller, saved = _cheapest(model, share * (self._ceiling - point.value))
            if saved <= _WORTH * count_stumps(model.work.jumps):
                break
            model.move_to(smaller)
            model.newton(_ITERATIONS, _RESIDUAL, _REPEATS, _WHOLE)
            line = self._rows.line(self._objective, self.columns, model)
            if line.value(1.0) > self._ceiling:
                share *= _LESS
                continue
            point = self._alive(line.go(1.0))
            if not point.W:
                break
        return point.W

    def _alive(self, point: Point) -> Point:
        return replace(point, W=self.columns.prune(point.W))


def _cheapest(model: QuadraticModel, budget: float) -> tuple[Array, int]:
    """Return the jumps after the moves that are cheapest and keep the budget, and what they save.

    That is a number of stumps.
    """
    jumps = model.work.jumps.copy()
    if budget <= 0.0:
        return jumps, 0
    moves = all_moves(model.work)
    moves = moves.take(moves.cheapest(budget))
    jumps[moves.source] -= moves.weights
    shifted = moves.target >= 0
    jumps[moves.target[shifted]] += moves.weights[shifted]
    return jumps, int(moves.saved.sum())
