"""Masters by name, the fastest first: "auto" takes the first that fits."""

from .base import Master, MasterResult
from .conic import Conic
from .feature_blocks import FeatureBlocks
from .lbfgsb import LBFGSB
from .linear_program import LinearProgram
from .proximal import Proximal

MASTERS: dict[str, type[Master]] = {
    c.name: c for c in (FeatureBlocks, LinearProgram, LBFGSB, Proximal, Conic)
}

__all__ = [
    "LBFGSB",
    "MASTERS",
    "Conic",
    "FeatureBlocks",
    "LinearProgram",
    "Master",
    "MasterResult",
    "Proximal",
]
