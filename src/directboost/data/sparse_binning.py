"""Cuts of the columns of a sparse matrix, and codes of its entries.

A column has the values that are stored and, where that are not all rows, 0 besides, which all other
rows have: work and memory grow with the stored entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers
from ..kernels.reference.binning import quantile_cuts
from ..kernels.structs import SPARSE_BLOCK_ROWS, Cuts, SparseCodes, code_dtype
from .memory import MOST_LISTED

_WIDEST = 1 << 16  # rows of a block: they are counted in sixteen bits
_SOME = 1 << 20  # entries that are looked at together
_PER_BLOCK = 8  # entries from which on a block costs little beside them


@dataclass(frozen=True)
class Entries:
    """Codes that differ from the usual one of their feature, by feature and then by row.

    Attributes
    ----------
    feature, row, code : (n,) int arrays
    """

    feature: Ints
    row: Ints
    code: Ints

    def take(self, which: Ints | Bools) -> "Entries":
        """Return some of the entries."""
        return Entries(self.feature[which], self.row[which], self.code[which])


def joined(parts: list[Entries]) -> Entries:
    """Return the entries of features that follow one another."""
    return Entries(
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.code for part in parts]),
    )


def make_sparse_codes(entries: Entries, m: int, usual: Ints, places: Ints) -> SparseCodes:
    """Return the lists of features with usual codes (d,), -1 without a list, over m rows."""
    d, block = usual.size, _block_rows(entries.row.size, usual.size, m)
    blocks = -(-m // block)
    starts = np.zeros(d * blocks + 1, dtype=np.int64)
    own = entries.feature.astype(np.int64) * blocks + entries.row // block
    np.cumsum(np.bincount(own, minlength=d * blocks), out=starts[1:])
    rows = (entries.row % block).astype(np.uint16)
    return SparseCodes(
        usual.astype(np.int32), starts, rows, entries.code, places.astype(np.int32), block
    )


def _block_rows(listed: int, features: int, m: int) -> int:
    """Return so many rows that blocks have some entries on average, where that can be."""
    block = SPARSE_BLOCK_ROWS
    while block < min(m, _WIDEST) and features * -(-m // block) * _PER_BLOCK > listed:
        block *= 2
    return block


def take_rows(sparse: SparseCodes, m: int, rows: Ints, new_codes: dict[int, Ints]) -> SparseCodes:
    """Return the lists of some of the m rows, ascending; features in `new_codes` change codes.

    The new code of code c of feature f is new_codes[f][c].
    """
    where = np.full(m, -1, dtype=np.int64)
    where[rows] = np.arange(rows.size)
    usual = sparse.most_common.copy()
    for f, codes in new_codes.items():
        usual[f] = codes[usual[f]] if usual[f] >= 0 else -1
    parts = [
        _changed(part.take(where[part.row] >= 0), usual, new_codes) for part in _parts(sparse, m)
    ]
    kept = joined(parts)
    kept = Entries(kept.feature, where[kept.row], kept.code)
    assert sparse.places is not None
    return make_sparse_codes(kept, rows.size, usual, sparse.places)


def _changed(entries: Entries, usual: Ints, new_codes: dict[int, Ints]) -> Entries:
    """Return entries with new codes, without those whose code is the usual one by now."""
    code = entries.code.copy()
    for f in np.intersect1d(entries.feature, list(new_codes)).tolist():
        own = slice(*np.searchsorted(entries.feature, [f, f + 1]))
        code[own] = new_codes[f][code[own]]
    return Entries(entries.feature, entries.row, code).take(code != usual[entries.feature])


def _parts(sparse: SparseCodes, m: int) -> Iterator[Entries]:
    """Yield all entries, some features at a time."""
    blocks = -(-m // sparse.block)
    step = max(_SOME * sparse.most_common.size // max(sparse.rows.size, 1), 1)
    for first in range(0, sparse.most_common.size, step):
        starts = sparse.starts[first * blocks : (first + step) * blocks + 1]
        own = slice(starts[0], starts[-1])
        place = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        feature, block = np.divmod(place, blocks)
        row = block * sparse.block + sparse.rows[own]
        yield Entries(first + feature, row, sparse.codes[own])


_CUT_COLUMNS = 1 << 20  # stored entries that are looked at together


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
        last = int(np.searchsorted(X.indptr, int(X.indptr[first]) + _CUT_COLUMNS, side="right")) - 1
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
    codes = (n_bins - 1)[owner].astype(code_dtype(int(n_bins.max(initial=1))))
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


def hold_codes(X: Numbers, coded: list[CodedEntries]) -> tuple[Ints, SparseCodes | None]:
    """Return rows of codes (n, m) of the columns that need one, and the lists of the others.

    The constant classifier follows the columns; it has a list where a column that varies has one.
    """
    d, n_bins = X.shape[1], np.concatenate([part.n_bins for part in coded])
    columns = [
        _Columns(X[:, block], block.start, part)
        for block, part in zip(column_blocks(X), coded, strict=True)
    ]
    usual = np.append(np.concatenate([some.usual() for some in columns]), 1)
    if not (usual[:-1][n_bins > 1] >= 0).any():
        usual[-1] = -1
    codes = np.ones(
        (int((usual < 0).sum()), X.shape[0]), dtype=code_dtype(int(n_bins.max(initial=2)))
    )
    places = np.where(usual < 0, np.cumsum(usual < 0) - 1, -1)
    for some in columns:
        for f in np.flatnonzero(usual[some.own] < 0).tolist():
            codes[places[some.first + f]] = some.row(f)
    if codes.shape[0] == d + 1:
        return codes, None
    entries = joined([some.entries(usual[some.own]) for some in columns])
    entries = Entries(entries.feature, entries.row, entries.code.astype(codes.dtype, copy=False))
    return codes, make_sparse_codes(entries, X.shape[0], usual, places)


class _Columns:
    """Neighbouring columns of a sparse matrix, from number `first` on, with their codes."""

    def __init__(self, X: Numbers, first: int, coded: CodedEntries) -> None:
        self.first, self.own = first, slice(first, first + X.shape[1])
        self._X, self._coded = X, coded
        self._owner = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))

    def usual(self) -> Ints:
        """Return the commonest code of every column, -1 where it is not common enough, (d,)."""
        m, n_bins, zero = self._X.shape[0], self._coded.n_bins, self._coded.zero
        base, all_bins = np.cumsum(n_bins) - n_bins, int(n_bins.sum())
        counts = np.bincount(base[self._owner] + self._coded.codes, minlength=all_bins)
        unstored = zero >= 0
        counts[(base + zero)[unstored]] += m - np.diff(self._X.indptr)[unstored]
        most = np.maximum.reduceat(counts, base)
        code = np.arange(all_bins) - np.repeat(base, n_bins)
        commonest = np.where(counts == np.repeat(most, n_bins), code, -1)
        listed = m - most <= int(MOST_LISTED * m)
        return np.where(listed, np.maximum.reduceat(commonest, base), -1)

    def row(self, f: int) -> Ints:
        """Return the codes of all rows of a column, (m,)."""
        own = slice(self._X.indptr[f], self._X.indptr[f + 1])
        codes = np.full(self._X.shape[0], max(int(self._coded.zero[f]), 0))
        codes[self._X.indices[own]] = self._coded.codes[own]
        return codes

    def entries(self, usual: Ints) -> Entries:
        """Return the rows without the usual code, (d,), of the columns that have one."""
        codes, zero = self._coded.codes, self._coded.zero
        plain = (usual >= 0) & (usual == zero)
        kept = plain[self._owner] & (codes != usual[self._owner])
        parts = [Entries(self.first + self._owner[kept], self._X.indices[kept], codes[kept])]
        for f in np.flatnonzero((usual >= 0) & ~plain).tolist():
            row = self.row(f)
            others = np.flatnonzero(row != usual[f])
            parts.append(Entries(np.full(others.size, self.first + f), others, row[others]))
        found = joined(parts)
        return found if len(parts) == 1 else found.take(np.argsort(found.feature, kind="stable"))
