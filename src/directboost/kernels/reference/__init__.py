"""NumPy twins of the compiled kernels."""

from .binning import (
    add_tables,
    dual_norm,
    edges,
    encode,
    find_cuts,
    histograms,
    list_codes,
    penalty,
    predict,
    price,
    quantile_cuts,
    ranges,
)
from .block_descent import model_epoch, solve_block
from .losses import dual_parts, dual_pass, loss_pass
from .newton import model_newton

__all__ = [
    "add_tables",
    "dual_norm",
    "dual_parts",
    "dual_pass",
    "edges",
    "encode",
    "find_cuts",
    "histograms",
    "list_codes",
    "loss_pass",
    "model_epoch",
    "model_newton",
    "penalty",
    "predict",
    "price",
    "quantile_cuts",
    "ranges",
    "solve_block",
]
