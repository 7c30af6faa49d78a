"""From scores to probabilities."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from .arrays import Array, Ints

_RANGE = (-6.0, 6.0)  # of the logarithm of the factor on the scores
_PULL = 1e-10  # of the mean likelihood: what a larger factor has to gain at least


def class_probabilities(F: Array, factor: float) -> Array:
    """Return softmax(factor * F), (m, k)."""
    return np.asarray(softmax(factor * F, axis=1))


def fit_factor(F: Array, codes: Ints, weight: Array) -> float:
    """Return 1/T that makes softmax(F / T) most likely for the labels.

    Where no row is wrong the likelihood rises with the factor without end, soon by less than
    numbers can tell: the factor costs 1e-10 times itself, and the slope of the sum, which rises,
    has one root.
    """
    others = F - F[np.arange(codes.size), codes][:, None]
    share = weight / weight.sum()

    def slope(log_factor: float) -> float:
        P = class_probabilities(others, np.exp(log_factor))
        return float(share @ (P * others).sum(axis=1)) + _PULL

    low, high = _RANGE
    if slope(low) >= 0.0:
        return float(np.exp(low))
    return float(np.exp(brentq(slope, low, high) if slope(high) > 0.0 else high))
