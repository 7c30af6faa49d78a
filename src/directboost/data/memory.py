"""Estimate of the memory of a fit, checked against a limit before the fit starts."""

import math
import os
from dataclasses import dataclass, replace

#: Largest share of rows without the most common code for which a feature is stored sparsely, as a
#: list of those rows. Longer lists save little time and need more memory than the codes.
MAX_SPARSE_SHARE = 0.4

#: Bytes that binning needs per stored entry, in addition to its codes, and per feature.
_ENTRY, _FEATURE = 56, 300
#: Of pairs: bytes of the price, thresholds, polarity and cost of one, the classes that coefficients
#: are padded to, the features whose codes a thread copies, and the products of a large fit.
_PAIR, _LANES, _PARTNERS, _PRODUCTS = 40, 8, 64, 2000
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


@dataclass(frozen=True)
class FitSize:
    """What the memory of a fit depends on.

    Attributes
    ----------
    rows, features, k : int
        Size of X, and number of classes.
    code_bytes : int
        Bytes of a code.
    dense : bool
        Whether the solver works on single columns.
    stored : int or None
        Number of stored entries of a sparse matrix.
    pair_features, pairs : int
        Number of features that enter pairs, and of their pairs.
    threads : int
        Threads of the fit.
    """

    rows: int
    features: int
    k: int
    code_bytes: int = 1
    dense: bool = False
    stored: int | None = None
    pair_features: int = 0
    pairs: int = 0
    threads: int = 1

    def bytes(self) -> int:
        """Return an estimate of the memory of the fit.

        It counts the codes, a list of the rows without the most common code for every feature,
        about eight matrices (rows, k) of doubles, the histograms of a group of features and, if
        `dense`, a matrix of 128 columns. A sparse matrix has two codes per stored entry, and nearly
        full columns have a dense row of codes.

        Pairs have codes of their own, the results of pricing, and one byte per row for each of
        2000 products. Every thread has a copy of the coefficients, padded to eight classes, and
        of the codes of 64 features.
        """
        bins = min(self.rows, 256 if self.code_bytes == 1 else 2**16)
        need = 8 * 8 * self.rows * self.k + 8 * 8 * bins * self.k
        if self.stored is None:
            need += self.rows * (self.features + 1) * self.code_bytes
            need += int(MAX_SPARSE_SHARE * self.rows) * self.features * (self.code_bytes + 2)
        else:
            need += self.stored * (
                _ENTRY + int(2 * self.code_bytes + self.code_bytes / MAX_SPARSE_SHARE)
            )
            need += self.features * _FEATURE
        need += 8 * 128 * self.rows if self.dense else 0
        if not self.pairs:
            return need
        padded = -(-self.k // _LANES) * _LANES
        need += self.rows * (self.pair_features + _PRODUCTS) + _PAIR * self.pairs
        return need + self.threads * self.rows * (8 * padded + _PARTNERS)


def check_memory(size: FitSize) -> None:
    """Raise MemoryError if a fit would exceed the memory limit.

    The limit is DIRECTBOOST_MEMORY_LIMIT, or 80 % of the free memory where that is known.
    """
    named = os.environ.get("DIRECTBOOST_MEMORY_LIMIT", "").strip()
    try:
        free: float = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        free = math.inf
    limit, need = parse_bytes(named) if named else 0.8 * free, size.bytes()
    if need <= limit:
        return
    shape, remedy = f"{size.features} features", "use fewer rows or a smaller max_bins"
    if size.pairs:
        shape += f", {size.pairs} pairs"
        most = _most_pair_features(size, limit)
        remedy = (
            f"use fewer rows, or the pairs of fewer features: interactions={most} is the largest "
            "number within the limit"
            if most
            else "use fewer rows, or interactions=0, since the limit leaves no memory for pairs"
        )
    raise MemoryError(
        f"the fit needs about {need / 2**20:.3g} MB for {size.rows} rows, {shape} and "
        f"{size.k} classes, but the limit is {limit / 2**20:.3g} MB: {remedy}, or set "
        "DIRECTBOOST_MEMORY_LIMIT"
    )


def _most_pair_features(size: FitSize, limit: float) -> int:
    """Return the largest number of features with pairs within the limit, 0 if there is none."""
    low, high = 1, size.pair_features
    while high - low > 1:
        middle = (low + high) // 2
        fewer = replace(size, pair_features=middle, pairs=middle * (middle - 1) // 2)
        low, high = (middle, high) if fewer.bytes() <= limit else (low, middle)
    return low if low > 1 else 0
