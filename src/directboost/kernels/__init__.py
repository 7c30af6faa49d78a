"""The kernels in use: the compiled ones where they are installed, else their NumPy twins."""

import os
import warnings
from functools import cache

from . import library, native
from .reference import binning as reference

NATIVE = library.library_path() is not None and os.environ.get("DIRECTBOOST_KERNELS") != "numpy"

if NATIVE:
    from .native import (
        add_tables,
        dual_parts,
        dual_pass,
        edges,
        encode,
        find_cuts,
        histograms,
        list_codes,
        loss_pass,
        model_epoch,
        model_newton,
        penalty,
        predict,
        price,
        ranges,
        solve_block,
    )
else:
    from .reference.binning import (
        add_tables,
        edges,
        encode,
        find_cuts,
        histograms,
        list_codes,
        penalty,
        predict,
        price,
        ranges,
    )
    from .reference.block_descent import model_epoch, solve_block
    from .reference.losses import dual_parts, dual_pass, loss_pass
    from .reference.newton import model_newton


@cache
def announce() -> None:
    """Say once where the slow kernels are in use."""
    named = os.environ.get("DIRECTBOOST_KERNELS", "")
    if named not in {"", "numpy"}:
        raise ValueError(
            f"DIRECTBOOST_KERNELS={named!r} is not known; it takes 'numpy', or leave it unset"
        )
    if not NATIVE:
        warnings.warn(
            "directboost runs on its NumPy kernels, which are many times slower: install it "
            "where a C++ compiler is found to get the compiled ones",
            RuntimeWarning,
            stacklevel=3,
        )


__all__ = [
    "NATIVE",
    "add_tables",
    "announce",
    "dual_parts",
    "dual_pass",
    "edges",
    "encode",
    "find_cuts",
    "histograms",
    "library",
    "list_codes",
    "loss_pass",
    "model_epoch",
    "model_newton",
    "native",
    "penalty",
    "predict",
    "price",
    "ranges",
    "reference",
    "solve_block",
]
