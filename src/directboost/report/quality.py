"""How well a model does on some rows: errors, the classes one by one, and their mix-ups."""

from typing import Any

import numpy as np

from ..arrays import Bools
from .packing import WHOLE, Room, finite
from .rows import JudgedRows

_MOST_CELLS = 20_000  # of the confusion matrix that the page holds
_BINS = 10  # of probabilities


def quality(rows: JudgedRows, several: bool, room: Room = WHOLE) -> dict[str, Any]:
    """Return all that the page says of the answers to some rows."""
    m = rows.has.shape[0]
    return {
        "rows": m,
        "wrong": int(rows.wrong.sum()),
        "commonestWrong": None if several else m - int(rows.has.sum(axis=0).max()),
        "labelError": float(np.mean(rows.has != rows.says)) if several else None,
        "logLoss": finite(_log_loss(rows, several)),
        "byClass": by_class(rows.has, rows.says),
        "confusion": None if several else confusion(rows.has, rows.says, room),
        "reliability": reliability(rows, several),
    }


def by_class(has: Bools, says: Bools) -> list[dict[str, Any]]:
    """Return counts, precision, recall and F1 of every class; None where nothing is divided."""
    counts = has.sum(axis=0), says.sum(axis=0), (has & says).sum(axis=0)
    return [
        {
            "rows": rows,
            "answers": answers,
            "right": right,
            "precision": _share(right, answers),
            "recall": _share(right, rows),
            "f1": _share(2 * right, rows + answers),
        }
        for rows, answers, right in zip(*(count.tolist() for count in counts), strict=True)
    ]


def confusion(has: Bools, says: Bools, room: Room = WHOLE) -> dict[str, Any]:
    """Return [class, answer, count] of all pairs that occur, the commonest first."""
    k = has.shape[1]
    pairs, counts = np.unique(has.argmax(axis=1) * k + says.argmax(axis=1), return_counts=True)
    order = np.argsort(-counts, kind="stable")[: room.of(_MOST_CELLS)]
    cells = np.column_stack([pairs // k, pairs % k, counts])[order]
    return {"cells": cells.tolist(), "leftOut": int(pairs.size - order.size)}


def reliability(rows: JudgedRows, several: bool) -> list[list[float]]:
    """Return [mean probability of the answer, share that is right, count] of every filled bin."""
    sure = np.maximum(rows.P, 1.0 - rows.P).ravel() if several else rows.P.max(axis=1)
    right = (rows.has == rows.says).ravel() if several else ~rows.wrong
    place = np.minimum((sure * _BINS).astype(np.intp), _BINS - 1)
    return [
        [float(sure[own].mean()), float(right[own].mean()), int(own.sum())]
        for own in (place == number for number in np.unique(place))
    ]


def _log_loss(rows: JudgedRows, several: bool) -> float:
    """Return the mean of -ln of the probability of what a row is; labels of a row are summed."""
    tiny = float(np.finfo(np.float64).tiny)
    told = np.where(rows.has, rows.P, 1.0 - rows.P) if several else rows.P[rows.has][:, None]
    return float(-np.log(np.maximum(told, tiny)).sum(axis=1).mean())


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
