"""Losses of the margins, and their registry by name."""

from .base import Loss, SampleWeights
from .elementwise import ElementwiseLoss, Logistic, SmoothLoss, SquaredHinge
from .exponential import Exponential
from .hinge import Hinge
from .multinomial import Multinomial

#: Losses by the value of the parameter `loss`.
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
    "SampleWeights",
    "SmoothLoss",
    "SquaredHinge",
]
