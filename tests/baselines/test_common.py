"""What holds for every baseline: repetition, order, transforms, stages, records, odd input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from directboost.baselines import (
    AdaBoostECC,
    AdaBoostMO,
    AdaBoostOC,
    CGBoost,
    GradBoost,
    LPBoost,
    MultiBoostCW,
    OneVsAllBoost,
)
from directboost.history import Status
from directboost.model.learners import Constant
from tests.baselines.estimators import ESTIMATORS
from tests.baselines.rows import noisy, split
from tests.checks import failures_of

each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
#: The first settings of every class; the others show in slow tests what takes long.
FIRST = list({type(estimator): estimator for estimator in reversed(ESTIMATORS)}.values())


def is_another(estimator):
    """Tell whether another estimator of the same class is the one that is always tested."""
    return all(estimator is not first for first in FIRST)


@pytest.mark.parametrize(
    "estimator",
    [pytest.param(e, marks=pytest.mark.slow if is_another(e) else ()) for e in ESTIMATORS],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator):
    """Every check passes; the long ones are for the first settings of a class.

    All settings read sparse rows in the same way, and learn in `test_small_sets_are_learned`.
    """
    long = ("check_estimator_sparse", "check_classifiers_train") if is_another(estimator) else ()
    count, failures = failures_of(estimator, long)
    assert not failures
    assert count > 50


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
def test_light_weights_stand_for_all_rows(estimator):
    """The number of rows that a weight stands for is at least one on average."""
    X, y, _ = noisy(m=40)
    model, light = clone(estimator).fit(X, y), clone(estimator).fit(X, y, np.full(y.size, 0.25))
    np.testing.assert_allclose(scores(model, X), scores(light, X), rtol=1e-9, atol=1e-10)


def without_ties():
    """Return rows of which no two stumps are equally good, with weights."""
    random = np.random.default_rng(5)
    y = np.arange(60) % 3
    X = random.normal(size=(60, 4)) + y[:, None] * random.normal(size=(1, 4))
    return X, y, random.uniform(1.0, 2.0, size=60)


def is_one_of_several_paths(estimator):
    """Return whether rounds solve a linear program, whose row weights need not be unique."""
    params = estimator.get_params(deep=False)
    return isinstance(estimator, LPBoost) or params.get("loss") == "hinge"


def goes_by_the_number_of_a_class(estimator):
    """Return whether colours are drawn from a fixed seed, or classes take turns."""
    drawn = isinstance(estimator, AdaBoostOC | AdaBoostECC) and estimator.partition != "max_cut"
    return drawn or isinstance(estimator, MultiBoostCW)


UNIQUE = [estimator for estimator in ESTIMATORS if not is_one_of_several_paths(estimator)]
BY_NAME = [estimator for estimator in UNIQUE if not goes_by_the_number_of_a_class(estimator)]


@pytest.mark.parametrize("estimator", UNIQUE, ids=str)
def test_the_order_of_features_does_not_matter(estimator):
    X, y, weight = without_ties()
    order = [2, 0, 3, 1]
    model = clone(estimator).fit(X, y, weight)
    other = clone(estimator).fit(X[:, order], y, weight)
    np.testing.assert_allclose(scores(model, X), scores(other, X[:, order]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", BY_NAME, ids=str)
def test_names_of_classes_do_not_matter(estimator):
    X, y, weight = without_ties()
    names = np.array([1, 2, 0])
    model, other = clone(estimator).fit(X, y, weight), clone(estimator).fit(X, names[y], weight)
    np.testing.assert_allclose(
        scores(model, X), scores(other, X)[:, :, names], rtol=1e-6, atol=1e-6
    )


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
@pytest.mark.parametrize("k", [2, 3])
def test_the_scores_are_votes_and_an_intercept(estimator, k):
    X, y, _ = noisy(k=k)
    model = clone(estimator).fit(X, y)
    F = np.tile(model.intercept_, (y.size, 1))
    for learner, votes in zip(model.learners_, model.weights_, strict=True):
        if not isinstance(learner, Constant):
            F += np.outer(learner.predict(X), votes)
    F = model._decision(model._decode(F, model.n_iter_))
    np.testing.assert_allclose(F, model.decision_function(X), rtol=1e-9, atol=1e-10)


@each
def test_features_read_after_every_round(estimator):
    X, y, _ = noisy(d=5)
    model = clone(estimator).fit(X, y)
    used = list(model.staged_features_used())
    assert len(used) == model.n_iter_
    np.testing.assert_array_equal(used[-1], model.features_used_)
    fewer = clone(estimator).set_params(n_rounds=2).fit(X, y)
    np.testing.assert_array_equal(used[min(1, len(used) - 1)], fewer.features_used_)


def counted(model):
    """Return how many weak classifiers a model has had, as the paper counts them."""
    if isinstance(model, GradBoost):  # those that are left
        return int((model.weights_ != 0.0).any(axis=1).sum())
    if isinstance(model, AdaBoostMO):
        return model.n_iter_ * model.code_.shape[1]
    by_class = isinstance(model, OneVsAllBoost | LPBoost | CGBoost | MultiBoostCW)
    by_class = by_class or getattr(model, "votes", None) == "per_class"
    return model.n_iter_ * (len(model.classes_) if by_class else 1)


@each
def test_what_is_recorded(estimator):
    random, y = np.random.default_rng(0), np.arange(150) % 3
    X = random.normal(size=(150, 5)) + y[:, None]  # so mixed that no class ends early
    model = clone(estimator).fit(X, y)
    assert isinstance(model.status_, Status)
    assert model.n_iter_ == 6
    assert [record.round for record in model.history_] == list(range(model.n_iter_))
    assert model.history_[-1].learners == model.n_learners_ == counted(model)
    voting = {id(getattr(learner, "source", learner)) for learner in model.learners_}
    assert model.n_nonzero_ == len(voting)
    assert np.isfinite([record.objective for record in model.history_]).all()
    read = {feature for learner in model.learners_ for feature in learner.features}
    assert model.features_used_.tolist() == sorted(read)
    assert model.n_features_used_ == len(read)
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
def test_later_parameters_do_not_change_a_fitted_model(estimator):
    X, y, _ = noisy()
    model = clone(estimator).fit(X, y)
    before = scores(model, X), model.decision_function(X), model.predict_proba(X)
    model.set_params(**type(estimator)().get_params(deep=False))
    after = scores(model, X), model.decision_function(X), model.predict_proba(X)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


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
    """Without an edge, the fit has no round and predicts the class with the largest weight."""
    estimator = clone(ESTIMATORS[0])
    with pytest.warns(ConvergenceWarning, match="largest weight, 'a'"):
        model = estimator.fit(np.zeros((4, 1)), ["a", "a", "b", "b"])
    assert model.n_iter_ == 0
    assert model.status_ is Status.NO_EDGE
    assert set(model.predict(np.zeros((2, 1)))) == {"a"}


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(e, name, marks=pytest.mark.slow if is_another(e) and name == "wine" else ())
        for e in ESTIMATORS
        for name in ("iris", "wine")
    ],
    ids=str,
)
def test_small_sets_are_learned(estimator, name):
    X, X_test, y, y_test = split(name)
    model = clone(estimator).set_params(n_rounds=40).fit(X, y)
    assert model.score(X_test, y_test) > 0.85
