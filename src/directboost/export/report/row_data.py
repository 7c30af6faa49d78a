"""Data of the report page about rows: predictions, quality by class, a sample of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, Bools, Ints, Numbers, column
from ...data.frames import check_not_lazy, one_array
from ...model.effects import PairEffect
from ...model.names import has_several_labels
from ...model.tables import codes_of
from ...plotting.base import class_codes, label_signs
from .model_data import FULL_SIZE, SizeLimit, finite, has_tables, packed

_MAX_CELLS = 20_000  # of the confusion matrix
_BINS = 10  # of predicted probabilities
_MAX_ROWS = 300
_MIN_ROWS = 20
_MAX_NUMBERS = 50_000  # rows times features, or rows times classes
_SEED = 0


@dataclass(frozen=True)
class EvaluatedRows:
    """Rows with their true and predicted classes or labels.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
        Encoded rows: categories are level indices.
    F, P : (m, k) arrays
        Scores and probabilities.
    actual, predicted : (m, k) bool arrays
        Which classes or labels a row has, and which the model predicts.
    """

    X: Numbers
    F: Array
    P: Array
    actual: Bools
    predicted: Bools

    @property
    def wrong(self) -> Bools:
        """Rows with wrong predictions, (m,)."""
        return np.asarray((self.actual != self.predicted).any(axis=1))


@dataclass(frozen=True)
class Sources:
    """Where the rows of the page come from.

    Attributes
    ----------
    rows : tuple of str
        What the page calls the rows of the model, singular and plural.
    tested : tuple of str
        What the page calls the rows that its quality is computed on.
    note : str
        Sentences about these rows.
    evaluated : EvaluatedRows or None
        These rows, if they are not those of the model.
    """

    rows: tuple[str, str] = ("row", "rows")
    tested: tuple[str, str] = ("row", "rows")
    note: str = ""
    evaluated: EvaluatedRows | None = None


def evaluate(model: Any, X: Any, y: Any) -> EvaluatedRows:
    """Predict the rows of X (m, d) and compare with y; unknown classes raise ValueError."""
    encoded = model._checked(X)
    check_not_lazy("y", y)
    F = model._scores(encoded, model.ensemble_)
    if has_several_labels(model):
        actual, predicted = label_signs(model, encoded, y) > 0, F > 0.0
    else:
        actual = _one_hot(_true_codes(model, encoded, y), F.shape[1])
        predicted = _one_hot(F.argmax(axis=1), F.shape[1])
    P = np.asarray(model.predict_proba(X), dtype=np.float64)
    return EvaluatedRows(X=encoded, F=F, P=P, actual=actual, predicted=predicted)


def _true_codes(model: Any, X: Numbers, y: Any) -> Ints:
    values = one_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.shape[0] != X.shape[0]:
        raise ValueError(
            f"y of shape {values.shape} is invalid: expected one class for each of the "
            f"{X.shape[0]} rows of X"
        )
    return class_codes(model, X, values)


def _one_hot(codes: Ints, k: int) -> Bools:
    return np.asarray(codes[:, None] == np.arange(k))


# --- Quality ---------------------------------------------------------------------------------


def quality(rows: EvaluatedRows, several: bool, limit: SizeLimit = FULL_SIZE) -> dict[str, Any]:
    """Return errors, log loss, scores by class, confusion matrix and calibration."""
    m, actual, predicted = rows.actual.shape[0], rows.actual, rows.predicted
    return {
        "rows": m,
        "wrong": int(rows.wrong.sum()),
        "mostCommonWrong": None if several else m - int(actual.sum(axis=0).max()),
        "labelError": float(np.mean(actual != predicted)) if several else None,
        "logLoss": finite(_log_loss(rows, several)),
        "byClass": by_class(actual, predicted),
        "confusion": None if several else confusion(actual, predicted, limit),
        "calibration": calibration(rows, several),
    }


def by_class(actual: Bools, predicted: Bools) -> list[dict[str, Any]]:
    """Return counts, precision, recall and F1 of every class; None where they are undefined."""
    counts = actual.sum(axis=0), predicted.sum(axis=0), (actual & predicted).sum(axis=0)
    return [
        {
            "rows": own,
            "predicted": given,
            "correct": correct,
            "precision": _ratio(correct, given),
            "recall": _ratio(correct, own),
            "f1": _ratio(2 * correct, own + given),
        }
        for own, given, correct in zip(*(count.tolist() for count in counts), strict=True)
    ]


def _ratio(part: int, total: int) -> float | None:
    return part / total if total else None


def confusion(actual: Bools, predicted: Bools, limit: SizeLimit = FULL_SIZE) -> dict[str, Any]:
    """Return [true class, predicted class, count] of all pairs, the most frequent first."""
    k = actual.shape[1]
    pairs, counts = np.unique(
        actual.argmax(axis=1) * k + predicted.argmax(axis=1), return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[: limit.scale(_MAX_CELLS)]
    cells = np.column_stack([pairs // k, pairs % k, counts])[order]
    return {"cells": cells.tolist(), "leftOut": int(pairs.size - order.size)}


def calibration(rows: EvaluatedRows, several: bool) -> list[list[float]]:
    """Return [mean probability of the prediction, share of correct ones, count] of every bin."""
    P = np.maximum(rows.P, 1.0 - rows.P).ravel() if several else rows.P.max(axis=1)
    correct = (rows.actual == rows.predicted).ravel() if several else ~rows.wrong
    place = np.minimum((P * _BINS).astype(np.intp), _BINS - 1)
    return [
        [float(P[own].mean()), float(correct[own].mean()), int(own.sum())]
        for own in (place == number for number in np.unique(place))
    ]


def _log_loss(rows: EvaluatedRows, several: bool) -> float:
    """Return the mean log loss; the log losses of the labels of a row are summed."""
    tiny = float(np.finfo(np.float64).tiny)
    p = np.where(rows.actual, rows.P, 1.0 - rows.P) if several else rows.P[rows.actual][:, None]
    return float(-np.log(np.maximum(p, tiny)).sum(axis=1).mean())


# --- Sample of rows --------------------------------------------------------------------------


def choose_rows(wrong: Bools, width: int, limit: SizeLimit = FULL_SIZE) -> Ints:
    """Return the indices of the rows on the page, (n,), misclassified rows first.

    At most half of them are misclassified if there are enough others. There are fewer rows if a
    row has many numbers (`width`). The choice is deterministic, and the rows of a larger width are
    among those of a smaller one.
    """
    by_width = limit.scale(_MAX_NUMBERS) // max(width, 1)
    most = int(np.clip(by_width, limit.scale(_MIN_ROWS), limit.scale(_MAX_ROWS)))
    random = np.random.default_rng(_SEED)
    bad, good = (random.permutation(np.flatnonzero(own)) for own in (wrong, ~wrong))
    n_bad = min(bad.size, max(most // 2, most - good.size))
    chosen = np.sort(bad[:n_bad]), np.sort(good[: most - n_bad])
    return np.concatenate(chosen).astype(np.intp)


def row_sample(
    model: Any, shown: Ints, pairs: list[PairEffect], rows: EvaluatedRows, chosen: Ints
) -> dict[str, Any]:
    """Return values, true and predicted classes of some rows.

    The score of a class is its base plus the contributions of the features in `shown` and of the
    `pairs`. The base is the intercept if these are all features and pairs with tables; otherwise
    every row has its own base.
    """
    values = np.zeros((chosen.size, shown.size))
    for place, feature in enumerate(shown.tolist()):
        values[:, place] = column(rows.X, feature)[chosen]
    effects = model.ensemble_.effects
    all_shown = shown.size == effects.features.size and len(pairs) == len(effects.pairs)
    same_base = has_tables(model) and all_shown
    base = model.intercept_[None]
    if not same_base:
        base = _base(model, shown, pairs, values, rows.F[chosen])
    several = has_several_labels(model)
    return {
        "total": rows.F.shape[0],
        "indices": chosen.tolist(),
        "values": packed(values, "f8"),
        "base": packed(base, "f8"),
        "sameBase": same_base,
        "actual": _class_indices(rows.actual[chosen], several),
        "predicted": _class_indices(rows.predicted[chosen], several),
        "wrong": rows.wrong[chosen].tolist(),
    }


def _base(model: Any, shown: Ints, pairs: list[PairEffect], values: Array, F: Array) -> Array:
    """Return the scores F (n, k) minus the contributions of some features and pairs, (n, k).

    `values` (n, shown) are the values of the features in `shown`, which those of the pairs are
    among.
    """
    base = F.copy()
    for x, feature in zip(values.T, shown.tolist(), strict=True):
        cuts, table = model.ensemble_.effects.main_effect(feature)
        base -= table[codes_of(x, cuts)]
    places = {feature: place for place, feature in enumerate(shown.tolist())}
    for pair in pairs:
        first, second = (
            codes_of(values[:, places[feature]], cuts)
            for feature, cuts in zip(pair.features, pair.thresholds, strict=True)
        )
        base -= pair.values[first, second]
    return base


def _class_indices(chosen: Bools, several: bool) -> list[Any]:
    """Return the class of every row, or the list of its labels."""
    if several:
        return [np.flatnonzero(row).tolist() for row in chosen]
    return [int(index) for index in chosen.argmax(axis=1)]
