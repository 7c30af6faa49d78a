"""The kernels in use: the compiled ones if they are installed, else their NumPy twins."""

import os
import warnings
from functools import cache
from typing import TYPE_CHECKING

from . import library

NATIVE = library.library_path() is not None and os.environ.get("DIRECTBOOST_KERNELS") != "numpy"

if TYPE_CHECKING or NATIVE:
    from . import native as _chosen
else:
    from . import reference as _chosen

add_tables = _chosen.add_tables
dual_parts = _chosen.dual_parts
dual_pass = _chosen.dual_pass
edges = _chosen.edges
encode = _chosen.encode
find_cuts = _chosen.find_cuts
histograms = _chosen.histograms
list_codes = _chosen.list_codes
loss_pass = _chosen.loss_pass
model_epoch = _chosen.model_epoch
model_newton = _chosen.model_newton
penalty = _chosen.penalty
predict = _chosen.predict
price = _chosen.price
ranges = _chosen.ranges
solve_block = _chosen.solve_block


@cache
def announce() -> None:
    """Warn once if the slow NumPy kernels are in use."""
    named = os.environ.get("DIRECTBOOST_KERNELS", "")
    if named not in {"", "numpy"}:
        raise ValueError(
            f"DIRECTBOOST_KERNELS={named!r} is invalid: expected 'numpy', or leave it unset"
        )
    if not NATIVE:
        warnings.warn(
            "directboost runs on its NumPy kernels, which are many times slower: install it "
            "where a C++ compiler is found to get the compiled ones",
            RuntimeWarning,
            stacklevel=3,
        )
