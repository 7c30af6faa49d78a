"""Explanations of models of pairs: purified effects, against a functional ANOVA by brute force."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier, load
from directboost.oracles import PairOracle


def draw_rows(seed, m=60, d=3, missing=0.1):
    """Return rows with few values per feature, classes that depend on pairs, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (m, d)) / 2.0
    y = (X[:, 0] > 1.0).astype(int) ^ (X[:, 1] > 0.5) | 2 * (X[:, 2] + X[:, 0] > 2.5)
    y = np.where(rng.random(m) < 0.1, rng.integers(0, 4, m), y)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.uniform(0.2, 2.0, m)


def marginals(X, weight):
    """Return the distinct values of every feature and their shares of the weight."""
    found = []
    for x in X.T:
        values, place = np.unique(x, return_inverse=True)
        found.append((values, np.bincount(place, weight) / weight.sum()))
    return found


def scores_on_grid(model, grid):
    """Return the scores F on all combinations of the values, one axis per feature, and k."""
    rows = np.array(list(itertools.product(*(values for values, _ in grid))))
    F = model._scores(model._checked(rows), model.ensemble_)
    return rows, F.reshape(*(values.size for values, _ in grid), F.shape[1])


def mean_over(F, grid, axes):
    """Return the mean of F over some axes under the product of the marginals; they stay as 1."""
    for axis in axes:
        share = grid[axis][1].reshape([-1 if a == axis else 1 for a in range(F.ndim)])
        F = (F * share).sum(axis=axis, keepdims=True)
    return F


def check_anova(model, X, weight):
    """Compare intercept, main and pair effects with the means of the scores on the whole grid."""
    grid, d = marginals(X, weight), X.shape[1]
    rows, F = scores_on_grid(model, grid)
    parts = model.explain(rows).reshape(*F.shape[:-1], -1, F.shape[-1])
    overall = mean_over(F, grid, range(d))
    base = model.intercept_ + model.mean_contributions_.sum(axis=0)
    np.testing.assert_allclose(base, overall.ravel(), atol=1e-10)
    main = [mean_over(F, grid, [a for a in range(d) if a != f]) - overall for f in range(d)]
    for f in range(d):
        found = parts[..., f, :] - model.mean_contributions_[f]
        np.testing.assert_allclose(found, main[f] + np.zeros_like(F), atol=1e-10)
    rest = F - overall - sum(main)
    for number, (a, b) in enumerate(model.interactions_.tolist(), start=d):
        expected = mean_over(F, grid, [f for f in range(d) if f not in (a, b)])
        expected = expected - overall - main[a] - main[b]
        found = parts[..., number, :]
        np.testing.assert_allclose(found, expected + np.zeros_like(F), atol=1e-10)
        for axis in (a, b):
            assert np.abs(mean_over(found, grid, [axis])).max() <= 1e-12
        pair = model.ensemble_.effects.pairs[number - d]
        deviations = np.sqrt(mean_over(found**2, grid, range(d)).ravel())
        np.testing.assert_allclose(pair.deviations, deviations, atol=1e-7)
        assert pair.strength == pytest.approx(np.linalg.norm(deviations))
        assert pair.n_rules == sum(h.features == (a, b) for h in model.ensemble_.products)
        rest = rest - expected
    np.testing.assert_allclose(rest, 0.0, atol=1e-10)


OPTIONS = {
    "default": {},
    "few bins": {"learner": PairOracle(pair_bins=2)},
    "balanced": {"class_weight": "balanced"},
    "categories": {"categorical_features": [0, 2]},
    "rare levels": {"categorical_features": [0, 1], "learner": PairOracle(pair_bins=3)},
    "columns": {"solver": "lbfgsb", "penalty": "l1"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_effects_are_those_of_the_functional_anova(options, seed):
    """Over the weighted marginals of the training rows, with missing values and categories."""
    X, y, weight = draw_rows(seed)
    model = DirectBoostClassifier(**{"learner": "pair", "nu": 0.01} | options).fit(X, y, weight)
    if "class_weight" in options:
        weight = weight * (weight.size / np.bincount(y))[y]
    assert model.interactions_.shape[0] > 0
    check_anova(model, X, weight)
    total = model.intercept_ + model.explain(X).sum(axis=1)
    F = np.array([h.predict(model._checked(X)) for h in model.learners_]).T @ model.weights_
    np.testing.assert_allclose(total, F, rtol=0, atol=1e-12)
    d = X.shape[1]
    mean = np.average(model.explain(X)[:, :d], axis=0, weights=weight)
    np.testing.assert_allclose(model.mean_contributions_, mean, rtol=0, atol=1e-12)


def test_two_classes_sparse_rows_and_a_file(tmp_path):
    """The contributions are the same for sparse rows, and after the model was saved."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 5)) < 0.6, 0.0, rng.integers(1, 5, (400, 5)))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 2)
    model = DirectBoostClassifier(learner="pair", nu=0.01).fit(X, y)
    parts = model.explain(X)
    assert parts.shape == (400, 5 + len(model.interactions_), 2)
    F = model.intercept_ + parts.sum(axis=1)
    np.testing.assert_allclose(F[:, 1] - F[:, 0], model.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(model.explain(sparse.csr_array(X)), parts)
    thin = DirectBoostClassifier(learner="pair", nu=0.01).fit(sparse.csr_array(X), y)
    F = thin.intercept_ + thin.explain(X).sum(axis=1)
    np.testing.assert_allclose(F[:, 1] - F[:, 0], thin.decision_function(X), atol=1e-12)
    check_anova(thin, X, np.ones(400))
    again = load(model.save(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.explain(X), parts)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    np.testing.assert_array_equal(again.interactions_, model.interactions_)
    assert again.learners_ == model.learners_


def test_several_labels_and_a_frame():
    X, y, weight = draw_rows(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["c"] = pd.Categorical(np.array(list("vwxyz"))[np.nan_to_num(2 * X[:, 2]).astype(int)])
    Y = np.column_stack([y % 2, y // 2])
    model = DirectBoostMultiLabelClassifier(learner="pair", nu=0.01).fit(frame, Y, weight)
    F = model.intercept_ + model.explain(frame).sum(axis=1)
    np.testing.assert_allclose(F, model.decision_function(frame), atol=1e-12)
    assert model.interactions_.shape[0] > 0


def test_other_models_have_no_interactions():
    X, y, _ = draw_rows(0)
    for options in ({}, {"learner": "tree"}, {"nu": 1.0}, {"nu": 1.0, "learner": "pair"}):
        model = DirectBoostClassifier(**{"nu": 0.05} | options).fit(X, y)
        assert model.interactions_.shape == (0, 2)
        assert model.interactions_.dtype == np.intp
    empty = model.explain(X)
    assert empty.shape == (60, 3, 4)
    assert not empty.any()


def test_learners_that_read_more_features_are_refused():
    X, y, _ = draw_rows(0)
    model = DirectBoostClassifier(learner="tree", nu=0.01).fit(X, y)
    with pytest.raises(ValueError, match="explain needs a model that is a sum of functions of one"):
        model.explain(X)


def shapley_values(model, rows, grid):
    """Return the Shapley values of the scores, with unknown features from their marginals."""
    d = rows.shape[1]
    _, F = scores_on_grid(model, grid)
    worth = {}
    for size in range(d + 1):
        for known in itertools.combinations(range(d), size):
            M = mean_over(F, grid, [f for f in range(d) if f not in known])
            index = [np.searchsorted(grid[f][0], rows[:, f]) if f in known else 0 for f in range(d)]
            worth[known] = M[tuple(index)].reshape(-1, F.shape[-1]) + np.zeros((len(rows), 1))
    values = np.zeros((len(rows), d, F.shape[-1]))
    for known, value in worth.items():
        for f in set(range(d)) - set(known):
            size = len(known)
            share = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            values[:, f] += share * (worth[tuple(sorted((*known, f)))] - value)
    return values, worth[()]


@pytest.mark.parametrize("k", [2, 4])
def test_shapley_values_are_those_of_the_definition(k):
    """All coalitions of four features; unknown ones follow the product of the marginals."""
    X, y, weight = draw_rows(1, d=4)
    y = y % k
    model = DirectBoostClassifier(learner="pair", nu=0.005).fit(X, y, weight)
    assert len(model.interactions_) >= 3
    rows = X[:12]
    values, base = shapley_values(model, rows, marginals(X, weight))
    if k == 2:
        values, base = values[:, :, 1] - values[:, :, 0], base[:, 1] - base[:, 0]
    told = model.shap_explanation(rows)
    np.testing.assert_allclose(told.values, values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(told.base_values, base, rtol=0, atol=1e-10)
    total = told.base_values + told.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(rows), rtol=0, atol=1e-10)
