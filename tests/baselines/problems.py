"""Problems as the rounds of a baseline see them."""

import numpy as np

from directboost.baselines.stump_search import BoostingProblem, StumpSearch
from directboost.data.binning import bin_features
from tests.baselines.brute_force import all_stumps
from tests.baselines.rows import noisy


def problem_of(X, y, weight, categories=None):
    """Return the problem of rows X (m, d) with classes y and weights."""
    search = StumpSearch(bin_features(X, weight / weight.max(), None, None, categories))
    size = float(weight.sum())
    return BoostingProblem(
        search, y, weight / size, int(y.max()) + 1, size, X, np.random.RandomState(0)
    )


def binary(weighted=False, seed=0):
    """Return X, signs y, weights v with sum 1 and the predictions of all stumps."""
    X, y, weight = noisy(k=2, weighted=weighted, seed=seed)
    return X, 2.0 * y - 1.0, weight / weight.sum(), all_stumps(X).H
