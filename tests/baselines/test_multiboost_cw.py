"""MultiBoost.CW against its twin, at convergence, for two classes, and its figures."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from directboost.baselines.multiboost_cw import MultiBoostCW
from directboost.history import Status
from tests.baselines.brute_force import all_stumps, first_largest, with_sign
from tests.baselines.rows import errors_by_round, noisy, short_or_long, split

MODES = [
    {},
    {"learning_rate": 0.4},
    {"nu": 0.3},
    {"mode": "corrective"},
    {"mode": "corrective", "nu": 0.3, "passes": 3},
    {"mode": "corrective", "nu": 0.0},
    {"mode": "corrective", "passes": 1},
]
each = pytest.mark.parametrize("options", MODES, ids=str)


def pair_weights(F, y, weight):
    """Return s_i exp(F_r - F_{y_i}), 0 for r = y_i, (m, k)."""
    rows = np.arange(y.size)
    mu = weight[:, None] * np.exp(F - F[rows, y][:, None])
    mu[rows, y] = 0.0
    return mu


def price(options):
    return options.get("nu", 1e-5 if "mode" in options else 0.0)


def best_weight(mu, y, c, h, nu):
    """Return the best weight of stump h for class c, for weights of pairs without it."""
    own, others = y == c, y != c
    plus = mu[own & (h > 0)].sum() + mu[others & (h < 0), c].sum()
    minus = mu[own & (h < 0)].sum() + mu[others & (h > 0), c].sum()
    if plus - minus <= nu:
        return 0.0
    if nu == 0.0:
        floor = 1e-10 * (plus + minus)
        return np.log((plus + floor) / (minus + floor)) / 2.0
    return np.log(np.sqrt(plus * minus + nu**2 / 4.0) - nu / 2.0) - np.log(minus)


def twin(X, y, weight, options, rounds):
    """Yield the scores and the objective after every round; all stumps, by the formulas."""
    k, H, nu = y.max() + 1, all_stumps(X).H, price(options)
    passes = options.get("passes", 2) - 1 if "mode" in options else 0
    random, known, F = np.random.RandomState(7), [], np.zeros((y.size, k))

    def solve(one):
        c, h, w = one
        F[:, c] -= w * h
        one[2] = options.get("learning_rate", 1.0) * best_weight(
            pair_weights(F, y, weight), y, c, h, nu
        )
        F[:, c] += one[2] * h

    for _ in range(rounds):
        mu = pair_weights(F, y, weight)
        V = np.eye(k)[y] * mu.sum(axis=1, keepdims=True) - mu
        E = H @ V
        places = [first_largest(np.abs(E[:, c])) for c in range(k)]
        new = [[c, with_sign(E[p, c]) * H[p], 0.0] for c, p in enumerate(places)]
        known += new
        for one in new:
            solve(one)
        for _ in range(passes):
            for n in random.permutation(len(known)):
                solve(known[n])
        yield F.copy(), pair_weights(F, y, weight).sum() + nu * sum(w for _, _, w in known)


@each
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_five_rounds_are_those_of_the_twin(options, weighted, seed):
    X, y, weight = noisy(seed=seed, weighted=weighted)
    model = MultiBoostCW(5, **options, random_state=7).fit(X, y, weight)
    rounds = zip(
        twin(X, y, weight, options, 5),
        model.staged_decision_function(X),
        model.history_,
        strict=True,
    )
    for (F, objective), scores, record in rounds:
        np.testing.assert_allclose(scores, F, rtol=1e-8, atol=1e-9)
        assert record.objective == pytest.approx(objective, rel=1e-9)
    assert model.n_learners_ == 15


@each
def test_the_objective_is_that_of_the_scores_and_falls(options):
    X, _, y, _ = split("wine")
    model = MultiBoostCW(25, **options, random_state=0).fit(X, y)
    before, ones = y.size * 2.0, np.ones(y.size)
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        loss = pair_weights(F, y, ones).sum()
        if price(options) == 0.0:
            assert record.objective == pytest.approx(loss, rel=1e-7)
        assert loss <= record.objective * (1.0 + 1e-7)
        assert record.objective <= before * (1.0 + 1e-12)
        before = record.objective
    total = loss + price(options) * np.abs(model.weights_).sum()
    assert record.objective == pytest.approx(total, rel=1e-7)


def test_many_passes_end_at_the_optimum():
    """The edge of a stump is nu where its weight is positive; that of no stump is larger."""
    X, y, weight = noisy(weighted=True)
    nu = 3.0
    model = MultiBoostCW(25, mode="corrective", nu=nu, passes=25, random_state=0)
    model.fit(X, y, weight)
    mu = pair_weights(model.decision_function(X), y, weight)
    V = np.eye(3)[y] * mu.sum(axis=1, keepdims=True) - mu
    used, classes = np.nonzero(model.weights_ > 1e-6)
    assert used.size > 10
    edges = [model.learners_[n].predict(X) @ V[:, c] for n, c in zip(used, classes, strict=True)]
    np.testing.assert_allclose(edges, nu, atol=1e-3)
    assert np.abs(all_stumps(X).H @ V).max() <= nu + 1e-3


def test_nothing_to_gain_above_the_price():
    """From the largest edge of the first round on, the model is empty."""
    X, y, weight = noisy()
    V = 2.0 * np.eye(3)[y] - (1.0 - np.eye(3)[y])
    most = np.abs(all_stumps(X).H @ V).max()
    below = MultiBoostCW(3, mode="corrective", nu=0.999 * most, random_state=0).fit(X, y, weight)
    assert below.n_nonzero_ >= 1
    with pytest.warns(ConvergenceWarning, match="converged"):
        above = MultiBoostCW(3, mode="corrective", nu=1.001 * most).fit(X, y, weight)
    assert above.status_ is Status.CONVERGED
    assert above.n_iter_ == 0


def test_of_two_classes_one_has_all_weights():
    """The step of class 0 is that of AdaBoost; class 1 has its stump negated, and no weight.

    But for the floor of the logarithm, which leaves a step a share of 1e-10 short.
    """
    X, _, y, _ = split("breast_cancer")
    model = MultiBoostCW(100).fit(X, y)
    assert model.n_learners_ == 200
    np.testing.assert_allclose(model.weights_[:, 1], 0.0, atol=1e-9)


def test_without_an_edge_there_is_no_round():
    with pytest.warns(ConvergenceWarning, match="no_edge"):
        model = MultiBoostCW(4).fit(np.zeros((9, 1)), np.arange(9) % 3)
    assert model.status_ is Status.NO_EDGE


def test_settled_pairs_do_no_harm():
    """Separable classes: weights fall without end, votes stay in their bounds."""
    X = np.arange(12.0)[:, None]
    model = MultiBoostCW(400).fit(X, np.arange(12) // 4)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.abs(model.weights_).max() <= np.log(1e10) / 2.0 + 1e-6
    assert model.score(X, np.arange(12) // 4) == 1.0


def test_sparse_rows_are_rows():
    X, _, y, _ = split("wine")
    X = np.maximum(X - np.median(X, axis=0), 0.0)
    dense, sparse = MultiBoostCW(10).fit(X, y), MultiBoostCW(10).fit(csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), dense.decision_function(X), rtol=1e-8, atol=1e-9
    )


def test_the_order_of_passes_is_drawn():
    X, y, _ = noisy()
    one, same, other = (
        MultiBoostCW(6, mode="corrective", nu=0.1, random_state=seed).fit(X, y)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), same.decision_function(X))
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "totally"}, "mode='totally' is invalid"),
        ({"nu": -1.0}, "nu=-1.0 is invalid: expected None, 0, or a number"),
        ({"nu": 1e-200}, "nu=1e-200 is invalid"),
        ({"passes": 0}, "passes=0 is invalid"),
        ({"mode": "corrective", "learning_rate": 0.5}, "learning_rate=0.5 is invalid: mode="),
    ],
)
def test_invalid_parameters_are_rejected_by_name(options, message):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match=message):
        MultiBoostCW(2, **options).fit(X, y)


@short_or_long
@pytest.mark.parametrize(
    ("name", "at_100", "at_500"), [("iris", 5.3, 2.6), ("wine", 0.0, 0.0), ("digits", 3.3, 3.8)]
)
def test_stage_wise_errors_as_in_the_prototype(name, at_100, at_500, n_rounds):
    X, X_test, y, y_test = split(name)
    model = MultiBoostCW(n_rounds).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.0)
    assert n_rounds < 500 or errors[499] == pytest.approx(at_500, abs=2.0)
    assert model.n_learners_ == n_rounds * model.classes_.size


@pytest.mark.parametrize("n_rounds", [40, pytest.param(100, marks=pytest.mark.slow)])
def test_corrective_digits_as_in_the_prototype(n_rounds):
    """The figure is that of 100 rounds; 40 have reached it."""
    X, X_test, y, y_test = split("digits")
    model = MultiBoostCW(n_rounds, mode="corrective", random_state=0).fit(X, y)
    assert 100.0 * (1.0 - model.score(X_test, y_test)) == pytest.approx(4.9, abs=2.0)
    assert model.n_learners_ == 10 * n_rounds
