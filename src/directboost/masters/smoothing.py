"""Block descent for losses with kinks: a smooth loss in their place, ever closer to them."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..feature_columns import FeatureColumns, Jumps
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem import Objective, RestrictedProblem
from .base import Master, MasterResult
from .feature_blocks import FeatureBlocks

_FIRST, _LAST = 0.5, 1e-5  # temperatures
_COOLING = 0.3
_THOROUGH = 2e-3  # accuracy the smoothed problems are solved to: each is the start of the next


class Smoothing(Master):
    """Solves the smoothed problem by `FeatureBlocks` and hands out its weights U.

    U lies in the dual domain of the loss itself, so the certificate is that of the true problem.
    The gap there is that of the smoothed problem plus about what smoothing costs: the entropy of U
    times the temperature, which falls only when the first is the smaller. A colder problem is
    harder, and not worth it before.
    """

    name: ClassVar[str] = "smoothing"

    def __init__(self) -> None:
        self._mu = _FIRST
        self._blocks = FeatureBlocks()
        self._last: Jumps = []
        self._features: list[int] = []
        self._answer: tuple[Loss, float, Array] | None = None
        self._price = np.inf

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Accept losses that can be smoothed, with l1,p penalties."""
        smooth = loss.smoothed(_FIRST)
        return "the loss cannot be smoothed" if smooth is None else self._blocks.supports(
            smooth, margin, penalty
        )  # fmt: skip

    def solve(self, problem: RestrictedProblem, start: Jumps, accuracy: float) -> MasterResult:
        """Minimise one model of the smoothed objective, from where the last call ended."""
        columns, objective = problem.columns, problem.objective
        assert isinstance(columns, FeatureColumns)
        begin = self._begin(columns, start)
        if self._solved(objective):
            self._cool()
        smooth = objective.loss.smoothed(self._mu)
        assert smooth is not None
        result = self._blocks.solve(
            RestrictedProblem(replace(objective, loss=smooth), columns),
            begin,
            min(accuracy, _THOROUGH),
        )
        self._last, self._features = result.W, list(columns.features)
        self._answer = (smooth, float(result.value or 0.0), result.U.astype(np.float64, copy=False))
        return MasterResult(result.W, self._answer[2], True, 1, problem.value(result.W), result.A)

    def _begin(self, columns: FeatureColumns, start: Jumps) -> Jumps:
        """Return the weights of the last call: those of the loop may be of an earlier one."""
        known = self._features
        if known and columns.features[: len(known)] == known:
            return columns.grow(self._last)
        return start

    def notice(self, max_price: float) -> None:
        """Learn the largest price of a column at the U of the last answer."""
        self._price = max_price

    def _solved(self, objective: Objective) -> bool:
        """Whether the gap of the smoothed problem is below what smoothing costs."""
        if self._answer is None:
            return False
        smooth, value, U = self._answer
        bound = replace(objective, loss=smooth).dual_bound(U, self._price)
        rows = objective.rows
        return value - bound <= smooth.dual_value(U, rows) - objective.loss.dual_value(U, rows)

    def _cool(self) -> None:
        if self._mu > _LAST:
            self._mu = max(_COOLING * self._mu, _LAST)
            self._blocks.forget()
