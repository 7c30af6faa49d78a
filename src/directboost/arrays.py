"""Array types, and column access to a matrix X that is dense or sparse.

A sparse matrix is a matrix or array of SciPy. Inside the package it is a `csc_array` with sorted
row indices and without duplicates. Entries that are not stored are zeros.
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
#: A matrix X (m, d): a NumPy array, or a sparse matrix or array of SciPy.
Numbers: TypeAlias = Any

#: Smallest sample weight in single precision; smaller ones would underflow to zero there.
LEAST_SINGLE_WEIGHT = 1e-30

_BLOCK_SIZE = 1 << 21  # entries of a sparse matrix that are converted to dense at a time


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy."""
    return bool(issparse(X))


def as_csc(X: Any) -> Numbers:
    """Convert a sparse X to a `csc_array` with sorted row indices and duplicates summed.

    X is not modified. It is copied only if it is not in this form already.
    """
    converted = csc_array(X)
    if not converted.has_canonical_format:
        converted = converted.copy()
        converted.sum_duplicates()
    return converted


def dense(X: Numbers) -> Scores:
    """Return X (m, d) as a dense array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def column(X: Numbers, feature: int) -> Scores:
    """Return one column of X as a dense array, (m,)."""
    if not is_sparse(X):
        return np.asarray(X[:, feature])
    values = np.zeros(X.shape[0], dtype=X.dtype)
    stored = slice(X.indptr[feature], X.indptr[feature + 1])
    values[X.indices[stored]] = X.data[stored]
    return values


def some_columns(X: Numbers, features: Ints) -> tuple[Scores, Ints]:
    """Return a dense array with the columns `features` (n,), and their indices in it, (n,).

    For a dense X this is X itself. For a sparse X it holds each of the columns once.
    """
    if not is_sparse(X):
        return X, features
    used, place = np.unique(features, return_inverse=True)
    return X[:, used].toarray(), place


def row_parts(X: Numbers, features: Ints) -> Iterator[tuple[slice, Scores]]:
    """Yield slices of the rows of a sparse X, each with the columns `features` as a dense array."""
    used = X[:, features].tocsr()
    step = max(_BLOCK_SIZE // max(features.size, 1), 1)
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        yield rows, used[rows].toarray()


def with_columns_alone(X: Numbers, kept: Bools) -> Numbers:
    """Return a copy of X in which all columns are zero except those selected by `kept`, (d,)."""
    if is_sparse(X):
        counts = np.diff(X.indptr)
        entries = np.repeat(kept, counts)
        ends = np.concatenate([[0], np.cumsum(np.where(kept, counts, 0))])
        return csc_array((X.data[entries], X.indices[entries], ends), shape=X.shape)
    copied = np.zeros_like(X)
    copied[:, kept] = X[:, kept]
    return copied


def sparse_ranges(X: Numbers) -> tuple[Array, Array, Bools]:
    """Return the minimum and maximum of every column of a sparse X, and which have NaN, (d,) each.

    The sparse counterpart of the kernel `ranges`.
    """
    d, owner = X.shape[1], np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    missing = np.isnan(X.data)
    has_zeros = np.diff(X.indptr) < X.shape[0]
    low, high = np.where(has_zeros, 0.0, np.inf), np.where(has_zeros, 0.0, -np.inf)
    np.minimum.at(low, owner[~missing], X.data[~missing])
    np.maximum.at(high, owner[~missing], X.data[~missing])
    return low, high, np.bincount(owner[missing], minlength=d) > 0
