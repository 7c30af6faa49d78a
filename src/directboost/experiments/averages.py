"""Means over the rows of an experiment, also where some are still missing."""

from typing import Any

import numpy as np

from .base import Results


def mean(results: Results, column: str, **wanted: Any) -> float:
    """Return the mean of a column over the rows with these values; NaN where there are none."""
    values = _values(results, column, wanted)
    return float(np.mean(values)) if values else float("nan")


def deviation(results: Results, column: str, **wanted: Any) -> float:
    """Return the standard deviation of a column over these rows; NaN where there are none."""
    values = _values(results, column, wanted)
    return float(np.std(values)) if values else float("nan")


def in_per_cent(results: Results, column: str, **wanted: Any) -> str:
    """Return the mean of shares in per cent, with the deviation if there are several."""
    several = len(_values(results, column, wanted)) > 1
    spread = f" ({per_cent(deviation(results, column, **wanted))})" if several else ""
    return per_cent(mean(results, column, **wanted)) + spread


def per_cent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, without the sign; nothing for NaN."""
    return "" if np.isnan(share) else f"{100.0 * share:.{digits}f}"


def numbers(results: Results, column: str, **wanted: Any) -> str:
    """Return the different values of a column over these rows, ascending."""
    return ", ".join(f"{value:g}" for value in sorted(set(_values(results, column, wanted))))


def _values(results: Results, column: str, wanted: dict[str, Any]) -> list[float]:
    rows = results.where(**wanted)
    return [row[column] for row in rows if row.get(column) is not None]
