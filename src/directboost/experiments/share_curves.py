"""Errors as functions of the share of features that a model reads: measured and drawn."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..arrays import Array
from .base import Results
from .drawing import colour_of, new_figure, save
from .measuring import Stage

#: Where curves have their points.
SHARES = np.linspace(0.0, 1.0, 201)
_TICKS = (2, 5, 10, 20, 50, 100)  # per cent


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


def draw_panels(curves: Mapping[str, Mapping[str, Array]], bold: str, path: Path) -> None:
    """Draw five panels with the curves of five methods, and a legend in the sixth.

    Parameters
    ----------
    curves : dict of dict of arrays
        Errors by share, by method, by data set.
    bold : str
        The method of the thicker curve.
    path : Path
    """
    figure, axes = new_figure(2, 3, (3.9, 3.0))
    for panel, (name, found) in zip(axes.flat, curves.items(), strict=False):
        for method, errors in found.items():
            style = {"color": colour_of(method), "lw": 2.4 if method == bold else 1.3}
            panel.plot(100.0 * SHARES, 100.0 * errors, label=method, **style)
        panel.set(title=name, yscale="log")
        panel.set_yticks(_TICKS, map(str, _TICKS))
        panel.minorticks_off()
        panel.grid(alpha=0.25, lw=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("features used in per cent")
    figure.supylabel("test error in per cent")
    axes[1, 2].axis("off")
    axes[1, 2].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False)
    save(figure, path)
