"""AdaBoost.MO against its twin, its identities and bounds, and the figures of its prototype."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from directboost.baselines import AdaBoostMH, AdaBoostMO
from directboost.baselines.adaboost_mo import row_distance
from directboost.baselines.one_vs_all import OneVsAllBoost
from directboost.history import Status
from directboost.model.learners import CategoryStump
from tests.baselines.brute_force import all_stumps, first_largest, with_sign
from tests.baselines.rows import errors_by_round, noisy, short_or_long, split

COUPLINGS = ["shared", "independent"]
coupled = pytest.mark.parametrize("coupling", COUPLINGS)
#: Words of four classes: with as many rows each, the constant has no edge for either bit.
PAIRS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


def twin(X, y, weight, M, coupling, rate=1.0):
    """Yield the scores of the bits (m, L) and the mean of their exponentials after every round."""
    stumps, v, T = all_stumps(X), weight / weight.sum(), M[y]
    L = T.shape[1]
    D, f = np.repeat(v[:, None] / L, L, axis=1), np.zeros(T.shape)
    live = np.ones(L, dtype=bool)
    while live.any():
        E = stumps.H @ (D * T)
        h = np.zeros(T.shape)
        for j in range(L):
            place = first_largest(np.abs(E[:, j]))
            h[:, j] = with_sign(E[place, j]) * stumps.H[place]
        wrong = (h != T) * D
        e = wrong.sum(axis=0) / D.sum(axis=0) if coupling == "independent" else wrong.sum()
        e = np.broadcast_to(e, L)
        if coupling == "independent":
            live = live & (e < 0.5 - 1e-12)
        e = np.clip(e, 1e-10, 1.0 - 1e-10)
        step = rate * live * np.log((1.0 - e) / e) / 2.0 * h
        f = f + step
        D = D * np.exp(-step * T)
        D = D / (D.sum(axis=0) if coupling == "independent" else D.sum())
        if coupling == "independent":
            live = live & (e > 1e-10)
        yield f, (v @ np.exp(-T * f)).mean()


def decode(f, M, decoding):
    """Return the scores of the classes by the formulas, (m, k)."""
    if decoding == "loss":
        return -logsumexp(-M[None] * f[:, None], axis=2)
    return (with_sign(f) if decoding == "hamming" else f) @ M.T


def bits_of(model, X):
    """Yield the scores of the bits after every round of a model with linear decoding, (m, L)."""
    back = np.linalg.pinv(model.code_.T)
    for F in model.staged_decision_function(X):
        yield F @ back


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decoding", ["loss", "hamming", "linear"])
@coupled
@pytest.mark.parametrize("seed", range(2))
def test_five_rounds_are_those_of_the_twin(coupling, decoding, weighted, seed):
    X, y, weight = noisy(k=4, seed=seed, weighted=weighted)
    rate = 1.0 if seed == 0 else 0.4
    model = AdaBoostMO(5, coupling=coupling, decoding=decoding, learning_rate=rate)
    model.fit(X, y, weight)
    assert model.code_.shape == (4, 7)
    rounds = zip(
        twin(X, y, weight, model.code_, coupling, rate),
        model.staged_decision_function(X), model.history_, strict=False,
    )  # fmt: skip
    count = 0
    for (f, objective), F, record in rounds:
        np.testing.assert_allclose(F, decode(f, model.code_, decoding), rtol=1e-9, atol=1e-10)
        assert record.objective == pytest.approx(objective, rel=1e-9)
        count += 1
    assert count == 5


@pytest.mark.parametrize("rate", [1.0, 0.3])
@coupled
def test_the_objective_is_that_of_the_scores(coupling, rate):
    """(1 / (m L)) sum_ij exp(-M_yj f_j) = product of Z, or the mean of those of the bits."""
    X, y, _ = noisy(k=3)
    model = AdaBoostMO(30, code="ova", coupling=coupling, decoding="linear", learning_rate=rate)
    model.fit(X, y)
    for f, record in zip(bits_of(model, X), model.history_, strict=True):
        assert record.objective == pytest.approx(np.exp(-model.code_[y] * f).mean(), rel=1e-9)
    assert (np.diff([record.objective for record in model.history_]) < 1e-12).all()


def test_the_sum_of_a_round_comes_from_its_error():
    """Z = 2 sqrt(e (1 - e)) and a = ln((1 - e) / e) / 2."""
    X, y, _ = noisy(k=5)
    model = AdaBoostMO(20).fit(X, y)
    before = 1.0
    for record in model.history_:
        e = record.error
        assert record.objective / before == pytest.approx(2 * np.sqrt(e * (1 - e)), rel=1e-10)
        assert record.vote == pytest.approx(np.log((1 - e) / e) / 2)
        before = record.objective


@coupled
@pytest.mark.parametrize(("decoding", "factor"), [("loss", 1), ("hamming", 2)])
def test_the_training_error_has_a_bound(coupling, decoding, factor):
    """At most (L / rho) times the objective, twice that for Hamming decoding."""
    X, y, _ = noisy(m=80, d=6, k=8)
    model = AdaBoostMO(80, coupling=coupling, decoding=decoding, random_state=0).fit(X, y)
    bound = factor * model.code_.shape[1] / row_distance(model.code_)
    bounds = bound * np.array([record.objective for record in model.history_])
    assert (errors_by_round(model, X, y) <= bounds + 1e-12).all()
    assert bounds[-1] < 1.0


@pytest.mark.parametrize("decoding", ["loss", "linear"])
def test_one_class_against_the_others_is_per_class(decoding):
    """Code "ova" with a shared vote is MH with a stump per class, but where scores are equal."""
    X, X_test, y, _ = split("digits")
    model = AdaBoostMO(100, code="ova", decoding=decoding).fit(X, y)
    other = AdaBoostMH(100, votes="per_class").fit(X, y)
    assert model.learners_ == other.learners_
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-9)
    stages = list(other.staged_decision_function(X_test))
    for number, predicted in enumerate(model.staged_predict(X_test)):
        F = stages[number]
        top = np.sort(F, axis=1)
        apart = top[:, -1] - top[:, -2] > 1e-9
        np.testing.assert_array_equal(predicted[apart], F.argmax(axis=1)[apart])
        # Few votes of one size add up to equal scores, many do not.
        assert number < 50 or apart.all()


@pytest.mark.parametrize("decoding", ["loss", "linear"])
def test_independent_bits_are_one_vs_all(decoding):
    X, X_test, y, _ = split("digits")
    model = AdaBoostMO(100, code="ova", coupling="independent", decoding=decoding).fit(X, y)
    other = OneVsAllBoost(100).fit(X, y)
    assert model.learners_ == other.learners_
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-9)
    for rows in (X, X_test):
        np.testing.assert_array_equal(
            list(model.staged_predict(rows)), list(other.staged_predict(rows))
        )


@coupled
@pytest.mark.parametrize("code", ["auto", "ova"])
@pytest.mark.parametrize("decoding", ["loss", "linear"])
def test_two_classes_are_binary_boosting(coupling, code, decoding):
    X, X_test, y, _ = split("breast_cancer")
    model = AdaBoostMO(60, code=code, coupling=coupling, decoding=decoding).fit(X, y)
    binary = AdaBoostMH(60, votes="discrete").fit(X, y)
    scale = 2.0 if code == "ova" and decoding == "linear" else 1.0
    stages = zip(
        model.staged_decision_function(X_test), binary.staged_decision_function(X_test),
        strict=True,
    )  # fmt: skip
    for F, G in stages:
        np.testing.assert_allclose(F, scale * G, rtol=1e-9, atol=1e-10)
    assert model.n_learners_ == 60 * model.code_.shape[1]


def test_a_bit_without_error_ends():
    """Independent bits: a bit without error has one clipped vote, the others continue."""
    X, y, _ = noisy(m=60, k=3)
    X = np.column_stack([X, y == 0])
    model = AdaBoostMO(10, code="ova", coupling="independent").fit(X, y)
    np.testing.assert_array_equal([r.learners for r in model.history_], 3 + 2 * np.arange(10))
    assert np.count_nonzero(model.weights_[:, 0]) == 1
    assert np.abs(model.weights_[0, 0]) == pytest.approx(np.log((1 - 1e-10) / 1e-10) / 2)
    assert model.status_ is Status.MAX_ITER


def test_bits_that_all_end():
    X, y = np.eye(3)[np.arange(12) % 3], np.arange(12) % 3
    model = AdaBoostMO(10, coupling="independent").fit(X, y)
    assert model.n_iter_ == 1
    assert model.status_ is Status.SEPARATED
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_bit_without_an_edge_ends():
    """Nothing tells classes 0 and 1, or 2 and 3 apart: only the first bit gets stumps."""
    y = np.repeat(np.arange(4), 6)
    X = (np.tile(np.arange(6.0), 4) + 3 * (y > 1))[:, None]
    model = AdaBoostMO(5, code=PAIRS, coupling="independent").fit(X, y)
    assert model.n_learners_ == model.n_iter_ == 5
    assert (model.weights_[:, 1] == 0.0).all()
    shared = AdaBoostMO(5, code=PAIRS).fit(X, y)
    assert shared.n_learners_ == 10
    assert shared.score(X, y) == model.score(X, y) == 0.375


@coupled
def test_no_bit_has_an_edge(coupling):
    """The empty model gives the shares of the classes."""
    X, y = np.zeros((8, 1)), np.array(list("aabbccdd"))
    with pytest.warns(ConvergenceWarning, match="AdaBoostMO ended before its first round"):
        model = AdaBoostMO(5, code=PAIRS, coupling=coupling).fit(X, y)
    assert model.status_ is Status.NO_EDGE
    assert set(model.predict(X)) == {"a"}
    np.testing.assert_allclose(model.predict_proba(X), 0.25)
    assert model.decision_function(X).shape == (8, 4)
    assert list(model.staged_predict(X)) == []


def test_many_classes_with_a_random_code():
    """Shapes, probabilities and pickles where there are more bits than classes."""
    X, X_test, y, _ = split("digits")
    model = AdaBoostMO(20, random_state=1).fit(X, y)
    assert model.code_.shape == (10, 34)
    assert model.weights_.shape == (len(model.learners_), 34)
    assert model.intercept_.shape == (34,)
    proba = model.predict_proba(X_test)
    assert proba.shape == model.decision_function(X_test).shape == (450, 10)
    np.testing.assert_array_equal(proba.argmax(axis=1), model.predict(X_test))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(X_test), model.decision_function(X_test)
    )
    again = AdaBoostMO(20, random_state=1).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X_test), model.decision_function(X_test))
    assert not np.array_equal(AdaBoostMO(1, random_state=2).fit(X, y).code_, model.code_)


@coupled
def test_sparse_rows_are_as_dense_ones(coupling):
    X, y, weight = noisy(weighted=True)
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    dense = AdaBoostMO(6, coupling=coupling).fit(X, y, weight)
    sparse = AdaBoostMO(6, coupling=coupling).fit(csr_matrix(X), y, weight)
    stages = zip(
        dense.staged_decision_function(X), sparse.staged_decision_function(csr_matrix(X)),
        strict=True,
    )  # fmt: skip
    for F, G in stages:
        np.testing.assert_allclose(F, G, rtol=1e-9, atol=1e-10)


@coupled
def test_categories_and_missing_values(coupling):
    """Levels without an order, with holes: the exponentials add up as the scores say."""
    random = np.random.default_rng(0)
    y = np.arange(90) % 3
    level = np.where(
        random.random(90) < 0.7, np.array([4.0, 0.0, 2.0])[y], random.integers(0, 5, 90)
    )
    X = np.column_stack([level, random.normal(size=90) + y])
    X[random.random(X.shape) < 0.1] = np.nan
    model = AdaBoostMO(
        12, code="ova", coupling=coupling, decoding="linear", categorical_features=[0]
    ).fit(X, y)
    assert any(isinstance(learner, CategoryStump) for learner in model.learners_)
    for f, record in zip(bits_of(model, X), model.history_, strict=True):
        assert record.objective == pytest.approx(np.exp(-model.code_[y] * f).mean(), rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"code": "one"}, "code='one' is invalid"),
        ({"code": 1}, "3 classes need at least 2 bits"),
        ({"code": [[1, -1], [-1, 1]]}, "code has 2 rows, but y has 3 classes"),
        ({"coupling": "loose"}, "coupling='loose' is invalid"),
        ({"decoding": "soft"}, "decoding='soft' is invalid"),
        ({"learning_rate": 1.5}, "learning_rate=1.5"),
    ],
)
def test_invalid_parameters_are_rejected(wrong, message):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match=message):
        AdaBoostMO(3, **wrong).fit(X, y)


@short_or_long
@pytest.mark.parametrize(
    ("coupling", "decoding", "at_100", "at_500"),
    [
        ("shared", "loss", 5.1, 4.4),
        ("shared", "hamming", 6.0, 6.0),
        ("independent", "loss", 4.9, 4.9),
    ],
)
def test_digits_as_in_the_prototype(coupling, decoding, at_100, at_500, n_rounds):
    X, X_test, y, y_test = split("digits")
    model = AdaBoostMO(n_rounds, coupling=coupling, decoding=decoding, random_state=0).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.0)
    assert n_rounds < 500 or errors[499] == pytest.approx(at_500, abs=2.0)
    assert model.n_learners_ == 34 * n_rounds
