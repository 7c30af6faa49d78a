"""Time to a certified gap, beside 100 rounds of LightGBM stumps."""

from typing import Any

from .contest import Terms, hold_contest
from .measure import Parts, fit_apart
from .methods import DirectBoost
from .peers import LightGBM
from .tables import Column, Row, Table

GAPS = (0.05, 0.01, 0.001)
NU = 0.01

_COLUMNS = (
    Column("dataset", "data"),
    Column("shape", "m x d, k"),
    Column("method", "method"),
    Column("seconds", "fit s", ".3f"),
    Column("ratio", "ratio", ".2f"),
    Column("gap", "gap", ".2%"),
    Column("error", "error", ".4f"),
    Column("splits", "stumps", ",d"),
    Column("features", "features", ",d"),
    Column("stored", "numbers", ",d"),
    Column("bytes", "bytes", "si"),
    Column("bytes_form", "form"),
    Column("rows_per_second", "rows/s", "si"),
    Column("peak_mb", "peak MB", ".1f"),
)
_NOTE = (
    f"directboost at nu = {NU:g} nu_max, pairwise logistic loss, l1,2 penalty; the whole of fit "
    "is timed, binning included. Ratio: to the time of LightGBM, 100 rounds of stumps. Gap: as "
    "certified. Numbers: thresholds, features, weights or leaf values. Peak: memory of the fit "
    "above the input, in a fresh process."
)


def speed_table(rows: list[Row]) -> Table:
    """Return the table of speed."""
    return Table("speed", "Time to a certified gap", _COLUMNS, rows, _NOTE)


def measure_speed(parts: Parts, terms: Terms) -> list[Row]:
    """Fit ours to three gaps and LightGBM, in turn; return one row each."""
    peer = LightGBM(terms.threads, 100)
    methods = [*(DirectBoost(terms.threads, NU, gap) for gap in GAPS), peer]
    rows = hold_contest(methods, parts, terms)
    base = next(row["seconds"] for row in rows if row["method"] == peer.name)
    for row, method in zip(rows, methods, strict=True):
        terms.say(f"{parts.name}: memory of {method.name}")
        apart: dict[str, Any] = fit_apart(parts, method) or {}
        if isinstance(method, DirectBoost):
            row["asked"] = method.choices["tol"]
        row |= {"ratio": row["seconds"] / base, "peak_mb": apart["peak"] / 2**20}
        if not row.get("converged", True):
            row["method"] += ", not reached"
    return [*rows]
