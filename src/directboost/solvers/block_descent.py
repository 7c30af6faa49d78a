"""The default master for stumps: quadratic models of the loss, over whole features."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..kernels.step_functions import has_weight
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .base import Solver, SolverResult
from .line_search import LineSearch, RowEvaluator
from .quadratic_model import Iterate, QuadraticModel, RowSample, first_size

_CYCLES = 3  # most rounds of Newton steps and descent on one model
_FIRST_ITERATIONS, _ITERATIONS = 7, 14  # of conjugate gradients in a Newton step
_SAMPLE_ITERATIONS = 20  # on a sample, whose passes are cheap beside those on all rows
_LAST_ITERATIONS, _NEAR = 28, 0.002  # from this accuracy on, where every round counts
_FORCING = 0.1  # share of the whole gain below which another round is not worth it
_FURTHER, _FURTHEST = 1.5, 8.0  # how a step that gained is stretched, and how far at most
_HALVINGS = 10
_LATE = 0.01  # accuracy asked for from which on the sample of rows may be too small
_SLOW = 0.4  # share of the gap left after a call from which on it is
_GROWTH, _LARGEST = 2.5, 100_000  # how it grows then, and how far
_REPEATS = 2  # how often a Newton step is found, the second time without weights that met a bound
_WHOLE = 0.5  # gain of a step over its curvature from which on it does not raise the model
_RESIDUAL = 0.1  # relative residual that ends the conjugate gradients
_ENOUGH = 1e-3  # share of the gain the model promised from which on a step counts


class BlockDescent(Solver):
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
    all_rows : RowEvaluator, optional
        Where the rows are, in their own precision; in this process by default.
    """

    name: ClassVar[str] = "blocks"

    def __init__(self, precision: Any = np.float64, all_rows: RowEvaluator | None = None) -> None:
        self._all_rows = RowEvaluator(np.dtype(precision)) if all_rows is None else all_rows
        self.precision = self._all_rows.precision
        self._slack = 1e-14 if self.precision == np.float64 else 1e-7
        self._point: Iterate | None = None
        self._sample: RowSample | None = None
        self._damping = 0.0
        self._accuracy = np.inf
        self._slow = self._stale = False

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept smooth losses, and those that can be smoothed, with l1,p penalties."""
        if not loss.smooth and loss.smoothed(1.0) is None:
            return "it needs a smooth loss, or one that can be smoothed"
        if penalty.p is None:
            return "it needs an l1,p penalty"
        return None

    def solve(
        self, problem: RestrictedProblem, start: StepCoefficients, accuracy: float
    ) -> SolverResult:
        """Minimise one model of the objective, from the jumps `start`."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, FeatureColumns):
            raise TypeError("the master 'blocks' works on FeatureColumns")
        point = self._start(problem, columns, start)
        if not columns.features:
            self._point = point
            return SolverResult(point.W, point.U, True, 0, point.value, point.A)
        sample = self._rows(objective, columns, accuracy)
        model = QuadraticModel(objective, columns, point, sample, self._damping)
        promised = self._minimise(model, accuracy)
        line = self._all_rows.line(objective, columns, model)
        after = self._point = self._search(line, point, promised)
        return SolverResult(after.W, after.U, True, 1, after.value, after.A)

    def forget(self) -> None:
        """Drop what is known of the last point but its scores: the loss has changed."""
        self._stale, self._accuracy = True, np.inf

    def free(self) -> None:
        """Let go of all arrays of rows."""
        self._point = self._sample = None

    def _start(
        self, problem: RestrictedProblem, columns: FeatureColumns, W: StepCoefficients
    ) -> Iterate:
        """Return the point of the jumps W: that of the last call where they are the same."""
        known, stale = self._point, self._stale
        self._stale = False
        if known is not None and _same(known.W, W):
            if stale:
                return self._all_rows.point(problem.objective, columns, W, known.F, known.penalty)
            return replace(known, W=W)
        return self._all_rows.at(problem.objective, columns, W)

    def _rows(self, objective: Objective, columns: FeatureColumns, accuracy: float) -> RowSample:
        """Return the sample of the rows; a larger one where the last brought the gap down little.

        Near the optimum the error of the sampled second derivative is what slows the descent.
        """
        m = columns.binned.n_rows
        size = first_size(m) if self._sample is None else self._sample.n
        self._slow = self._accuracy < _LATE and accuracy > _SLOW * self._accuracy
        if self._slow and self._sample is not None and size < min(m, _LARGEST):
            self._sample, size = None, min(int(_GROWTH * size), _LARGEST)
        self._accuracy = accuracy
        if self._sample is None:
            self._sample = self._all_rows.sample(objective, columns, size)
        return self._sample

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Bring the model near its minimum; return by how much it fell.

        Far from the optimum the model itself is rough, and one round is enough. Weights that meet
        a bound spoil a Newton step: it is found anew without them where it is spoilt indeed, and
        where they are many anyway (penalties with corners inside a row of weights, or a fit that
        has become slow).
        """
        corners = model.work.p == 1.0 or np.isinf(model.work.p)
        enough = np.inf if corners or self._slow else _WHOLE
        early = accuracy > _LATE
        iterations = _FIRST_ITERATIONS if early else _late_iterations(model, accuracy)
        forcing = min(_FORCING, max(10.0 * accuracy, 1e-6))
        total = model.epoch()
        for _ in range(1 if early else _CYCLES):
            total += model.newton(iterations, _RESIDUAL, _REPEATS, enough)
            gained = model.epoch()
            total += gained
            if gained <= forcing * total:
                break
        return total

    def _search(self, line: LineSearch, point: Iterate, promised: float) -> Iterate:
        """Go towards the minimum of the model as far as the objective gains on all rows.

        Where the whole step gains, a longer one may gain more: the first models of a loss that
        flattens out stop far too early.
        """
        value, slack = line.value(1.0), self._slack * abs(point.value)
        if value <= point.value - _ENOUGH * promised + slack:
            self._damping *= 0.5
            return line.accept(_stretched(line, value))
        step = 1.0
        for _ in range(_HALVINGS):
            step *= 0.4
            if line.value(step) <= point.value - _ENOUGH * step * promised + slack:
                self._damping = max(self._damping, 0.05)
                return line.accept(step)
        self._damping = max(4.0 * self._damping, 0.1)
        return point


def _late_iterations(model: QuadraticModel, accuracy: float) -> int:
    if accuracy <= _NEAR:
        return _LAST_ITERATIONS
    return _ITERATIONS if model.whole else _SAMPLE_ITERATIONS


def _stretched(line: LineSearch, value: float) -> float:
    """Return how far beyond the whole step, which has that value, the objective falls."""
    step = 1.0
    while step < _FURTHEST:
        further = line.value(_FURTHER * step)
        if further >= value:
            break
        step, value = _FURTHER * step, further
    return step


def _same(known: StepCoefficients, W: StepCoefficients) -> bool:
    """Whether W is `known` but for features without weight."""
    before, after = {id(jumps) for jumps in known}, {id(jumps) for jumps in W}
    gone = [jumps for jumps in known if id(jumps) not in after]
    new = [jumps for jumps in W if id(jumps) not in before]
    return not any(has_weight(jumps) for jumps in gone + new)
