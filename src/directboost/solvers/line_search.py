"""Line search: the objective on all rows, at an iterate and towards the minimum of its model."""

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.step_functions import apart
from ..kernels.structs import LossValues, SearchDirection, Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective
from .quadratic_model import Iterate, QuadraticModel, RowSample


class RowEvaluator:
    """Evaluates the objective on all rows.

    A line search evaluates many points and accepts one of them. The accepted iterate reuses the
    arrays of the iterate where the search started, so a fit allocates one set of arrays.

    Parameters
    ----------
    precision : numpy dtype
        Precision of scores and histograms; also an attribute.
    """

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        self.precision = precision

    def sample(self, objective: Objective, columns: FeatureColumns, size: int) -> RowSample:
        """Return a sample of about `size` rows, or of all rows."""
        true_class, m = objective.margin.true_class, columns.binned.n_rows
        groups = np.zeros(m, dtype=np.int32) if true_class is None else true_class
        return RowSample(columns.binned, groups, size)

    def line(
        self, objective: Objective, columns: FeatureColumns, model: QuadraticModel
    ) -> "LineSearch":
        """Return the line search towards the minimum of a model."""
        return LineSearch(self, objective, columns, model)

    def at(self, objective: Objective, columns: FeatureColumns, W: StepCoefficients) -> Iterate:
        """Return the iterate with coefficients W."""
        F = columns.rounded_scores(W, self.precision)
        penalty = objective.nu * columns.penalty(W, objective.penalty)
        return self.evaluate(objective, columns, W, F, penalty)

    def evaluate(
        self,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        F: Scores,
        penalty: float,
    ) -> Iterate:
        """Return the iterate with coefficients W, whose scores F and penalty are known."""
        return make_iterate(W, F, penalty, objective.evaluate(F, Wanted.DERIVATIVES, columns.team))

    def evaluate_in_place(
        self,
        iterate: Iterate,
        objective: Objective,
        columns: FeatureColumns,
        W: StepCoefficients,
        penalty: float,
        direction: SearchDirection,
    ) -> Iterate:
        """Return the iterate with coefficients W, a step in the direction away from `iterate`.

        The arrays of `iterate` are overwritten.
        """
        rows = objective.pass_rows(self.precision)
        if rows is None:
            F = moved_scores(iterate.F, direction)
            return self.evaluate(objective, columns, W, F, penalty)
        # In double precision, column generation may keep U for the certificate.
        U = iterate.U if self.precision == np.float32 else None
        out = LossValues(0.0, iterate.F, U, iterate.A, iterate.C)
        everything = Wanted.SCORES | Wanted.DERIVATIVES
        found = kernels.loss_pass(rows, iterate.F, everything, columns.team, direction, out)
        return make_iterate(W, iterate.F, penalty, found)

    def loss(
        self, objective: Objective, columns: FeatureColumns, F: Scores, direction: SearchDirection
    ) -> float:
        """Return the loss after a step in the direction from the scores F."""
        rows = objective.pass_rows(self.precision)
        if rows is None:
            return objective.loss_value(moved_scores(F, direction).astype(np.float64, copy=False))
        return kernels.loss_pass(rows, F, Wanted.LOSS, columns.team, direction).value

    def free(self) -> None:
        """Release all arrays of rows; this class keeps none."""


class LineSearch:
    """The objective on all rows along the line from an iterate to the minimum of its model.

    The step 0 is the iterate, the step 1 the minimum of the model.

    Parameters
    ----------
    evaluator : RowEvaluator
    objective : Objective
    columns : FeatureColumns
    model : QuadraticModel
    """

    def __init__(
        self,
        evaluator: RowEvaluator,
        objective: Objective,
        columns: FeatureColumns,
        model: QuadraticModel,
    ) -> None:
        self._evaluator, self._objective = evaluator, objective
        self._columns, self._model = columns, model
        work = model.work
        self._start: Array = np.concatenate(model.iterate.W)
        self._change = np.zeros_like(model.iterate.F)
        first = work.first_bin
        changed = np.logical_or.reduceat(work.change.any(axis=1), first[:-1])
        places = np.flatnonzero(changed).tolist()
        features = np.array([columns.features[w] for w in places], dtype=np.int32)
        changes = [work.change[first[w] : first[w + 1]] for w in places]
        columns.binned.add_scores(features, changes, self._change, columns.team)

    def value(self, step: float) -> float:
        """Return the objective at a step; infinite if a sign constraint is violated."""
        signs = self._model.work.signs
        if signs is not None and not self._keeps_signs(signs, step):
            return float("inf")
        F, direction = self._model.iterate.F, SearchDirection(self._change, step)
        loss = self._evaluator.loss(self._objective, self._columns, F, direction)
        return loss + self._model.penalty(self._start, step)

    def _keeps_signs(self, signs: Ints, step: float) -> bool:
        """Return whether a step satisfies the sign constraints; steps up to 1 do."""
        work = self._model.work
        if step <= 1.0:
            return True
        jumps = self._start + step * (work.jumps - self._start)
        by_jump = np.repeat(signs, np.diff(work.first_threshold), axis=0)
        return not bool((by_jump * jumps < 0.0).any())

    def accept(self, step: float) -> Iterate:
        """Return the iterate at a step; it overwrites the arrays of the first iterate."""
        work, direction = self._model.work, SearchDirection(self._change, step)
        jumps = work.jumps
        if step != 1.0:
            jumps = self._start + step * (work.jumps - self._start)
        return self._evaluator.evaluate_in_place(
            self._model.iterate,
            self._objective,
            self._columns,
            apart(jumps, work.first_threshold[1:]),
            self._model.penalty(self._start, step),
            direction,
        )


def moved_scores(F: Scores, direction: SearchDirection) -> Scores:
    """Return the scores after a step in the direction from F."""
    return np.asarray(F + F.dtype.type(direction.step) * direction.change)


def make_iterate(W: StepCoefficients, F: Scores, penalty: float, found: LossValues) -> Iterate:
    """Return the iterate with coefficients W and scores F, from the result of a loss pass."""
    assert found.U is not None
    assert found.A is not None
    assert found.C is not None
    return Iterate(W=W, F=F, loss=found.value, penalty=penalty, U=found.U, A=found.A, C=found.C)
