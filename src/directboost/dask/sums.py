"""Sums over the rows of shards, and how those of several shards become one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array

FAN_IN = 8  # sums that are added up at once


@dataclass(frozen=True)
class Sums:
    """What the rows of one or more shards add up to.

    A loss that is the logarithm of a sum over all rows is `coupled`: its values v join as
    log(e^v1 + e^v2), and what is divided by the sum of the own rows only joins with the weights
    e^(v1 - v) and e^(v2 - v).

    Attributes
    ----------
    values : (s,) array
        Losses; the arrays of a coupled loss belong to the first.
    arrays : arrays
    coupled : bool
    """

    values: Array
    arrays: tuple[Array, ...] = ()
    coupled: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.values.nbytes + sum(array.nbytes for array in self.arrays)


def add_up(parts: Sequence[Sums]) -> Sums:
    """Return the sums of several shards, in their order: the result depends on nothing else."""
    first, coupled = parts[0], parts[0].coupled
    if len(parts) == 1:
        return first
    values = first.values
    for part in parts[1:]:
        values = np.logaddexp(values, part.values) if coupled else values + part.values
    weights = [float(np.exp(part.values[0] - values[0])) if coupled else 1.0 for part in parts]
    arrays = [first_array * weights[0] for first_array in first.arrays]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        for place, array in enumerate(part.arrays):
            arrays[place] += array if weight == 1.0 else weight * array
    return Sums(np.asarray(values), tuple(arrays), coupled)


def add_up_all(parts: Sequence[Sums]) -> Sums:
    """Return the sums of all shards, added up in the order of the tree over them."""
    level = list(parts)
    while len(level) > 1:
        level = [add_up(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    return level[0]
