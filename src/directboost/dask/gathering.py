"""The rows of a small problem, brought to this process for a solver that needs them all."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..losses import Rows
from ..oracles.stump import StumpOracle
from ..problem.objective import Objective
from ..training.column_generation import Outcome
from ..training.task import Task
from . import kinks
from .field import Field
from .places import Place
from .shards import Shard
from .softening import SoftPlace
from .stumps import ShardedStumps


class Gathered:
    """A task whose rows are on shards, with all of them in this process as well.

    They come one shard after the other, in their order: so what is made of them does not depend
    on the workers.

    Parameters
    ----------
    task : Task
    field : Field
        Where its rows are.

    Attributes
    ----------
    task : Task
        The plain task of the same rows, with the weights they have on their shards.
    """

    def __init__(self, task: Task, field: Field) -> None:
        self._field = field
        taken = field.all_rows
        margin = type(task.objective.margin).from_codes(taken.labels, field.k)
        rows = Rows(taken.c, field.k, margin.own)
        self._shard = Shard(taken.binned(field.bins), margin, rows, taken.labels)
        far = task.objective
        self.task = Task(
            task.request, Objective(margin, far.loss, far.penalty, far.nu, rows),
            StumpOracle(self._shard.binned, task.costs, task.team, field.signs), task.costs,
            task.team, taken.labels, taken.c, task.nu_max, task.total_weight, task.keep_dual,
        )  # fmt: skip

    def brought(self, outcome: Outcome) -> Outcome:
        """Return an answer of the rows on shards with its dual points in this process."""
        state = outcome.state
        assert state.best_U is None or isinstance(state.best_U, Place)
        proof = None if state.best_U is None else self._weights(state.best_U)
        return replace(outcome, state=replace(state, U=None, A=None, best_U=proof))

    def returned(self, outcome: Outcome) -> Outcome:
        """Return an answer of this process, on single columns, as one of the rows on shards."""
        state, columns = outcome.state, ShardedStumps(self._field, forget=True)
        W = columns.adopt(state.columns.stumps(state.W))
        back = replace(state, columns=columns, W=W, U=columns.scores(W), A=None, best_U=None)
        return replace(outcome, state=back)

    def _weights(self, place: Place) -> Array:
        """Return the weights U of all rows at a place, (m, k)."""
        double = place.astype(np.float64)
        if isinstance(double, SoftPlace):
            return kinks.weights(self._shard, double)
        scores: Any = self._shard.scores(double)
        return self.task.objective.weights(scores)
