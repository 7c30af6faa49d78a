"""Pictures of fitted models; they need the extra `plot`.

Every function draws into the axes it is given, or into new ones, and returns them.
"""

from .convergence import plot_convergence
from .feature import plot_feature
from .margins import plot_margins
from .path import plot_path
from .regions import plot_regions
from .sharing import plot_sharing

__all__ = [
    "plot_convergence",
    "plot_feature",
    "plot_margins",
    "plot_path",
    "plot_regions",
    "plot_sharing",
]
