"""scikit-learn classifiers as weak learners."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.callbacks import TimeLimit
from directboost.model.learners import Constant, FittedClassifier, Negated
from directboost.oracles import Catalogue, ClassifierOracle, OracleData, PoolOracle
from directboost.penalties import L1, GroupNorm
from directboost.solvers import BlockDescent
from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import prices

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
EXPONENTS = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf, 3.0: 3.0}
X, Y = load_wine(return_X_y=True)


def fit(X=X, y=Y, weight=None, learner=TREE, **settings):
    """Return a model of trees of depth two."""
    return DirectBoostClassifier(learner=learner, **{"nu": 0.03, **settings}).fit(X, y, weight)


def oracle_on(X, learner=TREE, costs=None, **options):
    """Return an oracle started on rows of equal weight."""
    costs = np.ones(X.shape[1] + 1) if costs is None else np.append(costs, 1.0)
    data = OracleData(X, np.ones(len(X)), float(len(X)), costs, **options)
    return ClassifierOracle(learner).on(data)


@pytest.mark.parametrize(
    ("loss", "margin", "penalty"),
    [
        ("logistic", "pairwise", "l1,2"),
        ("logistic", "one-vs-all", 3.0),
        ("hinge", "pairwise", "l1"),
        ("hinge", "one-vs-all", "l1,inf"),
        ("exponential", "pairwise", "l1,inf"),
        ("multinomial", "pairwise", "l1,2"),
        ("squared_hinge", "pairwise", "l1"),
    ],
)
def test_the_certificate_matches_the_model(loss, margin, penalty):
    """The objective follows from the weak classifiers alone; the gap is within tol."""
    data = make_blobs(4, m=60)
    model = fit(data.X, data.y, data.s, loss=loss, margin=margin, penalty=penalty)
    proof = model.certificate_
    assert proof.dictionary == "generated columns"
    assert proof.converged
    assert 0.0 <= proof.relative_gap <= 1e-2
    H = np.column_stack([h.predict(data.X) for h in model.learners_])
    assert set(np.unique(H)) == {-1.0, 1.0}
    own = data.y if margin == "pairwise" else None
    rho = formulas.margins(H @ model.weights_, margin, data.y)
    loss_value = formulas.loss_value(loss, rho, formulas.row_weights(data.s, 4), own)
    kappa = [max(len(h.features), 1) for h in model.learners_]
    value = float(loss_value) + model.nu_ * formulas.penalty_value(
        model.weights_, EXPONENTS[penalty], kappa
    )
    assert value == pytest.approx(proof.primal, rel=1e-10)


@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_the_bound_holds_for_all_weights_of_the_columns(penalty):
    """No weights of the generated columns have an objective below the dual bound."""
    data = make_blobs(3, m=50)
    seen = []

    class Watched(ClassifierOracle):
        def start(self, rows):
            super().start(rows)
            seen.append(self._catalogue)

    model = fit(data.X, data.y, penalty=penalty, learner=Watched(TREE), nu=0.05)
    H = np.column_stack([seen[0].response(j, 0, 1) for j in range(1, len(seen[0]))])
    costs = np.array(seen[0].costs[1:])
    best = DirectBoostClassifier(
        learner=PoolOracle(), feature_costs=costs, penalty=penalty, nu=model.nu_,
        nu_scale="absolute", tol=1e-7,
    ).fit(H, data.y)  # fmt: skip
    proof = model.certificate_
    assert best.certificate_.primal <= proof.primal + 1e-9
    assert best.certificate_.primal >= proof.dual - 1e-9


def test_columns_are_priced_exactly(rng):
    """Both signs of all columns, with the costs of the features they use."""
    data, A = make_blobs(4), rng.normal(size=(40, 4))
    costs = np.array([1.0, 3.0, 0.5])
    oracle = oracle_on(data.X, costs=costs)
    for penalty in (L1(), GroupNorm(2.0), GroupNorm(np.inf)):
        pricing = oracle.price(A, penalty)
        n = len(oracle.source)
        H = np.column_stack(
            [oracle.source.response(j, 0, sign) for j in range(n) for sign in (1, -1)]
        )
        learners = [oracle.source.learner(j, 0, 1) for j in range(n)]
        kappa = [costs[list(h.features)].sum() if h.features else 1.0 for h in learners]
        expected = prices(H, np.repeat(kappa, 2), A, penalty.p)
        assert pricing.max_price == pytest.approx(expected.max(), rel=1e-12)
        assert pricing.proposals.price[0] == pricing.max_price
        for j, learner in enumerate(learners):
            np.testing.assert_array_equal(learner.predict(data.X), oracle.source.response(j, 0, 1))


def test_a_search_solves_the_weighted_problem_of_every_class(rng):
    """A deep tree has no errors, so its edge is the sum of abs(a) of its class."""
    data, A = make_blobs(3, m=30), rng.normal(size=(30, 3))
    deep = DecisionTreeClassifier(random_state=0)
    oracle = oracle_on(data.X, deep)
    oracle.price(A, L1())
    for r in range(3):
        assert oracle.source.edges(A)[:, r].max() == pytest.approx(np.abs(A[:, r]).sum())


def test_group_penalties_find_columns_for_several_classes(rng):
    """The best column under l1,inf beats the best column of searches for single classes."""
    data = make_blobs(4, m=60)
    better = 0
    for _ in range(10):
        A = rng.normal(size=(60, 4))
        alone, joint = oracle_on(data.X), oracle_on(data.X)
        alone.price(A, L1())
        single = alone.reprice(A, GroupNorm(np.inf)).max_price
        found = joint.price(A, GroupNorm(np.inf)).max_price
        assert found >= single * (1.0 - 1e-12)
        better += found > single * 1.0001
    assert better >= 2


def test_the_same_coefficients_are_searched_once(rng):
    data, A = make_blobs(3), rng.normal(size=(40, 3))
    oracle = oracle_on(data.X, ExtraTreeClassifier(max_depth=2))
    oracle.price(A, L1())
    n = len(oracle.source)
    assert oracle.price(A, L1()).max_price == oracle.reprice(A, L1()).max_price
    assert len(oracle.source) == n
    oracle.reprice(-2.0 * A, L1())
    assert len(oracle.source) == n


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_weights_equal_repeated_rows(penalty, seed):
    """A row of weight w counts like w copies of the row; weight 0 drops the row."""
    rng = np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    weight = rng.integers(0, 4, y.size)
    weighted = fit(X, y, weight, penalty=penalty)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight), penalty=penalty)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(C=0.1),
        GaussianNB(),
        RandomForestClassifier(n_estimators=3, max_depth=2, random_state=0),
        DirectBoostClassifier(nu=0.3),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_other_classifiers(learner):
    data = make_blobs(3, m=60)
    before = learner.get_params()
    model = fit(data.X, data.y, learner=learner, nu=0.1)
    assert model.certificate_.converged
    assert model.score(data.X, data.y) > 0.5
    assert learner.get_params() == before
    assert not hasattr(learner, "classes_")


class TestFeatures:
    """Features that a weak classifier uses, and their costs."""

    def test_features_of_tree_splits(self):
        model = fit()
        for h in model.learners_:
            inner = h.learner if isinstance(h, Negated) else h
            if isinstance(inner, FittedClassifier):
                splits = inner.classifier.tree_.feature
                assert inner.features == tuple(np.unique(splits[splits >= 0]))
        used = {f for h in model.learners_ for f in h.features}
        assert model.features_used_.tolist() == sorted(used)
        assert model.n_features_used_ == len(used)

    def test_features_of_splits_without_gain(self):
        """The first split of a chess board has no gain, so its importance is zero."""
        board = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        oracle = oracle_on(board)
        oracle.price(np.array([[1.0], [-1.0], [-1.0], [1.0]]), L1())
        assert oracle.source.learner(1, 0, 1).features == (0, 1)

    def test_features_with_a_coefficient(self, rng):
        data = make_blobs(2, m=60)
        X = np.column_stack([data.X, np.zeros(60)])
        oracle = oracle_on(X, LogisticRegression())
        oracle.price(rng.normal(size=(60, 1)), L1())
        assert oracle.source.learner(1, 0, 1).features == (0, 1, 2)

    def test_all_features_if_the_classifier_does_not_report_them(self, rng):
        data = make_blobs(2)
        oracle = oracle_on(data.X, GaussianNB())
        oracle.price(rng.normal(size=(40, 1)), L1())
        assert oracle.source.learner(1, 0, 1).features == (0, 1, 2)
        assert oracle.costs[1] == 3.0

    def test_costly_features_have_less_weight(self):
        """Costs enter the price of a column, but not the search of the classifier."""
        costs = np.where(np.arange(13) == 12, 20.0, 1.0)
        cheap, dear = fit(), fit(feature_costs=costs)
        for model, prices_of in ((cheap, np.ones(13)), (dear, costs)):
            assert model.cost_ == pytest.approx(prices_of[model.features_used_].sum())
        assert dear.feature_importances_[12] < 0.5 * cheap.feature_importances_[12]

    def test_weights_are_split_evenly(self):
        model = fit()
        expected = np.zeros(13)
        for h, weight in zip(model.learners_, model.weights_.sum(axis=1), strict=True):
            for f in h.features:
                expected[f] += weight / len(h.features)
        np.testing.assert_allclose(model.weight_importances(), expected / expected.sum())


class TestModel:
    """Fitted models."""

    def test_scores_are_the_sum_of_the_responses(self):
        model = fit(nu=0.01)
        F = np.column_stack([h.predict(X) for h in model.learners_]) @ model.weights_
        np.testing.assert_allclose(model.decision_function(X), F, atol=1e-12)
        constant = [isinstance(h, Constant) for h in model.learners_]
        signs = np.array([h.predict(X[:1])[0] for h in model.learners_])[constant]
        np.testing.assert_allclose(model.intercept_, signs @ model.weights_[constant], atol=1e-15)

    def test_pickle_and_clone(self):
        model = fit()
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        fresh = clone(model)
        assert fresh.learner is not TREE
        assert fresh.get_params()["learner__max_depth"] == 2

    def test_summary(self):
        frame, y = load_wine(return_X_y=True, as_frame=True)
        text = fit(frame, y).summary()
        assert "no model over generated columns goes below" in text
        assert "weak classifiers on" in text
        assert "DecisionTreeClassifier on " in text
        assert "proline" in text

    def test_explain_rejects_classifiers_of_several_features(self):
        with pytest.raises(ValueError, match=r"DecisionTreeClassifier on \d features at once"):
            fit().explain(X)

    def test_explain_accepts_classifiers_of_one_feature(self):
        model = fit(learner=DecisionTreeClassifier(max_depth=1, random_state=0))
        parts = model.explain(X)
        np.testing.assert_allclose(
            model.intercept_ + parts.sum(axis=1), model.decision_function(X), atol=1e-12
        )

    def test_stages(self):
        model = fit(columns_per_round=2)
        stages = list(model.staged_decision_function(X))
        assert len(stages) == model.n_iter_ - 1
        np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)

    def test_the_paper_rule(self):
        model = fit(pricing="paper", columns_per_round=1, max_learners=8, penalty="l1,2", nu=0.001)
        assert model.history_[-1].columns <= 8

    def test_frames_names_and_strings(self):
        frame, y = load_wine(return_X_y=True, as_frame=True)
        names = np.array(["a", "b", "c"])[y]
        model = fit(frame, names)
        assert set(model.predict(frame)) == {"a", "b", "c"}
        assert isinstance(frame, pd.DataFrame)

    def test_missing_values_need_a_classifier_that_accepts_them(self):
        data = make_blobs(3, m=60, missing=0.1)
        model = fit(data.X, data.y)
        assert model.missing_.tolist() == [False, True, True]
        assert model.__sklearn_tags__().input_tags.allow_nan
        rejecting = DirectBoostClassifier(learner=LogisticRegression())
        assert not rejecting.__sklearn_tags__().input_tags.allow_nan
        oracle = ClassifierOracle(LogisticRegression())
        named = DirectBoostClassifier(learner=oracle)
        assert not named.__sklearn_tags__().input_tags.allow_nan
        assert ClassifierOracle(TREE).takes_missing
        message = (
            r"X holds nan in column 1: learner=ClassifierOracle\(LogisticRegression\(\)\) does"
        )
        for model in (rejecting, named):
            with pytest.raises(ValueError, match=message):
                model.fit(data.X, data.y)


class TestRuns:
    """Fits with a search that is not exact."""

    def test_the_empty_model_at_nu_max(self):
        model = fit(nu=1.0)
        assert model.n_learners_ == 0
        assert model.certificate_.converged

    def test_the_objective_never_increases(self):
        history = fit(nu=0.01, tol=1e-3).history_
        assert (np.diff([record.primal for record in history]) <= 1e-12).all()
        assert all(record.dual <= record.primal + 1e-9 for record in history)

    def test_bounds_over_fewer_columns_are_dropped(self):
        """The bound of the first columns is above the final objective, so it must be dropped."""
        history = fit(nu=0.3, tol=1e-3).history_
        assert history[0].dual > history[-1].primal + 0.01
        assert history[-1].dual <= history[-1].primal

    def test_random_state_seeds_the_classifiers(self):
        learner = ExtraTreeClassifier(max_depth=2)
        first, again, other = (
            fit(learner=learner, random_state=seed, tol=0.05) for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
        assert first.certificate_.primal != other.certificate_.primal
        seeds = {
            (h.learner if isinstance(h, Negated) else h).classifier.random_state
            for h in first.learners_
            if not isinstance(h, Constant)
        }
        assert len(seeds) > 3

    def test_without_random_state_a_classifier_keeps_its_own(self):
        model = fit(learner=ExtraTreeClassifier(max_depth=2, random_state=7), tol=0.05)
        for h in model.learners_:
            inner = h.learner if isinstance(h, Negated) else h
            if isinstance(inner, FittedClassifier):
                assert inner.classifier.random_state == 7

    def test_a_warm_start_reuses_the_classifiers(self):
        model = fit(nu=0.2, warm_start=True)
        kept = {id(getattr(h, "learner", h)) for h in model.learners_}
        model.set_params(nu=0.1).fit(X, Y)
        assert model.history_[0].columns == len(kept)
        assert kept & {id(getattr(h, "learner", h)) for h in model.learners_}
        assert model.certificate_.converged
        model.set_params(learner="stump").fit(X, Y)
        assert model.certificate_.dictionary == "all stumps"

    def test_a_warm_start_on_other_features_starts_from_scratch(self):
        model = fit(nu=0.2, warm_start=True)
        model.fit(X[:, :5], Y)
        assert model.n_features_in_ == 5
        assert model.certificate_.converged

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_a_time_limit_keeps_the_model(self):
        model = fit(nu=0.001, callbacks=TimeLimit(0.0))
        assert str(model.status_) == "time_limit"
        assert model.certificate_.gap >= 0.0

    def test_max_learners(self):
        model = fit(nu=0.001, max_learners=6)
        assert 0 < model.n_learners_ <= 6
        assert model.certificate_.converged

    def test_a_path_and_cross_validation(self):
        path = directboost_path(X, Y, nus=[0.5, 0.2], learner=TREE)
        assert all(model.certificate_.converged for model in path)
        model = DirectBoostClassifierCV(nus=[0.5, 0.2], cv=2, learner=TREE).fit(X, Y)
        assert model.score(X, Y) > 0.9

    def test_several_labels(self):
        labels = np.stack([Y == 0, Y != 1], axis=1).astype(int)
        model = DirectBoostMultiLabelClassifier(learner=TREE, nu=0.1).fit(X, labels)
        assert (model.predict(X) == labels).mean() > 0.9

    def test_two_classes_need_one_search(self, rng):
        """The coefficients of the two classes are opposite, so one tree is fitted."""
        data = make_blobs(2)
        oracle = oracle_on(data.X)
        a = rng.normal(size=40)
        oracle.price(np.column_stack([a, -a]), GroupNorm(2.0))
        assert len(oracle.source) == 2

    def test_a_constant_classifier(self):
        """It equals the constant, which exists already."""
        model = fit(learner=DummyClassifier(), weight=np.where(Y == 0, 2.0, 1.0))
        assert all(isinstance(h, Constant) for h in model.learners_)
        assert model.certificate_.converged


class TestInvalid:
    """Invalid learners."""

    @pytest.mark.parametrize(
        ("learner", "message"),
        [
            (
                "forest",
                r"learner='forest' is invalid: expected one of 'auto', 'stump', 'pair', 'tree'",
            ),
            (None, "learner=None is invalid.*'auto', 'stump', 'pair', 'tree'.*PoolOracle"),
            (DecisionTreeClassifier, "is invalid: expected 'auto', 'stump'"),
            (LinearRegression(), r"learner=LinearRegression\(\) is invalid"),
            (KNeighborsClassifier(), "fit of KNeighborsClassifier does not accept sample_weight"),
        ],
    )
    def test_invalid_learners(self, learner, message):
        with pytest.raises(ValueError, match=message):
            fit(learner=learner)

    @pytest.mark.parametrize("as_object", [False, True])
    def test_solvers_on_whole_features_are_rejected(self, as_object):
        with pytest.raises(ValueError, match=r"solver='blocks' does not support.*learner ask for"):
            fit(solver=BlockDescent() if as_object else "blocks")

    def test_responses_outside_the_range(self):
        class Wild(FittedClassifier):
            def predict(self, X):
                return 2.0 * super().predict(X)

        tree = clone(TREE).fit(X, np.where(Y == 0, 1, -1))
        catalogue = Catalogue(OracleData(X, np.ones(len(X)), 1.0, np.ones(14)))
        with pytest.raises(ValueError, match=r"178 responses in \[-1, 1\]"):
            catalogue.add(Wild(tree, (0,)))
