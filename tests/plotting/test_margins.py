"""The margins are the score of the true class minus the best other score."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from directboost import DirectBoostClassifier
from directboost.plotting import plot_margins
from tests.plotting.drawn import NAMES, WINE, lines_by_label


def margins_drawn(ax):
    edges, shares = ax.lines[0].get_data()
    return np.asarray(edges)[1:], np.asarray(shares)


def test_margins_are_true_class_minus_best_other(wine):
    F = wine.decision_function(WINE.data)
    other = np.where(np.arange(3) == WINE.target.to_numpy()[:, None], -np.inf, F).max(axis=1)
    expected = np.sort(F[np.arange(len(F)), WINE.target] - other)
    edges, shares = margins_drawn(plot_margins(wine, WINE.data, NAMES))
    np.testing.assert_allclose(edges, expected)
    np.testing.assert_allclose(shares[1:], np.arange(1, len(F) + 1) / len(F))


def test_margins_of_two_classes_are_the_signed_decision():
    X, y = load_digits(n_class=2, return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X[:200], y[:200])
    expected = np.where(y[200:] == 1, 1.0, -1.0) * model.decision_function(X[200:])
    edges, _ = margins_drawn(plot_margins(model, X[200:], y[200:]))
    np.testing.assert_allclose(edges, np.sort(expected))


def test_margins_show_the_error(many):
    model, X, y = many
    ax = plot_margins(model, X, y)
    assert f"{1.0 - model.score(X, y):.1%} at most 0" in lines_by_label(ax)


def test_margins_of_several_labels(labels):
    model, X, Y = labels
    ax = plot_margins(model, X, Y)
    expected = ((2 * Y - 1) * model.decision_function(X)).ravel()
    np.testing.assert_allclose(margins_drawn(ax)[0], np.sort(expected))
    wrong = np.mean(model.predict(X) != Y)
    assert f"{wrong:.1%} at most 0" in lines_by_label(ax)
    with pytest.raises(ValueError, match=r"y has the shape \(200,\), but the model has 3 labels"):
        plot_margins(model, X, Y[:, 0])


def test_margins_reject_unknown_labels(wine):
    with pytest.raises(ValueError, match="y has labels that the model does not know"):
        plot_margins(wine, WINE.data, WINE.target)
