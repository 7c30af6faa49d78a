"""Fits over all stumps and all products of two stumps against an independent solver."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.model.learners import Constant, Product, Stump
from directboost.oracles import PairOracle
from directboost.solvers.quadratic_model import QuadraticModel, RowSample
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
    rho = formulas.margins(responses @ model.weights_, model.margin, data.y)
    weights = formulas.row_weights(data.s, data.k)
    kinds = {Constant: lambda h: 1.0, Stump: lambda h: costs[h.feature]}
    kinds[Product] = lambda h: factor * costs[list(h.features)].mean()
    price = [kinds[type(h)](h) for h in model.learners_]
    value = float(formulas.loss_value(model.loss, rho, weights, own))
    value += model.nu_ * formulas.penalty_value(model.weights_, p, price)
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
    strongest = max(
        zip(pairs.weights_.sum(axis=1), pairs.learners_, strict=True), key=lambda t: t[0]
    )
    assert strongest[1].features == (1, 3)


def test_scores_equal_the_sum_of_the_learners(blobs_missing):
    """The look-up tables of the pairs give the sum of the responses, on new rows too."""
    data = blobs_missing
    model = DirectBoostClassifier(learner="pair", nu=0.01).fit(data.X, data.y, data.s)
    rng = np.random.default_rng(1)
    X = np.where(rng.random((200, 3)) < 0.1, np.nan, 2.0 * rng.normal(size=(200, 3)))
    F = np.array([h.predict(X) for h in model.learners_]).T @ model.weights_
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
    F = np.array([h.predict(X) for h in one.learners_]).T @ one.weights_
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
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.learners_ == two.learners_


@pytest.mark.parametrize("solver", ["lp", "conic", "lbfgsb", "prox", "blocks"])
def test_solvers_on_single_columns(solver):
    """All solvers of single columns reach the same optimum over stumps and products."""
    options = {"penalty": "l1", "columns_per_round": 8, "tol": 1e-5, "solver": solver}
    loss = "hinge" if solver == "lp" else "logistic"
    check_options = {key: value for key, value in options.items() if key != "penalty"}
    check(fit(loss, "pairwise", "l1", **check_options | {"tol": 1e-6}), DATA)


@pytest.mark.parametrize(
    ("interactions", "pairs", "name"),
    [
        ([(0, 2)], [(0, 2)], "all stumps and all pairs of these 2 features (x0, x2)"),
        ([(1, 0), (2, 0)], [(0, 1), (0, 2)],
         "all stumps and these 2 pairs (x0 and x1, x0 and x2)"),
        (2, None, "all stumps and all pairs of these 2 features"),
    ],
)  # fmt: skip
def test_the_certificate_holds_for_the_pairs_it_names(interactions, pairs, name):
    """The optimum over all stumps and the products of these pairs."""
    data = make_blobs(3, m=12, d=3)
    model = fit("logistic", "pairwise", "l1,2", data, interactions=interactions)
    if pairs is None:  # of the two features that stumps use most
        stumps = fit("logistic", "pairwise", "l1,2", data, learner="stump")
        pairs = [tuple(np.sort(np.argsort(-stumps.weight_importances())[:2]).tolist())]
    H, kappa = enumerate_with_products(data.X, pairs=pairs)
    best, _ = solve_twin(
        H, data.y, data.k, data.s, "logistic", "pairwise", 2.0, model.nu_, kappa
    )  # fmt: skip
    proof = model.certificate_
    assert proof.dictionary.startswith(name)
    assert proof.converged
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.dual <= best + 1e-9 * abs(best)
    assert {h.features for h in model.learners_ if isinstance(h, Product)} <= set(pairs)


def test_a_budget_of_features_is_certified_over_their_stumps_and_pairs():
    """Below the budget, the path goes on with the features of one model."""
    data = make_blobs(3, m=18, d=4)
    options = {"learner": "pair", "max_bins": None, "tol": 1e-6, "nus": 5, "nu_min": 0.05, "cv": 2}
    clf = DirectBoostClassifierCV(**options, max_features_used=2).fit(data.X, data.y, data.s)
    model = clf.path_[-1]
    proof, used = model.certificate_, model.features_used_
    assert used.size == 2
    names = f"x{used[0]}, x{used[1]}"
    assert proof.dictionary == f"all stumps of these 2 features ({names}) and all their pairs"
    assert any(isinstance(h, Product) for h in model.learners_)
    H, kappa = enumerate_with_products(data.X[:, used])
    best, _ = solve_twin(
        H, data.y, data.k, data.s, "logistic", "pairwise", 2.0, model.nu_, kappa
    )  # fmt: skip
    assert proof.converged
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.dual <= best + 1e-9 * abs(best)


@pytest.mark.parametrize(
    ("interactions", "budget", "words"),
    [
        (None, 1, "all stumps of this feature (x0)"),
        (3, 4, "all stumps of these 4 features (x0, x1, x2, x3) and all pairs of these 3 features "
         "(x0, x1, x2) on 8 bins"),
        ([(0, 2), (0, 1), (4, 5)], 4, "all stumps of these 4 features (x0, x1, x2, x3) and these "
         "2 pairs (x0 and x1, x0 and x2) on 8 bins"),
    ],
)  # fmt: skip
def test_a_budget_keeps_the_interactions(interactions, budget, words):
    """Of the pairs asked for, those remain whose features are within the budget."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = (2.0 * X[:, 0] + X[:, 1] + X[:, 2] + 0.6 * X[:, 3] > 0).astype(int)
    options = {"learner": "pair", "pair_bins": 8, "nus": 6, "nu_min": 0.02, "cv": 2}
    clf = DirectBoostClassifierCV(**options, interactions=interactions, max_features_used=budget)
    assert clf.fit(X, y).path_[-1].certificate_.dictionary == words
    assert clf.n_features_used_ <= budget


@pytest.mark.parametrize(
    ("budget", "value"),
    [({"max_cost": 5.0}, "cost_"), ({"max_learners": 6}, "n_learners_")],
)  # fmt: skip
def test_other_budgets(budget, value):
    """In the cost of a model each feature counts once, in whatever products it is."""
    data = make_blobs(3, m=90, d=4)
    costs = np.array([1.0, 2.0, 2.5, 3.0])
    clf = DirectBoostClassifierCV(learner="pair", nus=6, cv=2, feature_costs=costs, **budget)
    clf.fit(data.X, data.y)
    assert 0 < getattr(clf, value) <= next(iter(budget.values()))
    assert clf.cost_ == costs[clf.features_used_].sum()
    assert any(isinstance(h, Product) for h in clf.learners_)
    assert clf.certificate_.converged


def test_max_learners_and_early_stopping_follow_the_path():
    data = make_blobs(3, m=120, d=4)
    options = {"learner": "pair", "nu": 0.003}
    small = DirectBoostClassifier(**options, max_learners=7).fit(data.X, data.y)
    assert 0 < small.n_learners_ <= 7
    assert small.certificate_.converged
    early = DirectBoostClassifier(**options, n_iter_no_change=2)
    early.fit(data.X[::2], data.y[::2], X_val=data.X[1::2], y_val=data.y[1::2])
    losses = [loss for _, loss in early.validation_path_]
    assert early.nu_ == early.validation_path_[int(np.argmin(losses))][0]
    assert early.certificate_.converged
    assert any(isinstance(h, Product) for h in early.learners_)


def test_several_labels_share_products():
    """The optimum of the independent solver, with one-vs-all margins of every label."""
    data = make_blobs(3, m=12, d=2)
    labels = np.column_stack([data.y == 0, data.y == 1, data.X[:, 0] > 0]).astype(int)
    options = {"learner": "pair", "nu": 0.05, "max_bins": None, "tol": 1e-6}
    model = DirectBoostMultiLabelClassifier(**options).fit(data.X, labels, data.s)
    H, kappa = enumerate_with_products(data.X)
    T = 2.0 * labels - 1.0
    best, _ = solve_twin(H, T, 3, data.s, "logistic", "one-vs-all", 2.0, model.nu_, kappa)
    assert model.certificate_.dictionary == "all stumps and all pairs"
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert any(isinstance(h, Product) for h in model.learners_)
    assert model.predict(data.X).shape == labels.shape


def test_class_weights_are_sample_weights():
    data = make_blobs(3, m=90, d=3)
    weights = {0: 1.0, 1: 2.0, 2: 3.0}
    options = {"learner": "pair", "nu": 0.05}
    one = DirectBoostClassifier(**options, class_weight=weights).fit(data.X, data.y)
    two = DirectBoostClassifier(**options).fit(data.X, data.y, 1.0 + data.y)
    np.testing.assert_array_equal(one.decision_function(data.X), two.decision_function(data.X))


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l1"), ("logistic", "l1,2")])
def test_the_algorithm_of_the_paper(loss, penalty):
    """One column per round; the objective falls, and every stage is the model of its round."""
    data = make_blobs(3, m=60, d=3)
    clf = DirectBoostClassifier(
        loss=loss, penalty=penalty, learner="pair", nu=0.05, columns_per_round=1, pricing="paper",
        max_learners=12,
    ).fit(data.X, data.y)  # fmt: skip
    objective = np.array([record.primal for record in clf.history_])
    assert (np.diff(objective) <= 1e-9).all()
    assert objective[-1] < 0.8 * objective[0]
    assert [record.columns for record in clf.history_] == list(range(len(objective)))
    stages = list(clf.staged_decision_function(data.X))
    np.testing.assert_array_equal(stages[-1], clf.decision_function(data.X))
    assert any(isinstance(h, Product) for h in clf.learners_)


def test_a_callback_ends_the_fit_with_an_honest_certificate():
    data = make_blobs(3, m=90, d=4)
    clf = DirectBoostClassifier(learner="pair", nu=0.01, callbacks=lambda record: record.round == 2)
    with pytest.warns(ConvergenceWarning, match="'stopped'"):
        clf.fit(data.X, data.y)
    best = DirectBoostClassifier(learner="pair", nu=0.01, tol=1e-4).fit(data.X, data.y)
    assert len(clf.history_) == 3
    assert not clf.certificate_.converged
    assert clf.certificate_.dual <= best.certificate_.primal <= clf.certificate_.primal


def test_a_grid_search_over_bins():
    """Two bins per feature have no threshold at both ends of the middle."""
    X = np.random.default_rng(0).uniform(size=(400, 3))
    y = (np.abs(X[:, 0] - 0.5) < 0.25) ^ (np.abs(X[:, 1] - 0.5) < 0.25)
    search = GridSearchCV(
        DirectBoostClassifier(learner="pair", nu=0.03), {"pair_bins": [2, 16]}, cv=2
    ).fit(X, y)
    assert search.best_params_ == {"pair_bins": 16}
    assert search.best_estimator_.certificate_.dictionary.endswith("all pairs on 16 bins")
    assert search.best_score_ > 0.85
    assert search.cv_results_["mean_test_score"][0] < 0.7


def test_frames_with_categories_name_their_pairs():
    """Categories, text with missing values, and numbers, chosen by name; predictions agree."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "town": pd.Categorical(rng.choice(["Ulm", "Jena", "Köln"], 300)),
        "size": rng.normal(size=300),
        "noise": rng.normal(size=300),
    })  # fmt: skip
    y = (frame["town"] == "Ulm") ^ (frame["size"] > 0.0)
    frame.loc[::15, "town"] = None
    frame.loc[::11, "size"] = np.nan
    clf = DirectBoostClassifier(learner="pair", interactions=[("town", "size")], nu=0.02)
    clf.fit(frame, y)
    assert clf.score(frame, y) > 0.85
    products = [h for h in clf.learners_ if isinstance(h, Product)]
    assert {h.features for h in products} == {(0, 1)}
    name = (
        "binned stumps and all pairs of these 2 features (town, size) on 32 bins, levels one "
        "against the rest"
    )
    assert clf.certificate_.dictionary == name
    codes = clf._encoder.encode(frame)
    F = np.array([h.predict(codes) for h in clf.learners_]).T @ clf.weights_
    np.testing.assert_allclose(clf.decision_function(frame), F[:, 1] - F[:, 0], atol=1e-12)
    strongest = DirectBoostClassifier(learner="pair", interactions=2, nu=0.02).fit(frame, y)
    assert strongest.certificate_.dictionary == name.replace("town, size", "size, noise")


@pytest.mark.parametrize("interactions", [3, [(0, 1), (1, 2, 5)]])
def test_the_pairs_of_sparse_data_can_be_chosen(interactions):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((800, 8)) < 0.8, 0.0, rng.integers(1, 4, (800, 8)))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    options = {"learner": "pair", "nu": 0.03, "interactions": interactions}
    dense = DirectBoostClassifier(**options).fit(X, y)
    thin = DirectBoostClassifier(**options).fit(sparse.csr_array(X), y)
    assert thin.certificate_.dictionary == dense.certificate_.dictionary
    assert thin.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=0.02)
    assert thin.certificate_.converged


@pytest.mark.parametrize(("first", "second"), [(None, 2), (None, 0), (0, None), ([(0, 1)], None)])
def test_a_warm_start_with_other_pairs(first, second):
    """Products that are not in the new dictionary are dropped; the certificate is that of it."""
    data = make_blobs(3, m=120, d=4)
    clf = DirectBoostClassifier(learner="pair", nu=0.02, warm_start=True, interactions=first)
    warm = clf.fit(data.X, data.y).set_params(interactions=second).fit(data.X, data.y)
    cold = DirectBoostClassifier(learner="pair", nu=0.02, interactions=second)
    cold.fit(data.X, data.y)
    assert warm.certificate_.converged
    assert warm.certificate_.dictionary == cold.certificate_.dictionary
    assert warm.certificate_.dual <= cold.certificate_.primal
    assert cold.certificate_.dual <= warm.certificate_.primal


def test_rounded_probabilities_above_one_do_not_stop_newton_steps(monkeypatch):
    """In single precision, the probability of a class may be 1 + 1e-7."""
    curvature, newton = RowSample.curvature, QuadraticModel.newton
    decreases = []

    def rounded(self, objective, iterate):
        coupling, labels, P, weight = curvature(self, objective, iterate)
        P[::2] = np.eye(P.shape[1])[labels[::2]] * (1.0 + 1e-7)
        return coupling, labels, P, weight

    def noted(self, *choices):
        decreases.append(newton(self, *choices))
        return decreases[-1]

    monkeypatch.setattr(RowSample, "curvature", rounded)
    monkeypatch.setattr(QuadraticModel, "newton", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int) + (X[:, 2] > 0.5)
    model = DirectBoostClassifier(learner="pair", loss="multinomial", nu=0.03, tol=0.05)
    assert model.fit(X, y).certificate_.converged
    assert np.mean(np.array(decreases) > 0.0) > 0.5
