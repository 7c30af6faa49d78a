"""Masters by name, the fastest first: "auto" takes the first that fits."""

from .base import Master, MasterResult
from .block_descent import FeatureBlocks
from .column_blocks import ColumnBlocks
from .conic import Conic
from .consensus import ADMM, Consensus
from .lbfgsb import LBFGSB
from .linear_program import LinearProgram
from .proximal_gradient import Proximal
from .smoothing import Smoothing

MASTERS: dict[str, type[Master]] = {
    c.name: c for c in (FeatureBlocks, LinearProgram, LBFGSB, Proximal, Conic, ADMM, Consensus)
}

__all__ = [
    "ADMM",
    "LBFGSB",
    "MASTERS",
    "ColumnBlocks",
    "Conic",
    "Consensus",
    "FeatureBlocks",
    "LinearProgram",
    "Master",
    "MasterResult",
    "Proximal",
    "Smoothing",
]
