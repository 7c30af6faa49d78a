"""The objective on all rows: at a point, and along the way to the minimum of its model."""

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..kernels.step_functions import apart
from ..kernels.structs import LossValues, SearchDirection, Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .quadratic_model import Iterate, QuadraticModel, RowSample


class RowEvaluator:
    """Evaluates points on all rows.

    A search looks at the values of many points and goes to one, which is written over the point
    it began at: a fit makes one set of arrays.

    Parameters
    ----------
    precision : numpy dtype
    """

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        self._precision = precision

    @property
    def precision(self) -> "np.dtype[np.floating]":
        """Precision of scores and histograms."""
        return self._precision

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of so many rows, or all of them."""
        own, m = objective.margin.true_class, columns.binned.n_rows
        return RowSample(columns.binned, np.zeros(m, dtype=np.int32) if own is None else own, size)

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> "LineSearch":
        """Return the objective along the way to the minimum of a model."""
        return LineSearch(self, objective, columns, model)

    def at(self, objective: Objective, columns: FeatureColumns, W: StepCoefficients) -> Iterate:
        """Return the point with jumps W."""
        F = columns.rounded_scores(W, self._precision)
        penalty = RestrictedProblem(objective, columns).penalty_value(W)
        return self.point(objective, columns, W, F, penalty)

    def point(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Scores,
        penalty: float,
    ) -> Iterate:
        """Return the point with jumps W, scores F and that penalty."""
        return point_of(W, F, penalty, objective.evaluate(F, Wanted.DERIVATIVES, columns.team))

    def evaluate_in_place(
        self,
        point: Iterate,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        penalty: float,
        way: SearchDirection,
    ) -> Iterate:
        """Return the point with jumps W a way off another, and write it over that."""
        rows = objective.pass_rows(self._precision)
        if rows is None:
            return self.point(objective, columns, W, moved(point.F, way), penalty)
        # In double precision the loop may keep U as a proof.
        U = point.U if self._precision == np.float32 else None
        place = LossValues(value=0.0, F=point.F, U=U, A=point.A, C=point.C)
        everything = Wanted.SCORES | Wanted.DERIVATIVES
        found = kernels.loss_pass(rows, point.F, everything, columns.team, way, place)
        return point_of(W, point.F, penalty, found)

    def loss(
        self, objective: Objective, columns: FeatureColumns, F: Scores, way: SearchDirection
    ) -> float:
        """Return the loss a way off the scores F."""
        rows = objective.pass_rows(self._precision)
        if rows is None:
            return objective.loss_value(moved(F, way).astype(np.float64, copy=False))
        return kernels.loss_pass(rows, F, Wanted.LOSS, columns.team, way).value

    def free(self) -> None:
        """Let go of all arrays of rows; there are none here."""


class LineSearch:
    """The objective on all rows along the way from a point to the minimum of its model."""

    def __init__(
        self,
        rows: RowEvaluator,
        objective: Objective,
        columns: FeatureColumns,
        model: QuadraticModel,
    ) -> None:
        self._rows, self._objective, self._columns, self._model = rows, objective, columns, model
        work = model.work
        self._start: Array = np.concatenate(model.point.W)
        self._change = np.zeros_like(model.point.F)
        first = work.first_bin
        alive = np.logical_or.reduceat(work.change.any(axis=1), first[:-1])
        moved = np.flatnonzero(alive).tolist()
        features = np.array([columns.features[w] for w in moved], dtype=np.int32)
        changes = [work.change[first[w] : first[w + 1]] for w in moved]
        binned = columns.binned
        kernels.add_tables(
            binned.codes, features, changes, self._change, columns.team, binned.sparse
        )

    def value(self, step: float) -> float:
        """Return the objective a share `step` of the way; infinite where a jump breaks its sign."""
        if step > 1.0 and not self._keeps_signs(step):
            return float("inf")
        F, way = self._model.point.F, SearchDirection(self._change, step)
        loss = self._rows.loss(self._objective, self._columns, F, way)
        return loss + self._model.penalty(self._start, step)

    def _keeps_signs(self, step: float) -> bool:
        """Whether a step beyond the end, which keeps them, does so too."""
        work = self._model.work
        if work.signs is None:
            return True
        signs = np.repeat(work.signs, np.diff(work.first_jump), axis=0)
        jumps = self._start + step * (work.jumps - self._start)
        return not bool((signs * jumps < 0.0).any())

    def accept(self, step: float) -> Iterate:
        """Return the point a share `step` of the way; it is written over the first one."""
        work, way = self._model.work, SearchDirection(self._change, step)
        jumps = work.jumps
        if step != 1.0:
            jumps = self._start + step * (work.jumps - self._start)
        W = apart(jumps, work.first_jump[1:])
        penalty = self._model.penalty(self._start, step)
        point = self._model.point
        return self._rows.evaluate_in_place(point, self._objective, self._columns, W, penalty, way)


def moved(F: Scores, way: SearchDirection) -> Scores:
    """Return the scores a way off F."""
    return np.asarray(F + F.dtype.type(way.step) * way.change)


def point_of(W: StepCoefficients, F: Scores, penalty: float, found: LossValues) -> Iterate:
    """Return the point of jumps W and scores F, where a pass found U, A and C."""
    assert found.U is not None
    assert found.A is not None
    assert found.C is not None
    return Iterate(W, F, found.value, penalty, found.U, found.A, found.C)
