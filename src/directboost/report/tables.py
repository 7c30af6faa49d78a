"""What the values of every feature add to the scores, and which values the rows have."""

from collections.abc import Iterator
from itertools import accumulate, takewhile
from typing import Any

import numpy as np

from ..arrays import Array, Ints, Numbers, Scores, column
from ..model.ensemble import Ensemble
from ..model.learners import Constant, Level, Stump
from ..model.names import feature_names
from .packing import WHOLE, Room, level_name, packed, short_name, sparse, written_bytes

_MOST_TEXT = 3_000_000  # bytes that all tables together may take
_BARS = 30  # of the histogram of a feature
_OUTSIDE = 0.005  # share of the values at either end that need not be on the axis


def is_sum(model: Any) -> bool:
    """Tell whether the scores are sums of votes, without a further step behind."""
    if not model.learners_:
        return False
    row = np.zeros((1, model.n_features_in_))
    return np.array_equal(model._scores(row, model.ensemble_), model.ensemble_.scores(row))


def has_tables(model: Any) -> bool:
    """Tell whether the scores are sums over single features."""
    known = Stump | Level | Constant
    return is_sum(model) and all(isinstance(h, known) for h in model.ensemble_.learners)


def why_no_tables(model: Any) -> str | None:
    """Return why nothing is taken apart by feature, None where it is."""
    if has_tables(model):
        return None
    if not model.learners_:
        return "The model reads no feature."
    if is_sum(model):
        return (
            "The weak classifiers of this model read several features at once, so its scores are "
            "not sums over single features: there are no step functions to draw."
        )
    return (
        f"{type(model).__name__} makes its scores of the sums of votes by a further step, so they "
        "are not sums over single features: there are no step functions to draw."
    )


def importances(model: Any) -> Array:
    """Return the share of every feature in the sum of all weights, without signs, (d,)."""
    ensemble = model.ensemble_
    shares: Array = Ensemble(ensemble.learners, np.abs(ensemble.coef)).importances(
        model.n_features_in_
    )
    return shares


def shown_features(model: Any, X: Numbers, chosen: Ints, room: Room = WHOLE) -> Ints:
    """Return the features whose tables the page holds, the most important first.

    All that have one, as long as their text is not too long for a page that names the levels of
    the `chosen` rows.
    """
    if not has_tables(model):
        return np.empty(0, dtype=np.intp)
    ensemble, shares = model.ensemble_, importances(model)
    order = np.argsort(-shares[ensemble.stump_features], kind="stable")
    features = np.asarray(ensemble.stump_features[order], dtype=np.intp)
    lengths = map(written_bytes, feature_tables(model, features, X, chosen, room))
    most = room.of(_MOST_TEXT)
    fitting = takewhile(lambda length: length <= most, accumulate(lengths))
    return features[: sum(1 for _ in fitting)]


def feature_tables(
    model: Any, shown: Ints, X: Numbers, chosen: Ints, room: Room = WHOLE
) -> Iterator[dict[str, Any]]:
    """Yield thresholds, table, levels and values in X of every feature that is shown.

    Levels have names where rules or the `chosen` rows need them.
    """
    places = {f: place for place, f in enumerate(model.ensemble_.stump_features.tolist())}
    shares, names = importances(model), feature_names(model)
    for f in shown.tolist():
        yield {
            "name": short_name(names[f], room),
            "place": f,
            "share": float(shares[f]),
            **_steps(model, places[f], column(X, f)),
            **_values(model, places[f], column(X, f).astype(np.float64), chosen, room),
        }


def _jumps(model: Any, place: int, x: Scores) -> Array:
    """Return a table (t + 2, k) as its first row, the differences to the row before, its last.

    The last, of missing values, is zero where there were none in training and are none in x.
    """
    table = model.ensemble_.tables[place]
    had = model.missing_[model.ensemble_.stump_features[place]] or np.isnan(x).any()
    last = table[-1:] if had else np.zeros_like(table[-1:])
    return np.concatenate([table[:1], np.diff(table[:-1], axis=0), last])


def _steps(model: Any, place: int, x: Scores) -> dict[str, Any]:
    feature = model.ensemble_.stump_features[place]
    return {
        "cuts": packed(model.ensemble_.thresholds[place], "f8"),
        "jumps": sparse(_jumps(model, place, x)),
        "missing": bool(model.missing_[feature]),
    }


def _values(model: Any, place: int, x: Array, chosen: Ints, room: Room) -> dict[str, Any]:
    """Return the range of the axis, how the rows are spread over it, and names of levels."""
    present = x[~np.isnan(x)]
    found: dict[str, Any] = {"absent": int(x.size - present.size)}
    levels = _levels(model, place, x[chosen], room)
    if levels is not None:
        return found | {"levels": levels}
    low, high = _range(model.ensemble_.thresholds[place], present)
    counts = np.histogram(present, _BARS, (low, high))[0]
    return found | {"levels": None, "low": low, "high": high, "counts": counts.tolist()}


def _range(cuts: Array, present: Array) -> tuple[float, float]:
    ends = np.quantile(present, [_OUTSIDE, 1.0 - _OUTSIDE]) if present.size else np.empty(0)
    seen = np.concatenate([cuts, ends])
    low, high = (seen.min(), seen.max()) if seen.size else (0.0, 0.0)
    margin = 0.04 * (high - low) or max(0.5 * abs(float(low)), 0.5)
    return float(low - margin), float(high + margin)


def _levels(model: Any, place: int, codes: Array, room: Room) -> list[tuple[int, str]] | None:
    """Return the numbers and names of the levels that rules or rows name; None for numbers."""
    feature = int(model.ensemble_.stump_features[place])
    levels = model.categories_[feature]
    if levels is None:
        return None
    cuts = model.ensemble_.thresholds[place]
    named = np.intersect1d(np.arange(len(levels)), np.concatenate([cuts + 0.5, cuts - 0.5]))
    numbers = np.union1d(named, codes[~np.isnan(codes)]).astype(np.intp).tolist()
    return [(number, short_name(level_name(levels[number]), room)) for number in numbers]
