"""The public path of the solvers of the restricted master problem."""

from .solvers import (
    ADMM,
    LBFGSB,
    MASTERS,
    ColumnBlocks,
    Conic,
    Consensus,
    FeatureBlocks,
    LinearProgram,
    Master,
    MasterResult,
    Proximal,
    Smoothing,
)

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
