"""Code matrices: a word of bits -1 and +1 for every class."""

from math import ceil, log2
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from ..arrays import Array, Ints
from ..data.validation import check_choice, check_count

NAMES = ("auto", "exhaustive", "random", "ova")
_SHORT = 7  # classes up to which "auto" takes all columns
_MOST_CLASSES = 10  # of an exhaustive code: it has 511 columns then
_DRAWS = 2000  # random matrices, of which the best is taken
_APART = 30  # classes that keep the columns of a random code apart


def code_matrix(code: Any, k: int, random: np.random.RandomState) -> Array:
    """Return the code of k classes, (k, L), of -1 and +1, by its name, length or matrix.

    No two rows of it are equal, and no column is constant.
    """
    if not isinstance(code, str):
        return _of_length(int(code), k, random) if isinstance(code, Integral) else _given(code, k)
    if code == "ova":
        return 2.0 * np.eye(k) - 1.0
    if code == "exhaustive" or (code == "auto" and k <= _SHORT):
        return _exhaustive(k)
    return _random(k, min(ceil(10.0 * log2(k)), _columns(k)), random)


def check_code(code: Any) -> None:
    """Refuse what is no code for any number of classes."""
    if isinstance(code, str):
        check_choice("code", code, NAMES)
    elif isinstance(code, Integral):
        check_count("code", code, 1, "a number of bits, at least 1")
    else:
        _matrix(code)


def row_distance(M: Array) -> int:
    """Return the least number of bits in which two rows of a code (k, L) differ."""
    products = M @ M.T
    np.fill_diagonal(products, -np.inf)
    return int(M.shape[1] - products.max()) // 2


def _columns(k: int) -> int:
    """Return the number of ways to part k classes in two."""
    return int(2 ** (k - 1)) - 1


def _bits(numbers: Ints, length: int) -> Array:
    """Return the last bits of numbers as -1 and +1, the highest first, (n, length)."""
    places = np.arange(length)[::-1]
    return np.asarray(2.0 * ((numbers[:, None] >> places) & 1) - 1.0)


def _partitions(numbers: Ints, k: int) -> Array:
    """Return the columns with these numbers below 2^(k-1) - 1, (k, n); all have class 0 at +1."""
    return np.vstack([np.ones(numbers.size), _bits(numbers, k - 1).T])


def _exhaustive(k: int) -> Array:
    if k > _MOST_CLASSES:
        raise ValueError(
            f"code='exhaustive' takes at most {_MOST_CLASSES} classes, but y has {k}, which would "
            f"need 2^{k - 1} - 1 bits; code='random' takes any number of classes"
        )
    return _partitions(np.arange(_columns(k)), k)


def _of_length(length: int, k: int, random: np.random.RandomState) -> Array:
    if length < log2(k):
        raise ValueError(
            f"code={length} does not fit: {k} classes are told apart by at least {ceil(log2(k))} "
            "bits"
        )
    if length > _columns(k):
        raise ValueError(
            f"code={length} does not fit: there are {_columns(k)} ways to part {k} classes in two"
        )
    return _random(k, length, random)


def _random(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return the matrix with the largest distance of rows out of many random ones."""
    if length == _columns(k):
        return _partitions(np.arange(length), k)
    draw = _draw_rows if length < 2.0 * log2(k) else _draw_columns
    drawn = (draw(k, length, random) for _ in range(_DRAWS))
    return max(filter(_columns_differ, drawn), key=row_distance)


def _draw_columns(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return random columns of which none is constant, another one or the negative of one."""
    apart = min(k, _APART)
    numbers = sample_without_replacement(_columns(apart), length, random_state=random)
    others = _bits(random.randint(2, size=(k - apart) * length), 1)
    return np.vstack([_partitions(numbers, apart), others.reshape(-1, length)])


def _draw_rows(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return random rows, no two of which are equal: with few bits most others would have some."""
    return _bits(sample_without_replacement(2**length, k, random_state=random), length)


def _columns_differ(M: Array) -> bool:
    """Tell whether no column is constant, another one or the negative of one."""
    products = np.abs(np.vstack([np.ones(M.shape[0]), M.T]) @ M)
    return bool(np.count_nonzero(products == M.shape[0]) == M.shape[1])


def _given(code: Any, k: int) -> Array:
    """Return a matrix as it was given, or refuse one that cannot tell the classes apart."""
    M = _matrix(code)
    if M.shape[0] != k:
        raise ValueError(f"code has {M.shape[0]} rows, but y has {k} classes: give one row each")
    constant = np.flatnonzero(np.abs(M.sum(axis=0)) == k)
    if constant.size:
        raise ValueError(f"column {constant[0]} of code has one value only: it parts no classes")
    alike = np.argwhere(np.triu(M.shape[1] == M @ M.T, 1))
    if alike.size:
        one, other = alike[0].tolist()
        raise ValueError(f"rows {one} and {other} of code are equal: every class needs its own")
    return M


def _matrix(code: Any) -> Array:
    """Return a matrix of -1 and +1 as floats, or refuse it."""
    try:
        M = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        M = np.empty(0)
    if M.ndim != 2 or M.size == 0:
        raise ValueError(
            f"code={code!r} does not fit: it takes one of {', '.join(map(repr, NAMES))}, a number "
            "of bits, or a matrix with a row for every class"
        )
    if not (np.abs(M) == 1.0).all():
        wrong = M[np.abs(M) != 1.0][0]
        raise ValueError(f"code holds {wrong:g}; a matrix of code takes -1 and +1 only")
    return M
