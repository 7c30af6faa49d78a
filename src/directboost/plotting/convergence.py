"""How objective and bound meet."""

from typing import Any

import numpy as np

from .canvas import pyplot, tidy
from .reading import check_model

_PRIMAL, _DUAL, _GAP = "#0b5394", "#b45f06", "#38761d"


def plot_convergence(model: Any, axes: Any = None) -> Any:
    """Draw objective, lower bound and relative gap against seconds.

    Parameters
    ----------
    model : fitted estimator
    axes : pair of matplotlib axes, optional
        The left one gets the two bounds, the right one the gap.

    Returns
    -------
    axes : array of two axes
    """
    check_model(model)
    if axes is None:
        _, axes = pyplot().subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    seconds = np.array([record.seconds for record in model.history_])
    _draw_bounds(axes[0], model, seconds)
    _draw_gap(axes[1], model, seconds)
    for ax in axes:
        ax.set_xlabel("seconds")
        tidy(ax)
    return axes


def _draw_bounds(ax: Any, model: Any, seconds: Any) -> None:
    primal = np.array([record.primal for record in model.history_])
    dual = np.array([record.dual for record in model.history_])
    ax.plot(seconds, primal, "o-", ms=3.5, color=_PRIMAL, label="objective of the model")
    ax.plot(seconds, dual, "o-", ms=3.5, color=_DUAL, label="bound no model can beat")
    ax.fill_between(seconds, dual, primal, color=_PRIMAL, alpha=0.08, lw=0)
    # The start is far above all that follows: it is left outside, so that the rest can be seen.
    top, low = float(primal[min(1, primal.size - 1)]), float(dual.min())
    ax.set_ylim(low - 0.08 * (top - low), top + 0.25 * (top - low) + 1e-12)
    ax.set_ylabel("objective")
    ax.legend(frameon=False, fontsize=9)


def _draw_gap(ax: Any, model: Any, seconds: Any) -> None:
    gap = np.array([record.relative_gap for record in model.history_])
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
    ax.set_ylabel("certified relative gap")
