"""NumPy twins of the compiled kernels: specification, test oracle and fallback.

They have the same names and signatures as in `native`. Threads are accepted and not used. Sparse
codes are used only where a feature has no others.
"""

# ruff: noqa: F401
from .binning import (
    add_tables,
    edges,
    encode,
    find_cuts,
    histograms,
    list_codes,
    penalty,
    price,
    ranges,
)
from .block_descent import model_epoch, solve_block
from .losses import dual_parts, loss_pass
from .newton import model_newton
from .pairs import price_pairs
from .prediction import predict
