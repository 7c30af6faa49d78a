"""Pairs compared with EBM and its interactions on problems of two classes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .measure import (
    Parts,
    Terms,
    compare_methods,
    fit_in_subprocess,
    mean_and_error,
    row_losses,
)
from .methods import ExplainableBoosting
from .pairs import FIT_LIMIT, draw_rows, in_standard_errors, log_loss_of, make_ours, search_nu
from .report import Column, Row, Table

_MOST_ROWS = 10_000  # of the cover types; other sets have fewer, or are used whole

_COLUMNS = (
    Column("dataset", "data"),
    Column("method", "method"),
    Column("log_loss", "log loss", ".4f"),
    Column("log_loss_se", "+-", ".4f"),
    Column("log_loss_excess", "s.e.", "+.1f"),
    Column("error", "error", ".4f"),
    Column("gap", "gap", ".2%"),
    Column("seconds", "fit s", ".2f"),
    Column("search", "search s", ".1f"),
    Column("speed", "times faster", ".1f"),
    Column("search_speed", "with search", ".1f"),
    Column("rules", "rules", ",d"),
    Column("stored", "numbers", ",d"),
    Column("remark", "remark"),
)
_NOTE = (
    "directboost: nu of least log loss on the folds, otherwise as in the comparison of methods. "
    "EBM: its defaults, which choose the interactions; it runs in a process that is ended at the "
    "time limit. +-: standard error of the mean over the test rows. s.e.: log loss of pairs minus "
    "that of EBM, in standard errors of the latter. Times faster: time of EBM relative to the fit "
    "of pairs, and to the fit and the search for nu; if EBM was ended, its time is at least this."
)


@dataclass(frozen=True)
class Problem:
    """Two groups of the classes of a data set; rows of other classes are left out."""

    name: str
    source: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    most_rows: int | None = None


PROBLEMS = (
    Problem("breast cancer", "breast_cancer", (0,), (1,)),
    Problem("pendigits, even / odd", "pendigits", (0, 2, 4, 6, 8), (1, 3, 5, 7, 9)),
    Problem("satimage, 0-2 / 3-5", "satimage", (0, 1, 2), (3, 4, 5)),
    Problem("letter, A-M / N-Z", "letter", tuple(range(13)), tuple(range(13, 26))),
    Problem("covtype, 0 / 1", "covtype", (0,), (1,), _MOST_ROWS),
)


def two_classes_table(rows: list[Row]) -> Table:
    """Return the table of the comparison with EBM."""
    return Table("two_classes", "Pairs and EBM on two classes", _COLUMNS, rows, _NOTE)


def make_problem(problem: Problem, parts: Parts) -> Parts:
    """Return the rows of both groups, with the classes 0 and 1."""
    classes = (*problem.first, *problem.second)
    train, test = (np.isin(y, classes) for y in (parts.y, parts.y_test))
    two = replace(
        parts,
        name=problem.name,
        X=parts.X[train],
        y=np.isin(parts.y[train], problem.second).astype(np.intp),
        X_test=parts.X_test[test],
        y_test=np.isin(parts.y_test[test], problem.second).astype(np.intp),
    )
    most = problem.most_rows
    return two if most is None else draw_rows(two, most, most)


def measure_two_classes(parts: Parts, limit: float, terms: Terms) -> list[Row]:
    """Fit pairs, then EBM in a process with a time limit; return a row each."""
    search = search_nu(parts, "pair", log_loss_of, terms)
    method = make_ours("pair", search.setting, terms)
    (ours,) = compare_methods([method], parts, terms)
    log_loss, log_loss_se = mean_and_error(row_losses(method.model, parts.X_test, parts.y_test))
    remarks = [f"nu {search.setting:g}", search.remark]
    remarks += [] if ours["converged"] else [f"stopped after {FIT_LIMIT:g} s"]
    ours |= {
        "method": "directboost pairs",
        "log_loss": log_loss,
        "log_loss_se": log_loss_se,
        "search": search.seconds,
        "remark": ", ".join(remark for remark in remarks if remark),
    }
    peer = _explainable(parts, limit, terms)
    if peer is None:
        return [ours]
    if "log_loss" in peer:
        ours["log_loss_excess"] = in_standard_errors(ours, peer, "log_loss")
    ours["speed"] = peer["seconds"] / ours["seconds"]
    ours["search_speed"] = peer["seconds"] / (ours["seconds"] + search.seconds)
    return [ours, peer]


def _explainable(parts: Parts, limit: float, terms: Terms) -> dict[str, Any] | None:
    """Return the row of EBM with its defaults, None if it is not installed."""
    method = ExplainableBoosting(terms.threads, None)
    if method.missing():
        terms.say(f"skipping {method.name}: {method.missing()}")
        return None
    terms.say(f"{parts.name}: {method.name}, at most {limit:g} s")
    row = {"dataset": parts.name, "shape": parts.shape(), "method": method.name}
    figures = fit_in_subprocess(parts, method, limit)
    if figures is None:
        return row | {"seconds": limit, "remark": f"ended after {limit:g} s"}
    return row | figures | {"remark": ""}
