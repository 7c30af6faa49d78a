"""The default master for stumps: block descent per feature in bin space."""

from typing import Any, ClassVar

import numpy as np

from .. import kernels
from ..arrays import Scores
from ..feature_columns import FeatureColumns, Jumps
from ..kernels.split import split_epoch
from ..kernels.work import BlockWork, PassRows, Sweeps
from ..losses import Loss
from ..margins import Margin, OneVsAll
from ..penalties import Penalty
from ..problem import Objective, RestrictedProblem
from .base import Master, MasterResult
from .newton import NewtonStep

_EPOCHS = 2
_EARLY = 0.01  # accuracy asked for up to which a Newton step is worth many iterations
_FORCING = 0.1  # largest relative residual of the conjugate gradients in a Newton step


class FeatureBlocks(Master):
    """Block descent over the features of the working set, each over all its thresholds.

    A call takes a Newton step on the non-zero weights (not for l1,inf), then two epochs. Every
    block minimises a quadratic model of the loss with the diagonal curvature, by coordinate
    descent over the jumps of the feature; the next pass over the rows shows the objective, and a
    step that gained too little is halved. Works on `FeatureColumns`.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms; jumps and block solves are double.
    """

    name: ClassVar[str] = "blocks"

    def __init__(self, precision: type = np.float64) -> None:
        self._precision = np.dtype(precision)
        self._sweeps = Sweeps(2, 20, 1e-3)
        self._slack = 1e-13 if self._precision == np.float64 else 1e-6

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
        W = self._newton(problem, start, accuracy)
        F = np.zeros((columns.binned.n_rows, objective.margin.k), dtype=self._precision)
        columns.add_scores(W, F)
        work = self._work(columns, objective, W)
        value = (0.0, problem.penalty_value(W))
        rows = _pass_rows(objective, self._precision)
        for _ in range(_EPOCHS):
            if rows is not None:
                value = kernels.epoch(rows, work, F, value)
            else:
                value = self._split(objective, work, F, value[1])
        U = self._weights(objective, rows, F, columns)
        return MasterResult(W, U, True, _EPOCHS, sum(value))

    @staticmethod
    def _newton(problem: RestrictedProblem, start: Jumps, accuracy: float) -> Jumps:
        """Take a Newton step on the non-zero weights where the penalty is smooth there."""
        objective, columns = problem.objective, problem.columns
        flat = objective.penalty.p == np.inf or not any(jumps.any() for jumps in start)
        if flat or not isinstance(columns, FeatureColumns):
            return [jumps.copy() for jumps in start]
        forcing = min(_FORCING, float(np.sqrt(10.0 * accuracy)))
        return NewtonStep(objective, columns, start).solve(forcing, accuracy > _EARLY)

    def _work(self, columns: FeatureColumns, objective: Objective, W: Jumps) -> BlockWork:
        features = np.array(columns.features, dtype=np.int32)
        return BlockWork(
            codes=columns.binned.codes,
            features=features,
            n_bins=columns.n_bins(),
            missing=columns.binned.missing[features],
            nu=objective.nu * columns.feature_costs[features],
            jumps=W,
            p=float(objective.penalty.p or 0.0),
            damping=_damping(objective),
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

    @staticmethod
    def _weights(
        objective: Objective, rows: PassRows | None, F: Scores, columns: FeatureColumns
    ) -> Scores:
        if rows is None:
            return objective.weights(F.astype(np.float64, copy=False))
        U = kernels.loss_pass(rows, F, "U", columns.pool).U
        assert U is not None
        return U


def _damping(objective: Objective) -> float:
    """Return the factor on the diagonal curvature that makes up for the coupling of classes.

    Pairwise, two classes move against each other with twice the curvature of the diagonal, many
    hardly at all; the logarithm of the exponential loss couples all rows on top.
    """
    if objective.margin.own is None:
        return 1.0
    k = objective.margin.k
    return k / (k - 1.0) * (1.3 if objective.loss.name == "exponential" else 1.0)


def _pass_rows(objective: Objective, precision: np.dtype[Any]) -> PassRows | None:
    """Return the rows as the fused pass takes them, or None where the loss has no such pass."""
    if objective.loss.native is None or not objective.loss.is_built_in():
        return None
    margin = objective.margin
    targets = margin.targets if isinstance(margin, OneVsAll) else None
    c = objective.rows.c.astype(precision)
    return PassRows(objective.loss.native, margin.k, margin.own, targets, c)
