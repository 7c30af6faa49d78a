"""A path of models: what the next smaller nu buys."""

from typing import Any

import numpy as np

from ..arrays import Array
from .canvas import COLOURS, pyplot, tidy


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
