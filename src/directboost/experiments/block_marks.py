"""The marks of the paper's digit figure: circles and crosses over the blocks of an image."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from .base import Arrays
from .drawing import new_figure, save

_SIDE = 8
#: Circle and cross: sign, colour, size in points.
_SHAPES = (("o", "#E8000B", 8.5), ("x", "#00A651", 7.0))
_WIDEST, _LEAST = 5.0, 0.8  # lines of the widest mark of a model and of thin ones, in points
_FULL, _FAINT = 0.75, 0.35  # ink of a mean image alone, and of one under marks
_THINNEST = 0.02  # share of the widest below which a mark is not drawn


def ends(model: Any) -> Array:
    """Return what every feature adds to the scores above all its thresholds, (d, k).

    Below them it adds the negative of that, apart from what does not depend on x.
    """
    total = np.zeros((model.n_features_in_, model.coef_.shape[1]))
    for learner, weights in zip(model.learners_, model.coef_, strict=True):
        for feature in learner.features:
            total[feature] += learner.polarity * weights
    return total


def marks(ends: Array) -> tuple[Array, Array]:
    """Return the widths of circles and crosses, (d, k) each, 1 for the widest of all.

    At either end of a feature the class of the largest score has a mark: as wide as its lead.
    """
    circles, crosses = _leads(ends), _leads(-ends)
    widest = max(circles.max(initial=0.0), crosses.max(initial=0.0))
    return (circles / widest, crosses / widest) if widest > 0.0 else (circles, crosses)


def _leads(scores: Array) -> Array:
    second = np.sort(scores, axis=1)[:, -2:-1]
    return np.maximum(scores - second, 0.0)


def in_words(ends: Array, feature: int, place: int) -> str:
    """Return the marks of a feature for a class, with their widths."""
    found = zip(("circle", "cross"), marks(ends), strict=True)
    shown = [f"{name} {widths[feature, place]:.2f}" for name, widths in found
        if widths[feature, place] > 0.0]  # fmt: skip
    return ", ".join(shown) or "none"


def width(ends: Array, feature: int, place: int, kind: str = "") -> float:
    """Return the width of the "circle" or "cross" of a feature for a class, or of the wider."""
    found = zip(("circle", "cross"), marks(ends), strict=True)
    return max(float(widths[feature, place]) for name, widths in found if kind in ("", name))


def draw_models(drawn: Sequence[tuple[str, Arrays]], titles: Sequence[int], path: Path) -> None:
    """Draw the mean images of the classes, and below them the marks of every model.

    Parameters
    ----------
    drawn : sequence of (name, arrays)
        The arrays of a model are its `ends` (d, k) and the `means` (k, d).
    titles : sequence of k int
        Of the columns.
    path : Path
    """
    lines = [("mean images", drawn[0][1]), *drawn] if drawn else []
    figure, axes = new_figure(max(len(lines), 1), len(titles), (2.1, 2.1))
    for line, (name, arrays) in enumerate(lines):
        for place, image in enumerate(arrays["means"]):
            draw_mean(axes[line, place], image, _FAINT if line else _FULL)
            if line == 0:
                draw_numbers(axes[line, place], image)
            else:
                draw_marks(axes[line, place], arrays["ends"], place)
        axes[line, 0].set_ylabel(name, fontsize=9)
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(str(title), fontsize=9)
    _explain(figure)
    save(figure, path)


def _explain(figure: Any) -> None:
    """Add a legend of the marks below the panels."""
    from matplotlib.lines import Line2D

    words = ("large values speak for the digit", "small values do")
    handles = [Line2D([], [], ls="", marker=shape, color=colour, fillstyle="none", mew=2.0, ms=size)
        for shape, colour, size in _SHAPES]  # fmt: skip
    figure.legend(handles, words, loc="outside lower center", ncols=2, frameon=False, fontsize=8)


def draw_mean(axes: Any, mean: Array, ink: float) -> None:
    """Draw a mean image, dark where there is ink."""
    axes.imshow(mean.reshape(_SIDE, _SIDE), cmap="gray_r", vmin=0.0, vmax=16.0, alpha=ink)
    axes.set_xticks([])
    axes.set_yticks([])


def draw_numbers(axes: Any, mean: Array) -> None:
    """Write the numbers of the blocks over a mean image, from 1, row by row."""
    for block in range(_SIDE**2):
        colour = "white" if mean[block] > 9.0 else "black"
        axes.text(block % _SIDE, block // _SIDE, str(block + 1), fontsize=5.5, color=colour,
            ha="center", va="center")  # fmt: skip


def draw_marks(axes: Any, ends: Array, place: int) -> None:
    """Draw the circles and crosses of a class over its mean image."""
    for (shape, colour, size), widths in zip(_SHAPES, marks(ends), strict=True):
        for block in np.flatnonzero(widths[:, place] > _THINNEST):
            line = max(_LEAST, _WIDEST * widths[block, place])
            axes.plot(block % _SIDE, block // _SIDE, shape, color=colour, markersize=size,
                fillstyle="none", markeredgewidth=line)  # fmt: skip
