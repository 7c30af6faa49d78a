"""Random inputs for the kernels, and marks for the two implementations."""

from dataclasses import dataclass

import numpy as np
import pytest

from directboost.kernels import library, native, reference
from directboost.kernels.step_functions import CATEGORICAL, ORDERED, WITH_MISSING, n_thresholds
from directboost.kernels.structs import LossRows, Products, Tables

#: Marks of a test that calls the compiled kernels.
NEEDS_NATIVE = [
    pytest.mark.native,
    pytest.mark.skipif(
        library.library_path() is None, reason="the compiled kernels are not installed"
    ),
]


def native_test(function):
    """Mark a test that calls the compiled kernels."""
    for mark in NEEDS_NATIVE:
        function = mark(function)
    return function


#: Both implementations, for tests of the specification of a kernel.
both = pytest.mark.parametrize(
    "kernels",
    [
        pytest.param(reference, id="numpy"),
        pytest.param(native, id="native", marks=NEEDS_NATIVE),
    ],
)

CODES = (np.uint8, np.uint16, np.uint32)
REALS = (np.float32, np.float64)
LOSSES = {"logistic": 0, "exponential": 1, "multinomial": 2, "squared_hinge": 3}
#: Every loss pass: (loss, with labels).
PASSES = [(loss, labels) for loss in LOSSES for labels in (True, False)]
PASSES.remove(("multinomial", False))
#: (bins, kind) of features.
KINDS = (ORDERED, WITH_MISSING, CATEGORICAL)
SHAPES = [(1, ORDERED), (2, ORDERED), (2, WITH_MISSING)] + [
    (n, kind) for n in (3, 40) for kind in KINDS
]
#: Memory layouts of a matrix.
VIEWS = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@dataclass(frozen=True)
class Coded:
    """Codes (d, m) with the number of bins and the kind of every feature."""

    codes: np.ndarray
    n_bins: np.ndarray
    kinds: np.ndarray

    def n_thresholds(self, f):
        """Return the number of jumps of feature f."""
        return n_thresholds(int(self.n_bins[f]), int(self.kinds[f]))


def draw_codes(rng, m, dtype=np.uint8, shapes=SHAPES):
    """Draw codes of features with the given (bins, kind); every feature uses its last bin."""
    codes = np.stack([rng.integers(0, n, m) for n, _ in shapes]).astype(dtype)
    if m:
        codes[:, 0] = [n - 1 for n, _ in shapes]
    return Coded(
        codes=codes,
        n_bins=np.array([n for n, _ in shapes], dtype=np.int32),
        kinds=np.array([kind for _, kind in shapes], dtype=np.uint8),
    )


def draw_rows(rng, loss, labels, m, k, dtype=np.float64):
    """Draw the rows of a loss pass with unequal weights c, k sum(c) = 1."""
    s = rng.uniform(0.2, 3.0, m)
    c = (s / (s.sum() * k)).astype(dtype)
    y = rng.integers(0, k, m).astype(np.int32)
    targets = np.where(rng.random((m, k)) < 0.4, 1, -1).astype(np.int8)
    return LossRows(
        loss=LOSSES[loss],
        k=k,
        labels=y if labels else None,
        targets=None if labels else targets,
        c=c,
    )


def join_tables(features, cuts, tables, intercept):
    """Return tables of features in the form for prediction."""
    values = np.concatenate([*tables, np.empty((0, intercept.size))])
    return Tables(
        features=np.array(features, dtype=np.int32),
        n_thresholds=np.array([own.size for own in cuts], dtype=np.int32),
        thresholds=np.concatenate([*cuts, np.empty(0)]),
        values=values,
        intercept=intercept,
    )


def draw_products(rng, features, cuts, n, k):
    """Draw n products on features with the given thresholds; some weights are zero."""
    places = rng.integers(0, max(len(features), 1), (n, 2))
    codes = [np.sort(rng.integers(0, cuts[place].size + 2, 2)) for place in places.ravel()]
    factors = np.column_stack([places.ravel(), np.reshape(codes, (-1, 2))])
    W = np.where(rng.random((n, k)) < 0.4, 0.0, rng.normal(size=(n, k)))
    rows, classes = np.nonzero(W)
    return Products(
        features=np.array(features, dtype=np.int32),
        n_thresholds=np.array([own.size for own in cuts], dtype=np.int32),
        thresholds=np.concatenate([*cuts, np.empty(0)]),
        factors=factors.reshape(n, 2, 3).astype(np.int32),
        starts=np.searchsorted(rows, np.arange(n + 1)).astype(np.int64),
        classes=classes.astype(np.int32),
        weights=W[rows, classes],
    )
