"""Accuracy and size of certified pairs, compared with stumps and with LightGBM.

The tables of this part are in three more modules: `pair_costs` (time, memory, paths, pricing),
`two_classes` (comparison with EBM) and `targets` (what the part has to reach).
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ... import directboost_path
from ...callbacks import TimeLimit
from .measure import Parts, Terms, compare_methods, mean_and_error, row_losses
from .methods import DirectBoost, LightGBM, LightGBMDepth2
from .quality import NUS, TOL, validation_folds
from .report import Column, Row, Table

#: Data sets from the fastest to the slowest, so that an interrupted run has most of them.
SETS = (
    *("digits", "vowel", "segment", "satimage", "pendigits", "optdigits"),
    *("letter", "covtype", "usps", "mnist", "isolet"),
)
FIXED_NU = 0.003  # of the fits whose time and memory are compared
SECOND_NU, MANY_ROWS = 0.01, 50_000  # data with many rows are timed at this nu, too
FOLDS = 3
RATES = (0.1, 0.3)  # learning rates of LightGBM with depth 2
FIT_LIMIT = 60.0  # seconds of one fit
SEARCH_LIMIT = 120.0  # seconds of a path on one fold
_LEARNERS = ("pair", "stump")
_MOST_ROWS = {"covtype": 100_000, "mnist": 10_000}
_MOST_TEST_ROWS = 10_000  # of the same sets

#: A function of a fitted classifier, X and y that is smaller for better classifiers.
Criterion = Callable[[Any, Any, Any], float]

_COLUMNS = (
    Column("dataset", "data"),
    Column("method", "method"),
    Column("error", "error", ".4f"),
    Column("error_se", "+-", ".4f"),
    Column("log_loss", "log loss", ".4f"),
    Column("gap", "gap", ".2%"),
    Column("seconds", "fit s", ".2f"),
    Column("search", "search s", ".1f"),
    Column("rules", "rules", ",d"),
    Column("splits", "splits", ",d"),
    Column("features", "features", ",d"),
    Column("stored", "numbers", ",d"),
    Column("table_bytes", "C bytes", "si"),
    Column("rows_per_second", "rows/s", "si"),
    Column("remark", "remark"),
)
_NOTE = (
    f"directboost: nu of least error in {FOLDS}-fold cross-validation on the training rows, from "
    f"{', '.join(f'{nu:g}' for nu in NUS)}, then one fit to a certified gap of {TOL:.0%}. "
    f"LightGBM depth 2: 500 rounds, learning rate {RATES[0]:g} or {RATES[1]:g} by the same "
    "folds. On more than a million values, one split with a fifth of the training rows replaces "
    f"the folds. Fits of directboost are stopped after {FIT_LIMIT:g} s, and paths of the search "
    f"after {SEARCH_LIMIT:g} s per fold: then only the nus that all folds have reached are "
    "compared. +-: binomial standard error. Rules: stumps and products. Splits: a product has "
    "two. C bytes: tables in C, in single precision."
)

_ERROR_COLUMNS = (
    Column("dataset", "data"),
    Column("nu", "nu", "g"),
    Column("error", "pairs", ".2%"),
    Column("stump_error", "stumps", ".2%"),
    Column("depth2_error", "depth 2", ".2%"),
    Column("depth2_excess", "s.e.", "+.1f"),
    Column("peer_error", "LightGBM", ".2%"),
    Column("error_excess", "s.e.", "+.1f"),
    Column("remark", "remark"),
)
_ERROR_NOTE = (
    "Test errors of pairs, of stumps, and of LightGBM with depth 2 and with its defaults. s.e.: "
    "error of pairs minus that of the column before, in standard errors of the latter; negative if "
    "pairs are better."
)
_LOG_LOSS_COLUMNS = (
    Column("dataset", "data"),
    Column("log_loss", "pairs", ".3f"),
    Column("stump_log_loss", "stumps", ".3f"),
    Column("depth2_log_loss", "depth 2", ".3f"),
    Column("peer_log_loss", "LightGBM", ".3f"),
    Column("log_loss_excess", "s.e.", "+.1f"),
)
_LOG_LOSS_NOTE = (
    "Log loss of the same models on the test rows. s.e.: log loss of pairs minus that of LightGBM "
    "with its defaults, in standard errors of the latter."
)
_SIZE_COLUMNS = (
    Column("dataset", "data"),
    Column("rules", "rules", ",d"),
    Column("splits", "splits", ",d"),
    Column("rules_ratio", "ratio", ".4f"),
    Column("stored_ratio", "numbers", ".3f"),
    Column("bytes_ratio", "C bytes", ".3f"),
    Column("speed_ratio", "rows/s", ".1f"),
)
_SIZE_NOTE = (
    "Rules of directboost, splits of LightGBM with its defaults, and their ratio; ratios of stored "
    "numbers and of bytes of tables in C (less is better), and of predicted rows per second (more "
    "is better)."
)


@dataclass(frozen=True, eq=False)
class Models:
    """Results on one data set.

    Attributes
    ----------
    rows : list of rows
        A row per method, with the settings that the search has chosen.
    errors, log_losses, sizes : row
        The figures of pairs relative to those of the other methods.
    timed : {name: row}
        The rows of all fits by the names of their methods, among them those at fixed nus.
    """

    rows: list[Row]
    errors: Row
    log_losses: Row
    sizes: Row
    timed: dict[str, Row]


@dataclass(frozen=True)
class Search:
    """A setting chosen by cross-validation, the seconds this took, and what to remark on it."""

    setting: float
    seconds: float
    remark: str


def pairs_table(rows: list[Row]) -> Table:
    """Return the table of all methods."""
    return Table("pairs", "Pairs compared with other methods", _COLUMNS, rows, _NOTE)


def errors_table(rows: list[Row]) -> Table:
    """Return the table of the errors of pairs and of the other methods."""
    return Table("pair_errors", "Errors", _ERROR_COLUMNS, rows, _ERROR_NOTE)


def log_losses_table(rows: list[Row]) -> Table:
    """Return the table of the log losses of pairs and of the other methods."""
    return Table("pair_log_losses", "Log loss", _LOG_LOSS_COLUMNS, rows, _LOG_LOSS_NOTE)


def sizes_table(rows: list[Row]) -> Table:
    """Return the table of sizes and speed of pairs relative to LightGBM, with medians."""
    if len(rows) > 1:
        keys = ("rules_ratio", "stored_ratio", "bytes_ratio", "speed_ratio")
        medians = {key: float(np.median([row[key] for row in rows])) for key in keys}
        rows = [*rows, {"dataset": "median", **medians}]
    title = "Size and speed relative to LightGBM"
    return Table("pair_sizes", title, _SIZE_COLUMNS, rows, _SIZE_NOTE)


def limit_rows(parts: Parts) -> Parts:
    """Return a fixed draw of the rows of the largest data sets, and other data as they are."""
    most = _MOST_ROWS.get(parts.name)
    return parts if most is None else draw_rows(parts, most, _MOST_TEST_ROWS)


def draw_rows(parts: Parts, most: int, most_test: int) -> Parts:
    """Return at most the given numbers of training and test rows, drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    train, test = (
        np.sort(rng.permutation(y.size)[:count])
        for y, count in ((parts.y, most), (parts.y_test, most_test))
    )
    return replace(
        parts,
        X=parts.X[train], y=parts.y[train], X_test=parts.X_test[test], y_test=parts.y_test[test],
    )  # fmt: skip


def error_of(model: Any, X: Any, y: Any) -> float:
    """Return the share of wrong predictions."""
    return float(np.mean(model.predict(X) != y))


def log_loss_of(model: Any, X: Any, y: Any) -> float:
    """Return the mean log loss."""
    return float(np.mean(row_losses(model, X, y)))


def make_ours(learner: str, nu: float, terms: Terms) -> DirectBoost:
    """Return directboost with a kind of weak classifiers, named after it and nu."""
    method = DirectBoost(terms.threads, nu, TOL, FIT_LIMIT, learner=learner)
    method.name = f"directboost {learner}s, nu {nu:g}"
    return method


def search_nu(parts: Parts, learner: str, criterion: Criterion, terms: Terms) -> Search:
    """Return the nu of least criterion on the folds; ties go to the largest nu.

    Every fold fits one path. Only certified models count, and only the nus that all folds reach.
    """
    started = time.perf_counter()
    folds = list(validation_folds(parts, FOLDS))
    found: dict[float, list[float]] = {nu: [] for nu in NUS}
    for number, (fit, check) in enumerate(folds, start=1):
        terms.say(f"{parts.name}: {learner}s, path on fold {number} of {len(folds)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = directboost_path(
                parts.X[fit],
                parts.y[fit],
                nus=NUS,
                learner=learner,
                tol=TOL,
                n_jobs=terms.threads,
                callbacks=TimeLimit(SEARCH_LIMIT),
            )
        for model in path:
            if model.certificate_.converged:
                found[model.nu].append(criterion(model, parts.X[check], parts.y[check]))
    means = {nu: float(np.mean(found[nu])) for nu in NUS if len(found[nu]) == len(folds)}
    for nu, mean in means.items():
        terms.say(f"{parts.name}: {learner}s, nu {nu:g}, validation {mean:.4f}")
    seconds = time.perf_counter() - started
    if not means:
        return Search(NUS[0], seconds, "search stopped before its first nu")
    stopped = "" if len(means) == len(NUS) else f"search stopped after nu {min(means):g}"
    return Search(min(means, key=means.__getitem__), seconds, stopped)


def search_rate(parts: Parts, criterion: Criterion, terms: Terms) -> Search:
    """Return the learning rate of LightGBM with depth 2 of least criterion on the folds."""
    started = time.perf_counter()
    folds = list(validation_folds(parts, FOLDS))
    means = {}
    for rate in RATES:
        terms.say(f"{parts.name}: LightGBM depth 2, rate {rate:g} on {len(folds)} folds")
        method = LightGBMDepth2(terms.threads, rate)
        means[rate] = np.mean(
            [
                criterion(
                    method.fit(parts.X[fit], parts.y[fit]).model, parts.X[check], parts.y[check]
                )
                for fit, check in folds
            ]
        )
    return Search(min(means, key=means.__getitem__), time.perf_counter() - started, "")


def measure_models(parts: Parts, terms: Terms) -> Models:
    """Choose the settings on the training rows, then compare all methods in turn."""
    searches = {learner: search_nu(parts, learner, error_of, terms) for learner in _LEARNERS}
    rate = search_rate(parts, error_of, terms)
    pairs, stumps = (make_ours(name, searches[name].setting, terms) for name in _LEARNERS)
    default, depth2 = LightGBM(terms.threads, None), LightGBMDepth2(terms.threads, rate.setting)
    fixed = [make_ours(learner, FIXED_NU, terms) for learner in _LEARNERS]
    if parts.y.size >= MANY_ROWS:
        fixed.append(make_ours("pair", SECOND_NU, terms))
    methods = {method.name: method for method in (pairs, stumps, default, depth2, *fixed)}
    timed: dict[str, Row] = {
        row["method"]: row for row in compare_methods(list(methods.values()), parts, terms)
    }
    rows = []
    for method, title, search, unit in (
        (pairs, "directboost pairs", searches["pair"], "nu"),
        (stumps, "directboost stumps", searches["stump"], "nu"),
        (default, default.name, None, ""),
        (depth2, depth2.name, rate, "rate"),
    ):
        fitted = methods[method.name]  # the fits at fixed nus may be among them
        terms.say(f"{parts.name}: log loss and tables in C of {title}")
        rows.append(_row(parts, fitted, timed[method.name], search, unit) | {"method": title})
    errors = _compare_errors(rows) | {"nu": searches["pair"].setting}
    return Models([*rows], errors, _compare_log_losses(rows), _compare_sizes(rows), timed)


def _row(
    parts: Parts, method: Any, figures: Row, search: Search | None, unit: str
) -> dict[str, Any]:
    """Return the figures of a fitted method with the log loss, the size in C and the remarks."""
    log_loss, log_loss_se = mean_and_error(row_losses(method.model, parts.X_test, parts.y_test))
    error = figures["error"]
    remarks = []
    if search is not None:
        remarks = [f"{unit} {search.setting:g}", search.remark]
    if not figures.get("converged", True):
        remarks.append(f"stopped after {FIT_LIMIT:g} s")
    return {
        **figures,
        "error_se": float(np.sqrt(error * (1.0 - error) / parts.y_test.size)),
        "log_loss": log_loss,
        "log_loss_se": log_loss_se,
        "table_bytes": method.table_bytes(),
        "search": None if search is None else search.seconds,
        "remark": ", ".join(remark for remark in remarks if remark),
    }


def _compare_errors(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare the error of pairs with those of the other methods."""
    pairs, stumps, default, depth2 = rows
    return {
        "dataset": pairs["dataset"],
        "error": pairs["error"],
        "stump_error": stumps["error"],
        "depth2_error": depth2["error"],
        "depth2_excess": in_standard_errors(pairs, depth2, "error"),
        "peer_error": default["error"],
        "error_excess": in_standard_errors(pairs, default, "error"),
        "remark": pairs["remark"].partition(", ")[2],  # what follows nu
    }


def _compare_log_losses(rows: list[dict[str, Any]]) -> Row:
    """Compare the log loss of pairs with those of the other methods."""
    pairs, stumps, default, depth2 = rows
    return {
        "dataset": pairs["dataset"],
        "log_loss": pairs["log_loss"],
        "stump_log_loss": stumps["log_loss"],
        "depth2_log_loss": depth2["log_loss"],
        "peer_log_loss": default["log_loss"],
        "log_loss_excess": in_standard_errors(pairs, default, "log_loss"),
    }


def _compare_sizes(rows: list[dict[str, Any]]) -> Row:
    """Compare size and speed of pairs with those of LightGBM."""
    pairs, _, default, _ = rows
    return {
        "dataset": pairs["dataset"],
        "rules": pairs["rules"],
        "splits": default["splits"],
        "rules_ratio": pairs["rules"] / default["splits"],
        "stored_ratio": pairs["stored"] / default["stored"],
        "bytes_ratio": pairs["table_bytes"] / default["table_bytes"],
        "speed_ratio": pairs["rows_per_second"] / default["rows_per_second"],
    }


def in_standard_errors(ours: Row, peer: Row, key: str) -> float:
    """Return how much a figure exceeds that of a peer, in standard errors of the peer."""
    return float((ours[key] - peer[key]) / max(peer[f"{key}_se"], 1e-12))
