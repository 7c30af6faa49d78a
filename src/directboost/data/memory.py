"""Estimate of the memory of a fit, checked against a limit before the fit starts."""

import math
import os

#: Largest share of rows without the most common code for which a feature is stored sparsely, as a
#: list of those rows. Longer lists save little time and need more memory than the codes.
MAX_SPARSE_SHARE = 0.4

#: Bytes that binning needs per stored entry, in addition to its codes, and per feature.
_ENTRY, _FEATURE = 56, 300
_UNITS = {"": 1, "B": 1, "K": 2**10, "KB": 2**10, "M": 2**20, "MB": 2**20, "G": 2**30, "GB": 2**30}


def parse_bytes(text: str) -> float:
    """Return a size such as '2GB', '500 MB' or '1e9' in bytes."""
    number = text.rstrip("bBkKmMgG ")
    unit = text[len(number) :].strip().upper()
    try:
        size = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        size = -1.0
    if not size >= 0.0:
        raise ValueError(
            f"DIRECTBOOST_MEMORY_LIMIT={text!r} is invalid: expected a size such as 2GB, 500MB or "
            "1e9"
        )
    return size


def check_memory(
    rows: int, features: int, k: int, code_bytes: int, dense: bool, stored: int | None = None
) -> None:
    """Raise MemoryError if the arrays of a fit would exceed the memory limit.

    The limit is DIRECTBOOST_MEMORY_LIMIT, or 80 % of the free memory where that is known.
    The estimate counts the codes, a list of the rows without the most common code for every
    feature, about eight matrices (rows, k) of doubles, the histograms of a group of features and,
    if `dense`, for solvers on single columns, a matrix of 128 columns. A sparse matrix with
    `stored` entries has two codes per entry, and nearly full columns have a dense row of codes.
    """
    bins = min(rows, 256 ** min(code_bytes, 2))
    need = 8 * 8 * rows * k + 8 * 8 * bins * k
    if stored is None:
        need += rows * (features + 1) * code_bytes
        need += int(MAX_SPARSE_SHARE * rows) * features * (code_bytes + 2)
    else:
        need += stored * (_ENTRY + int(2 * code_bytes + code_bytes / MAX_SPARSE_SHARE))
        need += features * _FEATURE
    need += 8 * 128 * rows if dense else 0
    named = os.environ.get("DIRECTBOOST_MEMORY_LIMIT", "").strip()
    try:
        free: float = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        free = math.inf
    limit = parse_bytes(named) if named else 0.8 * free
    if need > limit:
        raise MemoryError(
            f"the fit needs about {need / 2**20:.3g} MB for {rows} rows, {features} features and "
            f"{k} classes, but the limit is {limit / 2**20:.3g} MB: use fewer rows or a smaller "
            "max_bins, or set DIRECTBOOST_MEMORY_LIMIT"
        )
