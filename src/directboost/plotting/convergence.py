"""Plots of the rounds of a fit, and of a regularization path."""

from typing import Any

import numpy as np

from ..arrays import Array
from .base import COLOURS, check_model, pyplot, tidy

_PRIMAL, _DUAL, _GAP = "#0b5394", "#b45f06", "#38761d"
_ORDERS = 10.0  # ratio of largest to smallest value above which the scale is logarithmic
_LEAST_HEIGHT = 0.01  # range of the panel with the bounds, as a share of the objective


def plot_convergence(model: Any, axes: Any = None) -> Any:
    """Plot objective, lower bound and relative gap against time.

    A baseline has no bound. For a baseline, the objective is plotted against the rounds, and the
    weighted error of the weak classifiers of each round if the method has one.

    Parameters
    ----------
    model : fitted estimator
        Estimator or baseline.
    axes : pair of matplotlib axes, optional
        The first for the objective and its bound, the second for the gap or the error. By default
        those of a new figure.

    Returns
    -------
    axes : array of two axes
        The axes with the plots.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.plotting import plot_convergence
    >>> X, y = load_iris(return_X_y=True)
    >>> left, right = plot_convergence(DirectBoostClassifier().fit(X, y))
    >>> right.get_ylabel()
    'certified relative gap'
    >>> plt.close()
    """
    check_model(model)
    if axes is None:
        _, axes = pyplot().subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    if hasattr(model, "certificate_"):
        seconds = _column(model, "seconds")
        _draw_bounds(axes[0], model, seconds)
        _draw_gap(axes[1], model, seconds)
    else:
        _draw_rounds(axes[0], _column(model, "objective"), "objective")
        _draw_rounds(axes[1], _column(model, "error"), "weighted error of the round")
    for ax in axes:
        tidy(ax)
    return axes


def _column(model: Any, name: str) -> Array:
    """Return one field of all records, (n,)."""
    return np.array([getattr(record, name) for record in model.history_])


def _draw_bounds(ax: Any, model: Any, seconds: Any) -> None:
    primal, dual = _column(model, "primal"), _column(model, "dual")
    ax.plot(seconds, primal, "o-", ms=3.5, color=_PRIMAL, label="objective of the model")
    ax.plot(seconds, dual, "o-", ms=3.5, color=_DUAL, label="bound no model can beat")
    ax.fill_between(seconds, dual, primal, color=_PRIMAL, alpha=0.08, lw=0)
    # The first objective is far above all others. It is left outside of the visible range.
    top, low = float(primal[min(1, primal.size - 1)]), float(dual.min())
    height = max(top - low, _LEAST_HEIGHT * abs(top))
    ax.set_ylim(low - 0.08 * height, top + 0.25 * height)
    ax.set(xlabel="seconds", ylabel="objective")
    ax.legend(frameon=False, fontsize=9)


def _draw_rounds(ax: Any, heights: Array, title: str) -> None:
    """Draw one number per round, on a logarithmic scale if it varies by orders of magnitude."""
    ax.set(xlabel="round", ylabel=title)
    if not np.isfinite(heights).any():
        note = "not defined for this method"
        ax.text(0.5, 0.5, note, transform=ax.transAxes, ha="center", color="0.35")
        ax.set(xticks=[], yticks=[])
        return
    ax.plot(np.arange(1, heights.size + 1), heights, "o-", ms=2.5, color=_PRIMAL)
    if np.nanmin(heights) > 0.0 and np.nanmax(heights) > _ORDERS * np.nanmin(heights):
        ax.set_yscale("log")


def _draw_gap(ax: Any, model: Any, seconds: Any) -> None:
    gap = _column(model, "relative_gap")
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
    """Plot the error, the number of features and their cost against nu, one panel each.

    The models grow from left to right. The panel of the cost is drawn if the models were fitted
    with `feature_costs`; without them the cost is the number of features.

    Parameters
    ----------
    path : ModelPath or fitted DirectBoostClassifierCV
        The path. For a DirectBoostClassifierCV, a line marks the chosen model.
    X, y : array-like (m, d), (m,), optional
        Rows for the error. Without them there is no panel of the error.
    axes : sequence of matplotlib axes, optional
        One per panel. Paths that are drawn into the same axes have different colours. By default
        those of a new figure.

    Returns
    -------
    axes : array of axes
        The axes with the plots.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from directboost import directboost_path
    >>> from directboost.plotting import plot_path
    >>> X, y = load_iris(return_X_y=True)
    >>> axes = plot_path(directboost_path(X, y, nus=[0.5, 0.2, 0.1]), X, y)
    >>> [ax.get_ylabel() for ax in axes]
    ['error', 'features used']
    >>> plt.close()
    """
    models = getattr(path, "path_", path)
    if not hasattr(models, "n_features_used"):
        raise TypeError(
            f"path is a {type(path).__name__}: expected a ModelPath from directboost_path, or a "
            "fitted DirectBoostClassifierCV"
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
        axes[0].legend(frameon=False, fontsize=9)  # one legend for all panels
    return axes


def _panels(models: Any, X: Any, y: Any) -> dict[str, Array]:
    """Return the values of each panel, (n,), by the label of its axis."""
    if (X is None) != (y is None):
        given, lacking = ("y", "X") if X is None else ("X", "y")
        raise ValueError(f"{given} is given without {lacking}; pass both to plot the error")
    panels = {} if X is None else {"error": 1.0 - models.scores(X, y)}
    panels["features used"] = models.n_features_used
    if models[0].feature_costs is not None:
        panels["cost of the features"] = models.costs
    return panels


def _axes(axes: Any, titles: list[str]) -> Any:
    """Return one axes per panel: the given ones, or those of a new figure."""
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
    """Return the colour of the next path in axes that may already contain paths."""
    drawn = sum(line.get_marker() == "o" for line in ax.lines)
    return COLOURS[drawn % len(COLOURS)]


def _set_heights(ax: Any, nus: Array, heights: Array) -> None:
    """Start the axis at 0, with a range above 0; counts have ticks at integers only."""
    from matplotlib.ticker import MaxNLocator

    counts = heights.dtype.kind in "iu"
    ax.update_datalim([(nus[0], 0.0), (nus[0], max(float(heights.max()), 1.0 if counts else 0.01))])
    ax.autoscale_view()
    if counts:
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _mark_choice(ax: Any, nu: float, colour: str) -> None:
    """Mark the chosen model by a line; the first one in the axes has a legend entry."""
    named = any(line.get_label() == "chosen" for line in ax.lines)
    ax.axvline(nu, color=colour, lw=1.0, ls="--", label="_chosen" if named else "chosen")
