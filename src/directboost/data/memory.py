"""A look ahead at memory, so that a fit refuses instead of dying."""

import os

#: Share of the rows up to which a feature gets a list of those without its commonest code: longer
#: lists save little time and cost more memory than the codes.
MOST_LISTED = 0.4

_UNITS = {"": 1, "B": 1, "K": 2**10, "KB": 2**10, "M": 2**20, "MB": 2**20, "G": 2**30, "GB": 2**30}


def memory_limit() -> float:
    """Return the limit in bytes: DIRECTBOOST_MEMORY_LIMIT, or 80 % of the free memory."""
    named = os.environ.get("DIRECTBOOST_MEMORY_LIMIT", "").strip()
    if named:
        return parse_bytes(named)
    try:
        return 0.8 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def parse_bytes(text: str) -> float:
    """Read a size such as '2GB', '500 MB' or '1e9'."""
    number = text.rstrip("bBkKmMgG ")
    unit = text[len(number) :].strip().upper()
    try:
        size = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        size = -1.0
    if not size >= 0.0:
        raise ValueError(
            f"DIRECTBOOST_MEMORY_LIMIT={text!r} is not a size; write it like 2GB, 500MB or 1e9"
        )
    return size


#: Bytes that binning needs for a stored entry, besides its codes, and for a feature.
_ENTRY, _FEATURE = 56, 300


def check_memory(
    rows: int, features: int, k: int, code_bytes: int, dense: bool, stored: int | None = None
) -> None:
    """Refuse a fit whose arrays would not fit.

    Counted are the codes, lists of the rows without the commonest code for all features, about
    eight matrices (rows, k) of doubles, the histograms of a group of features and, for masters on
    single columns, a matrix of 128 of them. Of a sparse matrix so many `stored` entries have codes,
    twice, and columns that are nearly full a row of them.
    """
    bins = min(rows, 256 ** min(code_bytes, 2))
    need = 8 * 8 * rows * k + 8 * 8 * bins * k
    if stored is None:
        need += rows * (features + 1) * code_bytes
        need += int(MOST_LISTED * rows) * features * (code_bytes + 2)
    else:
        need += stored * (_ENTRY + int(2 * code_bytes + code_bytes / MOST_LISTED))
        need += features * _FEATURE
    need += 8 * 128 * rows if dense else 0
    limit = memory_limit()
    if need > limit:
        raise MemoryError(
            f"the fit needs about {need / 2**20:.3g} MB for {rows} rows, {features} features and "
            f"{k} classes, the limit is {limit / 2**20:.3g} MB: use fewer rows, a smaller "
            "max_bins, or set DIRECTBOOST_MEMORY_LIMIT"
        )
