"""Growth of time and memory with rows, features and classes, on generated data."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...datasets.generated import additive
from .measure import Parts, Terms, fit_apart, hold_contest, parts_of
from .methods import DirectBoost, LightGBM
from .report import Column, Row, Table

NU, TOL = 0.01, 0.01


@dataclass(frozen=True)
class Size:
    """Rows to train on, features and classes of generated data."""

    m: int
    d: int
    k: int


@dataclass(frozen=True)
class Plan:
    """A base size, and along each axis the sizes that are measured."""

    base: Size
    m: tuple[int, ...]
    d: tuple[int, ...]
    k: tuple[int, ...]

    def sizes(self) -> list[tuple[str, Size]]:
        """Return every axis with each of its sizes."""
        return [
            (axis, replace(self.base, **{axis: value}))
            for axis in ("m", "d", "k")
            for value in getattr(self, axis)
        ]


FULL = Plan(
    Size(20_000, 20, 5), (20_000, 40_000, 80_000, 160_000), (20, 40, 80, 160), (5, 10, 20, 40)
)
QUICK = Plan(Size(2_000, 20, 4), (1_000, 2_000, 4_000), (10, 20, 40), (2, 4, 8))
MEMORY = Size(500_000, 50, 7)

_COLUMNS = (
    Column("axis", "axis"),
    Column("m", "m", ",d"),
    Column("d", "d", ",d"),
    Column("k", "k", ",d"),
    Column("seconds", "ours s", ".3f"),
    Column("peer", "LGB-100 s", ".3f"),
    Column("ratio", "ratio", ".2f"),
    Column("splits", "stumps", ",d"),
    Column("error", "error", ".4f"),
    Column("peer_error", "LGB-100 error", ".4f"),
)
_EXPONENTS = (
    Column("axis", "axis"),
    Column("ours", "ours", ".2f"),
    Column("peer", "LGB-100", ".2f"),
    Column("points", "points", "d"),
)
_MEMORY = (
    Column("shape", "m x d, k"),
    Column("method", "method"),
    Column("input_mb", "input MB", ".0f"),
    Column("peak_mb", "peak MB above it", ".0f"),
    Column("seconds", "fit s", ".2f"),
    Column("error", "error", ".4f"),
)


def growth_table(rows: list[Row]) -> Table:
    """Return the table of the single sizes."""
    note = f"Generated data; directboost to 1 % at nu = {NU:g} nu_max beside LightGBM, 100 stumps."
    return Table("growth", "Growth", _COLUMNS, rows, note)


def exponent_table(rows: list[Row]) -> Table:
    """Return the table of exponents: time grows like size to this power."""
    note = "Slope of the logarithm of time against the logarithm of the size, by least squares."
    exponents = [_exponents(axis, rows) for axis in ("m", "d", "k")]
    return Table("exponents", "Exponents of growth", _EXPONENTS, exponents, note)


def memory_table(rows: list[Row]) -> Table:
    """Return the table of memory at one large size."""
    note = "Peak of the memory of fit above the input, in a fresh process that has read the input."
    return Table("memory", "Memory", _MEMORY, rows, note)


def _exponents(axis: str, rows: list[Row]) -> Row:
    mine = [row for row in rows if row["axis"] == axis]
    sizes = np.log([row[axis] for row in mine])

    def slope(key: str) -> float:
        return float(np.polyfit(sizes, np.log([row[key] for row in mine]), 1)[0])

    return {"axis": axis, "ours": slope("seconds"), "peer": slope("peer"), "points": len(mine)}


def measure_growth(plan: Plan, terms: Terms) -> list[Row]:
    """Fit ours and LightGBM at every size of the plan."""
    known: dict[Size, dict[str, Any]] = {}
    rows: list[Row] = []
    for axis, size in plan.sizes():
        if size not in known:
            known[size] = _fit(size, terms)
        rows.append({"axis": axis, **known[size]})
    return rows


def _parts(size: Size) -> Parts:
    """Draw a third more rows than asked for, to test on."""
    return parts_of(additive(-(-4 * size.m // 3), size.d, size.k))


def _fit(size: Size, terms: Terms) -> dict[str, Any]:
    methods = [DirectBoost(terms.threads, NU, TOL), LightGBM(terms.threads, 100)]
    ours, peer = hold_contest(methods, _parts(size), terms)
    return {
        "m": size.m,
        "d": size.d,
        "k": size.k,
        "seconds": ours["seconds"],
        "peer": peer["seconds"],
        "ratio": ours["seconds"] / peer["seconds"],
        "splits": ours["splits"],
        "error": ours["error"],
        "peer_error": peer["error"],
    }


def measure_memory(size: Size, terms: Terms) -> list[Row]:
    """Fit ours and LightGBM in fresh processes at one size."""
    parts = _parts(size)
    rows: list[Row] = []
    for method in (DirectBoost(terms.threads, NU, TOL), LightGBM(terms.threads, 100)):
        terms.say(f"memory of {method.name} at {parts.shape()}")
        apart = fit_apart(parts, method) or {}
        rows.append(
            {
                "shape": parts.shape(),
                "method": method.name,
                "input_mb": (parts.X.nbytes + parts.y.nbytes) / 2**20,
                "peak_mb": apart["peak"] / 2**20,
                "seconds": apart["seconds"],
                "error": apart["error"],
            }
        )
    return rows
