"""Former path and names of `directboost.solvers`, kept for existing code."""

from .solvers import ADMM, LBFGSB, SOLVERS, Conic, Consensus, LinearProgram, Smoothing
from .solvers import BlockDescent as FeatureBlocks
from .solvers import ColumnBlockDescent as ColumnBlocks
from .solvers import ProximalGradient as Proximal
from .solvers import Solver as Master
from .solvers import SolverResult as MasterResult

MASTERS = SOLVERS

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
