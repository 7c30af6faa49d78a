"""What AdaBoost.M1 and SAMME share: their twin, their objective, and foreign weak learners."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from directboost.baselines.samme import SAMME, AdaBoostM1
from directboost.history import Status
from directboost.model.learners import ClassAnswer
from tests.baselines.brute_force import all_stumps, first_largest
from tests.baselines.rows import noisy, split

both = pytest.mark.parametrize("method", [AdaBoostM1, SAMME])


def limit_of(method, k):
    """Return the error at which a weak classifier is useless."""
    return 0.5 if method is AdaBoostM1 else 1.0 - 1.0 / k


def twin(X, y, weight, method, rounds):
    """Yield what a round adds to the scores, (m, k), and its error; by the formulas."""
    k, D = y.max() + 1, weight / weight.sum()
    own, stumps = np.eye(k)[y], all_stumps(X)
    for _ in range(rounds):
        P, N = (stumps.H > 0) @ (D[:, None] * own), (stumps.H < 0) @ (D[:, None] * own)
        place = first_largest(P.max(axis=1) + N.max(axis=1))
        right, left = first_largest(P[place]), first_largest(N[place])
        g = np.where(stumps.H[place] > 0, right, left)
        e = D[g != y].sum()
        if e >= limit_of(method, k):
            return
        a = np.log((1.0 - e) / e) + (np.log(k - 1.0) if method is SAMME else 0.0)
        D = D * np.exp(a * (g != y))
        D /= D.sum()
        yield a * np.eye(k)[g], e


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("method", "k"), [(AdaBoostM1, 2), (AdaBoostM1, 3), (SAMME, 2), (SAMME, 3), (SAMME, 4)]
)
@pytest.mark.parametrize("seed", range(3))
def test_five_rounds_are_those_of_the_twin(method, weighted, k, seed):
    X, y, weight = noisy(k=k, seed=seed, weighted=weighted)
    expected = list(twin(X, y, weight, method, 5))
    assert len(expected) >= 2
    model = method(5).fit(X, y, weight)
    F = 0.0
    rounds = zip(expected, model.staged_decision_function(X), model.history_, strict=True)
    for (added, error), scores, record in rounds:
        F = F + added
        np.testing.assert_allclose(scores, F[:, 1] - F[:, 0] if k == 2 else F, rtol=1e-9)
        assert record.error == pytest.approx(error, rel=1e-9)


@both
@pytest.mark.parametrize("tree", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_objective_is_that_of_the_scores(method, tree, rate):
    """It is sum_i v_i exp((1 - limit) sum_c F_c - F_{y_i}), and falls in every round."""
    X, y, weight = noisy(m=90, seed=1, weighted=True)
    model = method(25, weak_learner=tree, learning_rate=rate).fit(X, y, weight)
    rest, before = 1.0 - limit_of(method, 3), 1.0
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        own = F[np.arange(y.size), y]
        expected = weight / weight.sum() @ np.exp(rest * F.sum(axis=1) - own)
        assert record.objective == pytest.approx(expected, rel=1e-9)
        assert record.objective < before
        before = record.objective


@both
def test_a_perfect_round_is_the_last(method):
    """Its vote is clipped: ln((1 - 1e-10) / 1e-10), and ln(k - 1) more for SAMME, k = 2 here."""
    model = method(10).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    assert model.status_ is Status.SEPARATED
    assert model.n_iter_ == 1
    assert model.history_[0].vote == pytest.approx(np.log(1e10), rel=1e-9)
    assert model.predict([[1.4], [1.6]]).tolist() == ["a", "b"]


@both
def test_a_side_gets_the_first_of_equal_classes(method):
    """Feature 0 is a constant; on the left of 0.5 there is class 0, on the right 1 and 2 tie."""
    X, y = [[7.0, 0.0], [7.0, 0.0], [7.0, 1.0], [7.0, 1.0]], [0, 0, 1, 2]
    model = method(1).fit(X, y)
    assert model.predict([[7.0, 0.4], [7.0, 0.6]]).tolist() == [0, 1]
    assert model.features_used_.tolist() == [1]
    assert model.history_[0].error == pytest.approx(0.25)


@both
def test_a_level_of_a_category_has_a_side(method):
    """Level 1 is class 1, the others are class 0; in order no threshold tells them apart."""
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    y = np.repeat([0, 1, 0], 4)
    model = method(1, categorical_features=[0]).fit(X, y)
    assert model.predict([[0.0], [1.0], [2.0], [np.nan], [9.0]]).tolist() == [0, 1, 0, 0, 0]
    assert method(1).fit(X, y).history_[0].error == pytest.approx(1.0 / 3.0)


@both
def test_sparse_rows_are_rows(method):
    X, _, y, _ = split("wine")
    X = np.maximum(X - np.median(X, axis=0), 0.0)
    dense, sparse = method(10).fit(X, y), method(10).fit(csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), dense.decision_function(X), rtol=1e-9, atol=1e-10
    )


@both
class TestForeignWeakLearners:
    """A classifier of k classes has k entries in the model, one class against the rest each."""

    tree = DecisionTreeClassifier(max_depth=2)

    def test_scores_are_the_votes_for_the_predicted_classes(self, method):
        X, X_test, y, _ = split("wine")
        model = method(12, weak_learner=self.tree, random_state=0).fit(X, y)
        F = np.zeros((X_test.shape[0], 3))
        stages = model.staged_decision_function(X_test)
        for number, (record, scores) in enumerate(zip(model.history_, stages, strict=True)):
            fitted = model.learners_[3 * number].source.classifier
            F += record.vote * np.eye(3)[fitted.predict(X_test)]
            np.testing.assert_allclose(scores, F, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(X_test), F, atol=1e-11)

    def test_what_is_counted(self, method):
        X, _, y, _ = split("wine")
        model = method(4, weak_learner=self.tree, random_state=0).fit(X, y)
        assert [record.learners for record in model.history_] == [1, 2, 3, 4]
        assert model.n_learners_ == model.n_nonzero_ == 4
        assert all(isinstance(learner, ClassAnswer) for learner in model.learners_)
        trees = {id(h.source): h.source.classifier.tree_ for h in model.learners_}
        read = {f for tree in trees.values() for f in tree.feature.tolist() if f >= 0}
        assert model.features_used_.tolist() == sorted(read)
        again = model.set_params(weak_learner=None).fit(X, y)
        assert again.n_learners_ == len(again.learners_) == 4

    def test_a_classifier_predicts_once_for_all_its_classes(self, method, monkeypatch):
        X, _, y, _ = split("wine")
        model = method(5, weak_learner=self.tree, random_state=0).fit(X, y)
        calls, predict = [], DecisionTreeClassifier.predict
        monkeypatch.setattr(
            DecisionTreeClassifier,
            "predict",
            lambda tree, *rows, **more: calls.append(tree) or predict(tree, *rows, **more),
        )
        model.predict(X)
        assert len(calls) == len({id(tree) for tree in calls}) == 5
        list(model.staged_predict(X))
        assert len(calls) == 10

    def test_answers_are_weak_classifiers(self, method):
        X, _, y, _ = split("wine")
        model = method(2, weak_learner=self.tree, random_state=0).fit(X, y)
        answers = np.stack([learner.predict(X) for learner in model.learners_[:3]], axis=1)
        assert set(answers.ravel()) == {-1.0, 1.0}
        assert (answers.sum(axis=1) == -1.0).all()
        words = model.learners_[2].describe("alcohol")
        assert words == "class 2 of DecisionTreeClassifier on alcohol"

    def test_random_state_seeds_the_clones(self, method):
        X, y, _ = noisy(m=80, d=6)
        weak = DecisionTreeClassifier(max_depth=2, splitter="random")
        one, same, other = (
            method(8, weak_learner=weak, random_state=seed).fit(X, y) for seed in (3, 3, 4)
        )
        np.testing.assert_array_equal(one.decision_function(X), same.decision_function(X))
        assert not np.array_equal(one.decision_function(X), other.decision_function(X))
        seeds = {h.source.classifier.random_state for h in one.learners_}
        assert len(seeds) == one.n_iter_

    def test_without_random_state_a_clone_keeps_its_own(self, method):
        X, y, _ = noisy()
        weak = DecisionTreeClassifier(max_depth=2, random_state=11)
        model = method(3, weak_learner=weak).fit(X, y)
        assert {h.source.classifier.random_state for h in model.learners_} == {11}
        assert not hasattr(weak, "tree_")

    def test_names_of_classes_and_sparse_rows(self, method):
        X, _, y, _ = split("digits")
        X, y = csr_matrix(X[:300]), np.array(list("abcdefghij"))[y[:300]]
        weak = DecisionTreeClassifier(max_depth=6)
        model = method(3, weak_learner=weak, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9
        np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))

    def test_other_classifiers(self, method):
        X, X_test, y, y_test = split("iris")
        weak = LogisticRegression(C=1e4, max_iter=2000)
        model = method(3, weak_learner=weak).fit(X, y)
        assert model.score(X_test, y_test) > 0.9
        assert model.features_used_.tolist() == [0, 1, 2, 3]
        loaded = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))

    def test_the_weak_learner_says_what_X_may_be(self, method):
        assert get_tags(method()).input_tags.allow_nan
        assert get_tags(method(weak_learner=self.tree)).input_tags.sparse
        assert not get_tags(method(weak_learner=LogisticRegression())).input_tags.allow_nan

    @pytest.mark.parametrize(
        "weak",
        ["stump", DecisionTreeClassifier, DecisionTreeRegressor(), KNeighborsClassifier()],
        ids=["word", "class", "regressor", "no sample_weight"],
    )
    def test_what_does_not_fit_is_refused(self, method, weak):
        X, y, _ = noisy(m=20)
        with pytest.raises(ValueError, match=r"weak_learner=.* is invalid: expected None"):
            method(2, weak_learner=weak).fit(X, y)
