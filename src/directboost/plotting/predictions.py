"""Which class is predicted where, for models of two features."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..model.learners import Learner
from ..model.names import feature_names, has_several_labels
from ..model.trees import Leaf
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

_TINTS = (0.65, 0.84, 0.55, 0.92)  # shares of white, so that 28 classes differ
_ONE_LINE = 60  # characters that fit below the axis, with what is between the names
_MOST_TICKS = 40  # names of levels that fit along an axis
_WIDE = 0.004  # share of the picture from which a region is large enough for the name of its class


def plot_regions(model: Any, X: Any, y: Any, features: Any = None, ax: Any = None) -> Any:
    """Draw the classes that a model of two features predicts, and rows with their true classes.

    The regions are exact: between two thresholds of each feature the answer is the same, and so
    it is for every level of a category, which has a strip of its own.

    Parameters
    ----------
    model : fitted estimator
        It reads two features at most, however many X has.
    X, y : array-like (m, d), (m,)
        Rows to draw; those with a missing value in one of the two features are left out.
    features : pair of int or str, optional
        The features of the two axes. By default those the model reads.
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes
    """
    check_model(model)
    if has_several_labels(model):
        raise ValueError("model predicts several labels per row, so that regions overlap; fit one "
                         "class per row to draw regions")  # fmt: skip
    pair = _two_features(model, features)
    codes = class_codes(model, X, y)
    rows = read_rows(model, X, pair)
    beside = ax is None
    ax = new_axes(6.4, 4.6) if ax is None else ax
    edges = [_edges(model, f, rows[:, axis]) for axis, f in enumerate(pair)]
    answers = _answers(model, pair, edges)
    _draw_regions(ax, edges, answers, model.classes_.size)
    _draw_rows(ax, rows, codes, model.classes_)
    names = feature_names(model)
    ax.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
    ax.set(xlabel=names[pair[0]], ylabel=names[pair[1]])
    for axis, feature in zip((ax.xaxis, ax.yaxis), pair, strict=True):
        _name_levels(axis, model.categories_[feature])
    add_legend(ax, beside)
    if model.classes_.size > len(COLOURS):
        _name_regions(ax, edges, answers, model.classes_)
    return ax


def _two_features(model: Any, features: Any) -> list[int]:
    """Return the features of the axes, or refuse a model that reads others."""
    names, read = feature_names(model), model.features_used_.tolist()
    if len(names) < 2:
        raise ValueError(f"the model has one feature, {names[0]}: regions need two of them")
    if features is None:
        rest = [f for f in range(len(names)) if f not in read]
        pair = sorted((read + rest)[:2])
    else:
        pair = [find_feature(model, feature) for feature in np.atleast_1d(features).tolist()]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"features={features!r} does not fit: it takes two features")
    others = [names[f] for f in read if f not in pair]
    if others:
        raise ValueError(
            f"the model reads {len(read)} of {len(names)} features, {', '.join(others[:5])} among "
            "them: regions need a model of the two features of the axes alone (fit it to these "
            "two columns, or choose a larger nu)"
        )
    return pair


def _edges(model: Any, feature: int, values: Array) -> Array:
    """Return the thresholds of a feature, or of a category those between levels, and the ends."""
    cuts, levels = _cuts(model, feature), model.categories_[feature]
    if levels is not None:
        return np.asarray(np.arange(len(levels) + 1) - 0.5, dtype=np.float64)
    known = np.concatenate([cuts, values[np.isfinite(values)]])
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    space = 0.04 * (high - low if high > low else max(abs(low), 1.0))
    return np.concatenate([[low - space], cuts, [high + space]])


def _cuts(model: Any, feature: int) -> Array:
    """Return where the answers of stumps and trees on a feature change, ascending."""
    read = model.ensemble_.stump_features.tolist()
    cuts = [model.ensemble_.thresholds[read.index(feature)]] if feature in read else []
    for learner in model.learners_:
        if isinstance(learner, Leaf):
            tree = learner.tree
            own = tree.feature == feature
            around = np.where(tree.is_level[own], 0.5, 0.0)
            cuts += [tree.value[own] - around, tree.value[own] + around]
        elif not isinstance(learner, Learner):
            raise ValueError(
                f"plot_regions draws models of stumps and trees, not with {learner.describe('X')}"
            )
    found = np.unique(np.concatenate([*cuts, np.empty(0)]))
    return np.asarray(found[np.isfinite(found)])


def _answers(model: Any, pair: list[int], edges: list[Array]) -> Ints:
    """Return the place of the class predicted in every cell, (rows, columns)."""
    middles = [0.5 * (e[:-1] + e[1:]) for e in edges]
    across, up = np.meshgrid(*middles)
    cells = np.zeros((across.size, model.n_features_in_))
    cells[:, pair[0]], cells[:, pair[1]] = across.ravel(), up.ravel()
    scores = model._scores(cells, model.ensemble_)
    return np.asarray(scores.argmax(axis=1)).reshape(across.shape)


def _draw_regions(ax: Any, edges: list[Array], answers: Ints, k: int) -> None:
    from matplotlib.colors import ListedColormap, to_rgb

    tints = []
    for r in range(k):
        white = _TINTS[r // len(COLOURS) % len(_TINTS)]
        tints.append(white + (1.0 - white) * np.array(to_rgb(COLOURS[r % len(COLOURS)])))
    ax.pcolormesh(*edges, answers, cmap=ListedColormap(tints), vmin=-0.5, vmax=k - 0.5)


def _draw_rows(ax: Any, rows: Array, codes: Ints, classes: Any) -> None:
    for r, label in enumerate(classes.tolist()):
        own = rows[(codes == r) & np.isfinite(rows).all(axis=1)]
        # The markers shift when the colours begin anew, so that no pair comes twice.
        marker = MARKERS[(r + r // len(COLOURS)) % len(MARKERS)]
        ax.scatter(own[:, 0], own[:, 1], s=22, color=COLOURS[r % len(COLOURS)], marker=marker,
            edgecolors="white", linewidths=0.5, label=str(label),
        )  # fmt: skip


def _name_levels(axis: Any, levels: Any) -> None:
    """Write the levels of a category along its axis, some of them where there are very many."""
    if levels is None:
        return
    shown = np.arange(0, len(levels), -(-len(levels) // _MOST_TICKS))
    names = [str(levels[level]) for level in shown]
    slanted = axis.axis_name == "x" and sum(len(name) + 3 for name in names) > _ONE_LINE
    style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axis.set_ticks(shown, names, **style)


def _name_regions(ax: Any, edges: list[Array], answers: Ints, classes: Any) -> None:
    """Write the name of a class into its largest cell: so many tints are hard to tell apart."""
    shares = [np.diff(e) / (e[-1] - e[0]) for e in edges]
    area = shares[1][:, None] * shares[0]
    for r, label in enumerate(classes.tolist()):
        own = np.where(answers == r, area, 0.0)
        row, column = np.unravel_index(int(own.argmax()), own.shape)
        if own[row, column] >= _WIDE:
            middle = [0.5 * (e[j] + e[j + 1]) for e, j in zip(edges, (column, row), strict=True)]
            box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}
            ax.text(*middle, str(label), ha="center", va="center", fontsize=9, bbox=box)


def plot_margins(model: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Draw the share of rows with a margin of at most each value.

    The margin of a row is the score of its true class minus the best score of the others: above 0
    the row is predicted rightly. With several labels per row every label of every row has one: its
    score, or the negative where the row does not have the label.

    Parameters
    ----------
    model : fitted estimator
    X, y : array-like (m, d), (m,) or (m, labels)
        The rows, with labels the model knows.
    ax : matplotlib axes, optional

    Returns
    -------
    ax : matplotlib axes
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
