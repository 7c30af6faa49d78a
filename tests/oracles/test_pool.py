"""A pool of responses as weak learner: exact prices, and the optimum over the whole pool."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.model.learners import Constant, Negated, PoolColumn
from directboost.oracles import OracleData, PoolOracle
from directboost.penalties import L1, GroupNorm
from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary, prices
from tests.reference.twin import solve_twin

EXPONENTS = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf, 3.0: 3.0}
PAIRS = [(loss, margin) for loss, names in formulas.LOSS_MARGINS.items() for margin in names]
DATA = make_blobs(4, m=18)
POOL = np.tanh(0.6 * np.random.default_rng(3).normal(size=(18, 7)) + 0.3 * (DATA.y[:, None] - 1.5))
COSTS = np.array([1.0, 0.5, 2.0, 1.0, 1.5, 1.0, 0.7])
WITH_BOTH_SIGNS = np.column_stack([POOL, -POOL, np.ones(18), -np.ones(18)])


def fit(X=POOL, y=DATA.y, weight=DATA.s, **settings):
    """Return a model of a pool, certified to 1e-6."""
    settings = {"nu": 0.05, "tol": 1e-6, **settings}
    return DirectBoostClassifier(learner=PoolOracle(), **settings).fit(X, y, weight)


def slow_or_quick(loss, margin, penalty):
    """Return a test case; p = 3 is fast with one loss only."""
    marks = pytest.mark.slow if penalty == 3.0 and loss != "logistic" else ()
    return pytest.param(loss, margin, penalty, marks=marks)


@pytest.mark.parametrize(
    ("loss", "margin", "penalty"),
    [slow_or_quick(*pair, penalty) for pair in PAIRS for penalty in EXPONENTS],
)
def test_the_optimum_over_the_whole_pool(loss, margin, penalty):
    """The objective equals that of an independent solver over all columns and opposites."""
    model = fit(loss=loss, margin=margin, penalty=penalty, feature_costs=COSTS)
    kappa = np.concatenate([COSTS, COSTS, [1.0, 1.0]])
    best, _ = solve_twin(
        WITH_BOTH_SIGNS, DATA.y, 4, DATA.s, loss, margin, EXPONENTS[penalty], model.nu_, kappa
    )
    proof = model.certificate_
    assert proof.dictionary == "whole pool"
    assert proof.converged
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.dual <= best + 1e-9 * abs(best)
    assert model.weights_.min() >= 0.0


@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_pool_of_all_stumps_equals_the_stump_learner(loss, penalty):
    """The same dictionary as a matrix gives the same optimum and nu_max."""
    data = make_blobs(3, m=30, missing=0.1)
    costs = np.array([1.0, 2.0, 0.5])
    H, kappa, _ = enumerate_dictionary(data.X, costs, polarities=(1,))
    settings = {"loss": loss, "penalty": penalty, "nu": 0.03, "tol": 1e-7}
    stumps = DirectBoostClassifier(feature_costs=costs, max_bins=None, **settings)
    stumps.fit(data.X, data.y, data.s)
    pool = fit(H[:, :-1], data.y, data.s, feature_costs=kappa[:-1], **settings)
    assert pool.nu_max_ == pytest.approx(stumps.nu_max_, rel=1e-12)
    assert pool.certificate_.primal == pytest.approx(stumps.certificate_.primal, rel=1e-6)
    assert (stumps.certificate_.dictionary, pool.certificate_.dictionary) == (
        "all stumps",
        "whole pool",
    )


@pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0), GroupNorm(np.inf), GroupNorm(3.0)])
def test_prices_equal_brute_force(penalty, rng):
    """Prices of all columns, their opposites and the constant, best first."""
    A = rng.normal(size=(18, 4))
    oracle = PoolOracle().on(OracleData(POOL, DATA.s, DATA.s.sum(), np.append(COSTS, 1.0)))
    pricing = oracle.price(A, penalty)
    kappa = np.concatenate([COSTS, COSTS, [1.0, 1.0]])
    expected = prices(WITH_BOTH_SIGNS, kappa, A, penalty.p)
    assert pricing.max_price == pytest.approx(expected.max(), rel=1e-12)
    assert abs(pricing.max_price - expected.max()) <= pricing.rounding < 1e-10
    found = pricing.proposals
    assert sorted(found.price) == pytest.approx(sorted(expected), rel=1e-12, abs=1e-14)
    assert (np.diff(found.price) <= 1e-11).all()
    for column, polarity, price in zip(found.feature, found.polarity, found.price, strict=True):
        E = oracle.source.response(column, 0, polarity) @ A
        own = penalty.dual_norm(E[None, :])[0] / oracle.costs[column]
        assert own == pytest.approx(price, rel=1e-11, abs=1e-14)
    paper = oracle.price(A, penalty, "paper")
    assert paper.max_price == pricing.max_price
    assert paper.proposals.price[0] == pytest.approx(prices(WITH_BOTH_SIGNS, kappa, A, 1.0).max())


def test_predictions_use_the_columns():
    """Scores are responses times weights, for other rows and for single columns too."""
    model = fit(nu=0.01, penalty="l1,2")
    other = np.random.default_rng(1).uniform(-1.0, 1.0, (9, 7))
    F = np.column_stack([h.predict(other) for h in model.learners_]) @ model.weights_
    np.testing.assert_allclose(model.decision_function(other), F, atol=1e-12)
    np.testing.assert_allclose(model.intercept_ + model.explain(other).sum(axis=1), F, atol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(other), model.predict_proba(other))
    kinds = {type(h) for h in model.learners_}
    assert kinds <= {PoolColumn, Negated, Constant}
    assert Negated in kinds
    used = {f for h in model.learners_ for f in h.features}
    assert model.features_used_.tolist() == sorted(used)


def test_costs_and_importances():
    model = fit(feature_costs=COSTS, nu=0.02)
    assert model.cost_ == pytest.approx(COSTS[model.features_used_].sum())
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert np.flatnonzero(model.feature_importances_).tolist() == model.features_used_.tolist()


def test_the_summary_names_the_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POOL, columns=[f"rule {j}" for j in range(7)])
    text = fit(frame, nu=0.02).summary()
    assert "over whole pool goes" in text
    assert "weak classifiers on" in text
    assert "rule " in text


def test_the_oracle_is_not_modified():
    oracle = PoolOracle()
    before = dict(vars(oracle))
    model = DirectBoostClassifier(learner=oracle).fit(POOL, DATA.y)
    assert vars(oracle) == before
    assert isinstance(clone(model).learner, PoolOracle)


def test_a_warm_start_reaches_the_same_optimum():
    warm = DirectBoostClassifier(learner=PoolOracle(), nu=0.2, tol=1e-6, warm_start=True)
    warm.fit(POOL, DATA.y, DATA.s).set_params(nu=0.05).fit(POOL, DATA.y, DATA.s)
    cold = fit()
    assert warm.history_[0].columns > 0
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-6)


def test_several_labels():
    Y = np.stack([DATA.y % 2, DATA.y > 1], axis=1).astype(int)
    model = DirectBoostMultiLabelClassifier(learner=PoolOracle(), nu=0.02).fit(POOL, Y)
    assert model.certificate_.converged
    assert model.predict(POOL).shape == Y.shape


@pytest.mark.parametrize("value", [1.5, -2.0, np.nan])
def test_responses_outside_the_range_are_rejected(value):
    X = POOL.copy()
    X[4, 2] = value
    with pytest.raises(ValueError, match=rf"X holds {value} in column 2.*PoolOracle"):
        fit(X)
    model = fit(nu=1e-3)
    assert 2 in model.features_used_
    with pytest.raises(ValueError, match=rf"X holds {value} in column 2.*\[-1, 1\]"):
        model.predict(X)


def test_missing_values_are_rejected():
    assert not PoolOracle.takes_missing
    assert not DirectBoostClassifier(learner=PoolOracle()).__sklearn_tags__().input_tags.allow_nan


def test_columns_per_round_and_max_learners():
    X, y = load_iris(return_X_y=True)
    pool = np.tanh(X - X.mean(axis=0))
    model = DirectBoostClassifier(learner=PoolOracle(), columns_per_round=1, nu=0.01)
    model.fit(pool, y)
    stages = list(model.staged_predict(pool))
    assert len(stages) == model.n_iter_ - 1
    np.testing.assert_array_equal(stages[-1], model.predict(pool))
    small = DirectBoostClassifier(learner=PoolOracle(), max_learners=3, nu=0.001).fit(pool, y)
    assert 0 < small.n_learners_ <= 3
