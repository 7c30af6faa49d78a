"""A small picture of the scores along a path, in characters."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Ints

_POINT, _CHOSEN = "•", "◆"
_LABEL = 7  # characters before the axis
_TICK = 10  # characters between two numbers below the axis, at least


def curve(
    features: Sequence[int], scores: Sequence[float], chosen: int, width: int = 60, height: int = 8
) -> list[str]:
    """Return the lines of a picture: scores upwards, the points of the path to the right.

    Below stand the numbers of features. An empty model is left out, since its score would press
    all others together.

    Parameters
    ----------
    features, scores : sequences of n numbers
    chosen : int
        The point to mark.
    width, height : int
        Characters of the field, without the labels.
    """
    used, y = np.asarray(features), np.asarray(scores, dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(y) & ((used > 0) | (used.max() == 0)))
    if shown.size == 0:
        return []
    used, y = used[shown], y[shown]
    columns = _places(np.arange(shown.size, dtype=np.float64), width)
    marks = np.where(shown == chosen, _CHOSEN, _POINT)
    field = _field(columns, height - 1 - _places(y, height), marks, (height, width))
    labels = [f"{y.max():.3f}", *[""] * (height - 2), f"{y.min():.3f}"]
    lines = [f"{label:>{_LABEL - 1}} │{row}" for label, row in zip(labels, field, strict=True)]
    axis = " " * _LABEL + "└" + "─" * width
    return [*(line.rstrip() for line in lines), axis, _ticks(columns, used, width)]


def _field(columns: Ints, rows: Ints, marks: Any, shape: tuple[int, int]) -> list[str]:
    field = np.full(shape, " ")
    field[rows, columns] = marks
    return ["".join(row) for row in field]


def _ticks(columns: Ints, used: Ints, width: int) -> str:
    """Return the line with the numbers of features, as many as have room."""
    line, free = [" "] * (width + _LABEL + 10), 0
    for column, number in zip(columns.tolist(), used.tolist(), strict=True):
        if column >= free:
            text = str(number)
            line[_LABEL + 1 + column : _LABEL + 1 + column + len(text)] = text
            free = column + _TICK
    return "".join(line).rstrip() + " features"


def _places(values: Array, size: int) -> Ints:
    """Return which of `size` characters every value falls on, from the least to the largest."""
    low, high = values.min(), values.max()
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return (share * (size - 1)).round().astype(np.intp)
