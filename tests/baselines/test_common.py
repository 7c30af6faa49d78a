"""What holds for every baseline: repetition, order, transforms, stages, records, odd input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from directboost.status import Status
from tests.baselines.estimators import ESTIMATORS
from tests.baselines.rows import noisy, split

each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator, check):
    """Every check passes for every configuration."""
    check(estimator)


def scores(model, X):
    return np.array(list(model.staged_decision_function(X)))


@each
def test_weights_are_repetitions(estimator):
    X, y, weight = noisy(m=40, weighted=True)
    times = weight.astype(int)
    weighted = clone(estimator).fit(X, y, weight)
    repeated = clone(estimator).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(scores(weighted, X), scores(repeated, X), rtol=1e-6, atol=1e-8)


@each
def test_the_order_of_rows_does_not_matter(estimator):
    X, y, _ = noisy(m=40)
    order = np.random.default_rng(0).permutation(y.size)
    model, other = clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])
    np.testing.assert_allclose(scores(model, X), scores(other, X), rtol=1e-6, atol=1e-8)


@each
def test_rising_transforms_change_nothing(estimator):
    X, y, _ = noisy(m=40)
    model, other = clone(estimator).fit(X, y), clone(estimator).fit(np.exp(X), y)
    np.testing.assert_allclose(scores(model, X), scores(other, np.exp(X)), rtol=1e-6, atol=1e-8)


@each
@pytest.mark.parametrize("k", [2, 3])
def test_the_last_stage_is_the_model(estimator, k):
    X, y, _ = noisy(k=k)
    model = clone(estimator).fit(X, y)
    stages = scores(model, X)
    assert len(stages) == len(model.history_) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.decision_function(X), rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    fewer = clone(estimator).set_params(n_rounds=3).fit(X, y)
    np.testing.assert_allclose(stages[min(2, len(stages) - 1)], fewer.decision_function(X),
        rtol=1e-9, atol=1e-10)  # fmt: skip


@each
def test_features_read_after_every_round(estimator):
    X, y, _ = noisy(d=5)
    model = clone(estimator).fit(X, y)
    used = list(model.staged_features_used())
    assert len(used) == model.n_iter_
    np.testing.assert_array_equal(used[-1], model.features_used_)
    fewer = clone(estimator).set_params(n_rounds=2).fit(X, y)
    np.testing.assert_array_equal(used[min(1, len(used) - 1)], fewer.features_used_)


@each
def test_what_is_recorded(estimator):
    X, y, _ = noisy()
    model = clone(estimator).fit(X, y)
    assert isinstance(model.status_, Status)
    assert 1 <= model.n_iter_ <= 6
    assert [record.round for record in model.history_] == list(range(model.n_iter_))
    assert model.history_[-1].learners == model.n_learners_
    assert model.n_nonzero_ <= max(model.n_learners_, len(model.learners_))
    assert np.isfinite([record.objective for record in model.history_]).all()
    assert model.n_features_used_ == model.features_used_.size <= X.shape[1]
    assert np.all(np.diff([record.seconds for record in model.history_]) >= 0.0)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@each
def test_fits_repeat_and_pickle(estimator):
    X, y, _ = noisy()
    fixed = clone(estimator)
    if "random_state" in fixed.get_params():
        fixed.set_params(random_state=3)
    model, again = clone(fixed).fit(X, y), clone(fixed).fit(X, y)
    np.testing.assert_array_equal(scores(model, X), scores(again, X))
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@each
@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1.0, 1e290])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_scale_of_the_weights_gives_numbers(estimator, scale):
    X, y, weight = noisy(m=20, weighted=True)
    model = clone(estimator).fit(X, y, weight * scale)
    assert np.isfinite(scores(model, X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


ODD = {
    "a constant feature": (np.column_stack([np.ones(12), np.arange(12.0)]), np.arange(12) % 3),
    "nothing but constants": (np.ones((6, 2)), np.arange(6) % 3),
    "a row per class": (np.arange(5.0)[:, None], np.arange(5)),
    "two rows": (np.array([[0.0], [1.0]]), np.array([0, 1])),
    "missing values": (
        np.where(np.arange(24).reshape(12, 2) % 5 == 0, np.nan, np.arange(24.0).reshape(12, 2)),
        np.arange(12) % 3,
    ),
    "the same row in all classes": (np.zeros((9, 1)), np.arange(9) % 3),
}


@each
@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_rows_give_numbers(estimator, name):
    X, y = ODD[name]
    model = clone(estimator).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert set(model.predict(X)) <= set(y)


@each
def test_one_class_is_refused(estimator):
    with pytest.raises(ValueError, match="one class only"):
        clone(estimator).fit(np.zeros((3, 1)), [1, 1, 1])


@each
def test_rounds_are_checked(estimator):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match="n_rounds=0"):
        clone(estimator).set_params(n_rounds=0).fit(X, y)


def test_an_empty_model_is_announced():
    """Without an edge there is no round: the heaviest class is predicted."""
    estimator = clone(ESTIMATORS[0])
    with pytest.warns(ConvergenceWarning, match="heaviest class, 'a'"):
        model = estimator.fit(np.zeros((4, 1)), ["a", "a", "b", "b"])
    assert model.n_iter_ == 0
    assert model.status_ is Status.NO_EDGE
    assert set(model.predict(np.zeros((2, 1)))) == {"a"}


@pytest.mark.parametrize("name", ["iris", "wine"])
@each
def test_small_sets_are_learned(estimator, name):
    X, X_test, y, y_test = split(name)
    model = clone(estimator).set_params(n_rounds=40).fit(X, y)
    assert model.score(X_test, y_test) > 0.85
