"""A path of models: what the next smaller nu buys."""

from typing import Any

import numpy as np

from ..arrays import Array
from .base import COLOURS, check_model, pyplot, tidy

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


def plot_path(path: Any, X: Any = None, y: Any = None, axes: Any = None) -> Any:
    """Draw the error, the number of features and their cost against nu, one panel each.

    The models grow from left to right.

    Parameters
    ----------
    path : ModelPath or fitted DirectBoostClassifierCV
        Of the latter a line marks the model that was chosen.
    X, y : array-like (m, d), (m,), optional
        Rows to measure the error on; without them there is no such panel.
    axes : sequence of matplotlib axes, optional
        One per panel; a further path in them has another colour. The cost has a panel where the
        models were fitted with `feature_costs`; without, it is the number of features.

    Returns
    -------
    axes : array of axes
    """
    models = getattr(path, "path_", path)
    if not hasattr(models, "n_features_used"):
        raise TypeError(
            f"path is a {type(path).__name__}; it takes what directboost_path returns, or a fitted "
            "DirectBoostClassifierCV"
        )
    panels = _panels(models, X, y)
    axes = _axes(axes, list(panels))
    for ax, (title, heights) in zip(axes, panels.items(), strict=True):
        colour = _next_colour(ax)
        ax.semilogx(models.nus, heights, "o-", ms=3.5, color=colour)
        ax.set(xlabel=_nu_label(models[0]), ylabel=title)
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
        _set_heights(ax, models.nus, heights)
        tidy(ax)
        if models is not path:
            _mark_choice(ax, float(models.nus[path.chosen_index_]), colour)
    if models is not path:
        axes[0].legend(frameon=False, fontsize=9)  # one says it for all panels
    return axes


def _panels(models: Any, X: Any, y: Any) -> dict[str, Array]:
    """Return what is drawn, (n,) each, by the label of its axis."""
    if (X is None) != (y is None):
        given, lacking = ("y", "X") if X is None else ("X", "y")
        raise ValueError(f"{given} is given without {lacking}: the error needs both")
    panels = {} if X is None else {"error": 1.0 - models.scores(X, y)}
    panels["features used"] = models.n_features_used
    if models[0].feature_costs is not None:
        panels["cost of the features"] = models.costs
    return panels


def _axes(axes: Any, titles: list[str]) -> Any:
    """Return one axes per panel: the given ones, if they are as many."""
    n = len(titles)
    if axes is None:
        figure = pyplot().figure(figsize=(3.4 * n, 3.0), layout="constrained")
        return figure.subplots(1, n, squeeze=False)[0]
    given = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if given.size != n:
        raise ValueError(f"axes holds {given.size} axes, but there are {n} panels: {titles}")
    return given


def _nu_label(model: Any) -> str:
    return "nu / nu_max" if model.nu_scale == "relative" else "nu"


def _next_colour(ax: Any) -> str:
    """Return the colour of the next path in axes that may have some already."""
    drawn = sum(line.get_marker() == "o" for line in ax.lines)
    return COLOURS[drawn % len(COLOURS)]


def _set_heights(ax: Any, nus: Array, heights: Array) -> None:
    """Let an axis begin at 0 and have a range; counts have no ticks between whole numbers."""
    from matplotlib.ticker import MaxNLocator

    counts = heights.dtype.kind in "iu"
    ax.update_datalim([(nus[0], 0.0), (nus[0], max(float(heights.max()), 1.0 if counts else 0.01))])
    ax.autoscale_view()
    if counts:
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _mark_choice(ax: Any, nu: float, colour: str) -> None:
    """Mark the model that was chosen by a line; the first one has an entry for the legend."""
    named = any(line.get_label() == "chosen" for line in ax.lines)
    ax.axvline(nu, color=colour, lw=1.0, ls="--", label="_chosen" if named else "chosen")
