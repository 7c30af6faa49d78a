"""What the documents of each form must keep beside what holds for all of them."""

from typing import Any

from .consistency import check_ascending, check_length, check_outputs
from .faults import require
from .labels import labels_from_plain
from .layout import BASELINES, MULTI_LABEL

Plain = dict[str, Any]


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
