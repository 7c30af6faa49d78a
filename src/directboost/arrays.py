"""Matrices of numbers, dense or sparse, read by columns.

A sparse matrix is one of scipy. Inside the package it is a `csc_array` with ascending rows, every
entry once; what is not stored is the number 0.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, issparse

Array: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: Rows of numbers (m, d): an array, or a sparse one of scipy; see `matrices`.
Numbers: TypeAlias = Any

#: Of a row; single precision would lose one of less.
LEAST_SINGLE_WEIGHT = 1e-30


_PART = 1 << 21  # numbers that are made dense together


def is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse matrix or array of scipy."""
    return bool(issparse(X))


def as_csc(X: Any) -> Numbers:
    """Return a sparse X by columns, with ascending rows and duplicates summed.

    Nothing is copied where it is so already; X itself stays as it is.
    """
    tidied = csc_array(X)
    if not tidied.has_canonical_format:
        tidied = tidied.copy()
        tidied.sum_duplicates()
    return tidied


def dense(X: Numbers) -> Scores:
    """Return X (m, d) as an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def column(X: Numbers, feature: int) -> Scores:
    """Return one column of X as an array, (m,)."""
    if not is_sparse(X):
        return np.asarray(X[:, feature])
    values = np.zeros(X.shape[0], dtype=X.dtype)
    own = slice(X.indptr[feature], X.indptr[feature + 1])
    values[X.indices[own]] = X.data[own]
    return values


def some_columns(X: Numbers, features: Ints) -> tuple[Scores, Ints]:
    """Return an array that has the columns `features` (n,), and where they are in it, (n,)."""
    if not is_sparse(X):
        return X, features
    used, place = np.unique(features, return_inverse=True)
    return X[:, used].toarray(), place


def row_parts(X: Numbers, features: Ints) -> Iterator[tuple[slice, Scores]]:
    """Yield slices of the rows of a sparse X, and the columns `features` of them as arrays."""
    used = X[:, features].tocsr()
    step = max(_PART // max(features.size, 1), 1)
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        yield rows, used[rows].toarray()


def with_columns_alone(X: Numbers, kept: Bools) -> Numbers:
    """Return X with zeros in all columns but those `kept`, (d,)."""
    if is_sparse(X):
        counts = np.diff(X.indptr)
        entries = np.repeat(kept, counts)
        ends = np.concatenate([[0], np.cumsum(np.where(kept, counts, 0))])
        return csc_array((X.data[entries], X.indices[entries], ends), shape=X.shape)
    alone = np.zeros_like(X)
    alone[:, kept] = X[:, kept]
    return alone


def sparse_ranges(X: Numbers) -> tuple[Array, Array, Bools]:
    """Return what the kernel `ranges` says of an array for a sparse X, (d,) each."""
    d, owner = X.shape[1], np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    gone = np.isnan(X.data)
    unstored = np.diff(X.indptr) < X.shape[0]
    low, high = np.where(unstored, 0.0, np.inf), np.where(unstored, 0.0, -np.inf)
    np.minimum.at(low, owner[~gone], X.data[~gone])
    np.maximum.at(high, owner[~gone], X.data[~gone])
    return low, high, np.bincount(owner[gone], minlength=d) > 0
