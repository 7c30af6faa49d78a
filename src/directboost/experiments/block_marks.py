"""The marks of the paper's digit figure: circles and crosses over the blocks of an image."""

from typing import Any

import numpy as np

from ..arrays import Array

_SIDE = 8
_CIRCLE, _CROSS = "#E8000B", "#00A651"
_WIDEST = 5.0  # line of the widest mark of a model, in points
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


def width(ends: Array, feature: int, place: int) -> float:
    """Return the width of the wider mark of a feature for a class."""
    return max(float(kind[feature, place]) for kind in marks(ends))


def draw_mean(axes: Any, mean: Array) -> None:
    """Draw a mean image, dark where there is ink."""
    axes.imshow(mean.reshape(_SIDE, _SIDE), cmap="gray_r", vmin=0.0, vmax=16.0, alpha=0.75)
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
    shapes = (("o", _CIRCLE, 8.5), ("x", _CROSS, 7.0))
    for (shape, colour, size), widths in zip(shapes, marks(ends), strict=True):
        for block in np.flatnonzero(widths[:, place] > _THINNEST):
            axes.plot(block % _SIDE, block // _SIDE, shape, color=colour, markersize=size,
                fillstyle="none", markeredgewidth=_WIDEST * widths[block, place])  # fmt: skip
