"""Quality of all methods on a data set, and comparison at the accuracy of 500 LightGBM rounds."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from .measure import Parts, Terms, compare_methods, fit_in_subprocess
from .methods import (
    AdaBoost,
    DirectBoost,
    ExplainableBoosting,
    HistGradientBoosting,
    LightGBM,
    Method,
    XGBoost,
)
from .report import Column, Row, Table

NUS = (0.03, 0.01, 0.003, 0.001, 0.0003)
TOL = 0.01

_COLUMNS = (
    Column("dataset", "data"),
    Column("method", "method"),
    Column("error", "error", ".4f"),
    Column("seconds", "fit s", ".3f"),
    Column("splits", "splits", ",d"),
    Column("features", "features", ",d"),
    Column("stored", "numbers", ",d"),
    Column("bytes", "bytes", "si"),
    Column("bytes_form", "form"),
    Column("rows_per_second", "rows/s", "si"),
    Column("remark", "remark"),
)
_NOTE = (
    "directboost uses the nu of least cross-validation error on the training part, and a "
    "certified gap of 1 %. No setting of any method was chosen by the test error."
)
_EQUAL_COLUMNS = (
    Column("dataset", "data"),
    Column("nu", "nu", "g"),
    Column("search", "search s", ".1f"),
    Column("error", "error", ".4f"),
    Column("peer_error", "LightGBM error", ".4f"),
    Column("standard_error", "+-", ".4f"),
    Column("verdict", "accuracy"),
    Column("time", "time", ".2f"),
    Column("splits", "splits", ".3f"),
    Column("stored", "numbers", ".3f"),
    Column("speed", "rows/s", ".1f"),
)
_EQUAL_NOTE = (
    "Ratios of directboost to LightGBM with 500 rounds of stumps: time, splits and stored numbers "
    "(less is better), predicted rows per second (more is better). Reached: the test error exceeds "
    "that of LightGBM by at most one binomial standard error. nu is chosen by cross-validation; "
    "the time of this search is not included."
)


@dataclass(frozen=True, eq=False)
class Quality:
    """Results on one data set: a row per method, the row of equal accuracy, curves by method."""

    rows: list[Row]
    equal: Row
    curves: dict[str, list[tuple[int, float]]]


def quality_table(rows: list[Row]) -> Table:
    """Return the table of all methods."""
    return Table("quality", "Quality compared with other methods", _COLUMNS, rows, _NOTE)


def equal_table(rows: list[Row]) -> Table:
    """Return the table at the accuracy of 500 LightGBM rounds, with medians over the data sets."""
    title = "At the accuracy of LightGBM with 500 rounds"
    reached = [row for row in rows if row["verdict"] == "reached"]
    medians = [
        _median("median, reached", reached, f"{len(reached)} of {len(rows)}"),
        _median("median, all", rows, ""),
    ]
    return Table("equal", title, _EQUAL_COLUMNS, [*rows, *medians], _EQUAL_NOTE)


def _median(name: str, rows: list[Row], verdict: str) -> Row:
    keys = ("time", "splits", "stored", "speed")
    medians = {key: float(np.median([row[key] for row in rows])) for key in keys if rows}
    return {"dataset": name, "verdict": verdict, **medians}


def measure_quality(parts: Parts, limit: float, terms: Terms) -> Quality:
    """Choose nu on the training part, then compare all methods."""
    started = time.perf_counter()
    nu = choose_nu(parts, terms)
    search = time.perf_counter() - started
    ours, peer = DirectBoost(terms.threads, nu, TOL), LightGBM(terms.threads, 500)
    methods = [ours, peer, *_other_methods(parts, terms)]
    rows = compare_methods(methods, parts, terms)
    rows = [{"remark": ""} | row for row in rows]
    rows[0]["remark"] = f"nu {nu:g}"
    equal = _equal(parts, rows[0], rows[1]) | {"nu": nu, "search": search}
    curves = {m.name: _curve(m, parts) for m in methods}
    curves[ours.name] = _path(parts, terms)
    if parts.small and limit > 0.0:
        rows += _explainable(parts, limit, terms)
    return Quality([*rows], equal, curves)


def choose_nu(parts: Parts, terms: Terms) -> float:
    """Return the nu of least validation error; ties go to the largest nu, the smallest model.

    The folds are five of the training part, or a single split with a fifth of its rows if it is
    large.
    """
    errors = []
    for nu in NUS:
        wrong = [
            _wrong(DirectBoost(terms.threads, nu, TOL), parts, fit, check)
            for fit, check in validation_folds(parts, 5)
        ]
        errors.append(float(np.mean(wrong)))
        terms.say(f"{parts.name}: nu {nu:g}, validation error {errors[-1]:.4f}")
    return NUS[int(np.argmin(errors))]


def validation_folds(parts: Parts, count: int) -> Any:
    """Return folds of the training rows, or one split with a fifth of them on large data."""
    if parts.small:
        folds = StratifiedKFold(count, shuffle=True, random_state=0)
        return folds.split(parts.X, parts.y)
    return StratifiedShuffleSplit(1, test_size=0.2, random_state=0).split(parts.X, parts.y)


def _wrong(method: Method, parts: Parts, fit: Any, check: Any) -> float:
    predictions = method.fit(parts.X[fit], parts.y[fit]).predict(parts.X[check])
    return float(np.mean(predictions != parts.y[check]))


def _other_methods(parts: Parts, terms: Terms) -> list[Method]:
    """Return the other methods that are installed, without the slowest ones on large data."""
    candidates: list[Method] = [
        LightGBM(terms.threads, 100),
        LightGBM(terms.threads, None),
        XGBoost(terms.threads, 100),
        HistGradientBoosting(terms.threads),
    ]
    if parts.small:
        candidates += [XGBoost(terms.threads, 500), AdaBoost(terms.threads)]
    for method in candidates:
        if method.missing():
            terms.say(f"skipping {method.name}: {method.missing()}")
    return [method for method in candidates if not method.missing()]


def _equal(parts: Parts, ours: Row, peer: Row) -> dict[str, Any]:
    """Compare two rows; everything except the errors is a ratio of directboost to the peer."""
    error = peer["error"]
    standard_error = float(np.sqrt(error * (1.0 - error) / parts.y_test.size))
    reached = ours["error"] <= error + standard_error
    return {
        "dataset": parts.name,
        "error": ours["error"],
        "peer_error": error,
        "standard_error": standard_error,
        "verdict": "reached" if reached else "not reached",
        "time": ours["seconds"] / peer["seconds"],
        "splits": ours["splits"] / peer["splits"],
        "stored": ours["stored"] / peer["stored"],
        "speed": ours["rows_per_second"] / peer["rows_per_second"],
    }


def _curve(method: Method, parts: Parts) -> list[tuple[int, float]]:
    """Return test error against splits along the rounds, for the plot."""
    return [
        (splits, parts.error(predictions)) for splits, predictions in method.stages(parts.X_test)
    ]


def _path(parts: Parts, terms: Terms) -> list[tuple[int, float]]:
    """Return test error against splits along nu, for the plot."""
    terms.say(f"{parts.name}: path of nu for the plot")
    path = [DirectBoost(terms.threads, nu, TOL).fit(parts.X, parts.y) for nu in NUS]
    return [point for method in path for point in _curve(method, parts)]


def _explainable(parts: Parts, limit: float, terms: Terms) -> list[dict[str, Any]]:
    """Fit an EBM in a process with a time limit."""
    method = ExplainableBoosting(terms.threads)
    if method.missing():
        terms.say(f"skipping {method.name}: {method.missing()}")
        return []
    terms.say(f"{parts.name}: {method.name}, at most {limit:g} s")
    row = {"dataset": parts.name, "shape": parts.shape(), "method": method.name, "remark": ""}
    figures = fit_in_subprocess(parts, method, limit)
    if figures is None:
        return [row | {"remark": f"not finished in {limit:g} s"}]
    return [row | figures]
