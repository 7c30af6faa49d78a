"""The kernels in use: the compiled ones if they are installed, else their NumPy twins."""

from typing import TYPE_CHECKING

from . import library as library
from .library import NATIVE as NATIVE
from .library import announce as announce

if TYPE_CHECKING or NATIVE:
    from . import native as _chosen
else:
    from . import reference as _chosen

add_tables = _chosen.add_tables
dual_parts = _chosen.dual_parts
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
price_pairs = _chosen.price_pairs
ranges = _chosen.ranges
solve_block = _chosen.solve_block
