"""Dots for means with their deviations: ours and the printed ones, a panel for each data set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .drawing import COLOURS, new_figure, save

_ACROSS = 4  # panels in a row


class Pairs(NamedTuple):
    """Mean and deviation of every method, (n, 2) each."""

    ours: Sequence[tuple[float, float]]
    printed: Sequence[tuple[float, float]]


def draw_pairs(names: Sequence[str], panels: Mapping[str, Pairs], path: Path) -> None:
    """Draw a panel for each data set with a line for every method; the legend is the last one."""
    figure, axes = new_figure(-(-(len(panels) + 1) // _ACROSS), _ACROSS, (2.7, 2.0))
    for panel, (data, pairs) in zip(axes.flat, panels.items(), strict=False):
        _draw_one(panel, pairs)
        panel.set_title(data, fontsize=9)
    for panel in axes[:, 0]:
        panel.set_yticks(range(len(names)), names, fontsize=8)
    for panel in axes.flat[len(panels) :]:
        panel.set_axis_off()
    words = axes[0, 0].get_legend_handles_labels()
    title = "test error,\nmean and deviation"
    axes.flat[-1].legend(*words, loc="center", frameon=False, title=title)
    save(figure, path)


def _draw_one(panel: Any, pairs: Pairs) -> None:
    places = np.arange(len(pairs.ours))
    for values, shift, colour, words in (
        (np.array(pairs.ours), -0.15, COLOURS[0], "ours"),
        (np.array(pairs.printed), 0.15, COLOURS[5], "printed"),
    ):
        panel.errorbar(values[:, 0], places + shift, xerr=values[:, 1], fmt="o", color=colour,
            fillstyle="none" if words == "printed" else "full", markersize=5, elinewidth=1.0,
            capsize=2, label=words)  # fmt: skip
    panel.set_yticks(places, [""] * len(places))
    panel.set_ylim(places.size - 0.5, -0.5)  # the first on top
    panel.tick_params(labelsize=8)
    panel.grid(axis="x", alpha=0.3)
