"""What an estimator keeps of a fit whose rows are on shards, also of one that was cut off."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..certificate import Certificate
from ..data.validation import TrainingRows
from ..history import Status
from ..model.ensemble import fit_factor
from ..training.column_generation import State
from ..training.result import Trained, export
from .columns import ShardedColumns
from .rows import ShardedSample
from .task import ShardedTask

_FACTOR_ROWS = 100_000  # rows to which probabilities are fitted


@dataclass(frozen=True)
class FarRows(TrainingRows):
    """What an estimator keeps of rows that are elsewhere."""

    shares: Array | None = None
    factor: float = 1.0

    @property
    def prior(self) -> Array:
        """Share of the rows, by weight, that have each class, (k,)."""
        assert self.shares is not None
        return self.shares


def probability_factor(task: ShardedTask, trained: Trained) -> float:
    """Return the factor that makes probabilities of scores, fitted to a sample of the rows."""
    if task.request.parts.loss.temper is not None or not trained.learners:
        return 1.0
    place: Any = trained.F
    sample = ShardedSample(task.objective, task.rows, _FACTOR_ROWS)
    return fit_factor(sample.scores(place).astype(np.float64), *sample.labels_and_weights())


def best_so_far(task: ShardedTask, state: State) -> Trained:
    """Return the best model before the rows got out of reach, with what is proved of it."""
    # Columns may have come in whose weights were never found.
    stumps = state.columns.stumps(state.columns.grow(state.W))
    columns = ShardedColumns(task.rows)
    W = columns.adopt(stumps)
    learners, coef = export(columns, W)
    objective, last = task.objective, state.history[-1] if state.history else None
    gap = state.primal - state.best_dual
    certificate = Certificate(
        state.primal, state.best_dual, gap, objective.relative(gap, state.primal),
        np.inf if last is None else last.max_price, objective.nu, task.oracle.dictionary, False,
    )  # fmt: skip
    means = columns.means(W, task.weight)[:-1]
    return Trained(
        learners, coef, None, means, certificate, Status.OUT_OF_REACH, state.history,
        objective.nu, task.nu_max, None, task.oracle.missing,
    )  # fmt: skip
