"""Growth of time and memory with rows, features and classes, on generated data."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...datasets.generated import additive
from .measure import Parts, Terms, compare_methods, fit_in_subprocess, split_parts
from .methods import DirectBoost, LightGBM
from .report import Column, Row, Table

NU, TOL = 0.01, 0.01


@dataclass(frozen=True)
class Size:
    """Training rows, features and classes of generated data."""

    m: int
    d: int
    k: int


@dataclass(frozen=True)
class SizeGrid:
    """A base size, and the sizes that are measured along each axis."""

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


FULL = SizeGrid(
    Size(20_000, 20, 5), (20_000, 40_000, 80_000, 160_000), (20, 40, 80, 160), (5, 10, 20, 40)
)
QUICK = SizeGrid(Size(2_000, 20, 4), (1_000, 2_000, 4_000), (10, 20, 40), (2, 4, 8))
MEMORY = Size(500_000, 50, 7)

_COLUMNS = (
    Column("axis", "axis"),
    Column("m", "m", ",d"),
    Column("d", "d", ",d"),
    Column("k", "k", ",d"),
    Column("seconds", "directboost s", ".3f"),
    Column("peer", "LightGBM s", ".3f"),
    Column("ratio", "ratio", ".2f"),
    Column("splits", "stumps", ",d"),
    Column("error", "error", ".4f"),
    Column("peer_error", "LightGBM error", ".4f"),
)
_EXPONENTS = (
    Column("axis", "axis"),
    Column("ours", "directboost", ".2f"),
    Column("peer", "LightGBM", ".2f"),
    Column("points", "points", "d"),
)
_MEMORY = (
    Column("shape", "m x d, k"),
    Column("method", "method"),
    Column("input_mb", "input MB", ".0f"),
    Column("peak_mb", "peak MB above input", ".0f"),
    Column("seconds", "fit s", ".2f"),
    Column("error", "error", ".4f"),
)


def growth_table(rows: list[Row]) -> Table:
    """Return the table of the single sizes."""
    note = (
        f"Generated data; directboost to a gap of 1 % at nu = {NU:g} nu_max, and 100 rounds of "
        "LightGBM stumps. Ratio: time of directboost relative to LightGBM."
    )
    return Table("growth", "Growth", _COLUMNS, rows, note)


def exponent_table(rows: list[Row]) -> Table:
    """Return the table of exponents: time grows like the size to this power."""
    note = "Slopes of log(time) against log(size), by least squares."
    exponents = [_exponents(axis, rows) for axis in ("m", "d", "k")]
    return Table("exponents", "Exponents of growth", _EXPONENTS, exponents, note)


def memory_table(rows: list[Row]) -> Table:
    """Return the table of memory at one large size."""
    note = "Peak memory of the fit above the input, in a fresh process that has loaded the input."
    return Table("memory", "Memory", _MEMORY, rows, note)


def _exponents(axis: str, rows: list[Row]) -> Row:
    mine = [row for row in rows if row["axis"] == axis]
    sizes = np.log([row[axis] for row in mine])

    def slope(key: str) -> float:
        return float(np.polyfit(sizes, np.log([row[key] for row in mine]), 1)[0])

    return {"axis": axis, "ours": slope("seconds"), "peer": slope("peer"), "points": len(mine)}


def measure_growth(grid: SizeGrid, terms: Terms) -> list[Row]:
    """Fit directboost and LightGBM at every size of a grid."""
    measured: dict[Size, dict[str, Any]] = {}
    rows: list[Row] = []
    for axis, size in grid.sizes():
        if size not in measured:
            measured[size] = _fit(size, terms)
        rows.append({"axis": axis, **measured[size]})
    return rows


def _parts(size: Size) -> Parts:
    """Generate a third more rows than requested, for testing."""
    return split_parts(additive(-(-4 * size.m // 3), size.d, size.k))


def _fit(size: Size, terms: Terms) -> dict[str, Any]:
    methods = [DirectBoost(terms.threads, NU, TOL), LightGBM(terms.threads, 100)]
    ours, peer = compare_methods(methods, _parts(size), terms)
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
    """Fit directboost and LightGBM in fresh processes at one size."""
    parts = _parts(size)
    rows: list[Row] = []
    for method in (DirectBoost(terms.threads, NU, TOL), LightGBM(terms.threads, 100)):
        terms.say(f"memory of {method.name} at {parts.shape()}")
        figures = fit_in_subprocess(parts, method) or {}
        rows.append(
            {
                "shape": parts.shape(),
                "method": method.name,
                "input_mb": (parts.X.nbytes + parts.y.nbytes) / 2**20,
                "peak_mb": figures["peak"] / 2**20,
                "seconds": figures["seconds"],
                "error": figures["error"],
            }
        )
    return rows
