"""Lists of codes that were never a matrix: made of entries, and parted by rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .arrays import Bools, Ints
from .kernels.structs import LIST_ROWS, SparseCodes

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


def lists_of(entries: Entries, m: int, usual: Ints, places: Ints) -> SparseCodes:
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
    block = LIST_ROWS
    while block < min(m, _WIDEST) and features * -(-m // block) * _PER_BLOCK > listed:
        block *= 2
    return block


def take_rows(sparse: SparseCodes, m: int, rows: Ints, new_codes: dict[int, Ints]) -> SparseCodes:
    """Return the lists of some of the m rows, ascending; features in `new_codes` change codes.

    The new code of code c of feature f is new_codes[f][c].
    """
    where = np.full(m, -1, dtype=np.int64)
    where[rows] = np.arange(rows.size)
    usual = sparse.usual.copy()
    for f, codes in new_codes.items():
        usual[f] = codes[usual[f]] if usual[f] >= 0 else -1
    parts = [
        _changed(part.take(where[part.row] >= 0), usual, new_codes) for part in _parts(sparse, m)
    ]
    kept = joined(parts)
    kept = Entries(kept.feature, where[kept.row], kept.code)
    assert sparse.places is not None
    return lists_of(kept, rows.size, usual, sparse.places)


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
    step = max(_SOME * sparse.usual.size // max(sparse.rows.size, 1), 1)
    for first in range(0, sparse.usual.size, step):
        starts = sparse.starts[first * blocks : (first + step) * blocks + 1]
        own = slice(starts[0], starts[-1])
        place = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        feature, block = np.divmod(place, blocks)
        row = block * sparse.block + sparse.rows[own]
        yield Entries(first + feature, row, sparse.codes[own])
