"""Plot of the effect of a pair of features on the scores: one heat map per class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..model.effects import PairEffect
from ..model.names import class_names, feature_names, level_names, missing_name
from ..model.tables import codes_of
from .base import (
    MOST_LEVELS,
    STRIP,
    axis_range,
    check_model,
    find_classes,
    find_feature,
    pyplot,
    read_rows,
)

_MOST = 6  # heat maps that are drawn by default
_COLUMNS = 3  # heat maps in a row of a new figure
_GAP = 0.3  # space before the strip for missing values, as a share of its width
_SIDE = 0.24  # height of the main effects, as a share of the heat map
_ONE_LINE = 26  # characters of names of levels that fit below a heat map
_LONGEST = 16  # characters of the name of a level
_NAMED = 5  # pairs that an error message names


@dataclass(frozen=True)
class _Axis:
    """The cells of a heat map along one feature.

    Attributes
    ----------
    edges : (n + 1,) array
        The ends of the cells.
    values : (n,) array
        A value of the feature in each cell, NaN for missing values.
    present : int
        Number of cells before the gap and the strip for missing values, if there is one.
    ticks : (t,) array, list of t str
        Positions and names of the levels of a category, without names for numbers.
    label : str
    missing_name : str
        What is in the strip for missing values.
    """

    edges: Array
    values: Array
    present: int
    ticks: tuple[Array, list[str]]
    label: str
    missing_name: str

    @property
    def missing(self) -> float | None:
        """Position of the strip for missing values."""
        if self.values.size == self.present:
            return None
        return float(self.edges[-2:].mean())

    def spread(self, heights: Array) -> Array:
        """Return heights with one entry per cell, (n, ...), with NaN for the gap."""
        if self.missing is None:
            return heights
        return np.insert(heights, self.present, np.nan, axis=0)


def plot_pair(
    model: Any, features: Any = None, classes: Any = None, axes: Any = None, X: Any = None
) -> Any:
    """Plot the contribution of a pair of features to the scores, one heat map per class.

    The heat maps show the purified effect of the pair: over the training data, its mean is zero
    along every row and every column. What each of the two features contributes on its own is drawn
    as a step function above and on the right. The sum of all three is the contribution of both
    features to the score of the class, without their other pairs. All heat maps have the same
    colours, and all step functions the same scale. Missing values are in a strip of their own. Of
    a category, at most 30 levels are drawn, those with the largest effects.

    Parameters
    ----------
    model : fitted estimator
        Estimator with ``learner="pair"``.
    features : pair of int or str, optional
        Features of the horizontal and the vertical axis. By default the strongest pair; see
        `summary`.
    classes : list of classes, optional
        Classes to draw; labels by number or name. By default the six classes with the largest
        standard deviation of the effect, or all if there are no more.
    axes : sequence of matplotlib axes, optional
        One per class, if possible of a figure with ``layout="constrained"``, which leaves space for
        the main effects. By default those of a new figure.
    X : array-like (m, d), optional
        Rows to mark in the heat maps. The axes cover their range.

    Returns
    -------
    axes : array of axes
        The axes with the heat maps, one per class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.plotting import plot_pair
    >>> X, y = load_iris(return_X_y=True)
    >>> axes = plot_pair(DirectBoostClassifier(learner="pair").fit(X, y), (2, 3), classes=[1, 2])
    >>> [ax.get_title() for ax in axes]
    ['1', '2']
    >>> axes[0].get_xlabel(), axes[0].get_ylabel()
    ('x2', 'x3')
    >>> plt.close()
    """
    check_model(model)
    pair, order = _find_pair(model, features)
    shown = [pair.features[place] for place in order]
    chosen = _strongest(pair) if classes is None else find_classes(model, classes)
    rows = np.empty((0, 2)) if X is None else read_rows(model, X, shown)
    sides = [_axis(model, pair, place, rows[:, axis]) for axis, place in enumerate(order)]
    codes = [
        codes_of(side.values, pair.thresholds[place])
        for side, place in zip(sides, order, strict=True)
    ]
    table = pair.values.transpose(*order, 2)[codes[0][:, None], codes[1]]
    cells = sides[1].spread(sides[0].spread(table).swapaxes(0, 1))
    main = [_main_effect(model, f, side) for f, side in zip(shown, sides, strict=True)]
    marks = [_positions(sides[seed], rows[:, seed], seed) for seed in (0, 1)]
    axes = _panels(axes, [class_names(model)[r] for r in chosen])
    most = float(np.nanmax(np.abs(cells[..., chosen]), initial=0.0)) or 1.0
    for ax, r in zip(axes, chosen, strict=True):
        style = {"cmap": "RdBu", "vmin": -most, "vmax": most}
        image = ax.pcolormesh(sides[0].edges, sides[1].edges, cells[..., r], **style)
        opacity = float(np.clip(200.0 / max(len(rows), 1), 0.15, 0.5))
        ax.scatter(*marks, s=5, color="0.1", alpha=opacity, linewidths=0.0)
        ax.set_title(class_names(model)[r], fontsize=10)
        ax.spines[:].set_visible(False)
        _draw_main_effects(ax, sides, [heights[:, r] for heights in main], main)
        _name_axes(ax, sides)
    _add_colour_bar(axes, image)
    return axes


def _find_pair(model: Any, features: Any) -> tuple[PairEffect, tuple[int, int]]:
    """Return a pair of the model, and which of its features is on each axis."""
    effects, names = model.ensemble_.effects, feature_names(model)
    if not effects.pairs:
        raise ValueError(
            "the model has no pairs of features, there is nothing to draw: fit with "
            "learner='pair', or with a smaller nu"
        )
    ranked = [effects.pairs[place] for place in effects.strongest_pairs()]
    if features is None:
        return ranked[0], (0, 1)
    wanted = [find_feature(model, feature) for feature in np.atleast_1d(features).tolist()]
    for pair in ranked:
        if sorted(wanted) == list(pair.features):
            return pair, (0, 1) if wanted[0] == pair.features[0] else (1, 0)
    known = [f"({', '.join(repr(names[f]) for f in pair.features)})" for pair in ranked[:_NAMED]]
    raise ValueError(
        f"features={features!r} is invalid: expected a pair that the model uses; the strongest "
        f"of its {len(ranked)} pairs: {', '.join(known)}"
    )


def _strongest(pair: PairEffect) -> list[int]:
    """Return the classes with the largest deviations, in the order of `classes_`."""
    order = np.argsort(-pair.deviations, kind="stable")
    most = max(min(_MOST, np.count_nonzero(pair.deviations)), 1)
    return sorted(order[:most].tolist())


def _axis(model: Any, pair: PairEffect, place: int, x: Array) -> _Axis:
    """Return the cells along one feature of a pair: between thresholds, or one per level."""
    feature, levels = pair.features[place], level_names(model, pair.features[place])
    ticks: tuple[Array, list[str]] = np.empty(0), []
    label = feature_names(model)[feature]
    if levels is None:
        cuts = model.ensemble_.effects.main_effect(feature)[0]
        low, high = axis_range(np.concatenate([cuts, x[np.isfinite(x)]]), x.size == 0)
        edges, values = np.concatenate([[low], cuts, [high]]), np.append(cuts, np.inf)
        strip = STRIP * (high - low)
    else:
        codes = codes_of(np.arange(len(levels), dtype=np.float64), pair.thresholds[place])
        reach = np.abs(pair.values).max(axis=(1 - place, 2))[codes]
        shown = np.sort(np.argsort(-reach, kind="stable")[:MOST_LEVELS])
        edges, values = np.arange(shown.size + 1) - 0.5, shown.astype(np.float64)
        names = [_short(levels[level]) for level in shown]
        ticks = np.arange(shown.size, dtype=np.float64), names
        label += "" if shown.size == len(levels) else f": {shown.size} of {len(levels)} levels"
        strip = 1.0
    present = values.size
    if model.missing_[feature]:
        edges = np.concatenate([edges, edges[-1] + strip * np.array([_GAP, 1.0 + _GAP])])
        values = np.append(values, np.nan)
    return _Axis(edges, values, present, ticks, label, missing_name(model, feature))


def _short(name: str) -> str:
    """Return a name of a level with an ellipsis in the middle if it is too long for an axis."""
    if len(name) <= _LONGEST:
        return name
    end = _LONGEST // 2 - 1
    return f"{name[: _LONGEST - 1 - end]}\N{HORIZONTAL ELLIPSIS}{name[-end:]}"


def _main_effect(model: Any, feature: int, side: _Axis) -> Array:
    """Return the main effect of a feature in every cell, (n, k)."""
    cuts, table = model.ensemble_.effects.main_effect(feature)
    return side.spread(table[codes_of(side.values, cuts)])


def _positions(side: _Axis, x: Array, seed: int) -> Array:
    """Return where values are on the axis; those of one level or strip are spread out.

    Axes need different seeds: rows with the same offset on both would lie on a line.
    """
    offsets = np.random.default_rng(seed).uniform(-0.3, 0.3, x.size)
    found = x.copy()
    if side.ticks[1]:
        known = side.values[: side.present]
        level = np.searchsorted(known, x)
        at = known[np.minimum(level, known.size - 1)] == x
        found = np.where(at, level + offsets, np.nan)
    if side.missing is not None:
        width = side.edges[-1] - side.edges[-2]
        found = np.where(np.isnan(x), side.missing + width * offsets, found)
    return np.asarray(found)


def _panels(axes: Any, titles: list[str]) -> Any:
    """Return one axes per class: the given ones, or those of a new figure."""
    count = len(titles)
    if axes is None:
        columns = min(count, _COLUMNS)
        rows = -(-count // columns)
        size = (3.5 * columns + 1.1, 3.4 * rows)
        figure = pyplot().figure(figsize=size, layout="constrained")
        figure.get_layout_engine().set(h_pad=0.12)  # the titles are moved after the layout
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for spare in panels[count:]:
            spare.remove()
        return panels[:count]
    given = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if given.size != count:
        raise ValueError(f"axes holds {given.size} axes, but there are {count} classes: {titles}")
    for ax in given:
        if ax.figure.get_layout_engine() is None:  # the main effects take a part of the axes
            x, y, width, height = ax.get_position().bounds
            ax.set_position([x, y, width / (1.05 + _SIDE), height / (1.05 + _SIDE)])
    return given


def _add_colour_bar(axes: Any, image: Any) -> None:
    """Draw one colour bar on the right of all heat maps and their main effects."""
    options = {"label": "added to the score by the pair", "shrink": 0.8, "aspect": 30}
    if axes[0].figure.get_layout_engine() is None:
        boxes = [ax.get_position() for ax in axes]
        whole = max(box.x1 for box in boxes) - min(box.x0 for box in boxes)
        options["pad"] = (0.1 + _SIDE) * boxes[-1].width / whole
    axes[0].figure.colorbar(image, ax=axes.tolist(), **options)


def _draw_main_effects(
    ax: Any, sides: list[_Axis], heights: list[Array], every: list[Array]
) -> None:
    """Draw the main effects of both features, above the heat map and on its right."""
    shown = np.concatenate(every)
    low, high = min(float(np.nanmin(shown)), 0.0), max(float(np.nanmax(shown)), 0.0)
    space = 0.08 * (high - low) or 1.0
    places = ([0.0, 1.03, 1.0, _SIDE], [1.03, 0.0, _SIDE, 1.0])
    for axis, (side, place) in enumerate(zip(sides, places, strict=True)):
        upright = axis == 1
        own = ax.inset_axes(place, **{"sharey" if upright else "sharex": ax})
        turn = {"orientation": "horizontal" if upright else "vertical"}
        own.stairs(heights[axis], side.edges, baseline=0.0, fill=True, color="0.88", **turn)
        own.stairs(heights[axis], side.edges, baseline=None, color="0.2", lw=1.2, **turn)
        (own.axvline if upright else own.axhline)(0.0, color="0.5", lw=0.8)
        own.tick_params(labelsize=7, **{"labelleft" if upright else "labelbottom": False})
        own.tick_params(length=0, axis="y" if upright else "x")
        own.tick_params(length=2, axis="x" if upright else "y")
        (own.set_xlim if upright else own.set_ylim)(low - space, high + space)
        scale = own.xaxis if upright else own.yaxis
        ends = scale.get_majorticklocs()
        ends = ends[(ends >= low - space) & (ends <= high + space)]
        scale.set_ticks([tick for tick in (ends.min(), ends.max()) if tick], minor=False)
        if upright:  # in the empty corner, away from the ticks of the heat map
            own.xaxis.tick_top()
        own.spines[["bottom" if upright else "top", "right"]].set_visible(False)


def _name_axes(ax: Any, sides: list[_Axis]) -> None:
    """Write the names of the features, their levels and the strips for missing values."""
    for axis, side in zip((ax.xaxis, ax.yaxis), sides, strict=True):
        end = side.edges[side.present]
        axis.set_label_text(side.label)
        places, names = side.ticks
        if not names:
            locations = axis.get_majorticklocs()
            places = locations[(locations >= side.edges[0]) & (locations <= end)]
            names = axis.get_major_formatter().format_ticks(places)
        if side.missing is not None:
            places, names = np.append(places, side.missing), [*names, side.missing_name]
        upright = axis.axis_name == "y"
        slanted = not upright and sum(len(name) + 2 for name in names) > _ONE_LINE
        style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        axis.set_ticks(places, names, fontsize=8, **style)
        (ax.set_ylim if upright else ax.set_xlim)(side.edges[0], side.edges[-1])
