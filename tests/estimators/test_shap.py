"""Shapley values: they add up to the scores, are those of the definition, and shap draws them."""

import itertools
import math
import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)
from tests.conftest import make_blobs

WINE = load_wine(as_frame=True)
SETTINGS = [
    pytest.param({}, id="blocks"),
    pytest.param({"solver": "lbfgsb", "penalty": "l1"}, id="lbfgsb"),
    pytest.param({"loss": "hinge", "solver": "lp", "penalty": "l1"}, id="lp"),
    pytest.param({"class_weight": "balanced"}, id="balanced"),
    pytest.param({"margin": "one-vs-all", "max_bins": 5}, id="one-vs-all"),
]


def adds_up(model, X):
    """Return the explanation after a look at its sum."""
    told = model.shap_explanation(X)
    scores = model.decision_function(X)
    assert told.base_values.shape == scores.shape
    np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), scores, atol=1e-10)
    return told


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_means_are_those_of_the_training_rows(blobs_missing, settings):
    """By weight, for columns of every kind, missing values and the constant included."""
    X, y, s = blobs_missing.X, blobs_missing.y, blobs_missing.s
    model = DirectBoostClassifier(nu=0.02, tol=1e-3, **settings).fit(X, y, sample_weight=s)
    if settings.get("class_weight"):
        s = s * (s.size / np.bincount(y))[y]
    assert model.mean_contributions_.any()
    mean = np.average(model.explain(X), axis=0, weights=s)
    np.testing.assert_allclose(model.mean_contributions_, mean, atol=1e-12)
    told = adds_up(model, X[:9])
    mean = np.average(model.decision_function(X), axis=0, weights=s)
    np.testing.assert_allclose(told.base_values[0], mean, atol=1e-10)


def shapley_values(score, X, rows):
    """Return the mean gain of every feature over all orders in which they become known.

    What is not known takes the values of each of the rows in turn.
    """
    d = X.shape[1]
    worth = {}
    for known in itertools.product([False, True], repeat=d):
        mixed = np.where(known, X[:, None], rows)
        worth[known] = score(mixed.reshape(-1, d)).reshape(*mixed.shape[:2], -1).mean(axis=1)
    values = np.zeros((X.shape[0], d, worth[known].shape[1]))
    for order in itertools.permutations(range(d)):
        known = [False] * d
        for feature in order:
            before = worth[tuple(known)]
            known[feature] = True
            values[:, feature] += (worth[tuple(known)] - before) / math.factorial(d)
    return values


@pytest.mark.parametrize("k", [2, 3])
def test_they_are_the_values_of_the_definition(k):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - k], y[y >= 3 - k]
    model = DirectBoostClassifier(nu=0.01).fit(X, y)
    told = adds_up(model, X[::20])
    found = shapley_values(model.decision_function, X[::20], X)
    np.testing.assert_allclose(told.values, found.reshape(told.values.shape), atol=1e-10)


def test_names_and_data_come_along():
    model = DirectBoostClassifierCV(nus=5, cv=3).fit(WINE.data, WINE.target_names[WINE.target])
    told = adds_up(model, WINE.data)
    assert told.values.shape == (178, 13, 3)
    assert list(told.feature_names) == list(WINE.data.columns)
    assert list(told.output_names) == ["class_0", "class_1", "class_2"]
    np.testing.assert_array_equal(told.data, WINE.data)
    assert told.display_data is None
    one = told[3, :, "class_1"]
    np.testing.assert_array_equal(one.values, told.values[3, :, 1])


def test_shap_draws_it():
    import shap

    model = DirectBoostClassifier(nu=0.01).fit(WINE.data, WINE.target)
    told = model.shap_explanation(WINE.data)
    ax = shap.plots.waterfall(told[0, :, 0], show=False)
    assert any("proline" in text.get_text() for text in ax.get_yticklabels())
    plt.close("all")


def test_shap_shows_the_levels_of_categories():
    """Numbers stay numbers, which the plots sort and colour by; a missing value is named."""
    import shap

    frame = WINE.data[["ash"]].assign(soil=np.array(["chalk", "clay", "sand"])[WINE.target])
    frame["soil"] = frame["soil"].where(np.arange(178) % 9 > 0).astype("category")
    model = DirectBoostClassifier(nu=0.03).fit(frame, WINE.target)
    told = adds_up(model, frame)
    assert told.data.dtype == np.float64
    shown = frame["soil"].astype(object).fillna("missing")
    assert told.display_data[:, 1].tolist() == shown.tolist()
    np.testing.assert_array_equal(told.display_data[:, 0], frame["ash"])
    ax = shap.plots.waterfall(told[1, :, 0], show=False)
    assert any("chalk = soil" in text.get_text() for text in ax.get_yticklabels())
    plt.close("all")


@pytest.mark.parametrize("labels", [2, 3])
def test_several_labels(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X[:, :labels] > 0.3).astype(int)
    names = ["sun", "rain", "wind"][:labels]
    Y = pd.DataFrame(Y, columns=names)
    told = adds_up(DirectBoostMultiLabelClassifier(nu=0.05).fit(X, Y), X)
    assert told.values.shape == (80, 3, labels)
    assert told.output_names == names


@pytest.mark.parametrize("k", [2, 3])
def test_the_empty_model_is_its_base(k):
    data = make_blobs(k)
    model = DirectBoostClassifier(nu=1.0).fit(data.X, data.y)
    told = adds_up(model, data.X)
    assert not told.values.any()
    assert not model.mean_contributions_.any()


def test_without_shap_the_error_says_what_to_install(monkeypatch):
    data = make_blobs(2)
    model = DirectBoostClassifier(nu=0.1).fit(data.X, data.y)
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="shap_explanation needs the package shap: pip install"):
        model.shap_explanation(data.X)


def test_bad_rows_are_refused():
    data = make_blobs(3)
    model = DirectBoostClassifier(nu=0.1).fit(data.X, data.y)
    with pytest.raises(ValueError, match="infinity"):
        model.shap_explanation(np.full((2, 3), np.inf))
    with pytest.raises(ValueError, match="2 features"):
        model.shap_explanation(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="not fitted"):
        DirectBoostClassifier().shap_explanation(data.X)
