"""How objective and bound meet."""

from typing import Any

import numpy as np

from ..arrays import Array
from .canvas import pyplot, tidy
from .reading import check_model

_PRIMAL, _DUAL, _GAP = "#0b5394", "#b45f06", "#38761d"
_ORDERS = 10.0  # ratio from which a logarithm shows more
_LEAST_HEIGHT = 0.01  # of the panel with the bounds, as a share of the objective


def plot_convergence(model: Any, axes: Any = None) -> Any:
    """Draw objective, lower bound and relative gap against seconds.

    A baseline has no bound: its objective is drawn against the rounds, and the weighted error of
    what every round added, where the method has one.

    Parameters
    ----------
    model : fitted estimator
    axes : pair of matplotlib axes, optional
        The left one gets the objective and its bound, the right one the gap, or the error.

    Returns
    -------
    axes : array of two axes
    """
    check_model(model)
    if axes is None:
        _, axes = pyplot().subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    if hasattr(model, "certificate_"):
        seconds = _of(model, "seconds")
        _draw_bounds(axes[0], model, seconds)
        _draw_gap(axes[1], model, seconds)
    else:
        _draw_rounds(axes[0], _of(model, "objective"), "objective")
        _draw_rounds(axes[1], _of(model, "error"), "weighted error of the round")
    for ax in axes:
        tidy(ax)
    return axes


def _of(model: Any, name: str) -> Array:
    """Return an entry of all records, (n,)."""
    return np.array([getattr(record, name) for record in model.history_])


def _draw_bounds(ax: Any, model: Any, seconds: Any) -> None:
    primal, dual = _of(model, "primal"), _of(model, "dual")
    ax.plot(seconds, primal, "o-", ms=3.5, color=_PRIMAL, label="objective of the model")
    ax.plot(seconds, dual, "o-", ms=3.5, color=_DUAL, label="bound no model can beat")
    ax.fill_between(seconds, dual, primal, color=_PRIMAL, alpha=0.08, lw=0)
    # The start is far above all that follows: it is left outside, so that the rest can be seen.
    top, low = float(primal[min(1, primal.size - 1)]), float(dual.min())
    height = max(top - low, _LEAST_HEIGHT * abs(top))
    ax.set_ylim(low - 0.08 * height, top + 0.25 * height)
    ax.set(xlabel="seconds", ylabel="objective")
    ax.legend(frameon=False, fontsize=9)


def _draw_rounds(ax: Any, heights: Array, title: str) -> None:
    """Draw a number per round; by its logarithm where it falls by orders."""
    ax.set(xlabel="round", ylabel=title)
    if not np.isfinite(heights).any():
        ax.text(0.5, 0.5, "the method has none", transform=ax.transAxes, ha="center", color="0.35")
        ax.set(xticks=[], yticks=[])
        return
    ax.plot(np.arange(1, heights.size + 1), heights, "o-", ms=2.5, color=_PRIMAL)
    if np.nanmin(heights) > 0.0 and np.nanmax(heights) > _ORDERS * np.nanmin(heights):
        ax.set_yscale("log")


def _draw_gap(ax: Any, model: Any, seconds: Any) -> None:
    gap = _of(model, "relative_gap")
    ax.semilogy(seconds, np.maximum(gap, 1e-16), "o-", ms=3.5, color=_GAP)
    ax.axhline(model.tol, color="0.4", lw=1.0, ls="--")
    ax.annotate(
        f"tol = {model.tol:g}",
        (0.0, model.tol),
        xycoords=("axes fraction", "data"),
        xytext=(6, 4),
        textcoords="offset points",
        color="0.35",
        fontsize=9,
    )
    ax.set(xlabel="seconds", ylabel="certified relative gap")
