"""One-vs-all against its twin, binary runs, other methods, and the figures of its prototype."""

import numpy as np
import pytest

from directboost.baselines import AdaBoostMH, AdaBoostMO, CGBoost, LPBoost, OneVsAllBoost
from directboost.history import Status
from tests.baselines.brute_force import all_stumps, first_largest, with_sign
from tests.baselines.rows import errors_by_round, noisy, split


def stages(model, X):
    return np.array(list(model.staged_decision_function(X)))


def twin(X, y, weight, rate, rounds):
    """Yield the votes of all rows, (m, k), round by round: a binary AdaBoost for every class."""
    stumps, k = all_stumps(X), y.max() + 1
    Y = np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    D = np.repeat((weight / weight.sum())[:, None], k, axis=1)
    for _ in range(rounds):
        H = np.zeros(Y.shape)
        for c in range(k):
            E = stumps.H @ (D[:, c] * Y[:, c])
            best = first_largest(np.abs(E))
            h = with_sign(E[best]) * stumps.H[best]
            e = D[h != Y[:, c], c].sum()
            H[:, c] = rate * np.log((1.0 - e) / e) / 2.0 * h
        D = D * np.exp(-Y * H)
        D = D / D.sum(axis=0)
        yield H


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_five_rounds_are_those_of_the_twin(weighted, rate, seed):
    X, y, weight = noisy(seed=seed, weighted=weighted)
    model = OneVsAllBoost(5, learning_rate=rate).fit(X, y, weight)
    F = np.cumsum(list(twin(X, y, weight, rate, 5)), axis=0)
    np.testing.assert_allclose(stages(model, X), F, rtol=1e-9, atol=1e-10)
    assert model.n_learners_ == 15


def test_the_objective_is_that_of_the_scores():
    X, _, y, _ = split("wine")
    model = OneVsAllBoost(30).fit(X, y)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    for F, record in zip(stages(model, X), model.history_, strict=True):
        assert record.objective == pytest.approx(np.exp(-Y * F).mean(), rel=1e-9)


def test_a_class_is_a_binary_run():
    X, y, weight = noisy(weighted=True)
    F = stages(OneVsAllBoost(8).fit(X, y, weight), X)
    for c in range(3):
        alone = stages(AdaBoostMH(8, votes="discrete").fit(X, y == c, weight), X) / 2.0
        np.testing.assert_allclose(F[:, :, c], alone, rtol=1e-9, atol=1e-10)


def test_one_class_per_bit_is_the_same():
    """AdaBoost.MO with the code of one class against the rest, and problems of their own."""
    X, X_test, y, _ = split("digits")
    ours = OneVsAllBoost(60).fit(X, y)
    other = AdaBoostMO(60, code="ova", coupling="independent", decoding="linear").fit(X, y)
    np.testing.assert_array_equal(
        np.array(list(ours.staged_predict(X_test))), np.array(list(other.staged_predict(X_test)))
    )


def test_normalized_scores_are_divided_by_the_votes():
    X, y, _ = noisy()
    plain, scaled = OneVsAllBoost(7).fit(X, y), OneVsAllBoost(7, normalize=True).fit(X, y)
    votes = np.array([np.abs(H[0]) for H in twin(X, y, np.ones(y.size), 1.0, 7)])
    expected = stages(plain, X) / np.cumsum(votes, axis=0)[:, None, :]
    np.testing.assert_allclose(stages(scaled, X), expected, rtol=1e-9)
    np.testing.assert_allclose(scaled.decision_function(X), expected[-1], rtol=1e-9)
    assert np.abs(expected).max() <= 1.0 + 1e-12


def test_a_class_without_errors_ends_and_the_others_go_on():
    X, _, y, _ = split("iris")
    model = OneVsAllBoost(10).fit(X, y)
    assert model.n_learners_ == 21
    first = np.abs(stages(model, X)[0][:, 0])
    np.testing.assert_allclose(first, np.log((1.0 - 1e-10) / 1e-10) / 2.0)
    assert model.status_ is Status.MAX_ITER


def test_why_it_ends():
    apart = OneVsAllBoost(10).fit(np.array([[0.0], [1.0], [1.0]]), [0, 1, 1])
    assert (apart.status_, apart.n_iter_, apart.n_learners_) == (Status.SEPARATED, 1, 2)
    # The outer classes are apart from the rest at once; the one between them never is.
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    mixed = OneVsAllBoost(10).fit(X, [0, 1, 1, 2])
    assert mixed.status_ is Status.MAX_ITER
    assert mixed.n_learners_ == 12
    with pytest.warns(match="ended before its first round"):
        none = OneVsAllBoost(10).fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert none.status_ is Status.NO_EDGE


@pytest.mark.parametrize(
    "base",
    [
        *(LPBoost(nu=0.1), LPBoost(nu=0.02, form="hinge"), CGBoost(nu=0.01)),
        *(CGBoost(loss="logistic", nu=0.01), CGBoost(loss="hinge", nu=0.05), CGBoost(radius=3.0)),
    ],
)
def test_a_base_is_the_method_itself(base):
    X, y, weight = noisy(k=4, weighted=True)
    model = OneVsAllBoost(9, base=base).fit(X, y, weight)
    alone = base.set_params(n_rounds=9).fit(X, y, weight)
    np.testing.assert_array_equal(stages(model, X), stages(alone, X))
    assert model.n_learners_ == alone.n_learners_
    assert model.n_nonzero_ == alone.n_nonzero_ <= model.n_learners_


@pytest.mark.parametrize("base", [LPBoost(nu=0.1), CGBoost(nu=0.01), CGBoost(radius=3.0)])
def test_two_classes_with_a_base_are_that_of_the_base(base):
    """The mirrored problem has the mirrored solution."""
    X, _, y, _ = split("breast_cancer")
    model = OneVsAllBoost(15, base=base).fit(X, y)
    alone = base.set_params(n_rounds=15).fit(X, y)
    np.testing.assert_allclose(stages(model, X), stages(alone, X), rtol=1e-9, atol=1e-9)
    assert model.history_[-1].objective == pytest.approx(alone.history_[-1].objective, rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": AdaBoostMH()}, "expected LPBoost, CGBoost or None"),
        ({"base": LPBoost(nu=2.0)}, "nu=2.0 is invalid"),
        ({"base": LPBoost(), "learning_rate": 0.5}, "expected 1.0 with a base"),
        ({"normalize": "yes"}, "normalize='yes' is invalid"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, _ = noisy()
    with pytest.raises(ValueError, match=message):
        OneVsAllBoost(**parameters).fit(X, y)


def test_digits_as_in_the_prototype():
    X, X_test, y, y_test = split("digits")
    model = OneVsAllBoost(500).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(3.8, abs=2.0)
    assert errors[499] == pytest.approx(3.6, abs=2.0)
    assert model.n_learners_ == 5000


def test_half_of_the_weight_is_on_errors():
    """After a step the stump of the round is no better than a guess."""
    X, y, weight = noisy(weighted=True)
    model = OneVsAllBoost(5).fit(X, y, weight)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    answers = np.array([h.predict(X) for h in model.learners_]).reshape(5, 3, y.size)
    for F, of_round in zip(stages(model, X), answers, strict=True):
        u = weight[:, None] * np.exp(-Y * F)
        np.testing.assert_allclose((u * Y * of_round.T).sum(axis=0), 0.0, atol=1e-10 * u.sum())
