"""Block descent, the default solver for stumps: quadratic models over whole features."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..kernels.step_functions import PRODUCT
from ..losses import Hinge, Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective, RestrictedProblem
from .base import Solver, SolverResult
from .line_search import LineSearch, RowEvaluator
from .quadratic_model import (
    CurvatureSample,
    Iterate,
    QuadraticModel,
    RowSample,
    first_size,
)

_CYCLES = 3  # maximum number of cycles of Newton step and sweep on one model
_FIRST_ITERATIONS, _ITERATIONS = 7, 14  # conjugate gradient iterations of a Newton step
_SAMPLE_ITERATIONS = 20  # the same on a sample, whose passes are cheap compared with all rows
_LAST_ITERATIONS, _NEAR = 28, 0.002  # the same up to this accuracy, where every round counts
_FORCING = 0.1  # share of the total decrease below which another cycle does not pay
EXTENSION, _MAX_STEP = 1.5, 8.0  # factor on a successful step, and the longest step
BACKTRACK, _BACKTRACKINGS = 0.4, 10  # factor on a failed step, and how often it is applied
_LATE = 0.01  # accuracy up to which the sample of rows may be too small
_SLOW = 0.4  # the sample is too small if a call leaves more than this share of the gap
_GROWTH, _MAX_SAMPLE = 2.5, 100_000  # factor on the size of the sample, and its maximum
_REPEATS = 2  # computations of a Newton step; the second one leaves out coefficients at a bound
_FULL_STEP = 0.5  # a step that gains this multiple of its curvature does not increase the model
_RESIDUAL = 0.1  # relative residual at which the conjugate gradients stop
# Products of stumps: their Newton equations have a better preconditioner, and their rows are drawn
# in proportion to their curvature in every call.
_PRODUCT_CYCLES, _PRODUCT_ITERATIONS = 2, 10
_PRODUCT_ROWS, _PRODUCT_GROWTH = 2_000, 1.6
_MOST_PRODUCT_ROWS, _TIGHT, _MOST_TIGHT_ROWS = 4_000, 0.0025, 20_000  # the last below _TIGHT
_PRODUCT_LATE, _PRODUCT_SLOW = 0.03, 0.7  # as _LATE and _SLOW
_SUFFICIENT = 1e-3  # share of the decrease of the model that the objective must decrease by


class BlockDescent(Solver):
    """Successive quadratic models of the loss plus the penalty, over whole features.

    Each call builds the model around the current weights, with the gradient of all rows and the
    second derivative of a sample. On the model, block descent over the features of the working set
    (each over all its thresholds at once) alternates with Newton steps on the non-zero weights. A
    line search on all rows follows, towards the minimum of the model. Works on `FeatureColumns`.

    Parameters
    ----------
    precision : numpy dtype, default=float64
        Precision of scores and histograms. Coefficients and block solves use double precision.
    evaluator : RowEvaluator, optional
        Evaluates the objective on all rows, in its own precision. By default, the rows are in this
        process.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(solver="blocks", nu=0.1)
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "blocks"

    def __init__(self, precision: Any = np.float64, evaluator: RowEvaluator | None = None) -> None:
        self._evaluator = RowEvaluator(np.dtype(precision)) if evaluator is None else evaluator
        self.precision = self._evaluator.precision
        self._rounding = 1e-14 if self.precision == np.float64 else 1e-7
        self._iterate: Iterate | None = None
        self._sample: RowSample | None = None
        self._damping = 0.0
        self._accuracy = np.inf
        self._slow = self._loss_changed = False
        self._size, self._draws = _PRODUCT_ROWS, 0

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a smooth loss or the hinge with an l1,p penalty, else the reason.

        The hinge is solved by `Smoothing`, which uses this class.
        """
        if not (loss.smooth or type(loss) is Hinge):
            return f"it requires a smooth loss or the hinge, not {loss.name!r}"
        if penalty.p is None:
            return "it requires an l1,p penalty"
        return None

    def solve(
        self, problem: RestrictedProblem, start: StepCoefficients, accuracy: float
    ) -> SolverResult:
        """Minimise one model of the objective, starting from the coefficients `start`."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, FeatureColumns):
            raise TypeError("solver 'blocks' requires FeatureColumns")
        # The last iterate serves if its coefficients are the same arrays, except for features
        # without weight.
        last, loss_changed = self._iterate, self._loss_changed
        self._loss_changed, same = False, False
        if last is not None:
            old, new = ({id(jumps): jumps for jumps in weights} for weights in (last.W, start))
            both = old | new
            same = not any(np.count_nonzero(both[array]) for array in old.keys() ^ new.keys())
        if last is None or not same:
            iterate = self._evaluator.at(objective, columns, start)
        elif loss_changed:
            iterate = self._evaluator.evaluate(objective, columns, start, last.F, last.penalty)
        else:
            iterate = replace(last, W=start)
        if columns.features:
            sample = self._row_sample(objective, columns, iterate, accuracy)
            model = QuadraticModel(objective, columns, iterate, sample, self._damping)
            decrease = self._minimise(model, accuracy)
            line = self._evaluator.line(objective, columns, model)
            iterate = self._search(line, iterate, decrease)
        self._iterate = iterate
        return SolverResult(
            W=iterate.W,
            U=iterate.U,
            solved=True,
            iterations=1 if columns.features else 0,
            value=iterate.value,
            A=iterate.A,
        )

    def invalidate_loss(self) -> None:
        """Evaluate the last iterate again in the next call: the loss has changed."""
        self._loss_changed, self._accuracy = True, np.inf

    def free(self) -> None:
        """Release all arrays of rows."""
        self._iterate = self._sample = None

    def _row_sample(
        self, objective: Objective, columns: FeatureColumns, iterate: Iterate, accuracy: float
    ) -> RowSample:
        """Return the sample of rows; a larger one if the last call reduced the gap too little.

        Near the optimum, the error of the sampled second derivative slows the descent.
        """
        m = columns.binned.n_rows
        if PRODUCT in columns.binned.kinds[columns.features]:
            late = self._accuracy < _PRODUCT_LATE
            if late and accuracy > _PRODUCT_SLOW * self._accuracy:
                most = _MOST_TIGHT_ROWS if accuracy < _TIGHT else _MOST_PRODUCT_ROWS
                self._size = min(int(_PRODUCT_GROWTH * self._size), most)
            self._accuracy, self._draws = accuracy, self._draws + 1
            self._slow, self._sample = False, None
            curvature = iterate.C.sum(axis=1, dtype=np.float64)
            return CurvatureSample(columns.binned, curvature, self._size, self._draws)
        size = first_size(m) if self._sample is None else self._sample.n
        self._slow = self._accuracy < _LATE and accuracy > _SLOW * self._accuracy
        if self._slow and self._sample is not None and size < min(m, _MAX_SAMPLE):
            self._sample, size = None, min(int(_GROWTH * size), _MAX_SAMPLE)
        self._accuracy = accuracy
        if self._sample is None:
            self._sample = self._evaluator.sample(objective, columns, size)
        return self._sample

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Minimise the model approximately; return its decrease.

        Far from the optimum the model itself is inaccurate, and one cycle is enough. Coefficients
        that reach a bound spoil a Newton step. It is computed again without them if it was spoilt,
        and always if they are many: with penalties that have corners inside a row of weights, or
        in a fit that has become slow.
        """
        corners = model.work.p == 1.0 or np.isinf(model.work.p)
        enough = np.inf if corners or self._slow else _FULL_STEP
        cycles = _CYCLES
        if accuracy > _LATE:
            cycles, iterations = 1, _FIRST_ITERATIONS
        elif PRODUCT in model.work.kinds:
            cycles, iterations = _PRODUCT_CYCLES, _PRODUCT_ITERATIONS
        elif accuracy <= _NEAR:
            iterations = _LAST_ITERATIONS
        else:
            iterations = _ITERATIONS if model.whole else _SAMPLE_ITERATIONS
        forcing = min(_FORCING, max(10.0 * accuracy, 1e-6))
        total = model.epoch()
        for _ in range(cycles):
            total += model.newton(iterations, _RESIDUAL, _REPEATS, enough)
            decrease = model.epoch()
            total += decrease
            if decrease <= forcing * total:
                break
        return total

    def _search(self, line: LineSearch, iterate: Iterate, decrease: float) -> Iterate:
        """Return the iterate where the objective on all rows is lower, by backtracking.

        If the full step is accepted, longer ones are tried too: the first models of a loss that
        flattens out have their minimum much too close.
        """
        value, slack = line.value(1.0), self._rounding * abs(iterate.value)
        if value <= iterate.value - _SUFFICIENT * decrease + slack:
            self._damping *= 0.5
            step = 1.0
            while step < _MAX_STEP and (further := line.value(EXTENSION * step)) < value:
                step, value = EXTENSION * step, further
            return line.accept(step)
        step = 1.0
        for _ in range(_BACKTRACKINGS):
            step *= BACKTRACK
            if line.value(step) <= iterate.value - _SUFFICIENT * step * decrease + slack:
                self._damping = max(self._damping, 0.05)
                return line.accept(step)
        self._damping = max(4.0 * self._damping, 0.1)
        return iterate
