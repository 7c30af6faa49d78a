"""Plot of the weak classifiers that classes share."""

from textwrap import shorten
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_count
from ..model.names import class_names, class_noun
from ..model.summary import describe_rule
from .base import check_model, check_not_empty, check_sum, new_axes, pyplot

_LONGEST = 80  # characters of a rule; the rules of deep leaves would fill the plot


def plot_sharing(model: Any, ax: Any = None, most: int = 30) -> Any:
    """Plot the weights of the strongest weak classifiers for every class.

    Each row is a rule in words, shortened if it is long. The score of a class increases by the
    weight if the rule holds, and decreases by it if not. Zero weights are white. With a mixed-norm
    penalty a row has several entries: classes share the rule. Negative weights, which only
    baselines have, are red.

    Parameters
    ----------
    model : fitted estimator
        Estimator or baseline.
    ax : matplotlib axes, optional
        Axes to draw into. By default those of a new figure.
    most : int, default=30
        Maximum number of rules. The rules with the largest sums of absolute weights are drawn.

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
    >>> from directboost.plotting import plot_sharing
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DirectBoostClassifier(penalty="l1,2").fit(X, y)
    >>> ax = plot_sharing(model, most=5)
    >>> len(ax.get_yticklabels())
    5
    >>> plt.close()
    """
    check_model(model)
    check_not_empty(model)
    check_sum(model)
    most = check_count("most", most, 1, "the number of rules to draw, 1 or more")
    order = np.argsort(-np.abs(model.weights_).sum(axis=1), kind="stable")[:most]
    words = [describe_rule(model, model.learners_[j]) for j in order]
    rules = [shorten(text, _LONGEST, placeholder=" ...") for text in words]
    if ax is None:
        width = 2.6 + 0.07 * max(map(len, rules)) + 0.3 * model.classes_.size
        ax = new_axes(width, 1.4 + 0.2 * order.size)
    _draw_weights(ax, model.weights_[order])
    _name_cells(ax, rules, class_names(model))
    ax.set_xlabel(class_noun(model)[0])
    ax.set_title(f"{order.size} of {len(model.learners_)} rules, strongest first", fontsize=10)
    return ax


def _draw_weights(ax: Any, weights: Array) -> None:
    from matplotlib.colors import ListedColormap

    # The lightest blues and reds look like white, which means zero, and are not used.
    colours = pyplot().get_cmap("Blues")(np.linspace(0.2, 1.0, 256))
    low, high = 0.0, float(np.abs(weights).max())
    if (weights < 0.0).any():
        reds = pyplot().get_cmap("Reds")(np.linspace(1.0, 0.2, 256))
        low, colours = -high, np.concatenate([reds, colours])
    shown, style = np.ma.masked_equal(weights, 0.0), {"aspect": "auto", "interpolation": "nearest"}
    image = ax.imshow(shown, cmap=ListedColormap(colours), vmin=low, vmax=high, **style)
    ax.figure.colorbar(image, ax=ax, label="weight", shrink=min(1.0, 12.0 / weights.shape[0]))


def _name_cells(ax: Any, rules: list[str], classes: list[str]) -> None:
    long = max(map(len, classes)) > 2
    ax.set_xticks(np.arange(len(classes)), classes, fontsize=8, rotation=90.0 if long else 0.0)
    ax.set_yticks(np.arange(len(rules)), rules, fontsize=8)
    ax.set_xticks(np.arange(len(classes) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(rules) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.9", lw=0.6)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
