"""The default master for stumps: block descent per feature in bin space."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..feature_columns import FeatureColumns, Jumps
from ..kernels.split import split_epoch
from ..kernels.work import BlockWork, PassRows, Sweeps
from ..losses import Loss
from ..margins import Margin, OneVsAll
from ..penalties import Penalty
from ..problem import Objective, RestrictedProblem
from .base import Master, MasterResult

_EPOCHS = 2
_MOST_EPOCHS = 64
_CHEAP = 4_000_000  # (row, class, feature) triples per round that cost less than a pricing call


@dataclass
class _Living:
    """What is kept between rounds: the scores that belong to the jumps, and the effort."""

    columns: FeatureColumns
    F: Scores
    epochs: int
    last_gap: float


class FeatureBlocks(Master):
    """Block descent over the features of the working set, each over all its thresholds.

    Every block minimises a quadratic model of the loss with the diagonal curvature, by
    coordinate descent over the jumps of the feature; the next pass over the rows shows the
    objective, and a step that raised it is halved. Works on `FeatureColumns`.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms; jumps and block solves are double.
    tol : float
        The relative gap in the end; tight ones get more sweeps per block.
    """

    name: ClassVar[str] = "blocks"

    def __init__(self, precision: type = np.float64, tol: float = 1e-2) -> None:
        self._precision = np.dtype(precision)
        tight = tol < 1e-3
        self._sweeps = Sweeps(6, 60, 1e-4) if tight else Sweeps(2, 20, 1e-3)
        self._slack = 1e-13 if self._precision == np.float64 else 1e-6
        self._living: _Living | None = None

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept smooth losses with l1,p penalties."""
        if not loss.smooth:
            return "it needs a smooth loss"
        if penalty.p is None:
            return "it needs an l1,p penalty"
        return None

    def solve(self, problem: RestrictedProblem, start: Jumps, accuracy: float) -> MasterResult:
        """Run a few epochs over the working set, from the jumps `start`."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, FeatureColumns):
            raise TypeError("the master 'blocks' works on FeatureColumns")
        W = [jumps.copy() for jumps in start]
        living = self._resume(columns, W, objective.margin.k, accuracy)
        work = self._work(columns, objective, W)
        value = (0.0, problem.penalty_value(W))
        rows = _pass_rows(objective, self._precision)
        for _ in range(living.epochs):
            if rows is not None:
                value = kernels.epoch(rows, work, living.F, value)
            else:
                value = self._split(objective, work, living.F, value[1])
        U = self._weights(objective, rows, living)
        return MasterResult(W, U, True, living.epochs, sum(value))

    def _resume(self, columns: FeatureColumns, W: Jumps, k: int, accuracy: float) -> _Living:
        """Rebuild the scores from the jumps, and work harder when the gap has hardly moved."""
        F = np.zeros((columns.binned.n_rows, k), dtype=self._precision)
        columns.add_scores(W, F)
        epochs = _EPOCHS
        if self._living is not None and self._living.columns is columns:
            epochs = self._living.epochs
            if accuracy > 0.5 * self._living.last_gap:
                cheap = _CHEAP // max(1, F.size * max(1, len(columns)))
                epochs = min(2 * epochs, max(_EPOCHS, cheap), _MOST_EPOCHS)
        self._living = _Living(columns, F, epochs, accuracy)
        return self._living

    def _work(self, columns: FeatureColumns, objective: Objective, W: Jumps) -> BlockWork:
        features = np.array(columns.features, dtype=np.int32)
        logarithmic = objective.loss.name == "exponential" and objective.margin.own is not None
        return BlockWork(
            codes=columns.binned.codes,
            features=features,
            n_bins=columns.n_bins(),
            missing=columns.binned.missing[features],
            nu=objective.nu * columns.feature_costs[features],
            jumps=W,
            p=float(objective.penalty.p or 0.0),
            damping=1.3 if logarithmic else 1.0,
            slack=self._slack,
            sweeps=self._sweeps,
        )

    @staticmethod
    def _split(
        objective: Objective, work: BlockWork, F: Scores, penalty: float
    ) -> tuple[float, float]:
        """Run an epoch with the loss evaluated in Python, for losses without a native pass."""

        def evaluate(scores: Scores) -> tuple[float, Scores, Scores]:
            double = scores.astype(np.float64, copy=False)
            A = objective.coefficients(objective.weights(double))
            return objective.loss_value(double), A, objective.curvature(double)

        return split_epoch(kernels, evaluate, work, F, penalty)

    def _weights(self, objective: Objective, rows: PassRows | None, living: _Living) -> Array:
        if rows is None:
            return objective.weights(living.F.astype(np.float64, copy=False))
        return kernels.loss_pass(rows, living.F, "U", living.columns.pool).U  # type: ignore[return-value]


def _pass_rows(objective: Objective, precision: np.dtype[np.floating]) -> PassRows | None:  # type: ignore[type-arg]
    """Return the rows as the fused pass takes them, or None where the loss has no such pass."""
    if objective.loss.native is None:
        return None
    margin = objective.margin
    targets = margin.targets if isinstance(margin, OneVsAll) else None
    c = objective.rows.c.astype(precision)
    return PassRows(objective.loss.native, margin.k, margin.own, targets, c)
