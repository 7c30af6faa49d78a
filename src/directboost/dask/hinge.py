"""Field and objective of a fit with the hinge, whose dual points are those of smoothed ones."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..arrays import Array
from ..kernels.threads import Team
from . import kinks
from .crew import Question
from .field import Field, values_of
from .kinks import FACTS
from .objective import ShardedObjective
from .places import Place
from .softening import SoftPlace


@dataclass(frozen=True, eq=False)
class HingeField(Field):
    """`Field` of a loss with kinks: at a `SoftPlace` it is the smoothed one that is asked for."""

    questions: ClassVar[tuple[Question, Question]] = (kinks.look, kinks.bend)

    def facts(self, place: Place) -> Array:
        """Return the smoothed loss at a place, the loss, <U, rho> and D(U)."""
        if "facts" not in place.known:
            found = self.crew.read(self._looks(place)[0], values_of)
            place.known["facts"] = found[:FACTS]
        facts: Array = place.known["facts"]
        return facts

    def value(self, place: Place) -> float:
        """Return the loss at a place; the smoothed one, where that is what it is the place of."""
        if isinstance(place, SoftPlace):
            return float(self.facts(place)[0])
        return super().value(place)


@dataclass(frozen=True)
class HingeObjective(ShardedObjective):
    """`ShardedObjective` with the hinge: a `SoftPlace` stands for the U of a smoothed one."""

    def dual_estimate(self, U: Any, max_price: float, team: Team | None = None) -> float:
        """Return the dual objective at U, shrunk so that no price is above nu.

        For the hinge it is linear in what is shrunk: D(shrink(U, tau)) = tau D(U).
        """
        del team
        assert isinstance(self.field, HingeField)
        tau = 1.0 if max_price <= self.nu else self.nu / max_price
        return tau * float(self.field.facts(U)[-1])

    def proof(self, U: Any) -> Any:
        """Return the point itself: in double precision it is made anew, inside the domain."""
        return U
