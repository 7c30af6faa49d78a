"""Data of the plots, and functions that read drawn values back from the axes."""

import numpy as np
from sklearn.datasets import load_wine

WINE = load_wine(as_frame=True)
NAMES = WINE.target_names[WINE.target]


def lines_by_label(ax):
    return {line.get_label(): line for line in ax.lines if line.get_label()[0] != "_"}


def height_at(line, x):
    """Read a step line at the positions x (n,)."""
    assert line.get_drawstyle() == "steps-post"
    edges, heights = line.get_data()
    assert edges[0] < np.min(x) <= np.max(x) <= edges[-1]
    return np.asarray(heights)[np.searchsorted(edges, x) - 1]
