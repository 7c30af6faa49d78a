"""The tables of an ensemble give the weighted sum of its weak classifiers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.kernels.threads import Team
from directboost.model.ensemble import Ensemble
from directboost.model.learners import (
    CategoryStump,
    ClassAnswer,
    Constant,
    FittedClasses,
    Negated,
    PoolColumn,
    Stump,
)
from directboost.model.trees import Leaf, Tree

stumps = st.builds(
    Stump,
    feature=st.integers(0, 2),
    threshold=st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf]),
    polarity=st.sampled_from([1, -1]),
    missing_right=st.booleans(),
)
learners = st.one_of(stumps, st.builds(Constant, st.sampled_from([1, -1])))


def draw_rows(rng, m=60):
    """Draw rows on, between and beyond the thresholds, with missing values."""
    return rng.choice([-2.0, -1.0, -0.2, 0.0, 0.5, 1.0, 2.0, 9.0, np.nan], (m, 3))


@given(members=st.lists(learners, max_size=12), k=st.integers(1, 4), seed=st.integers(0, 999))
def test_scores_are_the_weighted_votes(members, k, seed):
    """F(x) = sum_j h_j(x) W_j:, also if weak classifiers share features or thresholds."""
    rng = np.random.default_rng(seed)
    W, X = rng.uniform(0.0, 2.0, (len(members), k)), draw_rows(rng)
    model = Ensemble(members, W)
    expected = sum((np.outer(h.predict(X), w) for h, w in zip(members, W, strict=True)), 0.0)
    for rows in (X, np.asfortranarray(X), X.astype(np.float32)):
        np.testing.assert_allclose(model.scores(rows), expected + np.zeros((60, k)), atol=1e-12)


@given(members=st.lists(learners, max_size=12), seed=st.integers(0, 999))
def test_contributions_add_up_to_the_scores(members, seed):
    """Scores are the intercept plus all contributions; an unused feature contributes nothing."""
    rng = np.random.default_rng(seed)
    model, X = Ensemble(members, rng.uniform(0.0, 2.0, (len(members), 3))), draw_rows(rng)
    parts = model.contributions(X)
    assert parts.shape == (60, 3, 3)
    np.testing.assert_allclose(model.intercept + parts.sum(axis=1), model.scores(X), atol=1e-12)
    unused = [f for f in range(3) if f not in model.features]
    assert not parts[:, unused].any()


def test_tables_by_hand():
    """Two stumps of one feature and both constants."""
    model = Ensemble(
        [Stump(1, 0.5, 1, False), Stump(1, 2.0, -1, True), Constant(1), Constant(-1)],
        np.array([[1.0, 0.0], [0.0, 3.0], [0.25, 0.0], [0.0, 0.5]]),
    )
    assert model.features.tolist() == [1]
    np.testing.assert_array_equal(model.thresholds[0], [0.5, 2.0])
    expected = [[-1.0, 3.0], [1.0, 3.0], [1.0, -3.0], [-1.0, -3.0]]
    np.testing.assert_array_equal(model.tables[0], expected)
    np.testing.assert_array_equal(model.intercept, [0.25, -0.5])


def test_a_stump_of_missing_values_has_no_threshold():
    model = Ensemble([Stump(0, np.inf, 1, True)], np.array([[2.0]]))
    assert model.thresholds[0].size == 0
    X = np.array([[1e308], [-1e308], [np.nan]])
    np.testing.assert_array_equal(model.scores(X), [[-2.0], [-2.0], [2.0]])


def test_the_empty_model():
    model = Ensemble([], np.empty((0, 3)))
    np.testing.assert_array_equal(model.scores(np.ones((4, 2))), np.zeros((4, 3)))
    np.testing.assert_array_equal(model.contributions(np.ones((4, 2))), np.zeros((4, 2, 3)))


def test_weights_need_one_row_per_learner():
    with pytest.raises(ValueError, match="weights has 0 rows, but there are 1 learners"):
        Ensemble([Constant(1)], np.empty((0, 3)))


def test_scores_do_not_depend_on_threads(rng):
    members = [Stump(f, t, 1, True) for f in range(3) for t in (-1.0, 0.0, 0.5)]
    model, X = Ensemble(members, rng.uniform(size=(9, 3))), rng.normal(size=(40_000, 3))
    with Team(2) as team:
        np.testing.assert_array_equal(model.scores(X), model.scores(X, team))


def test_infinite_numbers_are_reported():
    """They are reported in any feature, whether the model reads it or not."""
    model, X = Ensemble([Stump(0, 0.5, 1, True)], np.array([[2.0]])), np.zeros((300, 3))
    for column in range(3):
        for value in (np.inf, -np.inf):
            X[:] = np.nan
            assert not model.checked_scores(X)[1]
            X[217, column] = value
            for rows in (X, np.asfortranarray(X), X[:, ::-1][:, ::-1]):
                assert model.checked_scores(rows)[1]


class FirstColumn:
    """A fitted classifier that predicts the integers in the first column."""

    def predict(self, X):
        return X[:, 0].astype(int)


def test_the_parts_of_an_ensemble_add_up_to_its_scores(rng):
    """Exports read intercept, tables, forest and others; together they are the model."""
    tree = Tree(
        feature=np.array([1]),
        value=np.array([0.5]),
        is_level=np.array([False]),
        missing_left=np.array([True]),
        left=np.array([~0]),
        right=np.array([~1]),
    )
    classes = FittedClasses(FirstColumn(), (0,), 2)
    members = [Constant(-1), Stump(1, 0.25, -1, True), Leaf(tree, 1, -1), CategoryStump(2, 1.0, 1)]
    members += [Negated(PoolColumn(1)), Leaf(tree, 0, 1), ClassAnswer(classes, 1)]
    weights = rng.uniform(0.1, 2.0, (len(members), 3))
    model = Ensemble(members, weights)
    X = np.column_stack([rng.integers(0, 2, 50), rng.random(50), rng.integers(0, 3, 50)])
    F = np.zeros((50, 3)) + model.intercept
    for feature, cuts, table in zip(
        model.stump_features, model.thresholds, model.tables, strict=True
    ):
        F += table[np.searchsorted(cuts, X[:, feature])]
    for part, table in model.forest:
        F += table[part.apply(X)]
    for learner, row in model.others:
        F += np.outer(learner.predict(X), row)
    np.testing.assert_allclose(F, model.scores(X), rtol=1e-12, atol=1e-12)
    assert model.stumps == [members[1], members[3]]
    np.testing.assert_array_equal(model.stump_weights, [-weights[1], weights[3]])
    assert [part for part, _ in model.forest] == [tree]
    assert [learner for learner, _ in model.others] == [members[4], members[6]]
