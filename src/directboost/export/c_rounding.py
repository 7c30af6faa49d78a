"""Thresholds in the numbers that a device compares, and scores in the numbers it adds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints, Scores

_INT16 = 2**15 - 2  # differences of rounded numbers may be one larger than their own rounding
_INT32 = 2**30  # of the steps that a sum may reach


@dataclass(frozen=True)
class Precision:
    """The numbers of an exported model: of features, of table entries and of scores."""

    value: type[Any]
    entry: type[Any]
    score: type[Any]

    @property
    def is_whole(self) -> bool:
        """Whether scores are counted in steps."""
        return issubclass(self.score, np.integer)

    @property
    def roundoff(self) -> float:
        """The largest relative error of one addition."""
        return 0.0 if self.is_whole else float(np.finfo(self.score).eps) / 2.0


PRECISIONS = {
    "float32": Precision(np.float32, np.float32, np.float32),
    "float64": Precision(np.float64, np.float64, np.float64),
    "int16": Precision(np.float32, np.int16, np.int32),
}


def rounded_down(thresholds: Array, kind: type[Any]) -> Scores:
    """Return the largest number of a type that is not above, for each threshold.

    A number x of that type is above the threshold where it is above the result: x > t if and only
    if x > rounded_down(t). -inf is what all numbers are above.
    """
    with np.errstate(over="ignore"):
        near: Scores = thresholds.astype(kind)
    above = near.astype(np.float64) > thresholds
    down = np.where(above, np.nextafter(near, kind(-np.inf)), near)
    return np.asarray(np.minimum(down, np.finfo(kind).max), dtype=kind)


def count_lost(features: Ints, thresholds: Array, kind: type[Any]) -> int:
    """Return how many thresholds become the same as another one of their feature."""
    finite = np.isfinite(thresholds)
    pairs = np.column_stack([features[finite].astype(np.float64), thresholds[finite]])
    rounded = pairs.copy()
    rounded[:, 1] = rounded_down(pairs[:, 1], kind)
    return len(np.unique(pairs, axis=0)) - len(np.unique(rounded, axis=0))


def step_of(precision: Precision, top: float, reach: float) -> float:
    """Return the score of one step: the smallest that lets entries and sums of them fit.

    Parameters
    ----------
    top : float
        The largest entry of a table, of either sign.
    reach : float
        The largest sum of entries.
    """
    if not precision.is_whole:
        return 1.0
    step = max(top / _INT16, reach / _INT32)
    return step if step > 0.0 else 1.0


def in_steps(values: Array, step: float, kind: type[Any]) -> npt.NDArray[np.number]:
    """Return scores as a table holds them: in whole steps, or as they are."""
    if issubclass(kind, np.integer):
        values = np.rint(values / step)
    return np.asarray(values.astype(kind))
