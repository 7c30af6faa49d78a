"""Codes of a sparse matrix: lists for most columns, and rows of codes for the others.

A column becomes a row of codes only where so much of it is stored that a list would not be shorter,
so that work and memory grow with the stored entries.
"""

import numpy as np

from .arrays import Ints, Numbers
from .code_lists import Entries, joined, lists_of
from .kernels.structs import SparseCodes, code_type
from .memory import MOST_LISTED
from .sparse_cuts import CodedEntries, column_blocks


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
        (int((usual < 0).sum()), X.shape[0]), dtype=code_type(int(n_bins.max(initial=2)))
    )
    places = np.where(usual < 0, np.cumsum(usual < 0) - 1, -1)
    for some in columns:
        for f in np.flatnonzero(usual[some.own] < 0).tolist():
            codes[places[some.first + f]] = some.row(f)
    if codes.shape[0] == d + 1:
        return codes, None
    entries = joined([some.entries(usual[some.own]) for some in columns])
    entries = Entries(entries.feature, entries.row, entries.code.astype(codes.dtype, copy=False))
    return codes, lists_of(entries, X.shape[0], usual, places)


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
