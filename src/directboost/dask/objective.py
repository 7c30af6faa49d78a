"""The objective of a fit whose rows are on shards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.structs import EXPONENTIAL, LossPass, PassRows, own_dual
from ..kernels.threads import Team
from ..problem.objective import Objective
from . import passes
from .field import Field, Prices, values_of
from .passes import DualMessage, is_coupled
from .places import JumpList

_FEW, _FEW_OF_MANY, _MANY_FEATURES = 16, 64, 500  # features that may enter, as FeatureColumns does


@dataclass(frozen=True)
class ShardedObjective(Objective):
    """`Objective` where a `Place` stands for F, U and A.

    Its margin and rows are those of one row that has all the weight.

    Attributes
    ----------
    field : Field
    ahead : bool
        Whether the curvature at a place will be asked for after its dual value.
    """

    field: Field
    ahead: bool = True

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.field.m

    def loss_value(self, F: Any) -> float:
        """Return L at the scores F."""
        return self.field.value(F)

    def weights(self, F: Any) -> Any:
        """Return the weights U at the scores F."""
        return F

    def start(self, precision: Any) -> Any:
        """Return the weights U at W = 0 in that precision."""
        return self.field.place(JumpList.of([], [], self.margin.k), precision)

    def start_value(self) -> float:
        """Return L at W = 0."""
        return self.loss_value(self.start(np.float64))

    def evaluate(self, F: Any, wanted: str, team: Team | None = None) -> LossPass:
        """Return L at the scores F; where more is wanted, F is the place of it."""
        del team
        if not wanted:
            return LossPass(self.loss_value(F))
        if not self.field.in_turns:
            self.field.prices(F, self.penalty)
        return LossPass(self.field.value(F), F, F, F, F)

    def coefficients(self, U: Any) -> Any:
        """Return A, so that the edges of h are h @ A."""
        return U

    def dual_bound(self, U: Any, max_price: float) -> float:
        """Return the dual objective at U, shrunk so that no price is above nu."""
        return self.dual_estimate(U, max_price)

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return `dual_bound`; in the same pass the shards sum the curvature asked for next."""
        del team
        tau = 1.0 if max_price <= self.nu else self.nu / max_price
        value = self.field.value(U) if is_coupled(self) else 0.0
        features = None
        if self.ahead and not self.field.in_turns:
            features = self._next_features(U, self.field.prices(U, self.penalty))
        message = DualMessage(U.alone(), self.loss, value, tau, features)
        size = 0 if features is None else self.field.size_of(features)
        held = self.field.crew.hold(passes.dual, message, size)
        if features is not None:
            U.known["bend"] = (features, held)
        found = self.field.crew.read(held, values_of)
        if not is_coupled(self):
            return float(found[0])
        rows = PassRows(EXPONENTIAL, self.margin.k, self.margin.own, None, self.rows.c)
        return float(found[0]) + own_dual(rows, float(found[1]))

    def _next_features(self, U: Any, prices: Prices) -> Any:
        """Return the features with weight, and those above nu that will be let in."""
        active = U.weights.features
        few = _FEW_OF_MANY if prices.best.size > _MANY_FEATURES else _FEW
        order = np.argsort(-prices.best, kind="stable")
        new = order[(prices.best[order] > self.nu) & ~np.isin(order, active)]
        room = max(few, 2 * active.size)
        return np.union1d(active, new[:room]).astype(np.int32)
