"""The plots of a path show its models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from directboost import DirectBoostClassifierCV, directboost_path
from directboost.plotting import plot_path
from tests.plotting.drawn import NAMES, WINE, lines_by_label


@pytest.fixture(scope="module")
def path():
    return directboost_path(WINE.data, NAMES, nus=6, nu_min=0.01)


def test_path_draws_error_and_features(path):
    error, features = plot_path(path, WINE.data, NAMES)
    np.testing.assert_allclose(error.lines[0].get_ydata(), 1.0 - path.scores(WINE.data, NAMES))
    np.testing.assert_array_equal(features.lines[0].get_ydata(), path.n_features_used)
    for ax in (error, features):
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), path.nus)
        assert ax.get_xscale() == "log"
        assert ax.get_xlim()[0] > ax.get_xlim()[1]
    assert [ax.get_ylabel() for ax in plot_path(path)] == ["features used"]


def test_path_draws_the_cost_if_features_have_costs():
    costs = np.arange(1.0, 14.0)
    path = directboost_path(WINE.data, NAMES, nus=4, nu_min=0.05, feature_costs=costs)
    axes = plot_path(path)
    assert [ax.get_ylabel() for ax in axes] == ["features used", "cost of the features"]
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), path.costs)


def test_path_marks_the_choice_of_cross_validation():
    model = DirectBoostClassifierCV(nus=6, cv=3).fit(WINE.data, NAMES)
    (ax,) = plot_path(model)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.nus_)
    assert lines_by_label(ax)["chosen"].get_xdata()[0] == model.nus_[model.chosen_index_]


def test_path_draws_into_given_axes(path):
    axes = plt.subplots(1, 2)[1]
    assert list(plot_path(path, WINE.data, NAMES, axes=axes)) == list(axes)
    plot_path(path, WINE.data, NAMES, axes=axes)
    assert axes[0].get_xlim()[0] > axes[0].get_xlim()[1]
    ax = plt.subplots()[1]
    assert plot_path(path, axes=ax)[0] is ax


def test_path_rejects_invalid_arguments(path, wine):
    with pytest.raises(TypeError, match="path is a DirectBoostClassifier: expected"):
        plot_path(wine)
    with pytest.raises(ValueError, match="X is given without y"):
        plot_path(path, WINE.data)
    with pytest.raises(ValueError, match="axes holds 1 axes, but there are 2 panels"):
        plot_path(path, WINE.data, NAMES, axes=plt.subplots()[1])


@pytest.mark.parametrize("settings", [{"nus": 4, "nu_min": 0.2}, {"nus": [0.02]}, {"nus": [1.0]}])
def test_ticks_of_feature_counts_are_integers(settings):
    """The axis starts at 0, also if all models use the same number of features."""
    path = directboost_path(WINE.data, NAMES, **settings)
    error, features = plot_path(path, WINE.data, NAMES)
    features.figure.draw_without_rendering()
    low, high = features.get_ylim()
    ticks = [tick for tick in features.get_yticks() if low <= tick <= high]
    assert len(ticks) > 1
    np.testing.assert_array_equal(ticks, np.round(ticks))
    for ax in (error, features):
        assert ax.get_ylim()[0] <= 0.0 < ax.get_ylim()[1]
        assert ax.get_ylim()[0] > -0.1 * ax.get_ylim()[1]


def test_the_chosen_model_has_one_legend_entry():
    """For any number of panels and paths; each path has its own colour."""
    model = DirectBoostClassifierCV(nus=4, nu_min=0.05, cv=3).fit(WINE.data, NAMES)
    axes = plot_path(model, WINE.data, NAMES)
    plot_path(model, WINE.data, NAMES, axes=axes)
    legends = [ax.get_legend() for ax in axes]
    assert [text.get_text() for text in legends[0].get_texts()] == ["chosen"]
    assert legends[1] is None
    for ax in axes:
        colours = [line.get_color() for line in ax.lines]
        assert colours[0] == colours[1] != colours[2] == colours[3]
