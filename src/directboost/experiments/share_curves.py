"""Errors as functions of the share of features that a model reads."""

import numpy as np

from ..arrays import Array
from .base import Results
from .measuring import Stage

#: Where curves have their points.
SHARES = np.linspace(0.0, 1.0, 201)


def by_share(curve: list[Stage], d: int) -> Array:
    """Return the error of the last round that reads at most a share, for all; NaN past the end."""
    errors = np.full(SHARES.size, np.nan)
    for place, share in enumerate(SHARES):
        within = [stage.error for stage in curve if stage.features <= share * d + 1e-9]
        if within:
            errors[place] = within[-1]
    most = max(stage.features for stage in curve) / d
    errors[most + SHARES[1] < SHARES] = np.nan
    return errors


def mean_curve(results: Results, name: str, place: int) -> Array:
    """Return the mean errors by share: NaN where a split has none."""
    arrays = results.arrays.get(f"{name}-{place}", {})
    nothing = np.full(SHARES.size, np.nan)
    return np.asarray(arrays["errors"].mean(axis=0)) if "errors" in arrays else nothing


def error_at(results: Results, name: str, place: int, share: float) -> float:
    """Return the mean error at a share of the features; at the end of a curve before it."""
    curve = mean_curve(results, name, place)[: int(np.searchsorted(SHARES, share + 1e-9))]
    known = curve[~np.isnan(curve)]
    return float(known[-1]) if known.size else float("nan")
