"""Tests of the importances of features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import directboost
from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.baselines import AdaBoostMH, AdaBoostMO, AdaBoostSIP
from directboost.model.learners import Product
from directboost.oracles import PoolOracle
from tests.export.model_file.documents import golden, loaded

RNG = np.random.default_rng(0)
M = 240
X = np.column_stack([
    RNG.normal(size=M), RNG.integers(0, 2, M), RNG.exponential(size=M), RNG.normal(size=M),
    RNG.integers(0, 3, M),
])  # fmt: skip
X[::7, 2] = np.nan
Y = (X[:, 0] + X[:, 1] > 0.6).astype(int) + (np.nan_to_num(X[:, 2]) > 1.5)
WEIGHTS = RNG.integers(1, 4, M).astype(float)
FRAME = pd.DataFrame(X, columns=list("abcde")).astype({"e": "category"})
POOL = np.clip(np.nan_to_num(X), -1.0, 1.0)


def shares(contributions, weight):
    """Return the shares of features in the variance of contributions (m, d, k)."""
    mean = np.average(contributions, axis=0, weights=weight)
    variance = np.average((contributions - mean) ** 2, axis=0, weights=weight).sum(axis=1)
    return variance / variance.sum()


def by_brute_force(model, rows, weight, products=False):
    """Return the importances from the contributions of every single weak classifier.

    Those of several features are divided equally, unless they are `products` of two stumps.
    """
    parts = np.zeros((len(rows), model.n_features_in_, model.ensemble_.k))
    for h, row in zip(model.learners_, model.weights_, strict=True):
        assert not (products and isinstance(h, Product))
        for f in h.features:
            parts[:, f] += np.outer(h.predict(rows), row) / len(h.features)
    return shares(parts, weight)


# --- The formula -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hinge", "penalty": "l1"},
        {"max_bins": 8, "margin": "one-vs-all", "loss": "exponential"},
        {"columns_per_round": 1, "max_learners": 20},
        {"learner": "tree"},
        {"learner": DecisionTreeClassifier(max_depth=2), "random_state": 0},
    ],
    ids=str,
)
def test_shares_in_the_variance_of_the_contributions(options):
    rows = np.nan_to_num(X) if "learner" in options else X
    model = DirectBoostClassifier(nu=0.02, **options).fit(rows, Y, WEIGHTS)
    expected = by_brute_force(model, rows, WEIGHTS)
    assert expected.max() < 0.95
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    unused = np.setdiff1d(np.arange(5), model.features_used_)
    np.testing.assert_array_equal(model.feature_importances_[unused], 0.0)


def test_categories_and_missing_values():
    y = (X[:, 4] == 1) | np.isnan(X[:, 2]) ^ (X[:, 0] > 0.5)
    model = DirectBoostClassifier(nu=0.01).fit(FRAME, y, WEIGHTS)
    assert model.feature_importances_[[0, 2, 4]].min() > 0.05
    expected = by_brute_force(model, model._encoder.encode(FRAME), WEIGHTS)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-9)


def test_pools():
    model = DirectBoostClassifier(learner=PoolOracle(), nu=0.02).fit(POOL, Y, WEIGHTS)
    expected = by_brute_force(model, POOL, WEIGHTS)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-9)


def test_several_labels():
    labels = np.column_stack([Y > 0, Y > 1]).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, labels, WEIGHTS)
    np.testing.assert_allclose(
        model.feature_importances_, by_brute_force(model, X, WEIGHTS), atol=1e-9
    )


def test_half_of_the_variance_of_a_pair_counts_for_each_feature():
    y = (X[:, 0] > 0) ^ (X[:, 3] > 0)
    model = DirectBoostClassifier(learner="pair", nu=0.02).fit(X, y, WEIGHTS)
    assert len(model.interactions_) > 1
    parts = model.explain(X)
    mean = np.average(parts, axis=0, weights=WEIGHTS)
    variance = np.average((parts - mean) ** 2, axis=0, weights=WEIGHTS).sum(axis=1)
    expected = variance[:5].copy()
    for number, pair in enumerate(model.interactions_, start=5):
        expected[pair] += variance[number] / 2
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-9)
    assert model.feature_importances_[[0, 3]].min() > 0.3


@pytest.mark.parametrize("make", [AdaBoostMH, AdaBoostMO, AdaBoostSIP])
def test_baselines(make):
    model = make(15).fit(X, Y, WEIGHTS)
    expected = by_brute_force(model, X, WEIGHTS)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


# --- What it says ----------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_noise_is_less_important_than_informative_features(classes):
    """Two binary features matter; six features of noise have as many values as there are rows."""
    rng = np.random.default_rng(classes)
    flags, noise = rng.random((1000, 2)) < [0.5, 0.2], rng.lognormal(size=(1000, 6))
    effect = np.array([[2.5, 1.5], [0.0, -1.5], [-2.5, 0.5]])[:classes]
    y = (flags @ effect.T + rng.gumbel(size=(1000, classes))).argmax(axis=1)
    model = DirectBoostClassifier(nu=0.02).fit(np.column_stack([noise, flags]), y)
    assert model.weight_importances()[:6].sum() > 0.35  # noise has many thresholds
    assert model.feature_importances_[6:].min() > model.feature_importances_[:6].max()
    assert model.feature_importances_[6:].sum() > 0.8


def test_weights_act_as_repetitions():
    times = WEIGHTS.astype(int)
    weighted = DirectBoostClassifier(nu=0.02, max_bins=None, tol=1e-6).fit(X, Y, WEIGHTS)
    repeated = DirectBoostClassifier(nu=0.02, max_bins=None, tol=1e-6).fit(
        np.repeat(X, times, axis=0), np.repeat(Y, times)
    )
    np.testing.assert_allclose(
        weighted.feature_importances_, repeated.feature_importances_, atol=1e-3
    )


def test_units_and_order_of_the_features_do_not_matter():
    order = [3, 1, 4, 0, 2]
    one = DirectBoostClassifier(nu=0.02).fit(X, Y)
    two = DirectBoostClassifier(nu=0.02).fit(np.exp(X[:, order]), Y)
    np.testing.assert_allclose(two.feature_importances_, one.feature_importances_[order], atol=1e-2)


def test_an_empty_model_has_no_importances():
    model = DirectBoostClassifier(nu=1.0).fit(X, Y)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)
    np.testing.assert_array_equal(model.weight_importances(), 0.0)


# --- Model files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (DirectBoostClassifier(nu=0.02), FRAME),
        (DirectBoostClassifier(nu=0.02, learner="pair"), X),
        (DirectBoostClassifier(nu=0.02, learner="tree"), X),
        (DirectBoostClassifier(nu=0.02, learner=PoolOracle()), POOL),
        (DirectBoostClassifier(nu=1.0), X),
        (AdaBoostSIP(10), X),
    ],
    ids=["stumps", "pairs", "trees", "pool", "empty", "baseline"],
)
def test_a_loaded_model_has_the_same_importances(model, rows, tmp_path):
    model.fit(rows, Y, WEIGHTS)
    again = directboost.load(model.save(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(again.weight_importances(), model.weight_importances())


def test_files_of_earlier_versions_give_the_importances_of_the_weights(tmp_path):
    model = loaded(golden("stumps"), tmp_path)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(model.feature_importances_, model.weight_importances())
