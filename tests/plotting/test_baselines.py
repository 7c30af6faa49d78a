"""Plots of baselines: supported ones are correct, others raise an error."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from directboost.baselines import SAMME, AdaBoostMH, AdaBoostMO, GradBoost, OneVsAllBoost
from directboost.plotting import (
    plot_convergence,
    plot_feature,
    plot_margins,
    plot_regions,
    plot_sharing,
)
from tests.plotting.drawn import NAMES, WINE, height_at, lines_by_label


@pytest.fixture(scope="module")
def frame():
    """Return a category and a number with missing values, and three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    town = np.array(["Bern", "Chur", "Davos"])[np.where(rng.random(300) < 0.7, y, 0)]
    height = np.where(rng.random(300) < 0.2, np.nan, y + rng.normal(size=300))
    return pd.DataFrame({"town": pd.Categorical(town), "height": height}), y


@pytest.fixture(scope="module")
def fitted(frame):
    return AdaBoostMH(30).fit(*frame)


def test_steps_are_the_contribution_of_a_value(fitted, frame):
    """Scores of rows that differ in one feature differ by its steps; levels have bars."""
    rows = frame[0].dropna().iloc[:40].assign(town=frame[0]["town"].iloc[0])
    lines = lines_by_label(plot_feature(fitted, "height", X=frame[0]))
    found = np.column_stack([height_at(lines[str(r)], rows["height"]) for r in range(3)])
    scores = fitted.decision_function(rows)
    np.testing.assert_allclose(found - found[0], scores - scores[0], atol=1e-12)
    ax = plot_feature(fitted, "town")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["Bern", "Chur", "Davos"]


def test_negative_weights_are_red(fitted):
    ax = plot_sharing(fitted, most=8)
    weights = ax.images[0].get_array()
    order = np.argsort(-np.abs(fitted.weights_).sum(axis=1), kind="stable")[:8]
    np.testing.assert_array_equal(weights, fitted.weights_[order])
    assert weights.min() < 0.0
    low, high = ax.images[0].get_clim()
    assert -low == high == np.abs(weights).max()
    for value, strong in ((high, 2), (low, 0)):
        colour = ax.images[0].to_rgba(value)
        assert np.argmax(colour[:3]) == strong
    rules = [text.get_text() for text in ax.get_yticklabels()]
    assert any(rule.startswith("town is") for rule in rules)
    assert any(rule.startswith("height") for rule in rules)


def test_regions_and_margins(fitted, frame):
    assert plot_regions(fitted, *frame).get_xlim() == (-0.5, 2.5)
    assert plot_margins(fitted, *frame).get_xlabel().startswith("margin")


def test_the_objective_decreases_in_every_round(fitted):
    objective, error = plot_convergence(fitted)
    heights = [record.objective for record in fitted.history_]
    np.testing.assert_array_equal(objective.lines[0].get_xdata(), np.arange(1, 31))
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), heights)
    np.testing.assert_array_equal(
        error.lines[0].get_ydata(), [record.error for record in fitted.history_]
    )
    assert error.get_yscale() == "linear"
    assert objective.get_xlabel() == error.get_xlabel() == "round"


def test_a_method_without_an_error_has_a_note():
    axes = plot_convergence(GradBoost(5).fit(WINE.data, NAMES))
    assert [text.get_text() for text in axes[1].texts] == ["not defined for this method"]
    assert not axes[0].texts


@pytest.mark.parametrize(
    "model", [AdaBoostMO(5), OneVsAllBoost(5, normalize=True)], ids=["decoded", "scaled"]
)
def test_scores_that_are_not_sums_are_rejected(model):
    model.fit(WINE.data, NAMES)
    message = f"the scores of {type(model).__name__} are not sums over its weak classifiers"
    with pytest.raises(ValueError, match=message):
        plot_feature(model, int(model.features_used_[0]))
    with pytest.raises(ValueError, match=message):
        plot_sharing(model)
    assert len(plot_convergence(model)) == 2


def test_other_weak_classifiers_have_no_steps():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = SAMME(5, weak_learner=tree).fit(WINE.data, NAMES)
    with pytest.raises(ValueError, match="has no step functions"):
        plot_feature(model, int(model.features_used_[0]))
    two = WINE.data.iloc[:, :2]
    few = SAMME(5, weak_learner=tree).fit(two, NAMES)
    with pytest.raises(ValueError, match="models of stumps and trees"):
        plot_regions(few, two, NAMES)


def test_an_empty_baseline_is_rejected():
    X, y = np.zeros((6, 2)), [0, 1, 0, 1, 0, 1]
    with pytest.warns(ConvergenceWarning, match="before its first round"):
        model = AdaBoostMH(5).fit(X, y)
    with pytest.raises(ValueError, match=r"the model is empty.*its fit ended with status"):
        plot_sharing(model)
