"""How well a model does on some rows: errors, the classes one by one, and their mix-ups."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, Bools, Ints, Numbers, column
from ...data.frames import check_not_lazy, one_array
from ...model.names import has_several_labels
from ...plotting.base import class_codes, label_signs
from .model_data import WHOLE, SizeLimit, finite, has_tables, packed


@dataclass(frozen=True)
class JudgedRows:
    """Rows with their classes, or labels, and those the model gives them.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
        As the model reads it: categories are numbers.
    F, P : (m, k) arrays
        Scores and probabilities.
    has, says : (m, k) bool arrays
        Which classes a row has, and which the model says it has.
    """

    X: Numbers
    F: Array
    P: Array
    has: Bools
    says: Bools

    @property
    def wrong(self) -> Bools:
        """Rows that the model gets wrong, (m,)."""
        return np.asarray((self.has != self.says).any(axis=1))


def judge(model: Any, X: Any, y: Any) -> JudgedRows:
    """Let a model answer for the rows of X (m, d), and compare with y; refuse unknown classes."""
    numbers = model._checked(X)
    check_not_lazy("y", y)
    F = model._scores(numbers, model.ensemble_)
    several = has_several_labels(model)
    has = label_signs(model, numbers, y) > 0 if several else _own(_codes(model, numbers, y), F)
    says = F > 0.0 if several else _own(F.argmax(axis=1), F)
    return JudgedRows(numbers, F, _probabilities(model, X), has, says)


def _codes(model: Any, X: Numbers, y: Any) -> Ints:
    values = one_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.shape[0] != X.shape[0]:
        raise ValueError(
            f"y has the shape {values.shape}, but X has {X.shape[0]} rows: give one class per row"
        )
    return class_codes(model, X, values)


def _own(codes: Ints, F: Array) -> Bools:
    """Return the matrix that is true at the class of every row, (m, k)."""
    return np.asarray(codes[:, None] == np.arange(F.shape[1]))


def _probabilities(model: Any, X: Any) -> Array:
    return np.asarray(model.predict_proba(X), dtype=np.float64)


_MOST_CELLS = 20_000  # of the confusion matrix that the page holds
_BINS = 10  # of probabilities


def quality(rows: JudgedRows, several: bool, room: SizeLimit = WHOLE) -> dict[str, Any]:
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


def confusion(has: Bools, says: Bools, room: SizeLimit = WHOLE) -> dict[str, Any]:
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


_MOST_ROWS = 300
_FEWEST_ROWS = 20
_MOST_NUMBERS = 50_000  # of one kind, rows times features or rows times classes
_SEED = 0


def sample_of(model: Any, shown: Ints, rows: JudgedRows, chosen: Ints) -> dict[str, Any]:
    """Return values, classes and answers of some rows, and what the page cannot take apart.

    The score of a class is its base plus what the shown features add. The base is the intercept,
    or by row where there are scores that no shown feature explains.
    """
    values = np.zeros((chosen.size, shown.size))
    for place, feature in enumerate(shown.tolist()):
        values[:, place] = column(rows.X, feature)[chosen]
    whole = has_tables(model) and shown.size == model.ensemble_.stump_features.size
    base = model.intercept_[None] if whole else _unexplained(model, shown, values, rows.F[chosen])
    return {
        "numbers": chosen.tolist(),
        "values": packed(values, "f8"),
        "base": packed(base, "f8"),
        "whole": whole,
        "has": _told(rows.has[chosen], has_several_labels(model)),
        "says": _told(rows.says[chosen], has_several_labels(model)),
        "wrong": rows.wrong[chosen].tolist(),
    }


def choose(wrong: Bools, width: int, room: SizeLimit = WHOLE) -> Ints:
    """Return places of rows, (n,): the wrong ones first, but at least half of them right if any.

    Fewer of them where a row has many numbers; always the same for the same rows. Those of a
    larger width are among those of a smaller one.
    """
    by_width = room.of(_MOST_NUMBERS) // max(width, 1)
    most = int(np.clip(by_width, room.of(_FEWEST_ROWS), room.of(_MOST_ROWS)))
    random = np.random.default_rng(_SEED)
    bad, good = (random.permutation(np.flatnonzero(own)) for own in (wrong, ~wrong))
    n_bad = min(bad.size, max(most // 2, most - good.size))
    chosen = np.sort(bad[:n_bad]), np.sort(good[: most - n_bad])
    return np.concatenate(chosen).astype(np.intp)


def _unexplained(model: Any, shown: Ints, values: Array, F: Array) -> Array:
    """Return the scores without what the shown features add, (n, k)."""
    places = np.searchsorted(model.ensemble_.stump_features, shown)
    base = F.copy()
    for x, place in zip(values.T, places.tolist(), strict=True):
        cuts, table = model.ensemble_.thresholds[place], model.ensemble_.tables[place]
        base -= table[np.where(np.isnan(x), cuts.size + 1, np.searchsorted(cuts, x))]
    return base


def _told(chosen: Bools, several: bool) -> list[Any]:
    """Return the class of every row, or the list of its labels."""
    if several:
        return [np.flatnonzero(row).tolist() for row in chosen]
    return [int(place) for place in chosen.argmax(axis=1)]
