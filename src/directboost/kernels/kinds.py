"""Kinds of features: what their codes are, and what the jumps on them answer."""

import numpy as np

from ..arrays import Array, Bools, Ints

#: The codes are in order; they are but for the last one, the missing value; or they have no order.
ORDERED, GAPS, LEVELS = 0, 1, 2


def n_jumps(n_bins: int, kind: int) -> int:
    """Return the number of jumps of a feature with so many bins."""
    if n_bins < 2:
        return 0
    if kind == LEVELS:
        return n_bins
    return n_bins - 1 + (n_bins - 2 if kind == GAPS else 0)


def count_jumps(n_bins: Ints, kinds: Ints) -> Ints:
    """Return `n_jumps` of many features, (n,)."""
    pairs = zip(n_bins.tolist(), kinds.tolist(), strict=True)
    return np.array([n_jumps(bins, kind) for bins, kind in pairs], dtype=np.int64)


def side(n_bins: int, kind: int, jump: int) -> Bools:
    """Return to which codes a jump answers +1, (n_bins,); it answers -1 to the others.

    Jump j < n_bins - 1 of codes in order answers +1 to codes > j. With a missing code, which is
    the last, jump n_bins - 1 + b answers +1 to present codes > b. Without an order jump j
    answers -1 to code j alone.
    """
    codes, last = np.arange(n_bins), n_bins - 1
    if kind == LEVELS:
        return np.asarray(codes != jump)
    return np.asarray(codes > jump if jump < last else (codes > jump - last) & (codes < last))


def answers(n_bins: int, kind: int) -> Array:
    """Return what every jump answers to every code, +1 or -1, (n_jumps, n_bins)."""
    sides = [side(n_bins, kind, jump) for jump in range(n_jumps(n_bins, kind))]
    return np.where(np.array(sides).reshape(-1, n_bins), 1.0, -1.0)
