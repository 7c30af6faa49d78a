"""Data of the report page about the model: facts, tables, rules, certificate and history."""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any

import numpy as np

from ...arrays import Array, Ints, Numbers, column
from ...model.learners import CategoryStump, Product, WeakClassifier
from ...model.names import class_names, class_noun, feature_names, has_several_labels, missing_name
from ...model.summary import describe_rule

_MAX_NAME = 200  # characters of a name
_MIN_NAME = 20  # characters to which names can be truncated
MAX_TABLE_BYTES = 3_000_000  # of all tables together
MAX_PAIR_BYTES = 1_000_000  # of these, kept for the tables of pairs
_MAX_IMPORTANCES = 1000  # features in the list of importances
_MAX_RULES = 1000
_MAX_WEIGHTS = 40_000  # of all rules together
_MAX_ROUNDS = 400  # points of a convergence curve
_BARS = 30  # of the histogram of a feature
_OUTSIDE = 0.005  # share of the values at either end that can lie outside the axis
_GENERATED = "generated columns"  # dictionary of a certificate that does not cover all columns
#: Characters that are unsafe in a script element, or invalid in UTF-8 (lone surrogates).
_UNSAFE = {c: f"\\u{c:04x}" for c in (*map(ord, "<>&\u2028\u2029"), *range(0xD800, 0xE000))}


# --- Size and encoding -----------------------------------------------------------------------


@dataclass(frozen=True)
class SizeLimit:
    """Limits on the content of a page, as a share of the largest ones."""

    share: float = 1.0

    def scale(self, most: int, least: int = 1) -> int:
        """Return the share of a largest number, but no less than `least`."""
        return max(int(self.share * most), least)


#: The limits that are tried first.
FULL_SIZE = SizeLimit()


def safe_json(data: Any) -> str:
    """Return data as JSON that is safe in a script element, whatever names it contains."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def json_bytes(data: Any) -> int:
    """Return the number of bytes that data takes on the page."""
    return len(safe_json(data).encode("utf-8"))


def packed(numbers: Any, kind: str) -> str:
    """Return numbers in base 64: 8-byte floats ("f8") or 4-byte unsigned integers ("u4")."""
    return base64.b64encode(np.asarray(numbers, dtype=f"<{kind}").tobytes()).decode("ascii")


def packed_sparse(matrix: Array) -> dict[str, Any]:
    """Return the non-zero entries of a matrix with their indices in the flattened matrix."""
    flat = matrix.ravel()
    indices = np.flatnonzero(flat)
    return {
        "width": matrix.shape[1],
        "indices": packed(indices, "u4"),
        "values": packed(flat[indices], "f8"),
    }


def finite(number: float) -> float | None:
    """Return a number, or None if it is not finite, which JSON cannot represent."""
    return float(number) if np.isfinite(number) else None


def short_names(names: Iterable[Any], limit: SizeLimit = FULL_SIZE) -> list[str]:
    """Return names as strings, long ones truncated."""
    return [short_name(name, limit) for name in names]


def short_name(name: Any, limit: SizeLimit = FULL_SIZE) -> str:
    """Return a name as a string, truncated if it is long."""
    text, longest = str(name), limit.scale(_MAX_NAME, _MIN_NAME)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def level_name(level: Any) -> str:
    """Return a level as a string, in quotes if it is empty or has blanks at its ends."""
    text = str(level)
    return text if text and text == text.strip() else f'"{text}"'


# --- Facts -----------------------------------------------------------------------------------


def model_facts(model: Any, limit: SizeLimit = FULL_SIZE) -> dict[str, Any]:
    """Return names, sizes and settings of a fitted model."""
    several = has_several_labels(model)
    shares, names = model.feature_importances_, feature_names(model)
    count = min(limit.scale(_MAX_IMPORTANCES), model.n_features_used_)
    return {
        "kind": type(model).__name__,
        "lead": lead(model),
        "setting": _setting(model),
        "several": several,
        "classNoun": class_noun(model),
        "learnerNoun": learner_noun(model),
        "classes": short_names(class_names(model), limit),
        "learners": int(model.n_learners_),
        "featuresUsed": int(model.n_features_used_),
        "features": int(model.n_features_in_),
        "classesPerRule": (
            float(np.mean(np.count_nonzero(model.weights_, axis=1))) if has_sums(model) else None
        ),
        "probabilities": {
            "logistic": several,
            "factor": float(model._factor) if model.learners_ else 1.0,
        },
        "importances": [
            {"name": short_name(names[f], limit), "feature": f, "share": float(shares[f])}
            for f in np.argsort(-shares, kind="stable")[:count].tolist()
        ],
        "defaultNames": not hasattr(model, "feature_names_in_"),
    }


def lead(model: Any) -> str:
    """Return a one-sentence description of the model."""
    k, (one, several) = len(class_names(model)), class_noun(model)
    if not model.learners_:
        return f"An empty model, which predicts the {one} frequencies of the training data."
    task = f"predicts which of {k} {several} a row has"
    if not has_several_labels(model):
        task = f"distinguishes {k} {several}"
    learners = _count(int(model.n_learners_), learner_noun(model))
    used = f"{model.n_features_used_} of {_count(model.n_features_in_, ('feature', 'features'))}"
    kind = "decision " if learner_noun(model)[0] == "stump" else ""
    number, noun = learners.split(" ", 1)
    return f"A weighted vote of {number} {kind}{noun} that {task}, using {used}."


def learner_noun(model: Any) -> tuple[str, str]:
    """Return the name of the weak classifiers, singular and plural."""
    if _has_only_stumps(model):
        return "stump", "stumps"
    return "weak classifier", "weak classifiers"


def _setting(model: Any) -> str:
    """Return the settings of the fit in one line."""
    if hasattr(model, "summary"):
        choice = getattr(model, "learner_choice_", None)
        chosen = "" if choice is None else f"; learner: {choice}"
        return str(model.summary(max_rules=0)).partition("\n")[0] + chosen
    return f"{type(model).__name__}: {_count(int(model.n_iter_), ('round', 'rounds'))}"


def _count(number: int, nouns: tuple[str, str]) -> str:
    return f"{number} {nouns[number != 1]}"


# --- Tables ----------------------------------------------------------------------------------


def has_sums(model: Any) -> bool:
    """Return whether the scores are sums of votes, without a decoding step."""
    if not model.learners_:
        return False
    row = np.zeros((1, model.n_features_in_))
    return np.array_equal(model._scores(row, model.ensemble_), model.ensemble_.scores(row))


def has_tables(model: Any) -> bool:
    """Return whether the scores are sums of functions of one and of two features."""
    return has_sums(model) and not (model.ensemble_.forest or model.ensemble_.others)


def _has_only_stumps(model: Any) -> bool:
    ensemble = model.ensemble_
    return not (ensemble.forest or ensemble.others or ensemble.products)


def no_tables_reason(model: Any) -> str | None:
    """Return why the scores cannot be split by feature, or None if they can."""
    if has_tables(model):
        return None
    if not model.learners_:
        return "The model uses no features."
    if has_sums(model):
        return (
            "The weak classifiers of this model use several features at once. Its scores are not "
            "sums over features or pairs of features, so there are no step functions to show."
        )
    return (
        f"{type(model).__name__} computes its scores from the sums of votes in an additional "
        "step. They are not sums over single features, so there are no step functions to show."
    )


def features_with_tables(
    model: Any, X: Numbers, chosen: Ints, limit: SizeLimit = FULL_SIZE
) -> Ints:
    """Return the features whose tables are on the page, the most important first.

    The tables of the least important features are left out if the size of all tables exceeds the
    limit, on a page that names the levels of the `chosen` rows.
    """
    if not has_tables(model):
        return np.empty(0, dtype=np.intp)
    effects, shares = model.ensemble_.effects, model.feature_importances_
    order = np.argsort(-shares[effects.features], kind="stable")
    features = np.asarray(effects.features[order], dtype=np.intp)
    most = limit.scale(MAX_TABLE_BYTES - (MAX_PAIR_BYTES if effects.pairs else 0))
    return features[: n_fitting(feature_tables(model, features, X, chosen, limit), most)]


def n_fitting(tables: Iterable[Any], most: int) -> int:
    """Return how many tables from the first one have at most `most` bytes together."""
    sizes = accumulate(map(json_bytes, tables))
    return sum(1 for _ in takewhile(lambda size: size <= most, sizes))


def feature_tables(
    model: Any, shown: Ints, X: Numbers, chosen: Ints, limit: SizeLimit = FULL_SIZE
) -> Iterator[dict[str, Any]]:
    """Yield thresholds, table, levels and distribution in X of every feature in `shown`.

    Levels are listed if a rule or a `chosen` row contains them.
    """
    effects, shares = model.ensemble_.effects, model.feature_importances_
    names = feature_names(model)
    for f in shown.tolist():
        x, (cuts, table) = column(X, f), effects.main_effect(f)
        missing = bool(model.missing_[f])
        yield {
            "name": short_name(names[f], limit),
            "feature": f,
            "share": float(shares[f]),
            "cuts": packed(cuts, "f8"),
            "jumps": packed_sparse(_jumps(table, missing or bool(np.isnan(x).any()))),
            "missing": missing,
            "missingName": missing_name(model, f),
            "boolean": bool(model.boolean_[f]),
            **_distribution(_levels(model, f), cuts, x.astype(np.float64), chosen, limit),
        }


def _jumps(table: Array, has_missing: bool) -> Array:
    """Return a table (t + 2, k) as its first row, the differences of the next ones, its last row.

    The last row, for missing values, is zero if there are none in training and in X.
    """
    last = table[-1:] if has_missing else np.zeros_like(table[-1:])
    return np.concatenate([table[:1], np.diff(table[:-1], axis=0), last])


def _levels(model: Any, feature: int) -> Any:
    return np.array([False, True]) if model.boolean_[feature] else model.categories_[feature]


def _distribution(
    levels: Any, cuts: Array, x: Array, chosen: Ints, limit: SizeLimit
) -> dict[str, Any]:
    """Return the levels of a categorical feature, or the axis and histogram of a numeric one."""
    if levels is not None:
        places = np.concatenate([cuts + 0.5, cuts - 0.5, x[chosen]])
        numbers = np.intersect1d(np.arange(len(levels)), places).astype(np.intp).tolist()
        names = [(code, short_name(level_name(levels[code]), limit)) for code in numbers]
        return {"levels": names}
    present = x[~np.isnan(x)]
    low, high = _axis_range(cuts, present)
    counts = np.histogram(present, _BARS, (low, high))[0]
    return {"levels": None, "low": low, "high": high, "counts": counts.tolist()}


def _axis_range(cuts: Array, present: Array) -> tuple[float, float]:
    ends = np.quantile(present, [_OUTSIDE, 1.0 - _OUTSIDE]) if present.size else np.empty(0)
    seen = np.concatenate([cuts, ends])
    low, high = (seen.min(), seen.max()) if seen.size else (0.0, 0.0)
    margin = 0.04 * (high - low) or max(0.5 * abs(float(low)), 0.5)
    return float(low - margin), float(high + margin)


# --- Rules -----------------------------------------------------------------------------------


def strongest_rules(model: Any, limit: SizeLimit = FULL_SIZE) -> dict[str, Any] | None:
    """Return the rules with the largest weights, or None if weights are not per class."""
    if not has_sums(model):
        return None
    order = np.argsort(-np.abs(model.weights_).sum(axis=1), kind="stable")
    order = order[: limit.scale(_MAX_RULES)]
    n_weights = np.cumsum(np.count_nonzero(model.weights_[order], axis=1))
    shown = order[n_weights <= limit.scale(_MAX_WEIGHTS)]
    learners = [model.learners_[j] for j in shown]
    return {
        "texts": short_names((_rule_text(model, learner) for learner in learners), limit),
        "features": [learner.features[0] if learner.features else -1 for learner in learners],
        "weights": packed_sparse(model.weights_[shown]),
        "leftOut": len(model.learners_) - len(learners),
    }


def _rule_text(model: Any, learner: WeakClassifier) -> str:
    """Return a rule as in the summary, with quotes around levels that need them."""
    if isinstance(learner, Product):
        first, second = (_rule_text(model, h) for h in (learner.first, learner.second))
        return f"{first} exactly where {second}"
    if not isinstance(learner, CategoryStump):
        return describe_rule(model, learner)
    level = model.categories_[learner.feature][int(learner.level)]
    return learner.describe(feature_names(model)[learner.feature], level_name(level))


# --- Certificate and history -----------------------------------------------------------------


def certificate_data(model: Any) -> dict[str, Any] | None:
    """Return the numbers of the certificate, or None for a model without one."""
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
    """Return in a few words to what extent the optimality of a model is proved."""
    c = getattr(model, "certificate_", None)
    if c is None or not np.isfinite(c.dual):
        return "Not certified"
    if not c.converged:
        return "Tolerance not reached"
    if c.dictionary.startswith(_GENERATED):
        return "Certified over the generated columns"
    return "Certified"


def proof_text(model: Any, learners: str) -> str:
    """Return what is proved about a model, in one or two sentences."""
    c = getattr(model, "certificate_", None)
    if c is None:
        return (
            f"{type(model).__name__} adds {learners} round by round. It gives no bound on the "
            "distance to the best model."
        )
    if not np.isfinite(c.dual):
        return f"The objective is {c.primal:.6g}. No lower bound is known, so nothing is proved."
    bound = (
        f"No model over {c.dictionary}, with this loss and penalty on the training data, has an "
        f"objective below {c.dual:.6g}. This model has {c.primal:.6g}"
    )
    percent = f"{100.0 * c.relative_gap:.3g} %"
    if c.converged:
        return (
            f"{bound}, so it can be improved by at most {c.gap:.3g}, which is {percent} of the "
            "reducible part of the objective."
        )
    return (
        f"{bound}. The fit stopped early (status '{model.status_}'), so up to {percent} of the "
        "reducible part of the objective may remain."
    )


def history_data(model: Any) -> dict[str, Any] | None:
    """Return the convergence curves of a fit, or None if it has fewer than two rounds."""
    records = list(getattr(model, "history_", []))
    if len(records) < 2:
        return None
    spread = np.linspace(0, len(records) - 1, min(len(records), _MAX_ROUNDS))
    shown = [records[int(i)] for i in np.unique(spread.round())]
    certified = hasattr(records[0], "primal")
    names = ("primal", "dual", "relative_gap") if certified else ("objective", "error")
    curves = {name: _curve(shown, name) for name in ("round", "seconds", *names)}
    return {"certified": certified, "rounds": len(records), "curves": curves}


def _curve(records: Sequence[Any], name: str) -> list[float | None]:
    return [finite(getattr(record, name)) for record in records]
