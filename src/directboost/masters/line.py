"""The objective on all rows: at a point, and along the way to the minimum of its model."""

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..feature_columns import FeatureColumns, Jumps
from ..kernels.work import LossPass, Way
from ..problem import Objective
from .quadratic import Point, QuadraticModel


class AllRows:
    """Evaluates points on all rows, and keeps room for their arrays.

    A search looks at many points and keeps one: those a way off a given point are written over
    each other, and over a point that was given back. So a fit makes two sets of arrays in all.

    Parameters
    ----------
    precision : numpy dtype
    """

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        self._precision = precision
        self._spare: LossPass | None = None
        self._change: Scores | None = None

    def point(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: Jumps,
        F: Scores,
        penalty: float,
        way: Way | None = None,
    ) -> Point:
        """Return the point with jumps W and that penalty, at the scores F or a way off."""
        rows = objective.pass_rows(self._precision)
        if rows is None:
            return self._general(objective, W, moved(F, way), penalty)
        if way is None:
            return _point(W, F, penalty, kernels.loss_pass(rows, F, "UAC", columns.team))
        found = kernels.loss_pass(rows, F, "FUAC", columns.team, way, self._spare)
        point = _point(W, found.F, penalty, found)
        self.give_back(point)
        return point

    def give_back(self, point: Point) -> None:
        """Let the next point be written over this one."""
        if point.U.dtype == self._precision == np.float32:
            self._spare = LossPass(0.0, point.F, point.U, point.A, point.C)
        else:
            # The loop may keep U as a proof.
            self._spare = LossPass(0.0, point.F, None, point.A, point.C)

    def loss(self, objective: Objective, columns: FeatureColumns, F: Scores, way: Way) -> float:
        """Return the loss a way off the scores F."""
        rows = objective.pass_rows(self._precision)
        if rows is None:
            return objective.loss_value(moved(F, way).astype(np.float64, copy=False))
        return kernels.loss_pass(rows, F, "", columns.team, way).value

    def zeros_like(self, F: Scores) -> Scores:
        """Return zeros, in the place of those of the last call."""
        if self._change is None:
            self._change = np.empty_like(F)
        self._change.fill(0.0)
        return self._change

    def _general(self, objective: Objective, W: Jumps, F: Scores, penalty: float) -> Point:
        double = F.astype(np.float64, copy=False)
        U = objective.weights(double)
        A = np.ascontiguousarray(objective.coefficients(U), dtype=self._precision)
        C = np.ascontiguousarray(objective.curvature(double), dtype=self._precision)
        return Point(W, F, objective.loss_value(double), penalty, U, A, C)


class Line:
    """The objective on all rows along the way from a point to the minimum of its model."""

    def __init__(
        self,
        rows: AllRows,
        objective: Objective,
        columns: FeatureColumns,
        model: QuadraticModel,
    ) -> None:
        self._rows, self._objective, self._columns, self._model = rows, objective, columns, model
        work = model.work
        self._start: Array = np.concatenate(model.point.W)
        self._change = rows.zeros_like(model.point.F)
        tables = np.split(work.change, work.first_bin[1:-1])
        moved = [w for w, table in enumerate(tables) if table.any()]
        features = np.array([columns.features[w] for w in moved], dtype=np.int32)
        changes = [tables[w] for w in moved]
        binned = columns.binned
        kernels.add_tables(
            binned.codes, features, changes, self._change, columns.team, binned.sparse
        )

    def value(self, step: float) -> float:
        """Return the objective a share `step` of the way."""
        F, way = self._model.point.F, Way(self._change, step)
        loss = self._rows.loss(self._objective, self._columns, F, way)
        return loss + self._model.penalty(self._start, step)

    def at(self, step: float) -> Point:
        """Return the point a share `step` of the way; it takes the place of the last one."""
        work, way = self._model.work, Way(self._change, step)
        jumps = work.jumps
        if step != 1.0:
            jumps = self._start + step * (work.jumps - self._start)
        W = np.split(jumps, work.first_jump[1:-1])
        penalty, F = self._model.penalty(self._start, step), self._model.point.F
        return self._rows.point(self._objective, self._columns, W, F, penalty, way)


def moved(F: Scores, way: Way | None) -> Scores:
    """Return the scores F, or those a way off."""
    if way is None:
        return F
    return np.asarray(F + F.dtype.type(way.step) * way.change)


def _point(W: Jumps, F: Scores | None, penalty: float, found: LossPass) -> Point:
    assert F is not None
    assert found.U is not None
    assert found.A is not None
    assert found.C is not None
    return Point(W, F, found.value, penalty, found.U, found.A, found.C)
