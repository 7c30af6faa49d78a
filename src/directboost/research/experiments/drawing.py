"""Figures: colours, decision regions, and saving."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...datasets.base import Dataset
from .base import Arrays, Results
from .measuring import stage_at

_POINTS = 160  # of a grid, in each direction
_MANY = 500  # rows from which dots are small, so that they do not hide the regions
#: Colours that are distinguishable with colour vision deficiency (Okabe and Ito).
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#555555")

#: A method has the same colour in all figures. No line is yellow, which is hard to see on white.
_LINES = {
    "MultiBoost-l1": COLOURS[1],
    "MultiBoost-group": COLOURS[2],
    "MultiBoost-fast": COLOURS[3],
    "MultiBoost-hinge": COLOURS[2],
    "MultiBoost-exp": COLOURS[1],
    "AdaBoost.MH": COLOURS[4],
    "AdaBoost.ECC": COLOURS[5],
    "AdaBoost.MO": COLOURS[0],
    "JointBoost": COLOURS[0],
    "GradBoost": COLOURS[7],
    "AdaBoost.SIP": "#8C510A",
    "SAMME": "#999999",
}


def colour_of(method: str) -> str:
    """Return the colour of the line or the bars of a method."""
    return _LINES[method]


def new_figure(n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> Any:
    """Return a figure and its axes (n_rows, n_columns), each of the given size in inches."""
    from matplotlib.figure import Figure

    whole = (size[0] * n_columns, size[1] * n_rows)
    figure = Figure(figsize=whole, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG with at most 256 colours, which is a quarter of the size."""
    from PIL import Image

    page = BytesIO()
    figure.savefig(page, dpi=130)
    few = Image.open(page).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, format="PNG", optimize=True)


def region_grid(model: Any, data: Dataset, counts: Sequence[int]) -> Arrays:
    """Return the classes that a model predicts over the plane, by number of weak classifiers.

    The result also contains the training rows `X` and `y`, and the `limits` of the plane.
    """
    grid, rest = plane(data)
    found = {f"at {count}": stage_at(model, grid, count).astype(np.uint8) for count in counts}
    return {**found, **rest}


def plane(data: Dataset) -> tuple[Array, Arrays]:
    """Return a grid of points (n, 2) over the training rows, and the rows and limits."""
    X, y = data.train
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    limits = np.array([low - margin, high + margin])
    axes = [np.linspace(float(a), float(b), _POINTS) for a, b in limits.T]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    return grid, {"X": X, "y": y, "limits": limits}


def draw_regions(
    results: Results,
    columns: Sequence[tuple[str, str]],
    path: Path,
    unit: str = "weak classifiers",
) -> None:
    """Draw decision regions: a column for each model, a row for each count.

    A model without a grid for a count has no panel there.

    Parameters
    ----------
    results : Results
    columns : sequence of (title, key of the trial)
    path : Path
    unit : str
        What is counted.
    """
    shown = [(title, results.arrays[key]) for title, key in columns if results.arrays.get(key)]
    if not shown:
        return save(new_figure()[0], path)
    every = [[name for name in arrays if name.startswith("at ")] for _, arrays in shown]
    counts = max(every, key=len)
    figure, axes = new_figure(len(counts), len(shown), (2.3, 2.4))
    for column, (title, arrays) in enumerate(shown):
        for row, count in enumerate(counts):
            if count in arrays:
                _draw_grid(axes[row, column], arrays, count)
            else:
                axes[row, column].set_axis_off()
            if row == 0:
                axes[row, column].set_title(title, fontsize=9)
    label_rows(axes, [f"{count.removeprefix('at ')} {unit}" for count in counts])
    save(figure, path)


def label_rows(axes: Any, words: Sequence[str]) -> None:
    """Label the rows of a figure at the first visible panel of each."""
    for line, text in zip(axes, words, strict=True):
        next(panel for panel in line if panel.axison).set_ylabel(text, fontsize=9)


def _draw_grid(axes: Any, arrays: Arrays, count: str) -> None:
    from matplotlib.colors import ListedColormap

    (left, bottom), (right, top) = arrays["limits"]
    palette = ListedColormap(COLOURS[: int(arrays["y"].max()) + 1])
    shades: dict[str, Any] = {"cmap": palette, "vmin": 0, "vmax": palette.N - 1}
    image = arrays[count].reshape(_POINTS, _POINTS)
    extent = (left, right, bottom, top)
    axes.imshow(image, origin="lower", extent=extent, alpha=0.45, aspect="auto", **shades)
    dots = {"s": 11, "lw": 0.4, "ec": "white"} if len(arrays["y"]) < _MANY else {"s": 3, "lw": 0}
    axes.scatter(*arrays["X"].T, c=arrays["y"], **dots, **shades)
    axes.set_xticks([])
    axes.set_yticks([])


def count_regions(classes: Any) -> int:
    """Return the number of connected regions of one class on a square grid of predictions."""
    from scipy.ndimage import label

    side = round(np.sqrt(classes.size))
    grid = classes.reshape(side, side)
    return sum(int(label(grid == c)[1]) for c in np.unique(grid))
