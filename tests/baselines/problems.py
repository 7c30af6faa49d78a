"""Problems as the rounds of a baseline see them."""

import numpy as np

from directboost.baselines.rounds import Problem
from directboost.baselines.search import StumpSearch
from directboost.binning import bin_features


def problem_of(X, y, weight, categories=None):
    """Return the problem of rows X (m, d) with classes y and weights."""
    search = StumpSearch(bin_features(X, weight / weight.max(), None, None, categories))
    size = float(weight.sum())
    return Problem(search, y, weight / size, int(y.max()) + 1, size, X, np.random.RandomState(0))
