"""Losses by name."""

from .base import Loss, Rows
from .elementwise import ElementwiseLoss
from .exponential import Exponential
from .hinge import Hinge
from .logistic import Logistic
from .multinomial import Multinomial
from .smooth import SmoothLoss
from .squared_hinge import SquaredHinge

LOSSES: dict[str, type[Loss]] = {
    c.name: c for c in (Hinge, Exponential, Logistic, Multinomial, SquaredHinge)
}

__all__ = [
    "LOSSES",
    "ElementwiseLoss",
    "Exponential",
    "Hinge",
    "Logistic",
    "Loss",
    "Multinomial",
    "Rows",
    "SmoothLoss",
    "SquaredHinge",
]
