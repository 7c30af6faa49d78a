"""Means over the rows of an experiment, also where some are still missing."""

from typing import Any

import numpy as np

from .base import Results


def mean(results: Results, column: str, **wanted: Any) -> float:
    """Return the mean of a column over the rows with these values; NaN where there are none."""
    values = _values(results, column, wanted)
    return float(np.mean(values)) if values else float("nan")


def deviation(results: Results, column: str, **wanted: Any) -> float:
    """Return the standard deviation of a column over draws; NaN where there are fewer than two."""
    values = _values(results, column, wanted)
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def mean_and_deviation(results: Results, column: str, **wanted: Any) -> tuple[float, float]:
    """Return both."""
    return mean(results, column, **wanted), deviation(results, column, **wanted)


def in_per_cent(results: Results, column: str, **wanted: Any) -> str:
    """Return the mean of shares in per cent, with the deviation if there are several."""
    several = len(_values(results, column, wanted)) > 1
    spread = f" ({per_cent(deviation(results, column, **wanted))})" if several else ""
    return per_cent(mean(results, column, **wanted)) + spread


def with_spread(middle: float, spread: float, digits: int = 3) -> str:
    """Return a mean with its deviation; without one that is NaN, and nothing for no mean."""
    if np.isnan(middle):
        return ""
    return f"{middle:.{digits}f}" + ("" if np.isnan(spread) else f"±{spread:.{digits}f}")


def per_cent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, without the sign; nothing for NaN."""
    return "" if np.isnan(share) else f"{100.0 * share:.{digits}f}"


def numbers(results: Results, column: str, **wanted: Any) -> str:
    """Return the different values of a column over these rows, ascending."""
    return ", ".join(f"{value:g}" for value in sorted(set(_values(results, column, wanted))))


def _values(results: Results, column: str, wanted: dict[str, Any]) -> list[float]:
    rows = results.where(**wanted)
    return [row[column] for row in rows if row.get(column) is not None]
