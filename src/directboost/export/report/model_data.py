"""What the values of every feature add to the scores, and which values the rows have."""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any

import numpy as np

from ...arrays import Array, Ints, Numbers, Scores, column
from ...model.ensemble import Ensemble
from ...model.learners import CategoryStump, Constant, Stump, WeakClassifier
from ...model.names import class_names, class_noun, feature_names, has_several_labels
from ...model.summary import describe_rule

_LONGEST = 200  # characters of a name
_SHORTEST = 20  # to which names may be cut to make room
#: What must not stand in a script element as it is, or not in UTF-8: halves of pairs.
_UNSAFE = {c: f"\\u{c:04x}" for c in (*map(ord, "<>&\u2028\u2029"), *range(0xD800, 0xE000))}


@dataclass(frozen=True)
class SizeLimit:
    """How much of everything a page may hold, as a share of what it holds at most."""

    share: float = 1.0

    def of(self, most: int, least: int = 1) -> int:
        """Return how many things there is room for, of so many at most."""
        return max(int(self.share * most), least)


#: The room of a page that is not too long.
WHOLE = SizeLimit()


def safe_json(data: Any) -> str:
    """Return data as JSON that can stand in a script element, whatever names it holds."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def written_bytes(data: Any) -> int:
    """Return how many bytes of a page some data take."""
    return len(safe_json(data).encode("utf-8"))


def packed(numbers: Any, kind: str) -> str:
    """Return numbers in base 64: 8-byte floats ("f8") or 4-byte integers ("u4")."""
    return base64.b64encode(np.asarray(numbers, dtype=f"<{kind}").tobytes()).decode("ascii")


def sparse(matrix: Array) -> dict[str, Any]:
    """Return the places of the numbers of a matrix that are not zero, row by row, and them."""
    flat = matrix.ravel()
    at = np.flatnonzero(flat)
    return {"width": matrix.shape[1], "at": packed(at, "u4"), "by": packed(flat[at], "f8")}


def finite(number: float) -> float | None:
    """Return a number, or None where it is not finite: JSON has no other word for that."""
    return float(number) if np.isfinite(number) else None


def short_names(names: Iterable[Any], room: SizeLimit = WHOLE) -> list[str]:
    """Return names as text, with the ends of very long ones cut off."""
    return [short_name(name, room) for name in names]


def short_name(name: Any, room: SizeLimit = WHOLE) -> str:
    """Return a name as text, with the end of a very long one cut off."""
    text, longest = str(name), room.of(_LONGEST, _SHORTEST)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def level_name(level: Any) -> str:
    """Return a level as text, in quotes where it is empty or has blanks at its edges."""
    text = str(level)
    return text if text and text == text.strip() else f'"{text}"'


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
    known = Stump | CategoryStump | Constant
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


def shown_features(model: Any, X: Numbers, chosen: Ints, room: SizeLimit = WHOLE) -> Ints:
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
    model: Any, shown: Ints, X: Numbers, chosen: Ints, room: SizeLimit = WHOLE
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


def _values(model: Any, place: int, x: Array, chosen: Ints, room: SizeLimit) -> dict[str, Any]:
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


def _levels(model: Any, place: int, codes: Array, room: SizeLimit) -> list[tuple[int, str]] | None:
    """Return the numbers and names of the levels that rules or rows name; None for numbers."""
    feature = int(model.ensemble_.stump_features[place])
    levels = model.categories_[feature]
    if levels is None:
        return None
    cuts = model.ensemble_.thresholds[place]
    named = np.intersect1d(np.arange(len(levels)), np.concatenate([cuts + 0.5, cuts - 0.5]))
    numbers = np.union1d(named, codes[~np.isnan(codes)]).astype(np.intp).tolist()
    return [(number, short_name(level_name(levels[number]), room)) for number in numbers]


_MOST_BARS = 1000  # features whose importance is listed


def learner_noun(model: Any) -> tuple[str, str]:
    """Return what the weak classifiers are called, one of them and several."""
    stumps = all(isinstance(h, Stump | CategoryStump | Constant) for h in model.learners_)
    return ("stump", "stumps") if stumps else ("weak classifier", "weak classifiers")


def facts_of(model: Any, room: SizeLimit = WHOLE) -> dict[str, Any]:
    """Return names, sizes and settings of a fitted model."""
    return {
        "kind": type(model).__name__,
        "lead": lead(model),
        "setting": _setting(model),
        "several": has_several_labels(model),
        "classNoun": class_noun(model),
        "learnerNoun": learner_noun(model),
        "classes": short_names(class_names(model), room),
        "learners": int(model.n_learners_),
        "featuresUsed": int(model.n_features_used_),
        "features": int(model.n_features_in_),
        "served": float(np.mean(np.count_nonzero(model.coef_, axis=1))) if is_sum(model) else None,
        "probabilities": _probabilities(model),
        "importances": _importances(model, room),
        "defaultNames": not hasattr(model, "feature_names_in_"),
    }


def lead(model: Any) -> str:
    """Return in one sentence what the model is."""
    k, (one, several) = len(class_names(model)), class_noun(model)
    if not model.learners_:
        return f"An empty model: it answers every row with the {one} frequencies of training."
    told = f"finds which of {k} {several} a row has"
    if not has_several_labels(model):
        told = f"tells {k} {several} apart"
    learners = _count(int(model.n_learners_), learner_noun(model))
    read = f"{model.n_features_used_} of {_count(model.n_features_in_, ('feature', 'features'))}"
    kinds = "decision " if learner_noun(model)[0] == "stump" else ""
    number, noun = learners.split(" ", 1)
    return f"A weighted vote of {number} {kinds}{noun} that {told} by {read}."


def _setting(model: Any) -> str:
    """Return how the model was fitted."""
    if hasattr(model, "summary"):
        return str(model.summary(max_rules=0)).partition("\n")[0]
    return f"{type(model).__name__}: {_count(int(model.n_iter_), ('round', 'rounds'))}"


def _probabilities(model: Any) -> dict[str, Any]:
    """Return how scores become probabilities: of each label, or over all classes."""
    factor = float(model._factor) if model.learners_ else 1.0
    return {"logistic": has_several_labels(model), "factor": factor}


def _importances(model: Any, room: SizeLimit) -> list[dict[str, Any]]:
    shares, names = importances(model), feature_names(model)
    order = np.argsort(-shares, kind="stable")[: min(room.of(_MOST_BARS), model.n_features_used_)]
    return [
        {"name": short_name(names[f], room), "place": f, "share": float(shares[f])}
        for f in order.tolist()
    ]


def _count(number: int, nouns: tuple[str, str]) -> str:
    return f"{number} {nouns[number != 1]}"


_MOST_RULES = 1000
_MOST_WEIGHTS = 40_000


def rules_of(model: Any, room: SizeLimit = WHOLE) -> dict[str, Any] | None:
    """Return the strongest rules with their weights by class; None if none are by class."""
    if not is_sum(model):
        return None
    shown = _strongest(model, room)
    learners = [model.learners_[j] for j in shown]
    return {
        "texts": short_names((_words(model, learner) for learner in learners), room),
        "features": [learner.features[0] if learner.features else -1 for learner in learners],
        "weights": sparse(model.coef_[shown]),
        "leftOut": len(model.learners_) - len(learners),
    }


def _words(model: Any, learner: WeakClassifier) -> str:
    """Return a rule in the words of the summary, with quotes where a level needs them."""
    if not isinstance(learner, CategoryStump):
        return describe_rule(model, learner)
    level = model.categories_[learner.feature][int(learner.level)]
    return learner.describe(feature_names(model)[learner.feature], level_name(level))


def _strongest(model: Any, room: SizeLimit) -> Ints:
    """Return the rules with the largest sums of weights, as many as fit on the page."""
    sizes = np.abs(model.coef_).sum(axis=1)
    order = np.argsort(-sizes, kind="stable")[: room.of(_MOST_RULES)]
    weights = np.cumsum(np.count_nonzero(model.coef_[order], axis=1))
    return np.asarray(order[weights <= room.of(_MOST_WEIGHTS)], dtype=np.intp)


_FOUND = "generated columns"  # what a certificate is about where more may exist
_MOST_ROUNDS = 400  # that a curve is drawn from


def certificate_of(model: Any) -> dict[str, Any] | None:
    """Return the numbers of the certificate, None for a model without one."""
    c = getattr(model, "certificate_", None)
    if c is None:
        return None
    return {
        "primal": c.primal,
        "dual": finite(c.dual),
        "gap": finite(c.gap),
        "relativeGap": finite(c.relative_gap),
        "dictionary": c.dictionary,
        "converged": bool(c.converged),
        "maxPrice": finite(c.max_price),
        "nu": c.nu,
    }


def proof_state(model: Any) -> str:
    """Return in a word or two how much is proved of a model."""
    c = getattr(model, "certificate_", None)
    if c is None or not np.isfinite(c.dual):
        return "Not proved"
    if not c.converged:
        return "Partly proved"
    return "Proved for what was found" if c.dictionary.startswith(_FOUND) else "Proved"


def proof_words(model: Any, learners: str) -> str:
    """Return in a sentence or two what is proved of a model, and what is not."""
    c = getattr(model, "certificate_", None)
    if c is None:
        return (
            f"{type(model).__name__} adds {learners} round by round and proves nothing about "
            "how close the result is to the best one."
        )
    if not np.isfinite(c.dual):
        return f"The objective is {c.primal:.6g}; no lower bound is known, so nothing is proved."
    bound = (
        f"No model over {c.dictionary}, with this loss and this penalty on the training rows, has "
        f"an objective below {c.dual:.6g}. This one has {c.primal:.6g}"
    )
    if c.converged:
        return (
            f"{bound}: it can be improved by at most {c.gap:.3g}, {_percent(c.relative_gap)} of "
            "what any model can reduce."
        )
    return (
        f"{bound}: the fit ended early (status '{model.status_}'), and up to "
        f"{_percent(c.relative_gap)} of what any model can reduce may still be missing."
    )


def history_of(model: Any) -> dict[str, Any] | None:
    """Return the curves of a fit; None where there are none, as of a single round."""
    records = list(getattr(model, "history_", []))
    if len(records) < 2:
        return None
    shown = [records[i] for i in _spread(len(records))]
    certified = hasattr(records[0], "primal")
    names = ("primal", "dual", "relative_gap") if certified else ("objective", "error")
    curves = {name: _curve(shown, name) for name in ("round", "seconds", *names)}
    return {"certified": certified, "rounds": len(records), "curves": curves}


def _curve(records: Sequence[Any], name: str) -> list[float | None]:
    return [finite(getattr(record, name)) for record in records]


def _spread(count: int) -> list[int]:
    """Return at most so many places as are drawn, evenly spread, the first and last included."""
    ends = np.linspace(0, count - 1, min(count, _MOST_ROUNDS))
    return [int(place) for place in np.unique(ends.round())]


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
