"""The plot of the bounds shows the history of the fit."""

import matplotlib.pyplot as plt
import numpy as np

from directboost import DirectBoostClassifier
from directboost.plotting import plot_convergence
from tests.plotting.drawn import NAMES, WINE, lines_by_label


def test_convergence_draws_the_history(wine):
    bounds, gap = plot_convergence(wine)
    lines = lines_by_label(bounds)
    primal = [record.primal for record in wine.history_]
    np.testing.assert_array_equal(lines["objective of the model"].get_ydata(), primal)
    dual = [record.dual for record in wine.history_]
    np.testing.assert_array_equal(lines["bound no model can beat"].get_ydata(), dual)
    assert gap.lines[0].get_ydata()[-1] == wine.history_[-1].relative_gap <= wine.tol
    assert gap.get_yscale() == "log"


def test_convergence_draws_into_given_axes(wine):
    axes = plt.subplots(1, 2)[1]
    assert plot_convergence(wine, axes) is axes


def test_the_bounds_of_an_empty_model_are_visible():
    """Both are equal: the range of the panel is a small share of the objective."""
    model = DirectBoostClassifier(nu=1.0).fit(WINE.data, NAMES)
    ax = plot_convergence(model)[0]
    low, high = ax.get_ylim()
    height = model.certificate_.primal
    assert low < height < high
    assert 0.001 < (high - low) / height < 0.1
