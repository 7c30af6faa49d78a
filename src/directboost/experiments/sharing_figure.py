"""Two panels: errors of several methods, and how many classes share a weak classifier."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .drawing import COLOURS, colour_of, new_figure, save


def draw_errors_and_sharing(
    errors: Mapping[str, tuple[float, float]],
    sharing: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    columns: Sequence[str],
    path: Path,
) -> None:
    """Draw ours as bars and the printed numbers as marks on them.

    Parameters
    ----------
    errors : dict
        By method, our error (a share; NaN where there is none) and the printed one in per cent.
    sharing : dict
        By method, our shares of the weak classifiers by column, and the printed per cent.
    columns : sequence of str
        Numbers of classes.
    path : Path
    """
    figure, ((left, right),) = new_figure(1, 2, (5.0, 3.4))
    _draw_errors(left, errors)
    _draw_sharing(right, sharing, columns)
    save(figure, path)


def _draw_errors(axes: Any, errors: Mapping[str, tuple[float, float]]) -> None:
    places = np.arange(len(errors))
    ours, printed = np.array(list(errors.values())).T
    axes.barh(places, 100.0 * np.nan_to_num(ours), color=COLOURS[0], height=0.65, label="here")
    axes.plot(printed, places, "D", color="black", ms=5, label="paper")
    axes.set_yticks(places, list(errors))
    axes.invert_yaxis()
    axes.set_xlabel("test error in per cent")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_sharing(
    axes: Any,
    sharing: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    columns: Sequence[str],
) -> None:
    width = 0.8 / len(sharing)
    for number, (name, (ours, printed)) in enumerate(sharing.items()):
        places = np.arange(len(columns)) + (number - (len(sharing) - 1) / 2.0) * width
        heights = 100.0 * np.nan_to_num(np.asarray(ours))
        axes.bar(places, heights, 0.9 * width, color=colour_of(name), label=name)
        label = "paper" if number == len(sharing) - 1 else None
        axes.plot(places, printed, "D", color="black", ms=4, label=label)
    axes.set_xticks(np.arange(len(columns)), columns)
    axes.set_xlabel("classes that share a weak classifier")
    axes.set_ylabel("weak classifiers in per cent")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
