"""Binning of a sparse matrix: cuts of its columns, and codes of its stored entries.

A column has its stored values and, if it does not store all rows, the value 0 in all other rows.
Time and memory are proportional to the number of stored entries.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers
from ..kernels.reference.binning import quantile_cuts
from ..kernels.structs import SPARSE_BLOCK_ROWS, Cuts, SparseCodes, code_dtype
from .memory import MAX_SPARSE_SHARE

_CUT_COLUMNS = 1 << 20  # stored entries that are cut and coded together
_LIST_ENTRIES = 1 << 20  # entries of the lists that are processed together
_WIDEST = 1 << 16  # rows of a block: row numbers within a block have sixteen bits
_PER_BLOCK = 8  # average entries of a block that make its overhead small


@dataclass(frozen=True)
class CodedEntries:
    """Cuts of some neighbouring columns, and the codes of their stored entries.

    Attributes
    ----------
    cuts : Cuts
    n_bins : (d,) int array
    codes : (stored,) int array
        Codes of the stored entries, column by column.
    zero : (d,) int array
        Code of the value 0 of all other rows; -1 if the column stores all rows.
    """

    cuts: Cuts
    n_bins: Ints
    codes: Ints
    zero: Ints


def code_entries(X: Numbers, weight: Array | None, max_bins: int | None) -> list[CodedEntries]:
    """Cut and code the columns of a canonical csc_array X (m, d); weight None is all ones."""
    most = X.shape[0] if max_bins is None else max_bins
    return [_code_columns(X[:, block], weight, most) for block in column_blocks(X)]


def column_blocks(X: Numbers) -> list[slice]:
    """Return slices of the columns of X with at most `_CUT_COLUMNS` entries, or one column."""
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
    below: Ints = np.cumsum(is_cut) - is_cut  # cuts below every value, previous columns included
    code: Ints = below - below[values.first[values.owner]]
    counts = np.bincount(values.owner[is_cut], minlength=X.shape[1]).astype(np.int32)
    missing = np.bincount(owner[gone], minlength=X.shape[1]) > 0
    n_bins = counts + 1 + missing
    centre = np.zeros(X.shape[1], dtype=np.int64)
    centre[values.present] = code[values.median()[values.present]]
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
    """Distinct values of some columns, ascending, one column after the other.

    Attributes
    ----------
    owner, value, mass : (all,) arrays
        Column of the value, the value, and the weight of its rows.
    n, first : (d,) int arrays
        Number of values of every column, and the position of the first one.
    group : (stored + unstored,) int array
        Position of the value of every stored entry that is not missing, followed by the position
        of 0 for every column that does not store all rows.
    """

    owner: Ints
    value: Array
    mass: Array
    n: Ints
    first: Ints
    group: Ints

    @property
    def present(self) -> Bools:
        """Which columns have a value that is not missing, (d,)."""
        return self.n > 0

    def cuts(self, max_bins: int) -> Bools:
        """Return which values are followed by a threshold, (all,)."""
        is_cut = np.ones(self.value.size, dtype=bool)
        is_cut[(self.first + self.n - 1)[self.present]] = False
        for f in np.flatnonzero(self.n > max_bins).tolist():
            own = slice(self.first[f], self.first[f] + self.n[f])
            is_cut[own] = False
            is_cut[self.first[f] + quantile_cuts(np.cumsum(self.mass[own]), max_bins)] = True
        return is_cut

    def median(self) -> Ints:
        """Return the position of the weighted median of every column that has a value, (d,)."""
        # The sums run over many columns: the wider type, if available, keeps the slack for ties.
        up_to = np.append(0.0, np.cumsum(self.mass, dtype=np.longdouble))
        base = up_to[self.first]
        middle = 0.5 * (up_to[self.first + self.n] - base) * (1.0 - 1e-12)
        below = up_to[1:] - base[self.owner] < middle[self.owner]
        return self.first + np.bincount(self.owner[below], minlength=self.n.size)


def _distinct(X: Numbers, owner: Ints, gone: Bools, weight: Array | None) -> _Distinct:
    (m, d), stored = X.shape, np.diff(X.indptr)
    mass = np.ones(owner.size) if weight is None else weight[X.indices]
    total = float(m) if weight is None else float(weight.sum())
    rest = np.maximum(total - np.bincount(owner, mass, d), 0.0)
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
    return _Distinct(
        owner=column[new], value=value[new], mass=sums, n=n, first=np.cumsum(n) - n, group=group
    )


@dataclass(frozen=True)
class Entries:
    """Codes that differ from the most common one of their feature, by feature and then by row.

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


def join_entries(parts: list[Entries]) -> Entries:
    """Return the entries of consecutive groups of features as one record."""
    return Entries(
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.code for part in parts]),
    )


def store_codes(X: Numbers, coded: list[CodedEntries]) -> tuple[Ints, SparseCodes | None]:
    """Return dense codes (n, m) of the columns that need them, and the lists of the others.

    The constant classifier follows the columns. It has a list if a column that varies has one.
    """
    d, n_bins = X.shape[1], np.concatenate([part.n_bins for part in coded])
    columns = [
        _Columns(X[:, block], block.start, part)
        for block, part in zip(column_blocks(X), coded, strict=True)
    ]
    common = np.append(np.concatenate([some.most_common() for some in columns]), 1)
    if not (common[:-1][n_bins > 1] >= 0).any():
        common[-1] = -1
    codes = np.ones(
        (int((common < 0).sum()), X.shape[0]), dtype=code_dtype(int(n_bins.max(initial=2)))
    )
    places = np.where(common < 0, np.cumsum(common < 0) - 1, -1)
    for some in columns:
        for f in np.flatnonzero(common[some.own] < 0).tolist():
            codes[places[some.first + f]] = some.row(f)
    if codes.shape[0] == d + 1:
        return codes, None
    entries = join_entries([some.entries(common[some.own]) for some in columns])
    entries = Entries(entries.feature, entries.row, entries.code.astype(codes.dtype, copy=False))
    return codes, make_sparse_codes(entries, X.shape[0], common, places)


class _Columns:
    """Neighbouring columns of a sparse matrix with their codes; `first` is the first column."""

    def __init__(self, X: Numbers, first: int, coded: CodedEntries) -> None:
        self.first, self.own = first, slice(first, first + X.shape[1])
        self._X, self._coded = X, coded
        self._owner = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))

    def most_common(self) -> Ints:
        """Return the most common code of every column, -1 if too few rows have it, (d,)."""
        m, n_bins, zero = self._X.shape[0], self._coded.n_bins, self._coded.zero
        base, all_bins = np.cumsum(n_bins) - n_bins, int(n_bins.sum())
        counts = np.bincount(base[self._owner] + self._coded.codes, minlength=all_bins)
        unstored = zero >= 0
        counts[(base + zero)[unstored]] += m - np.diff(self._X.indptr)[unstored]
        most = np.maximum.reduceat(counts, base)
        code = np.arange(all_bins) - np.repeat(base, n_bins)
        commonest = np.where(counts == np.repeat(most, n_bins), code, -1)
        is_sparse = m - most <= int(MAX_SPARSE_SHARE * m)
        return np.where(is_sparse, np.maximum.reduceat(commonest, base), -1)

    def row(self, f: int) -> Ints:
        """Return the codes of all rows of a column, (m,)."""
        own = slice(self._X.indptr[f], self._X.indptr[f + 1])
        codes = np.full(self._X.shape[0], max(int(self._coded.zero[f]), 0))
        codes[self._X.indices[own]] = self._coded.codes[own]
        return codes

    def entries(self, common: Ints) -> Entries:
        """Return the rows without the most common code (d,), of the columns that have one."""
        codes, zero = self._coded.codes, self._coded.zero
        plain = (common >= 0) & (common == zero)
        kept = plain[self._owner] & (codes != common[self._owner])
        parts = [Entries(self.first + self._owner[kept], self._X.indices[kept], codes[kept])]
        for f in np.flatnonzero((common >= 0) & ~plain).tolist():
            row = self.row(f)
            others = np.flatnonzero(row != common[f])
            parts.append(Entries(np.full(others.size, self.first + f), others, row[others]))
        found = join_entries(parts)
        return found if len(parts) == 1 else found.take(np.argsort(found.feature, kind="stable"))


def make_sparse_codes(entries: Entries, m: int, common: Ints, places: Ints) -> SparseCodes:
    """Return the lists of features over m rows.

    `common` (d,) are the most common codes, -1 for a feature without a list; `places` (d,) are
    the rows of the features in the matrix of codes.
    """
    d, block = common.size, _block_rows(entries.row.size, common.size, m)
    blocks = -(-m // block)
    starts = np.zeros(d * blocks + 1, dtype=np.int64)
    own = entries.feature.astype(np.int64) * blocks + entries.row // block
    np.cumsum(np.bincount(own, minlength=d * blocks), out=starts[1:])
    rows = (entries.row % block).astype(np.uint16)
    return SparseCodes(
        common.astype(np.int32), starts, rows, entries.code, places.astype(np.int32), block
    )


def _block_rows(n_entries: int, features: int, m: int) -> int:
    """Return the rows per block, so that a block has at least `_PER_BLOCK` entries on average."""
    block = SPARSE_BLOCK_ROWS
    while block < min(m, _WIDEST) and features * -(-m // block) * _PER_BLOCK > n_entries:
        block *= 2
    return block


def take_rows(sparse: SparseCodes, m: int, rows: Ints, new_codes: dict[int, Ints]) -> SparseCodes:
    """Return the lists of some of the m rows, ascending; features in `new_codes` change codes.

    The new code of code c of feature f is new_codes[f][c].
    """
    where = np.full(m, -1, dtype=np.int64)
    where[rows] = np.arange(rows.size)
    common = sparse.most_common.copy()
    for f, codes in new_codes.items():
        common[f] = codes[common[f]] if common[f] >= 0 else -1
    parts = [
        _recode(part.take(where[part.row] >= 0), common, new_codes)
        for part in _groups_of_features(sparse, m)
    ]
    kept = join_entries(parts)
    kept = Entries(kept.feature, where[kept.row], kept.code)
    assert sparse.places is not None
    return make_sparse_codes(kept, rows.size, common, sparse.places)


def _recode(entries: Entries, common: Ints, new_codes: dict[int, Ints]) -> Entries:
    """Return entries with new codes, without those that now have the most common code."""
    code = entries.code.copy()
    for f in np.intersect1d(entries.feature, list(new_codes)).tolist():
        own = slice(*np.searchsorted(entries.feature, [f, f + 1]))
        code[own] = new_codes[f][code[own]]
    return Entries(entries.feature, entries.row, code).take(code != common[entries.feature])


def _groups_of_features(sparse: SparseCodes, m: int) -> Iterator[Entries]:
    """Yield all entries, some features at a time."""
    blocks = -(-m // sparse.block)
    step = max(_LIST_ENTRIES * sparse.most_common.size // max(sparse.rows.size, 1), 1)
    for first in range(0, sparse.most_common.size, step):
        starts = sparse.starts[first * blocks : (first + step) * blocks + 1]
        own = slice(starts[0], starts[-1])
        place = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        feature, block = np.divmod(place, blocks)
        row = block * sparse.block + sparse.rows[own]
        yield Entries(first + feature, row, sparse.codes[own])
