"""NumPy twin of the kernel that lists the rows without the commonest code."""

import numpy as np

from ..arrays import Ints
from .work import LIST_ROWS, SparseCodes, Team


def list_codes(codes: Ints, most: int, team: Team | None = None) -> SparseCodes:
    """List the rows without the commonest code, for features with at most `most` of them.

    `most` is well below half the rows: the compiled kernel finds the commonest code by a vote.
    """
    usual = np.array([_commonest(row, most) for row in codes], dtype=np.int32)
    listed = [
        np.flatnonzero(row != code) if code >= 0 else np.empty(0, dtype=np.intp)
        for row, code in zip(codes, usual, strict=True)
    ]
    blocks = -(-codes.shape[1] // LIST_ROWS)
    counts = [np.bincount(rows // LIST_ROWS, minlength=blocks) for rows in listed]
    places = [(rows % LIST_ROWS).astype(np.uint16) for rows in listed]
    others = [row[rows] for row, rows in zip(codes, listed, strict=True)]
    return SparseCodes(
        usual,
        np.cumsum(np.concatenate([[0], *counts]), dtype=np.int64),
        np.concatenate([np.empty(0, dtype=np.uint16), *places]),
        np.concatenate([np.empty(0, dtype=codes.dtype), *others]),
    )


def _commonest(row: Ints, most: int) -> int:
    """Return the commonest code, or -1 where more than `most` rows have another one."""
    counts = np.bincount(row, minlength=1)
    return int(counts.argmax()) if row.size - int(counts.max()) <= most else -1
