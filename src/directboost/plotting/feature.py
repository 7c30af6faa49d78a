"""What the values of one feature add to the scores: step functions, or the levels of a category."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..model.names import class_names, feature_names
from .base import (
    COLOURS,
    DASHES,
    add_legend,
    check_model,
    check_sum,
    find_classes,
    find_feature,
    new_axes,
    others_text,
    read_rows,
    tidy,
)

_FILLED = 0.8  # share of the room of a level that its bars take
_HATCHES = ("", "///", "...", "xxx")  # for more classes than colours: 28 pairs
_MOST = 30  # levels, beyond which bars and names would run together
_ONE_LINE = 70  # characters that fit below the axis, with what is between the names


def draw_levels(
    ax: Any, model: Any, place: int, steps: tuple[Array, Array], chosen: list[int]
) -> None:
    """Draw what every level of a feature adds to the scores, and a missing value at the right.

    Parameters
    ----------
    ax : matplotlib axes
    model : fitted estimator
    place : int
        The feature.
    steps : (t,) array, (t + 2, k) array
        Its thresholds between the codes of the levels, and its table.
    chosen : list of int
        The classes in colour; the others are grey.
    """
    cuts, table = steps
    levels = model.categories_[place]
    heights = table[np.searchsorted(cuts, np.arange(len(levels)))]
    shown = _outstanding(heights)
    names, heights = [str(levels[level]) for level in shown], heights[shown]
    if model.missing_[place]:
        ax.axvspan(len(names) - 0.5, len(names) + 0.5, color="0.95", lw=0, zorder=0)
        names, heights = [*names, "missing"], np.vstack([heights, table[-1]])
    _draw_others(ax, heights, chosen)
    _draw_bars(ax, heights, chosen, model)
    ax.axhline(0.0, color="0.5", lw=0.8)
    _name_levels(ax, names)
    part = "" if shown.size == len(levels) else f": {shown.size} of {len(levels)} levels"
    ax.set_xlabel(feature_names(model)[place] + part)


def _outstanding(heights: Array) -> Ints:
    """Return the levels furthest from the middle of all, in their order."""
    reach = np.abs(heights - np.median(heights, axis=0)).max(axis=1)
    return np.sort(np.argsort(-reach, kind="stable")[:_MOST])


def _draw_bars(ax: Any, heights: Array, chosen: list[int], model: Any) -> None:
    """Draw a bar per level and class, those of one level side by side."""
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
    """Draw the classes without a colour as grey marks as wide as the bars of a level."""
    others = np.setdiff1d(np.arange(heights.shape[1]), chosen)
    levels = np.repeat(np.arange(len(heights)), others.size)
    ends = levels - 0.5 * _FILLED, levels + 0.5 * _FILLED
    ax.hlines(heights[:, others].ravel(), *ends, color="0.75", lw=1.0, zorder=1)


def _name_levels(ax: Any, names: list[str]) -> None:
    """Write the levels below the axis, slanted where they are long, and part them by lines."""
    turned = sum(len(name) + 3 for name in names) > _ONE_LINE
    style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    ax.set_xticks(np.arange(len(names)), names, **style)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.grid(visible=False, axis="x")
    for edge in range(1, len(names)):
        ax.axvline(edge - 0.5, color="0.9", lw=0.8, zorder=0)


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
