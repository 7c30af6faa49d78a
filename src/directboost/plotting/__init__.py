"""Plots of fitted models, with Matplotlib (extra `plot`).

Every function draws into the given axes, or into those of a new figure, and returns them.
"""

from .convergence import plot_convergence, plot_path
from .feature import plot_feature
from .pair import plot_pair
from .predictions import plot_margins, plot_regions
from .sharing import plot_sharing

__all__ = [
    "plot_convergence",
    "plot_feature",
    "plot_margins",
    "plot_pair",
    "plot_path",
    "plot_regions",
    "plot_sharing",
]
