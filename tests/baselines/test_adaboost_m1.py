"""AdaBoost.M1: its identities and bound, two classes, and the figures of its prototype."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from directboost.baselines.samme import AdaBoostM1
from directboost.history import Status
from tests.baselines.rows import errors_by_round, noisy, split


@pytest.mark.parametrize("tree", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_the_next_weights_put_a_half_on_what_was_wrong(tree):
    """The weights after a round are v_i exp(-F_{y_i}), up to their sum."""
    X, y, weight = noisy(m=90, seed=1, weighted=True)
    model = AdaBoostM1(20, weak_learner=tree).fit(X, y, weight)
    before, rows = np.zeros((y.size, 3)), np.arange(y.size)
    assert model.n_iter_ > 3
    for F in model.staged_decision_function(X):
        D = weight * np.exp(-F[rows, y])
        wrong = (F - before)[rows, y] < 1e-9
        assert D[wrong].sum() / D.sum() == pytest.approx(0.5, abs=1e-9)
        before = F


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_training_error_is_bounded(name):
    X, _, y, _ = split(name)
    model = AdaBoostM1(60).fit(X, y)
    bound = 1.0
    for error, record in zip(errors_by_round(model, X, y), model.history_, strict=True):
        bound *= 2.0 * np.sqrt(record.error * (1.0 - record.error))
        assert record.objective == pytest.approx(bound, rel=1e-9)
        assert error <= bound + 1e-12


def test_shrunken_votes():
    X, y, _ = noisy()
    whole, half = AdaBoostM1(1).fit(X, y), AdaBoostM1(2, learning_rate=0.5).fit(X, y)
    assert half.history_[0].vote == pytest.approx(whole.history_[0].vote / 2.0)
    assert half.history_[0].error == whole.history_[0].error
    first = next(half.staged_decision_function(X))
    np.testing.assert_allclose(2.0 * first, whole.decision_function(X))
    D = np.exp(-first[np.arange(y.size), y])
    wrong = list(half.staged_decision_function(X))[1] - first
    error = D[wrong[np.arange(y.size), y] < 1e-9].sum() / D.sum()
    assert half.history_[1].error == pytest.approx(error)


def test_ten_digits_are_too_many_for_a_stump():
    """No stump is right for half of the digits: there is no round."""
    X, X_test, y, _ = split("digits")
    with pytest.warns(ConvergenceWarning, match="worse_than_half"):
        model = AdaBoostM1(500).fit(X, y)
    assert model.n_iter_ == model.n_learners_ == 0
    assert model.status_ is Status.WORSE_THAN_HALF
    assert set(model.predict(X_test)) == {np.bincount(y).argmax()}


def test_trees_are_not_too_weak():
    X, X_test, y, y_test = split("digits")
    weak = DecisionTreeClassifier(max_depth=5)
    model = AdaBoostM1(20, weak_learner=weak, random_state=0).fit(X, y)
    assert model.n_iter_ == 20
    assert 100.0 * (1.0 - model.score(X_test, y_test)) == pytest.approx(2.9, abs=2.0)


@pytest.mark.parametrize(("name", "at_100", "at_500"), [("iris", 5.3, 5.3), ("wine", 4.4, 4.4)])
def test_small_sets_as_in_the_prototype(name, at_100, at_500):
    X, X_test, y, y_test = split(name)
    errors = 100.0 * errors_by_round(AdaBoostM1(500).fit(X, y), X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.7)
    assert errors[499] == pytest.approx(at_500, abs=2.7)
