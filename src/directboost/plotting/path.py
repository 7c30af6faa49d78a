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
        One per panel. The cost has a panel where the models were fitted with `feature_costs`;
        without, it is the number of features.

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
        ax.semilogx(models.nus, heights, "o-", ms=3.5, color=COLOURS[0])
        ax.set(xlabel=_nu_label(models[0]), ylabel=title)
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
        tidy(ax)
        if models is not path:
            _mark_choice(ax, float(models.nus[path.chosen_index_]))
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


def _mark_choice(ax: Any, nu: float) -> None:
    ax.axvline(nu, color="0.4", lw=1.0, ls="--", label="chosen")
    ax.legend(frameon=False, fontsize=9)
