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
    Column("log_loss", "log loss", ".3f"),
    Column("peer_log_loss", "EBM", ".3f"),
    Column("log_loss_excess", "s.e.", "+.1f"),
    Column("error", "error", ".2%"),
    Column("peer_error", "EBM", ".2%"),
    Column("rules", "rules", ",d"),
    Column("seconds", "fit s", ".2f"),
    Column("search", "search s", ".1f"),
    Column("peer_seconds", "EBM s", ".1f"),
    Column("speed", "faster", ".1f"),
    Column("search_speed", "with search", ".1f"),
    Column("remark", "remark"),
)
_NOTE = (
    "directboost: nu of least log loss on the folds, otherwise as in the comparison of methods. "
    "EBM: its defaults, which choose the interactions; it runs in a process that is ended at the "
    "time limit. s.e.: log loss of pairs minus that of EBM, in standard errors of the latter. "
    "Faster: time of EBM relative to the fit of pairs, and to the fit with the search for nu; if "
    "EBM was ended, these are lower bounds."
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


def measure_two_classes(parts: Parts, limit: float, terms: Terms) -> Row:
    """Fit pairs, then EBM in a process with a time limit, and compare them."""
    search = search_nu(parts, "pair", log_loss_of, terms)
    method = make_ours("pair", search.setting, terms)
    (ours,) = compare_methods([method], parts, terms)
    log_loss, log_loss_se = mean_and_error(row_losses(method.model, parts.X_test, parts.y_test))
    remarks = [f"nu {search.setting:g}", search.remark]
    remarks += [] if ours["converged"] else [f"stopped after {FIT_LIMIT:g} s"]
    ours |= {"log_loss": log_loss, "log_loss_se": log_loss_se, "search": search.seconds}
    peer = _explainable(parts, limit, terms)
    if peer is not None:
        seconds = peer.get("seconds", limit)
        ours |= {f"peer_{key}": peer.get(key) for key in ("log_loss", "log_loss_se", "error")}
        ours["peer_seconds"] = seconds
        ours["speed"] = seconds / ours["seconds"]
        ours["search_speed"] = seconds / (ours["seconds"] + search.seconds)
        if peer:
            ours["log_loss_excess"] = in_standard_errors(ours, peer, "log_loss")
        else:
            remarks.append(f"EBM ended after {limit:g} s")
    ours["remark"] = ", ".join(remark for remark in remarks if remark)
    return ours


def _explainable(parts: Parts, limit: float, terms: Terms) -> dict[str, Any] | None:
    """Return the figures of EBM with its defaults, empty after a time-out.

    The result is None if the package is not installed.
    """
    method = ExplainableBoosting(terms.threads, None)
    if method.missing():
        terms.say(f"skipping {method.name}: {method.missing()}")
        return None
    terms.say(f"{parts.name}: {method.name}, at most {limit:g} s")
    return fit_in_subprocess(parts, method, limit) or {}
