"""Checks of a document as a whole: agreeing lengths, indices in range, memory, sums.

The types of the single values are checked before, by `format`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...penalties import resolve_penalty
from .format import BASELINES, MULTI_LABEL
from .learners import GROUPS, check_tree
from .schema_types import JSONObject, require
from .values import NotStored, are_ascending, labels_from_json

_WITH_ITEMS = ("conjunction", "product")  # kinds whose rules are in learners.items
_MAX_SIZE = 2**27  # numbers in an array: 1 GiB in double precision


def check_document(document: JSONObject) -> None:
    """Raise a `ModelFileError` if the parts of a document contradict each other."""
    k = len(document["classes"]["values"])
    require(k >= 2, "classes.values", f"{k} classes are invalid: expected at least 2")
    classes = labels_from_json(document["classes"], "classes")
    require(are_ascending(classes), "classes.values", "the classes are not in ascending order")
    n_levels = _check_features(document["features"])
    _check_learners(document["learners"], n_levels)
    _check_parameters(document["parameters"])
    _check_memory(document, k)
    n = sum(document["learners"]["order"]["count"])
    _check_weights(document["weights"], n, document["probabilities"]["factor"])
    _check_importances(document["feature_importances"], document["features"]["count"])
    _check_prior(document, k)
    _check_columns(document["history"], "history")
    if document["kind"] in BASELINES:
        _check_baseline(document, k)
    else:
        _check_direct(document, k)


# --- Lengths and ranges ----------------------------------------------------------------------


def _check_length(values: Sequence[Any], place: str, length: int) -> None:
    require(len(values) == length, place, f"it has length {len(values)}: expected {length}")


def _check_columns(plain: JSONObject, place: str) -> int:
    """Check that all columns that are present have the same length, and return it."""
    first = next(iter(plain))
    for key, values in plain.items():
        if values is None:
            continue
        reason = f"its length {len(values)} differs from the length {len(plain[first])} of {first}"
        require(len(values) == len(plain[first]), f"{place}.{key}", reason)
    return len(plain[first])


def _check_ascending(values: list[int], place: str, below: int) -> None:
    """Check that indices are strictly ascending and below a limit."""
    previous = -1
    for number, value in enumerate(values):
        reason = f"{value} is invalid: expected an index above {previous} and below {below}"
        require(previous < value < below, f"{place}[{number}]", reason)
        previous = value


def _check_below(values: list[int], place: str, below: int) -> None:
    """Check that indices are below a limit."""
    for number, value in enumerate(values):
        reason = f"{value} is invalid: expected an index below {below}"
        require(value < below, f"{place}[{number}]", reason)


# --- Parts of all models ---------------------------------------------------------------------


def _check_features(features: JSONObject) -> list[int]:
    """Return the number of levels of every feature, 0 for numeric ones."""
    count = features["count"]
    if features["names"] is not None:
        _check_length(features["names"], "features.names", count)
        distinct = len(set(features["names"])) == count
        require(distinct, "features.names", "duplicate names: expected distinct ones")
    _check_ascending(features["missing"], "features.missing", count)
    categorical = [category["feature"] for category in features["categories"]]
    _check_ascending(categorical, "features.categories", count)
    boolean = features["boolean"] or []
    _check_ascending(boolean, "features.boolean", count)
    both = sorted({*categorical} & {*boolean})
    require(not both, "features.boolean", f"{both[:1]} is categorical: expected numeric features")
    joined = features["joined"] or []
    _check_ascending(joined, "features.joined", count)
    others = sorted({*joined} - {*categorical})
    require(not others, "features.joined", f"{others[:1]} is numeric: expected categories")
    n_levels = [0] * count
    for number, category in enumerate(features["categories"]):
        place = f"features.categories[{number}].levels"
        levels = labels_from_json(category["levels"], place)
        ordered = levels.dtype == object or bool((levels[1:] > levels[:-1]).all())
        require(ordered, f"{place}.values", "the levels are not in ascending order")
        n_levels[category["feature"]] = levels.size
    return n_levels


def _check_learners(learners: JSONObject, n_levels: list[int]) -> None:
    trees = learners["trees"] or []
    for number, tree in enumerate(trees):
        _check_tree(tree, f"learners.trees[{number}]", n_levels)
    items = learners["items"]
    own = [count for kind in _WITH_ITEMS for count in (learners[kind] or {"items": []})["items"]]
    expected = sum(own)
    found = 0 if items is None else _check_groups(items, "learners.items", n_levels)
    reason = f"{found} rules are invalid: the conjunctions and products have {expected}"
    require(found == expected, "learners.items", reason)
    _check_groups(learners, "learners", n_levels)
    _check_products(learners)
    leaf = learners["leaf"] or {"tree": [], "leaf": []}
    for number, (tree, own) in enumerate(zip(leaf["tree"], leaf["leaf"], strict=True)):
        require(tree < len(trees), f"learners.leaf.tree[{number}]", f"there is no tree {tree}")
        exists = own <= len(trees[tree]["feature"])
        require(exists, f"learners.leaf.leaf[{number}]", f"tree {tree} has no leaf {own}")


def _check_products(learners: JSONObject) -> None:
    """Check that the two stumps of every product read different features, in ascending order."""
    if learners["product"] is None:
        return
    counts = {kind: iter((learners[kind] or {"items": []})["items"]) for kind in _WITH_ITEMS}
    features = _in_order(learners["items"], "feature")
    place = 0
    for kind in _in_order(learners):
        if kind not in _WITH_ITEMS:
            continue
        count = next(counts[kind])
        if kind == "product":
            one, other = features[place : place + 2]
            reason = f"features {one} and {other} of a product are invalid: expected ascending ones"
            require(one < other, f"learners.items (rule {place})", reason)
        place += count


def _in_order(plain: JSONObject, key: str | None = None) -> list[Any]:
    """Return the kinds of all members in the order of the document, or one of their properties."""
    order = plain["order"]
    kinds = [
        kind
        for kind, count in zip(order["kind"], order["count"], strict=True)
        for _ in range(count)
    ]
    if key is None:
        return kinds
    values = {kind: iter(plain[kind][key]) for kind in set(kinds)}
    return [next(values[kind]) for kind in kinds]


def _check_tree(tree: JSONObject, place: str, n_levels: list[int]) -> None:
    _check_columns(tree, place)
    check_tree(tree, place)
    _check_below(tree["feature"], f"{place}.feature", len(n_levels))
    for split, (feature, value) in enumerate(zip(tree["feature"], tree["value"], strict=True)):
        if tree["is_level"][split]:
            exists = value in range(n_levels[feature])
            require(exists, f"{place}.value[{split}]", f"feature {feature} has no level {value:g}")


def _check_groups(plain: JSONObject, place: str, n_levels: list[int]) -> int:
    """Check the groups against the counts in `order`, and return the sum of the counts."""
    order = plain["order"]
    _check_columns(order, f"{place}.order")
    expected = dict.fromkeys(GROUPS, 0)
    for kind, count in zip(order["kind"], order["count"], strict=True):
        expected[kind] += count
    for name in GROUPS:
        group = plain.get(name)
        found = 0 if group is None else _check_columns(group, f"{place}.{name}")
        reason = f"it has length {found}: expected {expected[name]}, the sum in {place}.order"
        require(found == expected[name], f"{place}.{name}", reason)
        if group is not None and "feature" in group:
            _check_below(group["feature"], f"{place}.{name}.feature", len(n_levels))
    level = plain["level"] or {"feature": [], "level": []}
    for number, (feature, code) in enumerate(zip(level["feature"], level["level"], strict=True)):
        exists = code < n_levels[feature]
        require(exists, f"{place}.level.level[{number}]", f"feature {feature} has no level {code}")
    return sum(expected.values())


def _check_parameters(parameters: JSONObject) -> None:
    reason = "0 is invalid: expected null or an integer other than 0"
    require(parameters.get("n_jobs") != 0, "parameters.n_jobs", reason)
    penalty = parameters.get("penalty", "l1")
    if isinstance(penalty, NotStored):
        return
    try:
        resolve_penalty(penalty)
    except (TypeError, ValueError) as error:
        require(False, "parameters.penalty", str(error))


def _check_memory(document: JSONObject, k: int) -> None:
    """Reject a document whose arrays would be out of proportion to its length."""
    outputs = max(document["weights"]["outputs"], k)
    learners = document["learners"]
    rows = {
        "features.count": document["features"]["count"],
        "learners.order.count": sum(learners["order"]["count"]),
        "learners.trees": sum(len(tree["feature"]) + 1 for tree in learners["trees"] or ()),
    }
    most = _MAX_SIZE // outputs
    for place, count in rows.items():
        reason = f"{count} is too large: expected at most {most} for {outputs} scores"
        require(count <= most, place, reason)


def _check_weights(weights: JSONObject, n: int, factor: float) -> None:
    _check_length(weights["count"], "weights.count", n)
    total = sum(weights["count"])
    _check_length(weights["output"], "weights.output", total)
    _check_length(weights["value"], "weights.value", total)
    first = 0
    for number, count in enumerate(weights["count"]):
        row = weights["output"][first : first + count]
        _check_ascending(row, f"weights.output (row {number})", weights["outputs"])
        first += count
    with np.errstate(over="ignore"):
        largest = np.abs(np.array(weights["value"])).sum() * 4.0 * max(factor, 1.0)
    require(bool(np.isfinite(largest)), "weights.value", "the sum of the weights overflows")


def _check_importances(importances: JSONObject | None, count: int) -> None:
    if importances is None:  # a file of an earlier version
        return
    _check_ascending(importances["feature"], "feature_importances.feature", count)
    shares = importances["share"]
    _check_length(shares, "feature_importances.share", len(importances["feature"]))
    total = sum(shares)
    reason = f"the sum {total:.6g} of the shares is invalid: expected 1, or no shares"
    require(not shares or abs(total - 1.0) < 1e-6, "feature_importances.share", reason)


def _check_prior(document: JSONObject, k: int) -> None:
    """Check the class frequencies, which cannot all be zero; those of several labels can."""
    prior = document["probabilities"]["prior"]
    _check_length(prior, "probabilities.prior", k)
    several = document.get("labels", {}).get("several", False)
    reason = "all class frequencies are zero: expected at least one positive one"
    require(several or any(prior), "probabilities.prior", reason)


def _check_outputs(document: JSONObject, outputs: int) -> None:
    found = document["weights"]["outputs"]
    reason = f"{found} is invalid: expected {outputs}, the number of scores"
    require(found == outputs, "weights.outputs", reason)


# --- Parts of single kinds of models ---------------------------------------------------------


def _check_direct(document: JSONObject, k: int) -> None:
    _check_outputs(document, k)
    means = document["mean_contributions"]
    _check_ascending(means["feature"], "mean_contributions.feature", document["features"]["count"])
    _check_length(means["values"], "mean_contributions.values", len(means["feature"]))
    for number, row in enumerate(means["values"]):
        _check_length(row, f"mean_contributions.values[{number}]", k)
    path = document["validation_path"]
    if path is not None:
        _check_length(path["loss"], "validation_path.loss", len(path["nu"]))
    if document["kind"] in MULTI_LABEL:
        _check_labels(document["labels"], k)


def _check_labels(labels: JSONObject, k: int) -> None:
    several, values, names = labels["several"], labels["values"], labels["names"]
    reason = "true is invalid: expected false, since labels.several is true"
    require(not (several and labels["single"]), "labels.single", reason)
    reason = "it must be null if and only if labels.several is false"
    require(several == (values is not None), "labels.values", reason)
    reason = "expected null, since labels.several is false"
    require(several or names is None, "labels.names", reason)
    if names is not None:
        _check_length(names, "labels.names", k)
    if values is not None:
        _check_length(values, "labels.values", k)
        for number, pair in enumerate(values):
            place = f"labels.values[{number}]"
            found = labels_from_json(pair, place).size
            require(found <= 2, place, f"{found} values are invalid: expected at most 2")


def _check_baseline(document: JSONObject, k: int) -> None:
    kind, code = document["kind"], document["code"]
    outputs, coded = k, kind == "AdaBoostMO"
    for key in ("code", "decoding"):
        reason = "it must be null if and only if the kind is not AdaBoostMO"
        require((document[key] is not None) == coded, key, reason)
    if code is not None:
        _check_length(code, "code", k)
        outputs = len(code[0])
        for number, row in enumerate(code):
            _check_length(row, f"code[{number}]", outputs)
    _check_outputs(document, outputs)
    empty = not document["learners"]["order"]["count"]
    _check_length(document["common"], "common", 0 if empty else outputs)
    for key, owner in (("totals", "OneVsAllBoost"), ("lam_max", "GradBoost")):
        reason = f"expected null, since the kind is not {owner}"
        require(document[key] is None or kind == owner, key, reason)
    if document["totals"] is not None:
        _check_length(document["totals"], "totals", k)
