"""Every stump there is, found from the rows themselves: the twin of the search of the baselines."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class AllStumps:
    """Stumps of polarity +1 in the order of ties: feature, threshold; the constant is last.

    Attributes
    ----------
    feature, threshold : (n,) arrays
        -1 and minus infinity for the constant.
    H : (n, m) array
        Answers +1 and -1 to the rows.
    """

    feature: np.ndarray
    threshold: np.ndarray
    H: np.ndarray

    def answers(self, X):
        """Return the predictions for other rows, (n, rows)."""
        return np.stack(
            [_answer(X, f, t) for f, t in zip(self.feature, self.threshold, strict=True)]
        )


def _answer(X, feature, threshold):
    if feature < 0:
        return np.ones(X.shape[0])
    return np.where(X[:, feature] > threshold, 1.0, -1.0)


def all_stumps(X, constant=True):
    """Return all stumps of finite rows X (m, d); thresholds lie half way between values."""
    names = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for low, high in pairwise(values):
            middle = low / 2.0 + high / 2.0
            names.append((feature, middle if low <= middle < high else low))
    if constant:
        names.append((-1, -np.inf))
    H = np.stack([_answer(X, f, t) for f, t in names])
    feature, threshold = zip(*names, strict=True)
    return AllStumps(np.array(feature), np.array(threshold), H)


def first_largest(values):
    """Return the index of the first value that is the largest up to rounding."""
    return int(np.flatnonzero(values >= values.max() - 1e-12 * max(abs(values.max()), 1e-300))[0])


def with_sign(values):
    """Return signs, +1 for zero."""
    return np.where(values < 0.0, -1.0, 1.0)
