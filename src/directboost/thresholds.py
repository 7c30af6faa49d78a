"""Where a threshold lies between two values, and how large codes are."""

from typing import Any

import numpy as np

from .arrays import Array, Ints


def between(low: Array, high: Array) -> Array:
    """Return t with low <= t < high: the midpoint, or `low` where rounding forbids it."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def split(joined: Array, counts: Ints) -> list[Array]:
    """Return the parts of so many numbers that lie one after the other."""
    ends = np.cumsum(counts).tolist()
    return [joined[end - n : end] for n, end in zip(counts.tolist(), ends, strict=True)]


def code_type(bins: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type for the codes of so many bins."""
    if bins <= 1 << 8:
        return np.uint8
    return np.uint16 if bins <= 1 << 16 else np.uint32
