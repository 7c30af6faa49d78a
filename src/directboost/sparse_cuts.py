"""Cuts of the columns of a sparse matrix, and codes of its entries.

A column has the values that are stored and, where that are not all rows, 0 besides, which all other
rows have: work and memory grow with the stored entries.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Bools, Ints, Numbers
from .kernels.reference.binning import quantile_cuts
from .kernels.structs import Cuts, code_type

_SOME = 1 << 20  # stored entries that are looked at together


@dataclass(frozen=True)
class CodedEntries:
    """Cuts of some neighbouring columns, and the codes of what they store.

    Attributes
    ----------
    cuts : Cuts
    n_bins : (d,) int array
    codes : (stored,) int array
        Of the stored entries, by columns.
    zero : (d,) int array
        The code of 0, which all other rows have; -1 where there are none.
    """

    cuts: Cuts
    n_bins: Ints
    codes: Ints
    zero: Ints


def code_entries(X: Numbers, weight: Array | None, max_bins: int | None) -> list[CodedEntries]:
    """Cut and code the columns of a tidy sparse X (m, d); weight None is all ones."""
    most = X.shape[0] if max_bins is None else max_bins
    return [_code_columns(X[:, block], weight, most) for block in column_blocks(X)]


def column_blocks(X: Numbers) -> list[slice]:
    """Return slices of the columns of X with at most so many entries, or one column, each."""
    blocks, first, d = [], 0, X.shape[1]
    while first < d:
        last = int(np.searchsorted(X.indptr, int(X.indptr[first]) + _SOME, side="right")) - 1
        blocks.append(slice(first, min(max(last, first + 1), d)))
        first = blocks[-1].stop
    return blocks


def _code_columns(X: Numbers, weight: Array | None, max_bins: int) -> CodedEntries:
    stored = np.diff(X.indptr)
    owner = np.repeat(np.arange(X.shape[1]), stored)
    gone = np.isnan(X.data)
    values = _distinct(X, owner, gone, weight)
    is_cut = values.cuts(max_bins)
    below: Ints = np.cumsum(is_cut) - is_cut  # cuts below every value, also of columns before
    code: Ints = below - below[values.first[values.owner]]
    counts = np.bincount(values.owner[is_cut], minlength=X.shape[1]).astype(np.int32)
    missing = np.bincount(owner[gone], minlength=X.shape[1]) > 0
    n_bins = counts + 1 + missing
    centre = np.zeros(X.shape[1], dtype=np.int64)
    centre[values.known] = code[values.median()[values.known]]
    at = np.flatnonzero(is_cut)
    cuts = Cuts(
        counts, values.value[at], values.value[at + 1], missing, centre, values.n <= max_bins
    )
    codes = (n_bins - 1)[owner].astype(code_type(int(n_bins.max(initial=1))))
    codes[~gone] = code[values.group[: codes.size - int(gone.sum())]]
    zero = np.full(X.shape[1], -1, dtype=np.int64)
    zero[stored < X.shape[0]] = code[values.group[codes.size - int(gone.sum()) :]]
    return CodedEntries(cuts, n_bins, codes, zero)


@dataclass(frozen=True)
class _Distinct:
    """The distinct values of some columns, ascending, those of one column after the other.

    Attributes
    ----------
    owner, value, mass : (all,) arrays
        The column, the value and the weight of the rows that have it.
    n, first : (d,) int arrays
        Number of values of every column, and where they begin.
    group : (stored + unstored,) int array
        The place of the value of every stored entry that is not missing, and then of 0 in every
        column that does not store all of it.
    """

    owner: Ints
    value: Array
    mass: Array
    n: Ints
    first: Ints
    group: Ints

    @property
    def known(self) -> Bools:
        """Which columns have a value, (d,)."""
        return self.n > 0

    def cuts(self, max_bins: int) -> Bools:
        """Return after which values there is a threshold, (all,)."""
        is_cut = np.ones(self.value.size, dtype=bool)
        is_cut[(self.first + self.n - 1)[self.known]] = False
        for f in np.flatnonzero(self.n > max_bins).tolist():
            own = slice(self.first[f], self.first[f] + self.n[f])
            is_cut[own] = False
            is_cut[self.first[f] + quantile_cuts(np.cumsum(self.mass[own]), max_bins)] = True
        return is_cut

    def median(self) -> Ints:
        """Return the place of the weighted median of every column that has a value, (d,)."""
        # Sums over many columns: the wider type, where there is one, keeps the slack for ties.
        up_to = np.append(0.0, np.cumsum(self.mass, dtype=np.longdouble))
        base = up_to[self.first]
        middle = 0.5 * (up_to[self.first + self.n] - base) * (1.0 - 1e-12)
        below = up_to[1:] - base[self.owner] < middle[self.owner]
        return self.first + np.bincount(self.owner[below], minlength=self.n.size)


def _distinct(X: Numbers, owner: Ints, gone: Bools, weight: Array | None) -> _Distinct:
    (m, d), stored = X.shape, np.diff(X.indptr)
    mass = np.ones(owner.size) if weight is None else weight[X.indices]
    whole = float(m) if weight is None else float(weight.sum())
    rest = np.maximum(whole - np.bincount(owner, mass, d), 0.0)
    with_zero = np.flatnonzero(stored < m)
    column = np.concatenate([owner[~gone], with_zero])
    value = np.concatenate([X.data[~gone].astype(np.float64), np.zeros(with_zero.size)])
    masses = np.concatenate([mass[~gone], rest[with_zero]])
    order = np.lexsort((value, column))
    column, value = column[order], value[order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    place = np.cumsum(new) - 1
    group = np.empty_like(place)
    group[order] = place
    n = np.bincount(column[new], minlength=d)
    sums: Array = np.bincount(place, masses[order], int(n.sum())).astype(np.float64)
    return _Distinct(column[new], value[new], sums, n, np.cumsum(n) - n, group)
