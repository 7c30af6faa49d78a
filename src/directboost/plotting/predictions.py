"""Plots of predictions: decision regions of two features, and margins."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..model.names import feature_names, has_several_labels, level_names
from .base import (
    COLOURS,
    MARKERS,
    add_legend,
    check_model,
    class_codes,
    class_scores,
    find_feature,
    label_signs,
    new_axes,
    read_rows,
    tidy,
)

_TINTS = (0.65, 0.84, 0.55, 0.92)  # shares of white; with the colours they give 28 tints
_ONE_LINE = 60  # characters that fit below the axis, including the space between names
_MOST_TICKS = 40  # names of levels that fit along an axis
_WIDE = 0.004  # share of the plot above which a region has space for the name of its class


def plot_regions(model: Any, X: Any, y: Any, features: Any = None, ax: Any = None) -> Any:
    """Plot the decision regions of a model of two features, and rows with their true classes.

    The regions are exact: the prediction is constant between two thresholds of each feature, and
    for every level of a category, which has its own strip.

    Parameters
    ----------
    model : fitted estimator
        Model of stumps and trees that uses at most two features of X.
    X, y : array-like (m, d), (m,)
        Rows to draw. Rows with a missing value in one of the two features are left out.
    features : pair of int or str, optional
        Features of the two axes. By default those that the model uses.
    ax : matplotlib axes, optional
        Axes to draw into. By default those of a new figure.

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
    >>> from directboost.plotting import plot_regions
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DirectBoostClassifier().fit(X[:, 2:], y)
    >>> ax = plot_regions(model, X[:, 2:], y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    >>> plt.close()
    """
    check_model(model)
    if has_several_labels(model):
        raise ValueError(
            "model predicts several labels per row, so its regions overlap; fit a model with one "
            "class per row"
        )
    pair = _two_features(model, features)
    codes = class_codes(model, X, y)
    rows = read_rows(model, X, pair)
    new_figure = ax is None
    ax = new_axes(6.4, 4.6) if ax is None else ax
    edges = [_edges(model, f, rows[:, axis]) for axis, f in enumerate(pair)]
    predicted = _predict_cells(model, pair, edges)
    _draw_regions(ax, edges, predicted, model.classes_.size)
    _draw_rows(ax, rows, codes, model.classes_)
    names = feature_names(model)
    ax.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    for axis, feature in zip((ax.xaxis, ax.yaxis), pair, strict=True):
        _name_levels(axis, level_names(model, feature))
    add_legend(ax, new_figure)
    if model.classes_.size > len(COLOURS):
        _name_regions(ax, edges, predicted, model.classes_)
    return ax


def _two_features(model: Any, features: Any) -> list[int]:
    """Return the features of the axes; raise ValueError if the model uses others."""
    names, read = feature_names(model), model.features_used_.tolist()
    if len(names) < 2:
        raise ValueError(f"the model has one feature, {names[0]}: regions need two features")
    if features is None:
        rest = [f for f in range(len(names)) if f not in read]
        pair = sorted((read + rest)[:2])
    else:
        pair = [find_feature(model, feature) for feature in np.atleast_1d(features).tolist()]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"features={features!r} is invalid: expected two different features")
    others = [names[f] for f in read if f not in pair]
    if others:
        raise ValueError(
            f"the model uses {len(read)} of {len(names)} features, {', '.join(others[:5])} among "
            "them: regions need a model that uses only the two features of the axes; fit it to "
            "these two columns, or use a larger nu"
        )
    return pair


def _edges(model: Any, feature: int, values: Array) -> Array:
    """Return the edges of the cells of a feature: its thresholds, or the borders of its levels."""
    cuts, levels = _cuts(model, feature), level_names(model, feature)
    if levels is not None:
        return np.asarray(np.arange(len(levels) + 1) - 0.5, dtype=np.float64)
    known = np.concatenate([cuts, values[np.isfinite(values)]])
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    space = 0.04 * (high - low if high > low else max(abs(low), 1.0))
    return np.concatenate([[low - space], cuts, [high + space]])


def _cuts(model: Any, feature: int) -> Array:
    """Return the values of a feature at which stumps and trees change, ascending."""
    ensemble = model.ensemble_
    for learner, _ in ensemble.others:
        raise ValueError(
            f"plot_regions draws models of stumps and trees, but this model has "
            f"{learner.describe('X')}"
        )
    read = ensemble.stump_features.tolist()
    cuts = [ensemble.thresholds[read.index(feature)]] if feature in read else []
    for table in ensemble.pair_tables:
        both = zip(table.features, table.thresholds, strict=True)
        cuts += [own for other, own in both if other == feature]
    for tree, _ in ensemble.forest:
        own = tree.feature == feature
        around = np.where(tree.is_level[own], 0.5, 0.0)
        cuts += [tree.value[own] - around, tree.value[own] + around]
    found = np.unique(np.concatenate([*cuts, np.empty(0)]))
    return np.asarray(found[np.isfinite(found)])


def _predict_cells(model: Any, pair: list[int], edges: list[Array]) -> Ints:
    """Return the index of the class predicted in every cell, (rows, columns)."""
    middles = [0.5 * (e[:-1] + e[1:]) for e in edges]
    across, up = np.meshgrid(*middles)
    cells = np.zeros((across.size, model.n_features_in_))
    cells[:, pair[0]], cells[:, pair[1]] = across.ravel(), up.ravel()
    scores = model._scores(cells, model.ensemble_)
    return np.asarray(scores.argmax(axis=1)).reshape(across.shape)


def _draw_regions(ax: Any, edges: list[Array], predicted: Ints, k: int) -> None:
    from matplotlib.colors import ListedColormap, to_rgb

    tints = []
    for r in range(k):
        white = _TINTS[r // len(COLOURS) % len(_TINTS)]
        tints.append(white + (1.0 - white) * np.array(to_rgb(COLOURS[r % len(COLOURS)])))
    ax.pcolormesh(*edges, predicted, cmap=ListedColormap(tints), vmin=-0.5, vmax=k - 0.5)


def _draw_rows(ax: Any, rows: Array, codes: Ints, classes: Any) -> None:
    for r, label in enumerate(classes.tolist()):
        own = rows[(codes == r) & np.isfinite(rows).all(axis=1)]
        # The markers shift when the colours repeat, so that no pair occurs twice.
        marker = MARKERS[(r + r // len(COLOURS)) % len(MARKERS)]
        ax.scatter(own[:, 0], own[:, 1], s=22, color=COLOURS[r % len(COLOURS)], marker=marker,
            edgecolors="white", linewidths=0.5, label=str(label),
        )  # fmt: skip


def _name_levels(axis: Any, levels: Any) -> None:
    """Write the levels of a category along its axis, only some of them if there are very many."""
    if levels is None:
        return
    shown = np.arange(0, len(levels), -(-len(levels) // _MOST_TICKS))
    names = [levels[level] for level in shown]
    slanted = axis.axis_name == "x" and sum(len(name) + 3 for name in names) > _ONE_LINE
    style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axis.set_ticks(shown, names, **style)


def _name_regions(ax: Any, edges: list[Array], predicted: Ints, classes: Any) -> None:
    """Write the name of each class into its largest cell: many tints are hard to distinguish."""
    shares = [np.diff(e) / (e[-1] - e[0]) for e in edges]
    area = shares[1][:, None] * shares[0]
    for r, label in enumerate(classes.tolist()):
        own = np.where(predicted == r, area, 0.0)
        row, column = np.unravel_index(int(own.argmax()), own.shape)
        if own[row, column] >= _WIDE:
            middle = [0.5 * (e[j] + e[j + 1]) for e, j in zip(edges, (column, row), strict=True)]
            box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}
            ax.text(*middle, str(label), ha="center", va="center", fontsize=9, bbox=box)


def plot_margins(model: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Plot the cumulative distribution of the margins.

    The margin of a row is the score of its true class minus the highest score of the other
    classes. It is positive if the row is classified correctly. With several labels per row, every
    label of every row has a margin: its score, or minus its score if the row does not have the
    label.

    Parameters
    ----------
    model : fitted estimator
        Estimator or baseline.
    X, y : array-like (m, d), (m,) or (m, labels)
        Rows, with labels that the model knows.
    ax : matplotlib axes, optional
        Axes to draw into. By default those of a new figure.

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
    >>> from directboost.plotting import plot_margins
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_margins(DirectBoostClassifier().fit(X, y), X, y)
    >>> ax.get_ylabel()
    'share of the rows'
    >>> plt.close()
    """
    check_model(model)
    several = has_several_labels(model)
    margins = (_label_margins if several else _class_margins)(model, X, y)
    ax = new_axes(5.4, 3.4) if ax is None else ax
    ax.ecdf(margins, color=COLOURS[0], lw=1.8)
    wrong = f"{np.mean(margins <= 0.0):.1%} at most 0"
    ax.axvline(0.0, color="0.4", lw=1.0, ls="--", label=wrong)
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    ax.set_xlabel("margin" if several else "margin: true class minus best other")
    ax.set_ylabel(f"share of the {'labels of all rows' if several else 'rows'}")
    tidy(ax)
    return ax


def _class_margins(model: Any, X: Any, y: Any) -> Array:
    """Return the margin of every row, (m,)."""
    codes, scores = class_codes(model, X, y), class_scores(model, X)
    rows = np.arange(codes.size)
    own = scores[rows, codes]
    scores[rows, codes] = -np.inf
    return np.asarray(own - scores.max(axis=1))


def _label_margins(model: Any, X: Any, y: Any) -> Array:
    """Return the margin of every label of every row, (m * labels,)."""
    return np.asarray(label_signs(model, X, y) * class_scores(model, X)).ravel()
