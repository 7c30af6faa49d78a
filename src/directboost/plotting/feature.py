"""Plot of the contribution of one feature to the scores: step functions, or bars for levels."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..model.names import class_names, feature_names, level_names, missing_name
from .base import (
    COLOURS,
    DASHES,
    MOST_LEVELS,
    STRIP,
    add_legend,
    axis_range,
    check_model,
    check_sum,
    find_classes,
    find_feature,
    new_axes,
    others_text,
    read_rows,
    tidy,
)

_FILLED = 0.8  # share of the width of a level that its bars take
_HATCHES = ("", "///", "...", "xxx")  # together with the colours they distinguish 28 classes
_ONE_LINE = 70  # characters that fit below the axis, including the space between names


def plot_feature(
    model: Any, feature: int | str, classes: Any = None, ax: Any = None, X: Any = None
) -> Any:
    """Plot the contribution of a feature to the score of every class, as a function of its value.

    The score of a class is `intercept_` plus the sum of such step functions, one per feature. With
    ``learner="pair"``, the contributions of the pairs are added, which `plot_pair` draws. The
    levels of a category have no order: each level has its own bars. At most 30 levels are drawn,
    those furthest from the median. If the feature had missing values in training, the
    contribution of a missing value is on the right.

    Parameters
    ----------
    model : fitted estimator
        Estimator or baseline of stumps or pairs.
    feature : int or str
        Index or name of a feature that the model uses.
    classes : list of classes, optional
        Classes to draw in colour; labels by number or name. By default the seven classes with the
        largest range of the step function, or all if there are no more. Other classes are grey.
    ax : matplotlib axes, optional
        Axes to draw into. By default those of a new figure.
    X : array-like (m, d), optional
        Rows whose values, if numeric, are marked on the axis. The axis covers their range.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.plotting import plot_feature
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_feature(DirectBoostClassifier().fit(X, y), 3)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x3', 'added to the score')
    >>> plt.close()
    """
    check_model(model)
    check_sum(model)
    place = find_feature(model, feature)
    name = feature_names(model)[place]
    cuts, table = _steps(model, place, name)
    chosen = _strongest(table) if classes is None else find_classes(model, classes)
    values = np.empty(0) if X is None else read_rows(model, X, [place])[:, 0]
    new_figure = ax is None
    ax = new_axes(7.0, 3.8) if ax is None else ax
    tidy(ax)
    if level_names(model, place) is None:
        low, high = axis_range(np.concatenate([cuts, values[np.isfinite(values)]]), X is None)
        _draw_lines(ax, model, table, np.concatenate([[low], cuts, [high]]), chosen)
        ax.set_xlim(low, high)
        if model.missing_[place]:
            _draw_missing(ax, table[-1], chosen, (low, high))
        _mark_values(ax, values)
        ax.set_xlabel(name)
    else:
        _draw_levels(ax, model, place, (cuts, table), chosen)
    ax.set_ylabel("added to the score")
    add_legend(ax, new_figure)
    return ax


def _steps(model: Any, place: int, name: str) -> tuple[Array, Array]:
    """Return the thresholds (t,) and the table (t + 2, k) of a feature that the model uses."""
    read = model.ensemble_.effects.features.tolist()
    if place not in read and place in model.features_used_:
        raise ValueError(
            f"feature={name!r} has no step functions: the model does not use it in stumps or "
            "products of two stumps, but in other weak classifiers"
        )
    if place not in read:
        names = [feature_names(model)[f] for f in read]
        raise ValueError(
            f"feature={name!r} is not used by the model; it uses "
            f"{', '.join(names) if names else 'no feature, since it is empty'}"
        )
    main: tuple[Array, Array] = model.ensemble_.effects.main_effect(place)
    return main


def _strongest(table: Array) -> list[int]:
    """Return the classes with the largest range, in the order of `classes_`."""
    reach = table.max(axis=0) - table.min(axis=0)
    return sorted(np.argsort(-reach, kind="stable")[: len(COLOURS)].tolist())


def _draw_lines(ax: Any, model: Any, table: Array, edges: Array, chosen: list[int]) -> None:
    heights = np.vstack([table[:-1], table[-2]])
    others = np.setdiff1d(np.arange(table.shape[1]), chosen)
    ax.axhline(0.0, color="0.5", lw=0.8)
    for line in others.tolist():
        ax.step(edges, heights[:, line], where="post", color="0.75", lw=1.0)
    # Lines become thinner, so that a class shows as a rim below a later one on the same steps.
    widths = np.linspace(2.6, 1.4, len(chosen))
    for place, (line, width) in enumerate(zip(chosen, widths, strict=True)):
        ax.step(edges, heights[:, line], where="post", lw=width, label=class_names(model)[line],
            color=COLOURS[place % len(COLOURS)], ls=DASHES[place // len(COLOURS) % len(DASHES)],
        )  # fmt: skip
    if others.size:
        ax.plot([], [], color="0.75", lw=1.0, label=others_text(others.size, model))


def _mark_values(ax: Any, values: Array) -> None:
    present = np.unique(values[np.isfinite(values)])
    if present.size:
        ax.plot(present, np.zeros(present.size), "|", color="0.3", ms=7, mew=0.6,
            transform=ax.get_xaxis_transform(), clip_on=False, label="_values",
        )  # fmt: skip


def _draw_missing(ax: Any, heights: Array, chosen: list[int], ends: tuple[float, float]) -> None:
    """Mark the contribution of a missing value in a separate strip with its own tick."""
    low, high = ends
    strip = STRIP * (high - low)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high - 0.5 * strip]
    texts = ax.xaxis.get_major_formatter().format_ticks(ticks)
    others = np.setdiff1d(np.arange(heights.size), chosen)
    middle = high + 0.5 * strip
    ax.axvspan(high, high + strip, color="0.95", lw=0, zorder=0)
    ax.scatter(np.full(others.size, middle), heights[others], s=20, color="0.75", zorder=3)
    sizes = np.linspace(50.0, 16.0, len(chosen))  # as with the lines: earlier classes show as a rim
    for place, (line, size) in enumerate(zip(chosen, sizes, strict=True)):
        ax.scatter(middle, heights[line], s=size, color=COLOURS[place % len(COLOURS)], zorder=3)
    ax.set_xlim(low, high + strip)
    ax.set_xticks([*ticks, middle], [*texts, "missing"])


def _draw_levels(
    ax: Any, model: Any, place: int, steps: tuple[Array, Array], chosen: list[int]
) -> None:
    """Draw the contribution of every level of a feature, and of a missing value on the right.

    Parameters
    ----------
    ax : matplotlib axes
        Axes to draw into.
    model : fitted estimator
        The model.
    place : int
        Index of the feature.
    steps : (t,) array, (t + 2, k) array
        Thresholds between the codes of the levels, and the table of the feature.
    chosen : list of int
        Classes in colour; the others are grey.
    """
    cuts, table = steps
    levels = level_names(model, place) or []
    heights = table[np.searchsorted(cuts, np.arange(len(levels)))]
    shown = _outstanding(heights)
    names, heights = [levels[level] for level in shown], heights[shown]
    if model.missing_[place]:
        ax.axvspan(len(names) - 0.5, len(names) + 0.5, color="0.95", lw=0, zorder=0)
        names, heights = [*names, missing_name(model, place)], np.vstack([heights, table[-1]])
    _draw_others(ax, heights, chosen)
    _draw_bars(ax, heights, chosen, model)
    ax.axhline(0.0, color="0.5", lw=0.8)
    _name_levels(ax, names)
    part = "" if shown.size == len(levels) else f": {shown.size} of {len(levels)} levels"
    ax.set_xlabel(feature_names(model)[place] + part)


def _outstanding(heights: Array) -> Ints:
    """Return the levels furthest from the median of all, in their order."""
    reach = np.abs(heights - np.median(heights, axis=0)).max(axis=1)
    return np.sort(np.argsort(-reach, kind="stable")[:MOST_LEVELS])


def _draw_bars(ax: Any, heights: Array, chosen: list[int], model: Any) -> None:
    """Draw one bar per level and class; the bars of a level are side by side."""
    labels = class_names(model)
    width = _FILLED / len(chosen)
    levels = np.arange(len(heights))
    for place, line in enumerate(chosen):
        middle = levels + (place + 0.5) * width - 0.5 * _FILLED
        ax.bar(middle, heights[:, line], 0.9 * width, label=labels[line], zorder=2,
            color=COLOURS[place % len(COLOURS)], hatch=_HATCHES[place // len(COLOURS) % 4],
            edgecolor="white", lw=0.0,
        )  # fmt: skip
    if heights.shape[1] > len(chosen):
        others = others_text(heights.shape[1] - len(chosen), model)
        ax.bar(0.0, 0.0, 0.0, color="0.75", label=others)


def _draw_others(ax: Any, heights: Array, chosen: list[int]) -> None:
    """Draw the other classes as grey marks, as wide as the bars of a level together."""
    others = np.setdiff1d(np.arange(heights.shape[1]), chosen)
    levels = np.repeat(np.arange(len(heights)), others.size)
    ends = levels - 0.5 * _FILLED, levels + 0.5 * _FILLED
    ax.hlines(heights[:, others].ravel(), *ends, color="0.75", lw=1.0, zorder=1)


def _name_levels(ax: Any, names: list[str]) -> None:
    """Write the levels below the axis, slanted if they are long, and separate them by lines."""
    turned = sum(len(name) + 3 for name in names) > _ONE_LINE
    style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    ax.set_xticks(np.arange(len(names)), names, **style)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.grid(visible=False, axis="x")
    for edge in range(1, len(names)):
        ax.axvline(edge - 0.5, color="0.9", lw=0.8, zorder=0)
