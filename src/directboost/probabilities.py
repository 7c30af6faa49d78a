"""From scores to probabilities."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from .arrays import Array, Ints

_RANGE = (-6.0, 6.0)  # of the logarithm of the factor on the scores


def class_probabilities(F: Array, factor: float) -> Array:
    """Return softmax(factor * F), (m, k)."""
    return np.asarray(softmax(factor * F, axis=1))


def fit_factor(F: Array, codes: Ints, weight: Array) -> float:
    """Return 1/T that makes softmax(F / T) most likely for the labels, by a scalar search."""
    below = F - F.max(axis=1, keepdims=True)
    own = below[np.arange(codes.size), codes]

    def negative_log_likelihood(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(weight @ (np.log(np.exp(factor * below).sum(axis=1)) - factor * own))

    found = minimize_scalar(negative_log_likelihood, bounds=_RANGE, method="bounded")
    return float(np.exp(found.x))
