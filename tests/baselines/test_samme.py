"""SAMME: the edge over guessing, two classes, scikit-learn's AdaBoost, and figures."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from directboost.baselines.samme import SAMME, AdaBoostM1
from directboost.history import Status
from tests.baselines.rows import errors_by_round, noisy, split


def test_a_vote_is_positive_where_guessing_is_worse():
    X, _, y, _ = split("digits")
    model = SAMME(40).fit(X, y)
    errors = np.array([record.error for record in model.history_])
    votes = np.array([record.vote for record in model.history_])
    assert (errors > 0.5).all()
    assert (errors < 0.9).all()
    np.testing.assert_allclose(votes, np.log((1.0 - errors) / errors) + np.log(9.0), rtol=1e-12)
    assert (votes > 0.0).all()


def test_no_better_than_guessing_is_no_round():
    with pytest.warns(ConvergenceWarning, match="no_edge"):
        model = SAMME(5).fit(np.zeros((9, 1)), np.arange(9) % 3)
    assert model.status_ is Status.NO_EDGE
    assert model.n_iter_ == 0


def test_a_first_round_may_be_the_only_one():
    """After one round with the constant, both classes weigh the same."""
    model = SAMME(5).fit(np.zeros((6, 1)), [0, 0, 0, 0, 1, 1])
    assert model.status_ is Status.NO_EDGE
    assert model.n_iter_ == 1
    assert model.predict([[5.0]]).tolist() == [0]


@pytest.mark.parametrize("tree", [None, DecisionTreeClassifier(max_depth=2)])
def test_two_classes_are_m1(tree):
    X, X_test, y, _ = split("breast_cancer")
    model, other = (
        method(60, weak_learner=tree, random_state=0).fit(X, y) for method in (SAMME, AdaBoostM1)
    )
    stages = zip(
        model.staged_decision_function(X_test), other.staged_decision_function(X_test), strict=True
    )
    for F, G in stages:
        np.testing.assert_array_equal(F, G)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("iris", {100: 0.0263}),
        pytest.param("iris", {100: 0.0263, 500: 0.0263}, marks=pytest.mark.slow),
        pytest.param("wine", {100: 0.0444, 500: 0.0444}, marks=pytest.mark.slow),
        pytest.param("digits", {100: 0.1756, 500: 0.1111}, marks=pytest.mark.slow),
    ],
)
def test_the_same_trees_are_those_of_scikit_learn(name, expected):
    """`expected` holds errors after numbers of rounds."""
    X, X_test, y, y_test = split(name)
    tree = DecisionTreeClassifier(max_depth=1)
    n_rounds = max(expected)
    model = SAMME(n_rounds, weak_learner=tree, random_state=0).fit(X, y)
    other = AdaBoostClassifier(tree, n_estimators=n_rounds, random_state=0).fit(X, y)
    votes = [record.vote for record in model.history_]
    np.testing.assert_allclose(votes, other.estimator_weights_, rtol=0.0, atol=1e-12)
    stages = zip(model.staged_predict(X_test), other.staged_predict(X_test), strict=True)
    for mine, theirs in stages:
        np.testing.assert_array_equal(mine, theirs)
    errors = errors_by_round(model, X_test, y_test)
    found = {rounds: errors[rounds - 1] for rounds in expected}
    assert found == pytest.approx(expected, abs=1e-4)


def test_shrunken_and_weighted_as_in_scikit_learn():
    X, y, weight = noisy(m=80, weighted=True)
    tree = DecisionTreeClassifier(max_depth=2)
    model = SAMME(20, weak_learner=tree, learning_rate=0.4, random_state=5).fit(X, y, weight)
    other = AdaBoostClassifier(tree, n_estimators=20, learning_rate=0.4, random_state=5)
    other.fit(X, y, weight)
    votes = [record.vote for record in model.history_]
    np.testing.assert_allclose(votes, other.estimator_weights_, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "at_100", "at_500"), [("iris", 5.3, 2.6), ("wine", 4.4, 4.4), ("digits", 15.6, 8.7)]
)
def test_errors_as_in_the_prototype(name, at_100, at_500):
    X, X_test, y, y_test = split(name)
    model = SAMME(500).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    row = 100.0 / y_test.size  # one row more or less is no difference on a small set
    assert errors[99] == pytest.approx(at_100, abs=max(2.0, 1.01 * row))
    assert errors[499] == pytest.approx(at_500, abs=max(2.0, 1.01 * row))
    assert model.n_learners_ == 500
