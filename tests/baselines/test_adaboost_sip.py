"""AdaBoost-SIP against its twin, its identities, and the figures of its prototype."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from directboost.baselines.adaboost_sip import AdaBoostSIP, _costs
from directboost.model.learners import CategoryStump, Conjunction
from tests.baselines.brute_force import first_largest, with_sign
from tests.baselines.pairs import (
    all_colourings,
    gradient,
    half_log_odds,
    pair_weights,
    rounds_of,
    twin,
    two_colours,
)
from tests.baselines.rows import errors_by_round, noisy, short_or_long, split

both = pytest.mark.parametrize("patterns", ["stumps", "conjunctions"])


def stepper(y, select, rate):
    def step(stumps, D, v):
        G = stumps.H @ gradient(D, y)
        if select == "l1":
            place = first_largest(np.abs(G).sum(axis=1))
        else:
            place = first_largest(-np.array([cost(D, y, with_sign(g), h) for g, h in
                zip(G, stumps.H, strict=True)]))  # fmt: skip
        mu = with_sign(np.where(np.abs(G[place]) > 1e-15, G[place], 0.0))
        _, d, b = two_colours(D, y, mu)
        a = rate * half_log_odds(d[stumps.H[place] != b].sum())
        return place, -a / 2.0 * mu, a / 2.0 * mu

    return step


def cost(D, y, mu, h):
    """Return Z = 1 - U + 2 U sqrt(e (1 - e))."""
    if abs(mu.sum()) == mu.size:
        return 1.0
    U, d, b = two_colours(D, y, mu)
    e = d[h != b].sum()
    return 1.0 - U + 2.0 * U * np.sqrt(e * (1.0 - e))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("select", ["l1", "cost"])
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_five_rounds_are_those_of_the_twin(weighted, k, select, rate):
    X, y, weight = noisy(m=80, k=k, weighted=weighted)
    model = AdaBoostSIP(5, select=select, learning_rate=rate).fit(X, y, weight)
    step = stepper(y, select, rate)
    for F, scores in zip(
        twin(X, y, weight, 5, step), model.staged_decision_function(X), strict=True
    ):
        np.testing.assert_allclose(scores, F, rtol=1e-9, atol=1e-10)


@both
@pytest.mark.parametrize("select", ["l1", "cost"])
def test_identities_of_every_round(patterns, select):
    """sum abs(G_j) = 2 U (1 - 2 e), no colours are better for h, and Z is that of ECC."""
    X, y, weight = noisy(m=120, k=5, d=4, weighted=True)
    model = AdaBoostSIP(20, patterns=patterns, select=select).fit(X, y, weight)
    v, product = weight / weight.sum(), 1.0
    for before, F, h, mu, record in rounds_of(model, X):
        D, total = pair_weights(before, y, v)
        D /= total
        G = h @ gradient(D, y)
        U, _, _ = two_colours(D, y, mu)
        assert np.abs(G).sum() == pytest.approx(2.0 * U * (1.0 - 2.0 * record.error), abs=1e-10)
        for other in all_colourings(5):
            W, d, b = two_colours(D, y, other)
            assert W * abs(1.0 - 2.0 * d[h != b].sum()) <= np.abs(G).sum() / 2.0 + 1e-10
        product *= cost(D, y, mu, h)
        assert record.objective == pytest.approx(product, rel=1e-8)
        assert pair_weights(F, y, v)[1] == pytest.approx(product, rel=1e-8)
        assert v[F.argmax(axis=1) != y].sum() <= 4.0 * product + 1e-12


def test_the_colours_are_the_best_of_all_on_digits():
    X, _, y, _ = split("digits")
    model = AdaBoostSIP(3).fit(X, y)
    v = np.full(y.size, 1.0 / y.size)
    for before, _, h, mu, _ in rounds_of(model, X):
        D, total = pair_weights(before, y, v)
        G = h @ gradient(D / total, y)
        assert mu @ G == pytest.approx(np.abs(all_colourings(10) @ G).max(), rel=1e-9)


def test_cost_lowers_the_objective_of_the_first_round():
    X, _, y, _ = split("digits")
    l1, least = (AdaBoostSIP(1, select=select).fit(X, y) for select in ("l1", "cost"))
    assert least.history_[0].objective <= l1.history_[0].objective + 1e-12


def test_rounding_does_not_decide_between_perfect_patterns():
    """Z = 1 - U where no error is left, whatever the last digit of the edge."""
    G = np.array([[1.0, -1.0], [1.0 - 2e-16, -1.0 + 2e-16]])
    Z = _costs(G, np.abs(G).sum(axis=1), np.array([[0.0, 0.3], [0.7, 0.0]]))
    np.testing.assert_allclose(Z, 0.0, atol=1e-12)


@pytest.mark.parametrize("select", ["l1", "cost"])
def test_a_small_edge_is_preferred_to_none(select):
    """Costs that differ by rounding only are no reason to take a pattern without an edge."""
    X = np.array([[a, b] for _ in range(2) for a in (0.0, 1.0) for b in (0.0, 1.0)])
    y = np.repeat([0, 1], 4)
    weight = 1.0 + 1e-7 * np.where(X[:, 1] == y, 1.0, -1.0)
    model = AdaBoostSIP(1, select=select).fit(X, y, weight)
    assert model.learners_[0].feature == 1
    assert model.history_[0].error == pytest.approx(0.5 - 0.5e-7, abs=1e-10)


def with_gaps(X):
    gaps = np.random.default_rng(1).random(X.shape) < 0.2
    return np.where(gaps, np.nan, X)


def test_conjunctions_of_sparse_rows_with_gaps():
    """Sparse and dense rows give one model, and it predicts both alike."""
    X, y, weight = noisy(m=150, k=3, d=6, weighted=True)
    X = with_gaps(np.where(np.abs(X) < 0.7, 0.0, X))
    model = AdaBoostSIP(15, patterns="conjunctions", max_len=3)
    dense, sparse = model.fit(X, y, weight), AdaBoostSIP(**model.get_params())
    sparse.fit(csr_array(X), y, weight)
    assert dense.learners_ == sparse.learners_
    assert any(isinstance(h, Conjunction) for h in dense.learners_)
    F = dense.decision_function(X)
    np.testing.assert_allclose(sparse.decision_function(csr_array(X)), F, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(list(sparse.staged_decision_function(csr_array(X)))[-1], F,
        rtol=1e-9, atol=1e-10)  # fmt: skip


def test_conjunctions_of_levels():
    """Two categories that tell the class only together are joined."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(240, 2)).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 2)).astype(int)
    model = AdaBoostSIP(1, patterns="conjunctions", categorical_features=[0, 1]).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.learners_ == [Conjunction((CategoryStump(0, 1.0, 1), CategoryStump(1, 2.0, 1)))]
    assert model.n_features_used_ == 2


def test_the_order_of_features_does_not_matter():
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    X, weight = random.normal(size=(120, 4)) + y[:, None], random.uniform(0.5, 1.5, size=120)
    order = [2, 0, 3, 1]
    model = AdaBoostSIP(10, patterns="conjunctions", max_len=3)
    F = model.fit(X, y, weight).decision_function(X)
    assert any(isinstance(h, Conjunction) for h in model.learners_)
    other = model.fit(X[:, order], y, weight).decision_function(X[:, order])
    np.testing.assert_allclose(other, F, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "value"), [("patterns", "trees"), ("select", "l2"), ("max_len", 1)]
)
def test_parameters_are_checked(name, value):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        AdaBoostSIP(2, **{name: value}).fit(X, y)


# The figures with conjunctions are of a run without the constant: within three points.
@short_or_long
@pytest.mark.parametrize(
    ("patterns", "at_100", "at_500", "within"),
    [("stumps", 7.3, 4.7, 2.0), ("conjunctions", 6.0, 3.8, 3.0)],
)
def test_digits_as_in_the_prototype(patterns, at_100, at_500, within, n_rounds):
    X, X_test, y, y_test = split("digits")
    model = AdaBoostSIP(n_rounds, patterns=patterns).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=within)
    assert n_rounds < 500 or errors[499] == pytest.approx(at_500, abs=within)
    assert model.n_learners_ == n_rounds
