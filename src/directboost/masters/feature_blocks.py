"""The default master for stumps: quadratic models of the loss, over whole features."""

from typing import ClassVar

import numpy as np

from .. import kernels
from ..arrays import Scores
from ..feature_columns import FeatureColumns, Jumps
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem import Objective, RestrictedProblem
from .base import Master, MasterResult
from .newton import NewtonStep
from .quadratic import Point, QuadraticModel
from .row_sample import RowSample, first_size

import os
_CYCLES = int(os.environ.get("CYC","6"))
_HALVINGS = 10
_ENOUGH = 1e-3  # share of the gain the model promised from which on a step counts


class FeatureBlocks(Master):
    """Minimises a quadratic model of the loss plus the penalty, again and again.

    A call builds the model around the current weights: the gradient of all rows, the second
    derivative of a sample. On it, block descent over the features of the working set (each over
    all its thresholds at once) alternates with Newton steps on the non-zero weights. The way to
    the minimum of the model is searched for a lower objective on all rows. Works on
    `FeatureColumns`.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms; jumps and block solves are double.
    """

    name: ClassVar[str] = "blocks"

    def __init__(self, precision: type = np.float64) -> None:
        self._precision = np.dtype(precision)
        self._slack = 1e-14 if self._precision == np.float64 else 1e-7
        self._point: Point | None = None
        self._sample: RowSample | None = None
        self._damping = 0.0

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept smooth losses with l1,p penalties."""
        if not loss.smooth:
            return "it needs a smooth loss"
        if penalty.p is None:
            return "it needs an l1,p penalty"
        return None

    def solve(self, problem: RestrictedProblem, start: Jumps, accuracy: float) -> MasterResult:
        """Minimise one model of the objective, from the jumps `start`."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, FeatureColumns):
            raise TypeError("the master 'blocks' works on FeatureColumns")
        point = self._start(problem, columns, start)
        sample = self._rows(objective, columns)
        model = QuadraticModel(objective, columns, point, sample, self._damping)
        promised = self._minimise(model, accuracy)
        after = self._search(objective, columns, model, promised)
        self._point = after
        return MasterResult(after.W, after.U, True, 1, after.value, after.A)

    def _start(self, problem: RestrictedProblem, columns: FeatureColumns, W: Jumps) -> Point:
        """Return the point of the jumps W: that of the last call where they are the same."""
        known = self._point
        if known is not None and _same(known.W, W):
            return Point(W, known.F, known.loss, known.penalty, known.U, known.A, known.C)
        F = np.zeros((columns.binned.n_rows, problem.objective.margin.k), dtype=self._precision)
        columns.add_scores(W, F)
        return self._evaluate(problem.objective, columns, W, F, problem.penalty_value(W))

    def _evaluate(
        self, objective: Objective, columns: FeatureColumns, W: Jumps, F: Scores, penalty: float
    ) -> Point:
        rows = objective.pass_rows(self._precision)
        if rows is not None:
            result = kernels.loss_pass(rows, F, "UAC", columns.team)
            U, A, C = result.U, result.A, result.C
            assert U is not None and A is not None and C is not None
            return Point(W, F, result.value, penalty, U, A, C)
        double = F.astype(np.float64, copy=False)
        U = objective.weights(double)
        A = np.ascontiguousarray(objective.coefficients(U), dtype=self._precision)
        C = np.ascontiguousarray(objective.curvature(double), dtype=self._precision)
        return Point(W, F, objective.loss_value(double), penalty, U, A, C)

    def _rows(self, objective: Objective, columns: FeatureColumns) -> RowSample:
        if self._sample is None:
            m = columns.binned.n_rows
            own = objective.margin.own
            groups = np.zeros(m, dtype=np.int32) if own is None else own
            self._sample = RowSample(columns.binned, groups, first_size(m))
        return self._sample

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Bring the model near its minimum; return by how much it fell."""
        import os
        early = accuracy > 0.0075
        forcing = min(float(os.environ.get("FORCE","0.1")), max(10.0 * accuracy, 1e-6))
        total = model.epoch()
        for cycle in range(_CYCLES):
            total += NewtonStep(model).solve(int(os.environ.get("CGE","10")) if early else int(os.environ.get("CG","20")), 0.1)
            gained = model.epoch()
            total += gained
            if gained <= forcing * total:
                break
        return total

    def _search(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel, promised: float
    ) -> Point:
        """Go towards the minimum of the model as far as the objective gains on all rows."""
        point, work = model.point, model.work
        change, start = np.zeros_like(point.F), np.concatenate(point.W)
        features = np.array(columns.features, dtype=np.int32)
        tables = np.split(work.change, work.first_bin[1:-1])
        kernels.add_tables(columns.binned.codes, features, tables, change, columns.team)
        slack = self._slack * abs(point.value)

        def at(step: float) -> Point:
            jumps = work.jumps if step == 1.0 else start + step * (work.jumps - start)
            F = point.F + self._precision.type(step) * change
            W = np.split(jumps, work.first_jump[1:-1])
            return self._evaluate(objective, columns, W, F, model.penalty(jumps))

        step, trial = 1.0, at(1.0)
        if trial.value <= point.value - _ENOUGH * promised + slack:
            import os
            while float(os.environ.get("EXT","1.5"))>1 and step < 8.0:
                further = at(float(os.environ.get("EXT","1.5")) * step)
                if further.value >= trial.value:
                    break
                step, trial = float(os.environ.get("EXT","1.5")) * step, further
            if os.environ.get("SHOW"): print("step",step)
            self._damping *= 0.5
            return trial
        for _ in range(_HALVINGS):
            step *= 0.4
            trial = at(step)
            if trial.value <= point.value - _ENOUGH * step * promised + slack:
                self._damping = max(self._damping, 0.05)
                return trial
        self._damping = max(4.0 * self._damping, 0.1)
        return point


def _same(known: Jumps, W: Jumps) -> bool:
    """Whether W is `known` but for features without weight."""
    alive = [jumps for jumps in known if jumps.any()]
    others = [jumps for jumps in W if jumps.any()]
    return len(alive) == len(others) and all(a is b for a, b in zip(alive, others, strict=True))
