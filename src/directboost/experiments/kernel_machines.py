"""Support vector machines beside the boosting methods: linear, and with histogram intersection."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from .sampling import Part

#: Tried in folds, in a unit of their own.
COSTS = [10.0**power for power in range(-5, 3)]
FOLDS = 5
_BLOCK = 48  # rows whose sums stay in the fast memory of a core

#: (m, d) and (n, d) rows to (m, n) numbers.
Kernel = Callable[[Array, Array], Any]


def linear_kernel(A: Array, B: Array) -> Any:
    """Return the products of rows, (m, n)."""
    return A.astype(np.float64) @ B.T.astype(np.float64)


def intersection_kernel(A: Array, B: Array) -> Any:
    """Return K_ij = sum_f min(A_if, B_jf), (m, n), one block of rows after the other.

    Parameters
    ----------
    A, B : (m, d) and (n, d) arrays
        Histograms of counts: whole numbers, with sums of rows below 65536.
    """
    left, right = (np.ascontiguousarray(side.T, dtype=np.uint16) for side in (A, B))
    found = np.zeros((len(A), len(B)), dtype=np.uint16)
    for start in range(0, len(A), _BLOCK):
        block = found[start : start + _BLOCK]
        least = np.empty_like(block)
        for a, b in zip(left[:, start : start + _BLOCK], right, strict=True):
            np.minimum(a[:, None], b, out=least)
            block += least
    return found.astype(np.float64)


def machine_error(kernel: Kernel, train: Part, test: Part) -> tuple[float, float]:
    """Return the error on test rows, and the cost C that five folds of the others chose.

    The machine is LIBSVM's, one class against another, as the paper's.
    """
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    X, y = train
    K, K_test = kernel(X, X), kernel(test[0], X)
    scale = float(np.mean(np.diag(K)))  # C in a unit of its own, whatever the features' is
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, cv=_folds(y))
    search.fit(K / scale, y)
    return 1.0 - float(search.score(K_test / scale, test[1])), float(search.best_params_["C"])


def _folds(y: Ints) -> int:
    return int(min(FOLDS, np.bincount(y)[np.unique(y)].min()))
