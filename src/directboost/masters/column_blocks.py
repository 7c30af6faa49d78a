"""Newton steps and block descent on single columns, each a feature of two bins."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import LEAST_SINGLE_WEIGHT, Array
from ..column_bins import ColumnBins
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.columns import DenseColumns
from ..problem.feature_columns import FeatureColumns, Jumps
from ..problem.objective import Objective, RestrictedProblem
from .base import Master, MasterResult
from .feature_blocks import FeatureBlocks
from .smoothing import Smoothing

_MOST, _PATIENCE = 60, 8  # steps of a solve, and how many of them may bring nothing
_NOTHING = 0.99  # share of the gap that a step has to fall below to have brought something
_LARGE, _ROUGH = 5_000, 1e-4  # scores from which single precision pays, and the gap it can reach
_ROUNDING = 1e-6  # of an objective in single precision


@dataclass
class _Kept:
    """What is kept between solves: the columns as features, and the last answer on them."""

    generation: int
    bins: ColumnBins
    features: FeatureColumns
    steps: FeatureBlocks | Smoothing
    W: Array
    jumps: Jumps


class ColumnBlocks(Master):
    """Solves over generated stumps with the steps of `FeatureBlocks`, or of `Smoothing`.

    The columns answer +1 and -1, so that each is a feature with one threshold. Where its opposite
    has not been generated, the jump there must not be negative. The steps go on until the gap over
    the columns is small enough; with a smooth loss and many rows in single precision, until a gap
    is asked for that rounding would hide, and from then on in double. Works on `DenseColumns`.

    Paper: Eq. 36 (general primal).
    """

    name: ClassVar[str] = "column blocks"

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._rough = True

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept what block descent on whole features accepts."""
        return FeatureBlocks().supports(loss, margin, penalty)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> MasterResult:
        """Step until the gap over the columns is at most `accuracy`, or falls no further."""
        columns, objective = problem.columns, problem.objective
        if not isinstance(columns, DenseColumns):
            raise TypeError("the master 'column blocks' works on DenseColumns")
        kept = self._follow(columns, objective)
        if accuracy < _ROUGH:
            self.sharpen()
        best, least, count = _descend(problem, kept, _jumps(kept, start), accuracy)
        if max(least, self._rounding(objective, best.value)) > accuracy and self.sharpen():
            best, least, more = _descend(problem, kept, best.W, accuracy)
            count += more
        kept.W, kept.jumps = _rows(kept.bins, best.W, objective.margin.k), best.W
        return MasterResult(kept.W, best.U, bool(least <= accuracy), count, best.value, best.A)

    def sharpen(self) -> bool:
        """Go on in double precision from now on, also after columns were dropped."""
        self._rough = False
        if self.precision == np.float64:
            return False
        self.precision = np.dtype(np.float64)
        if self._kept is not None:
            self._kept.steps = FeatureBlocks()
        return True

    def release(self) -> None:
        """Let go of the columns and all arrays of rows."""
        self._kept = None

    def _rounding(self, objective: Objective, value: float | None) -> float:
        """Return the relative gap that single precision cannot tell from none, 0 in double."""
        if self.precision == np.float64 or value is None:
            return 0.0
        return objective.relative(_ROUNDING * abs(value), value)

    def _follow(self, columns: DenseColumns, objective: Objective) -> _Kept:
        """Take new columns in; begin anew where some have been dropped."""
        if self._kept is None or self._kept.generation != columns.generation:
            bins, k = ColumnBins(columns), objective.margin.k
            features = FeatureColumns(bins, bins.costs, k)
            steps = self._steps(objective)
            self._kept = _Kept(columns.generation, bins, features, steps, np.zeros((0, k)), [])
        kept = self._kept
        kept.bins.follow()
        kept.features.features = list(range(kept.bins.n_features))
        kept.features.signs = np.repeat(kept.bins.signs[:, None], objective.margin.k, axis=1)
        return kept

    def _steps(self, objective: Objective) -> FeatureBlocks | Smoothing:
        """Return what steps: with a smooth loss and many rows in single precision, if it may."""
        if not objective.loss.smooth:
            return Smoothing()
        c = objective.rows.c
        large = c.size * objective.margin.k >= _LARGE
        single = self._rough and large and float(c.min()) > LEAST_SINGLE_WEIGHT
        steps = FeatureBlocks(np.float32 if single else np.float64)
        self.precision = steps.precision
        return steps


def _descend(
    problem: RestrictedProblem, kept: _Kept, jumps: Jumps, accuracy: float
) -> tuple[MasterResult, float, int]:
    """Step from the jumps; return the answer of the least gap over the columns, it, and steps."""
    inner = RestrictedProblem(problem.objective, kept.features)
    best, least, idle, count = None, np.inf, 0, 0
    while best is None or (least > accuracy and idle < _PATIENCE and count < _MOST):
        found = kept.steps.solve(inner, jumps, accuracy)
        jumps, count = found.W, count + 1
        gap = _gap(problem, found, kept.steps)
        idle = 0 if gap < _NOTHING * least else idle + 1
        if gap < least:
            best, least = found, gap
    # Later steps have written over the coefficients of an earlier answer.
    return best if best is found else replace(best, A=None), least, count


def _jumps(kept: _Kept, W: Array) -> Jumps:
    """Return the jumps of weights W (n, k): the arrays of the last answer where they are its."""
    before = kept.W.shape[0]
    if np.array_equal(W[:before], kept.W) and not W[before:].any():
        return kept.features.grow(kept.jumps)
    jumps = kept.features.grow([])
    for row, place, side in zip(W, kept.bins.place, kept.bins.side, strict=True):
        jumps[place][0] += side * row
    return jumps


def _rows(bins: ColumnBins, jumps: Jumps, k: int) -> Array:
    """Return the weights of the columns, (n, k) >= 0."""
    signed = np.concatenate([*jumps, np.zeros((0, k))])[bins.place]
    return np.asarray(np.maximum(np.array(bins.side)[:, None] * signed, 0.0))


def _gap(
    problem: RestrictedProblem, found: MasterResult, steps: FeatureBlocks | Smoothing
) -> float:
    """Return the relative gap over the columns at an answer, and tell its largest price."""
    objective, columns = problem.objective, problem.columns
    assert isinstance(columns, DenseColumns)
    assert found.value is not None
    A = objective.coefficients(found.U) if found.A is None else found.A
    prices = objective.penalty.dual_norm(columns.edges(A)) / columns.costs
    price = float(prices.max(initial=0.0))
    steps.notice(price)
    bound = objective.dual_estimate(found.U, price)
    return objective.relative(found.value - bound, found.value)
