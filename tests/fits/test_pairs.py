"""Fits over all stumps and all products of two stumps against an independent solver."""

import numpy as np
import pytest
from scipy import sparse

from directboost import DirectBoostClassifier, directboost_path
from directboost.model.learners import Constant, Product, Stump
from directboost.oracles import PairOracle
from tests.conftest import make_blobs
from tests.fits.test_optimum import EXPONENTS, PAIRS, quick_or_slow
from tests.reference import formulas
from tests.reference.stumps import enumerate_with_products
from tests.reference.twin import solve_twin

DATA = make_blobs(4, m=14, d=2, missing=0.125)


def fit(loss, margin, penalty, data=DATA, **options):
    """Return a model of the exact dictionary, certified to 1e-6."""
    settings = {"nu": 0.1, "max_bins": None, "tol": 1e-6, "learner": "pair", **options}
    return DirectBoostClassifier(loss=loss, margin=margin, penalty=penalty, **settings).fit(
        data.X, data.y, data.s
    )


def check(model, data, costs=None, factor=1.0):
    """Compare the certificate with the optimum of the independent solver."""
    proof = model.certificate_
    costs = np.ones(data.X.shape[1]) if costs is None else costs
    H, kappa = enumerate_with_products(data.X, costs, factor=factor)
    p = EXPONENTS[model.penalty]
    best, _ = solve_twin(H, data.y, data.k, data.s, model.loss, model.margin, p, model.nu_, kappa)
    assert proof.converged
    assert proof.dictionary == "all stumps and all pairs"
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.dual <= best + 1e-9 * abs(best)
    assert proof.relative_gap <= 1e-6
    own = data.y if model.margin == "pairwise" else None
    responses = np.array([h.predict(data.X) for h in model.learners_]).T
    rho = formulas.margins(responses @ model.coef_, model.margin, data.y)
    weights = formulas.row_weights(data.s, data.k)
    kinds = {Constant: lambda h: 1.0, Stump: lambda h: costs[h.feature]}
    kinds[Product] = lambda h: factor * costs[list(h.features)].mean()
    price = [kinds[type(h)](h) for h in model.learners_]
    value = float(formulas.loss_value(model.loss, rho, weights, own))
    value += model.nu_ * formulas.penalty_value(model.coef_, p, price)
    assert value == pytest.approx(proof.primal, rel=1e-12)


@pytest.mark.covering
@pytest.mark.parametrize(
    ("loss", "margin", "penalty"),
    [quick_or_slow(loss, margin, penalty) for loss, margin in PAIRS for penalty in EXPONENTS],
)
def test_objective_is_optimal(loss, margin, penalty):
    """Every loss, margin and penalty, with ties, missing values and unequal weights."""
    check(fit(loss, margin, penalty), DATA)


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l1"), ("logistic", "l1,2")])
def test_costs_of_features_and_interactions(loss, penalty):
    """A product costs the mean of its features times the factor."""
    costs = np.array([0.5, 4.0])
    oracle = PairOracle(interaction_cost=1.3)
    check(fit(loss, "pairwise", penalty, feature_costs=costs, learner=oracle), DATA, costs, 1.3)


def test_pairs_lower_the_objective_of_stumps():
    """A parity of two features needs a product; stumps alone cannot fit it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 1] > 0) ^ (X[:, 3] > 0)
    X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
    stumps = DirectBoostClassifier(nu=0.03).fit(X, y)
    pairs = DirectBoostClassifier(nu=0.03, learner="pair").fit(X, y)
    assert pairs.score(X_new, y_new) > 0.95
    assert stumps.score(X_new, y_new) < 0.6
    strongest = max(zip(pairs.coef_.sum(axis=1), pairs.learners_, strict=True), key=lambda t: t[0])
    assert strongest[1].features == (1, 3)


def test_scores_equal_the_sum_of_the_learners(blobs_missing):
    """The look-up tables of the pairs give the sum of the responses, on new rows too."""
    data = blobs_missing
    model = DirectBoostClassifier(learner="pair", nu=0.01).fit(data.X, data.y, data.s)
    rng = np.random.default_rng(1)
    X = np.where(rng.random((200, 3)) < 0.1, np.nan, 2.0 * rng.normal(size=(200, 3)))
    F = np.array([h.predict(X) for h in model.learners_]).T @ model.coef_
    assert any(isinstance(h, Product) for h in model.learners_)
    found = model.decision_function(X)
    expected = F if model.classes_.size > 2 else F[:, 1] - F[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_categories_and_weights():
    """Scores of a model with categories equal the sum of its learners; weight 2 is a row twice."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 4, 120), rng.normal(size=120), rng.integers(0, 2, 120)])
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) % 2 + (X[:, 1] > 0) + X[:, 2] > 1.5).astype(int)
    weight = rng.integers(1, 3, 120)
    options = {"learner": "pair", "nu": 0.02, "categorical_features": [0, 2], "tol": 1e-6}
    one = DirectBoostClassifier(**options).fit(X, y, weight)
    two = DirectBoostClassifier(**options).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)
    F = np.array([h.predict(X) for h in one.learners_]).T @ one.coef_
    np.testing.assert_allclose(one.decision_function(X), F[:, 1] - F[:, 0], atol=1e-12)


def test_sparse_and_dense_data_give_the_same_model():
    """Features without codes of their own enter pairs too."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((1500, 6)) < 0.9, 0.0, rng.integers(1, 5, (1500, 6)))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    options = {"learner": "pair", "nu": 0.03, "tol": 1e-4}
    dense = DirectBoostClassifier(**options).fit(X, y)
    thin = DirectBoostClassifier(**options).fit(sparse.csr_array(X), y)
    assert thin.certificate_.converged
    assert thin.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=2e-4)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)), thin.decision_function(X), atol=1e-12
    )


def test_a_path_and_a_warm_start():
    """Every point of a path is certified, and a warm start recalls stumps and products."""
    data = make_blobs(3, m=150, d=4)
    path = directboost_path(data.X, data.y, nus=[0.3, 0.1, 0.03, 0.01], learner="pair")
    assert all(model.certificate_.converged for model in path.models)
    clf = DirectBoostClassifier(learner="pair", nu=0.03, warm_start=True).fit(data.X, data.y)
    cold = clf.n_iter_
    again = clf.fit(data.X, data.y)
    assert again.certificate_.converged
    assert again.n_iter_ < cold


def test_threads_do_not_change_the_model():
    data = make_blobs(3, m=300, d=5)
    one, two = (
        DirectBoostClassifier(learner="pair", nu=0.02, n_jobs=n).fit(data.X, data.y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.learners_ == two.learners_


@pytest.mark.parametrize("solver", ["lp", "conic", "lbfgsb", "prox", "blocks"])
def test_solvers_on_single_columns(solver):
    """All solvers of single columns reach the same optimum over stumps and products."""
    options = {"penalty": "l1", "columns_per_round": 8, "tol": 1e-5, "solver": solver}
    loss = "hinge" if solver == "lp" else "logistic"
    check_options = {key: value for key, value in options.items() if key != "penalty"}
    check(fit(loss, "pairwise", "l1", **check_options | {"tol": 1e-6}), DATA)
