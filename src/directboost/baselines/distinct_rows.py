"""The rows that some stump tells apart, in an order of their own."""

import numpy as np

from ..arrays import Array
from .rounds import Problem


class DistinctRows:
    """The different rows of a problem; equal ones with the same class are one, with their weight.

    A solver may come to another answer, as good, when rows are repeated or come in another order.
    Here both make no difference: the order is that of numbers that only codes and class decide.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    first : (n,) int array
        A row of the problem for every one here.
    labels : (n,) int array
    v : (n,) array
        Weights, with sum 1.
    """

    def __init__(self, problem: Problem) -> None:
        random = np.random.default_rng(1)  # other numbers than those of the codes, which are added
        of_class = random.integers(2**64, size=problem.k, dtype=np.uint64)
        keys = problem.search.fingerprints() + of_class[problem.labels]
        _, self.first, group = np.unique(keys, return_index=True, return_inverse=True)
        self.labels, self._m = problem.labels[self.first], problem.labels.size
        self.v: Array = np.bincount(group, weights=problem.v).astype(np.float64)

    def spread(self, G: Array) -> Array:
        """Return weights (n, q) of these rows as weights of those of the problem, (m, q)."""
        full = np.zeros((self._m, G.shape[1]))
        full[self.first] = G
        return full
