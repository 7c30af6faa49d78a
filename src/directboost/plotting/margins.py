"""How sure a model is of the right class, row by row."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..model.names import has_several_labels
from .canvas import COLOURS, new_axes, tidy
from .reading import check_model, class_codes, class_scores, label_signs


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
