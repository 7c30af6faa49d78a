"""The levels of a category: bars side by side, since levels have no order to step along."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..model.names import class_names, feature_names
from .canvas import COLOURS, others_text

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
