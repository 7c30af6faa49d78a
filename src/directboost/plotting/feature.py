"""What the values of one feature add to the scores: step functions, or the levels of a category."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..model.names import class_names, feature_names
from .canvas import COLOURS, DASHES, add_legend, new_axes, others_text, tidy
from .levels import draw_levels
from .reading import check_model, check_sum, find_classes, find_feature, read_rows

_MARGIN = 0.12  # share of the range of the thresholds that is drawn on either side of it
_STRIP = 0.12  # width of the strip for missing values, as a share of the range


def plot_feature(
    model: Any, feature: int | str, classes: Any = None, ax: Any = None, X: Any = None
) -> Any:
    """Draw what each value of a feature adds to the score of every class.

    The score of a class is the sum of such step functions, one per feature, and `intercept_`. The
    levels of a category have no order: each has bars of its own, at most the 30 that stand out.
    Where the feature had missing values in training, what a missing one adds is at the right.

    Parameters
    ----------
    model : fitted estimator
    feature : int or str
        Index or name of a feature that the model reads.
    classes : list of classes, optional
        Those to colour; labels by number or name. By default the seven whose steps go furthest up
        and down, or all if there are no more; the other classes are grey.
    ax : matplotlib axes, optional
    X : array-like (m, d), optional
        Rows whose values, if they are numbers, are marked on the axis, and whose range it covers.

    Returns
    -------
    ax : matplotlib axes
    """
    check_model(model)
    check_sum(model)
    place = find_feature(model, feature)
    name = feature_names(model)[place]
    cuts, table = _steps(model, place, name)
    chosen = _strongest(table) if classes is None else find_classes(model, classes)
    values = np.empty(0) if X is None else read_rows(model, X, [place])[:, 0]
    beside = ax is None
    ax = new_axes(7.0, 3.8) if ax is None else ax
    tidy(ax)
    if model.categories_[place] is None:
        low, high = _range(np.concatenate([cuts, values[np.isfinite(values)]]), X is None)
        _draw_lines(ax, model, table, np.concatenate([[low], cuts, [high]]), chosen)
        ax.set_xlim(low, high)
        if model.missing_[place]:
            _draw_missing(ax, table[-1], chosen, (low, high))
        _mark_values(ax, values)
        ax.set_xlabel(name)
    else:
        draw_levels(ax, model, place, (cuts, table), chosen)
    ax.set_ylabel("added to the score")
    add_legend(ax, beside)
    return ax


def _steps(model: Any, place: int, name: str) -> tuple[Array, Array]:
    """Return the thresholds (t,) and the table (t + 2, k) of a feature that the model reads."""
    read = model.ensemble_.stump_features.tolist()
    if place not in read and place in model.features_used_:
        raise ValueError(
            f"feature={name!r} is not read by stumps but by other weak classifiers of the model: "
            "it has no step functions"
        )
    if place not in read:
        names = [feature_names(model)[f] for f in read]
        raise ValueError(
            f"feature={name!r} is not read by the model; it reads "
            f"{', '.join(names) if names else 'none: it is empty'}"
        )
    used = read.index(place)
    return model.ensemble_.thresholds[used], model.ensemble_.tables[used]


def _strongest(table: Array) -> list[int]:
    """Return the classes whose steps go furthest, in the order of `classes_`."""
    reach = table.max(axis=0) - table.min(axis=0)
    return sorted(np.argsort(-reach, kind="stable")[: len(COLOURS)].tolist())


def _range(values: Array, pad: bool) -> tuple[float, float]:
    """Return the ends of the axis."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    width = high - low if high > low else max(abs(low), 1.0)
    share = _MARGIN if pad else 0.02
    return low - share * width, high + share * width


def _draw_lines(ax: Any, model: Any, table: Array, edges: Array, chosen: list[int]) -> None:
    heights = np.vstack([table[:-1], table[-2]])
    others = np.setdiff1d(np.arange(table.shape[1]), chosen)
    ax.axhline(0.0, color="0.5", lw=0.8)
    for line in others.tolist():
        ax.step(edges, heights[:, line], where="post", color="0.75", lw=1.0)
    # Where steps meet, the class drawn first shows as a rim of the one drawn last.
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
    """Mark what a missing value adds in a strip of its own, with a tick that says so."""
    low, high = ends
    strip = _STRIP * (high - low)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high - 0.5 * strip]
    texts = ax.xaxis.get_major_formatter().format_ticks(ticks)
    others = np.setdiff1d(np.arange(heights.size), chosen)
    middle = high + 0.5 * strip
    ax.axvspan(high, high + strip, color="0.95", lw=0, zorder=0)
    ax.scatter(np.full(others.size, middle), heights[others], s=20, color="0.75", zorder=3)
    sizes = np.linspace(50.0, 16.0, len(chosen))  # as with the lines: those below show as a rim
    for place, (line, size) in enumerate(zip(chosen, sizes, strict=True)):
        ax.scatter(middle, heights[line], s=size, color=COLOURS[place % len(COLOURS)], zorder=3)
    ax.set_xlim(low, high + strip)
    ax.set_xticks([*ticks, middle], [*texts, "missing"])
