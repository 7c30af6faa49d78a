"""Solvers of the restricted master problem: the weights of the columns generated so far.

`SOLVERS` lists them by name, the fastest first. `solver="auto"` selects the first one that supports
the loss, margin and penalty.
"""

from .base import Solver, SolverResult
from .block_descent import BlockDescent
from .column_blocks import ColumnBlockDescent
from .conic import Conic
from .consensus import ADMM, Consensus
from .lbfgsb import LBFGSB
from .linear_program import LinearProgram
from .proximal_gradient import ProximalGradient
from .smoothing import Smoothing

SOLVERS: dict[str, type[Solver]] = {
    c.name: c
    for c in (BlockDescent, LinearProgram, LBFGSB, ProximalGradient, Conic, ADMM, Consensus)
}

__all__ = [
    "ADMM",
    "LBFGSB",
    "SOLVERS",
    "BlockDescent",
    "ColumnBlockDescent",
    "Conic",
    "Consensus",
    "LinearProgram",
    "ProximalGradient",
    "Smoothing",
    "Solver",
    "SolverResult",
]
