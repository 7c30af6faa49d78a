"""Block descent on the smoothed hinge: its fused pass, and its way to the minimum of a model."""

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..arrays import Scores
from ..kernels.structs import LOGISTIC, MULTINOMIAL, LossPass, PassRows, Way
from ..kernels.threads import Team
from ..losses import Loss
from ..losses.hinge import SmoothedHinge
from ..margins import OneVsAll
from ..problem.feature_columns import FeatureColumns, Jumps
from ..problem.objective import Objective
from .feature_blocks import FeatureBlocks
from .line import AllRows, moved, point_of
from .point import Point
from .quadratic import QuadraticModel

_RESIDUAL = 0.1  # relative residual that ends the conjugate gradients
_SLOW = 0.1  # share of the whole gain below which another cycle is not worth it
_NOTHING = 1e-20  # share of a row's weight below which entries only slow the arithmetic down


@dataclass(frozen=True)
class _Effort:
    """How hard a model is minimised.

    Up to so many cycles of one Newton step, found anew so many times with so many iterations,
    and so many visits to all features.
    """

    cycles: int
    iterations: int
    repeats: int
    visits: int


_ROUGH, _THOROUGH = _Effort(1, 6, 2, 1), _Effort(2, 20, 3, 3)


class SmoothedBlocks(FeatureBlocks):
    """`FeatureBlocks` for objectives with the loss `SmoothedHinge`.

    The models are good ones, but hard: most rows are flat, so that weights are driven to zero by
    the penalty alone, by the hundred, and the Newton step has to be found anew without them.

    Attributes
    ----------
    rough : bool
        Whether the point is so far from the optimum that a rough minimum of the model will do.
    """

    def __init__(self, precision: type = np.float64, all_rows: AllRows | None = None) -> None:
        rows = SmoothedRows(np.dtype(precision)) if all_rows is None else all_rows
        super().__init__(all_rows=rows)
        self.rough = True

    @property
    def answer(self) -> Point:
        """The point of the last answer."""
        assert self._point is not None
        return self._point

    def release(self) -> None:
        """Let go of all arrays of rows."""
        super().release()
        self._all_rows.release()

    def _minimise(self, model: QuadraticModel, accuracy: float) -> float:
        """Bring the model near its minimum; return by how much it fell."""
        effort = _ROUGH if self.rough else _THOROUGH
        total = model.epoch()
        for _ in range(effort.cycles):
            gained = model.newton(effort.iterations, _RESIDUAL, effort.repeats)
            gained += sum(model.epoch() for _ in range(effort.visits))
            total += gained
            if gained <= _SLOW * total:
                break
        return total


class SmoothedRows(AllRows):
    """Evaluates the smoothed hinge on all rows, by the fused pass of the loss it is like."""

    def __init__(self, precision: "np.dtype[np.floating]") -> None:
        super().__init__(precision)
        self._shifted: tuple[Loss, ShiftedHinge] | None = None

    def point(
        self, objective: Objective, columns: FeatureColumns, W: Jumps, F: Scores, penalty: float
    ) -> Point:
        """Return the point with jumps W, scores F and that penalty."""
        return point_of(W, F, penalty, self._of(objective).evaluate(F, "UAC", columns.team))

    def replace(
        self,
        point: Point,
        objective: Objective,
        columns: FeatureColumns,
        W: Jumps,
        penalty: float,
        way: Way,
    ) -> Point:
        """Return the point with jumps W a way off another."""
        return self.point(objective, columns, W, moved(point.F, way), penalty)

    def loss(self, objective: Objective, columns: FeatureColumns, F: Scores, way: Way) -> float:
        """Return the loss a way off the scores F."""
        return self._of(objective).evaluate(moved(F, way), "", columns.team).value

    def release(self) -> None:
        """Let go of all arrays of rows."""
        self._shifted = None

    def _of(self, objective: Objective) -> "ShiftedHinge":
        if self._shifted is None or self._shifted[0] is not objective.loss:
            self._shifted = (objective.loss, ShiftedHinge(objective, self._precision))
        return self._shifted[1]


class ShiftedHinge:
    """The smoothed hinge as mu times a smooth loss with a fused pass, at scores F / mu + offset.

    That is the multinomial loss pairwise, the logistic loss one-vs-all; `floor` is what the value
    differs by.

    Parameters
    ----------
    objective : Objective
        With the loss `SmoothedHinge`.
    precision : numpy dtype
        That of the scores.
    """

    def __init__(self, objective: Objective, precision: np.dtype[np.floating]) -> None:
        loss, rows, margin = objective.loss, objective.rows, objective.margin
        assert isinstance(loss, SmoothedHinge)
        self.mu, self.floor = loss.mu, loss.floor(rows)
        offset, c = loss.offset(rows), rows.c.astype(precision)
        if isinstance(margin, OneVsAll):
            offset *= -margin.targets
            self.rows = PassRows(LOGISTIC, rows.k, None, margin.targets, c)
        else:
            self.floor += loss.mu * float(rows.share @ rows.get_own(offset))
            self.rows = PassRows(MULTINOMIAL, rows.k, rows.own, None, c)
        self.offset: Scores = offset.astype(precision)
        unit = rows.c if rows.own is None else rows.share
        self.nothing: Scores = (_NOTHING * unit).astype(precision)[:, None]

    def scores(self, F: Scores) -> Scores:
        """Return F / mu + offset."""
        return np.asarray(F.dtype.type(1.0 / self.mu) * F + self.offset)

    def value(self, value: float) -> float:
        """Return the smoothed hinge from the value of the smooth loss."""
        return self.mu * value + self.floor

    def evaluate(self, F: Scores, wanted: str, team: Team | None = None) -> LossPass:
        """Return the smoothed hinge at the scores F and the wanted ones of U, A and C there."""
        found = kernels.loss_pass(self.rows, self.scores(F), wanted, team)
        if found.U is not None:
            found.U[self.nothing > found.U] = 0.0
        if found.C is not None:
            found.C[:] *= found.C.dtype.type(1.0 / self.mu)
            found.C[self.nothing > found.C] = 0.0
        return replace(found, value=self.value(found.value))
