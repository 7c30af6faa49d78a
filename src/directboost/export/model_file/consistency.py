"""What no single value of a document shows: lengths that agree, indices in range, sums."""

from typing import Any

import numpy as np

from ...penalties import resolve_penalty
from .format import BASELINES, MULTI_LABEL
from .learners import GROUPS, check_tree
from .schema_types import require
from .values import NotStored, are_ascending, labels_from_plain

_MOST = 2**27  # numbers of an array: 1 GiB in double precision

Plain = dict[str, Any]


def check(document: Plain) -> None:
    """Refuse a document, read by its form, whose parts do not fit together."""
    k = len(document["classes"]["values"])
    require(k >= 2, "classes.values", "a classifier has two classes or more")
    classes = labels_from_plain(document["classes"], "classes")
    require(are_ascending(classes), "classes.values", "they are not in ascending order")
    levels = _check_features(document["features"])
    _check_learners(document["learners"], levels)
    _check_parameters(document["parameters"])
    _check_size(document, k)
    n = sum(document["learners"]["order"]["count"])
    _check_weights(document["weights"], n, document["probabilities"]["factor"])
    _check_prior(document, k)
    _check_columns(document["history"], "history")


def _check_prior(document: Plain, k: int) -> None:
    """Refuse shares of classes that are all zero; those of labels may be."""
    _check_length(document["probabilities"], "probabilities", "prior", k)
    several = document.get("labels", {}).get("several", False)
    some = several or any(document["probabilities"]["prior"])
    require(some, "probabilities.prior", "no class has a share of the rows")


def check_outputs(document: Plain, outputs: int) -> None:
    """Refuse weights for another number of scores."""
    found = document["weights"]["outputs"]
    require(found == outputs, "weights.outputs", f"it is {found}, but there are {outputs} scores")


def check_length(values: Any, place: str, count: int) -> None:
    """Refuse a list of another length."""
    require(len(values) == count, place, f"it has {len(values)} values, but there are {count}")


def _check_length(plain: Plain, place: str, key: str, count: int) -> None:
    check_length(plain[key], f"{place}.{key}", count)


def _check_columns(plain: Plain, place: str) -> int:
    """Refuse columns of different lengths; return how many rows they have."""
    first = next(iter(plain))
    for key, values in plain.items():
        same = len(values) == len(plain[first])
        require(same, f"{place}.{key}", f"it has another length than {place}.{first}")
    return len(plain[first])


def check_ascending(values: list[int], place: str, below: int) -> None:
    """Refuse indices that are not ascending, or beyond a range."""
    previous = -1
    for number, value in enumerate(values):
        fits = previous < value < below
        require(fits, f"{place}[{number}]", f"{value} does not lie between {previous} and {below}")
        previous = value


def check_below(values: list[int], place: str, below: int) -> None:
    """Refuse indices beyond a range."""
    for number, value in enumerate(values):
        require(value < below, f"{place}[{number}]", f"{value} is not below {below}")


def _check_features(features: Plain) -> list[int]:
    """Return the number of levels of every feature, 0 where it holds numbers."""
    count = features["count"]
    if features["names"] is not None:
        _check_length(features, "features", "names", count)
        different = len(set(features["names"])) == count
        require(different, "features.names", "a name stands there twice")
    check_ascending(features["missing"], "features.missing", count)
    read = [category["feature"] for category in features["categories"]]
    check_ascending(read, "features.categories", count)
    levels = [0] * count
    for number, category in enumerate(features["categories"]):
        place = f"features.categories[{number}].levels"
        found = labels_from_plain(category["levels"], place)
        ordered = found.dtype == object or bool((found[1:] > found[:-1]).all())
        require(ordered, f"{place}.values", "numbers of levels are ascending")
        levels[category["feature"]] = found.size
    return levels


def _check_learners(learners: Plain, levels: list[int]) -> None:
    trees = learners["trees"] or []
    for number, tree in enumerate(trees):
        place = f"learners.trees[{number}]"
        _check_columns(tree, place)
        check_tree(tree, place)
        _check_splits(tree, place, levels)
    items = learners["items"]
    wanted = sum((learners["conjunction"] or {"items": []})["items"])
    held = 0 if items is None else _check_groups(items, "learners.items", levels)
    require(held == wanted, "learners.items", f"there are {held}, but {wanted} are used")
    _check_groups(learners, "learners", levels)
    for number, (tree, leaf) in enumerate(_leaves(learners)):
        require(tree < len(trees), f"learners.leaf.tree[{number}]", f"there is no tree {tree}")
        there = leaf <= len(trees[tree]["feature"])
        require(there, f"learners.leaf.leaf[{number}]", f"tree {tree} has no leaf {leaf}")


def _leaves(learners: Plain) -> Any:
    leaf = learners["leaf"]
    return zip(leaf["tree"], leaf["leaf"], strict=True) if leaf else ()


def _check_splits(tree: Plain, place: str, levels: list[int]) -> None:
    check_below(tree["feature"], f"{place}.feature", len(levels))
    for split, (feature, value) in enumerate(zip(tree["feature"], tree["value"], strict=True)):
        if tree["is_level"][split]:
            there = value in range(levels[feature])
            require(there, f"{place}.value[{split}]", f"feature {feature} has no level {value:g}")


def _check_groups(plain: Plain, place: str, levels: list[int]) -> int:
    """Refuse groups that do not have as many rows as the order says; return their sum."""
    order = plain["order"]
    _check_columns(order, f"{place}.order")
    said = dict.fromkeys(GROUPS, 0)
    for kind, count in zip(order["kind"], order["count"], strict=True):
        said[kind] += count
    for name in GROUPS:
        group = plain.get(name)
        held = 0 if group is None else _check_columns(group, f"{place}.{name}")
        same = held == said[name]
        require(same, f"{place}.{name}", f"it has {held} rows, but the order says {said[name]}")
        if group is not None and "feature" in group:
            check_below(group["feature"], f"{place}.{name}.feature", len(levels))
    level = plain["level"] or {"feature": [], "level": []}
    for number, (feature, code) in enumerate(zip(level["feature"], level["level"], strict=True)):
        there = code < levels[feature]
        require(there, f"{place}.level.level[{number}]", f"feature {feature} has no level {code}")
    return sum(said.values())


def _check_parameters(parameters: Plain) -> None:
    require(parameters.get("n_jobs") != 0, "parameters.n_jobs", "it is 0, but takes another number")
    penalty = parameters.get("penalty", "l1")
    if isinstance(penalty, NotStored):
        return
    try:
        resolve_penalty(penalty)
    except (TypeError, ValueError) as error:
        require(False, "parameters.penalty", str(error))


def _check_size(document: Plain, k: int) -> None:
    """Refuse a document that asks for more memory than it is long."""
    outputs = max(document["weights"]["outputs"], k)
    learners = document["learners"]
    rows = {
        "features.count": document["features"]["count"],
        "learners.order.count": sum(learners["order"]["count"]),
        "learners.trees": sum(len(tree["feature"]) + 1 for tree in learners["trees"] or ()),
    }
    for place, count in rows.items():
        most = _MOST // outputs
        require(count <= most, place, f"{count} are too many for {outputs} scores: at most {most}")


def _check_weights(weights: Plain, n: int, factor: float) -> None:
    _check_length(weights, "weights", "count", n)
    held = sum(weights["count"])
    _check_length(weights, "weights", "output", held)
    _check_length(weights, "weights", "value", held)
    first = 0
    for number, count in enumerate(weights["count"]):
        row = weights["output"][first : first + count]
        check_ascending(row, f"weights.output (row {number})", weights["outputs"])
        first += count
    with np.errstate(over="ignore"):
        largest = np.abs(np.array(weights["value"])).sum() * 4.0 * max(factor, 1.0)
    require(bool(np.isfinite(largest)), "weights.value", "their sum is beyond all numbers")


def check_form(document: Plain) -> None:
    """Refuse a document that breaks the rules of its form."""
    if document["kind"] in BASELINES:
        _check_baseline(document)
        return
    k = len(document["classes"]["values"])
    check_outputs(document, k)
    _check_means(document["mean_contributions"], document["features"]["count"], k)
    path = document["validation_path"]
    if path is not None:
        check_length(path["loss"], "validation_path.loss", len(path["nu"]))
    if document["kind"] in MULTI_LABEL:
        _check_labels(document["labels"], k)


def _check_means(means: Plain, d: int, k: int) -> None:
    check_ascending(means["feature"], "mean_contributions.feature", d)
    check_length(means["values"], "mean_contributions.values", len(means["feature"]))
    for number, row in enumerate(means["values"]):
        check_length(row, f"mean_contributions.values[{number}]", k)


def _check_labels(labels: Plain, k: int) -> None:
    several, values = labels["several"], labels["values"]
    require(not (several and labels["single"]), "labels.single", "there are several labels")
    told = several == (values is not None)
    require(told, "labels.values", "they are there where there are several labels, and only then")
    named = several or labels["names"] is None
    require(named, "labels.names", "they are there only where there are several labels")
    if labels["names"] is not None:
        check_length(labels["names"], "labels.names", k)
    if values is not None:
        check_length(values, "labels.values", k)
        for number, pair in enumerate(values):
            found = labels_from_plain(pair, f"labels.values[{number}]")
            require(found.size <= 2, f"labels.values[{number}]", "a label has two values at most")


def _check_baseline(document: Plain) -> None:
    kind, k = document["kind"], len(document["classes"]["values"])
    code, outputs = document["code"], k
    coded = kind == "AdaBoostMO"
    for key in ("code", "decoding"):
        require((document[key] is not None) == coded, key, "AdaBoostMO has it, and no other")
    if code is not None:
        check_length(code, "code", k)
        outputs = len(code[0])
        for number, row in enumerate(code):
            check_length(row, f"code[{number}]", outputs)
    check_outputs(document, outputs)
    empty = not document["learners"]["order"]["count"]
    check_length(document["common"], "common", 0 if empty else outputs)
    totals = document["totals"]
    if totals is not None:
        require(kind == "OneVsAllBoost", "totals", "OneVsAllBoost has them, and no other")
        check_length(totals, "totals", k)
    lam_max = kind == "GradBoost" or document["lam_max"] is None
    require(lam_max, "lam_max", "GradBoost has it, and no other")
