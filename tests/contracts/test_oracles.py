"""Contract of exact oracles: no weak classifier of the dictionary has a higher price."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.data.binning import bin_features
from directboost.kernels.threads import Team
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import OneVsAll, Pairwise
from directboost.oracles import StumpOracle
from directboost.penalties import L1, GroupNorm, Penalty
from tests.reference.stumps import enumerate_dictionary, prices


class WeightedSum(Penalty):
    """N(w) = sum_r (r + 1) w_r, a norm outside the l1,p family."""

    name = "weighted"

    def norms(self, W):
        return W @ np.arange(1.0, W.shape[1] + 1.0)

    def prox(self, V, step):
        return np.maximum(V - np.reshape(step, (-1, 1)) * np.arange(1.0, V.shape[1] + 1.0), 0.0)

    def dual_norm(self, E):
        return np.maximum(E / np.arange(1.0, E.shape[1] + 1.0), 0.0).max(axis=1)


PENALTIES = {
    "l1": L1(),
    "l1,2": GroupNorm(2.0),
    "l1,inf": GroupNorm(math.inf),
    "l1,3": GroupNorm(3.0),
    "own": WeightedSum(),
}
every_oracle = pytest.mark.parametrize("make", [StumpOracle], ids=["stump"])
every_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES.keys())


def brute_force(X, costs, A, penalty):
    """Return the prices of the whole enumerated dictionary, and its responses H (m, n)."""
    H, kappa, _ = enumerate_dictionary(X, costs[:-1])
    if penalty.p is not None:
        return prices(H, kappa, A, penalty.p), H
    shares = (H.T @ A) / np.arange(1.0, A.shape[1] + 1.0)
    return np.maximum(shares, 0.0).max(axis=1) / kappa, H


def draw(seed, m=14, d=3, k=3):
    """Draw data with ties, missing values, equal features and unequal costs."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 0.0, 0.5, 2.0, np.nan], (m, d), p=[0.3, 0.2, 0.2, 0.2, 0.1])
    X[:, 0] = np.nan_to_num(X[:, 0])
    if seed % 3 == 0:
        X[:, 2] = X[:, 1]
    costs = np.append(rng.choice([0.3, 1.0, 2.5], d), 1.0)
    return X, costs, rng.normal(size=(m, k))


def price_of(proposals, j, oracle, A, penalty, costs):
    """Return the price of proposal j from its response to the rows."""
    key = int(proposals.feature[j]), int(proposals.threshold[j]), int(proposals.polarity[j])
    E = oracle.binned.response(*key) @ A
    return float(penalty.dual_norm(E[None, :])[0] / costs[key[0]])


@every_oracle
@every_penalty
@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_max_price_equals_brute_force(make, penalty, seed, k):
    """With ties, missing values and costs too; the first proposal attains it."""
    X, costs, A = draw(seed, k=k)
    oracle = make(bin_features(X, np.ones(len(X)), None), costs)
    pricing = oracle.price(A, penalty)
    expected = brute_force(X, costs, A, penalty)[0].max()
    assert pricing.max_price == pytest.approx(expected, rel=1e-12)
    assert abs(pricing.max_price - expected) <= pricing.rounding
    first = price_of(pricing.proposals, 0, oracle, A, penalty, costs)
    assert first == pytest.approx(expected, rel=1e-11)


@every_oracle
@every_penalty
@given(seed=st.integers(0, 10**6))
def test_proposals_are_the_best_column_of_every_feature(make, penalty, seed):
    """One proposal per feature and for the constant, at the stated price, best first."""
    X, costs, A = draw(seed)
    oracle = make(bin_features(X, np.ones(len(X)), None), costs)
    proposals = oracle.price(A, penalty).proposals
    assert sorted(proposals.feature.tolist()) == [0, 1, 2, 3]
    assert (np.diff(proposals.price) <= 1e-11).all()
    for j, f in enumerate(proposals.feature.tolist()):
        single = X[:, [f]] if f < 3 else X[:, :0]
        best, _ = brute_force(single, np.append(costs[f], 1.0), A, penalty)
        best = best[:-2] if f < 3 else best  # without the constant, which comes last
        assert proposals.price[j] == pytest.approx(best.max(initial=0.0), rel=1e-11, abs=1e-13)
        found = price_of(proposals, j, oracle, A, penalty, costs)
        assert found == pytest.approx(proposals.price[j], rel=1e-11, abs=1e-13)


@every_oracle
@every_penalty
@pytest.mark.paper("Eq. 23")
@given(seed=st.integers(0, 10**6))
def test_the_rule_of_the_paper_uses_the_best_single_class(make, penalty, seed):
    """Proposals are ordered by the largest edge of a class; max_price does not change."""
    X, costs, A = draw(seed, k=5)
    oracle = make(bin_features(X, np.ones(len(X)), None), costs)
    exact, paper = oracle.price(A, penalty), oracle.price(A, penalty, "paper")
    assert paper.max_price == exact.max_price
    singles, _ = brute_force(X, costs, A, L1())
    assert price_of(paper.proposals, 0, oracle, A, L1(), costs) == pytest.approx(
        singles.max(), rel=1e-11
    )
    assert paper.proposals.price[0] == pytest.approx(singles.max(), rel=1e-12)


@every_oracle
def test_the_two_rules_differ_for_group_penalties(make):
    """Feature 0 has a large edge for one class, feature 1 a fair one for all four."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    wide, tall = X[:, 1] * 2 - 1, X[:, 0] * 2 - 1
    A = np.outer(tall, [1.5, 0, 0, 0]) + np.outer(wide, [1.0, 1.0, 1.0, 1.0])
    oracle = make(bin_features(X, np.ones(4), None), np.ones(3))
    for penalty in (GroupNorm(2.0), GroupNorm(math.inf)):
        assert oracle.price(A, penalty).proposals.feature[0] == 1
        assert oracle.price(A, penalty, "paper").proposals.feature[0] == 0


@every_oracle
@pytest.mark.parametrize(
    ("loss", "margin"),
    [
        pytest.param("hinge", Pairwise, marks=pytest.mark.paper("Eq. 8")),
        pytest.param("exponential", Pairwise, marks=pytest.mark.paper("Eq. 14")),
        pytest.param("logistic", OneVsAll, marks=pytest.mark.paper("Eq. 64")),
    ],
)
def test_the_best_weak_classifier_of_the_paper(make, loss, margin, blobs_missing):
    """argmax over h and r of sum_i h(x_i) A_ir, with A computed from the weights U.

    A_ir is [r = y_i] sum_l U_il - U_ir for pairwise and t_ir U_ir for one-vs-all margins.
    """
    data, k = blobs_missing, blobs_missing.k
    m = len(data.y)
    the_margin = margin.from_codes(data.y, k)
    rows = SampleWeights.weighted(data.s, k, the_margin.true_class)
    rng = np.random.default_rng(5)
    U = LOSSES[loss]().negative_gradient(the_margin.forward(rng.normal(size=(m, k))), rows)
    H, _, _ = enumerate_dictionary(data.X)
    best = -np.inf
    for h in H.T:
        for r in range(k):
            if margin is Pairwise:
                terms = [h[i] * ((data.y[i] == r) * U[i].sum() - U[i, r]) for i in range(m)]
            else:
                terms = [h[i] * (1 if data.y[i] == r else -1) * U[i, r] for i in range(m)]
            best = max(best, math.fsum(terms))
    oracle = make(bin_features(data.X, data.s, None), np.ones(4))
    pricing = oracle.price(the_margin.adjoint(U), L1(), "paper")
    assert pricing.max_price == pytest.approx(best, rel=1e-12)
    assert pricing.proposals.price[0] == pytest.approx(best, rel=1e-12)


@every_oracle
@every_penalty
def test_ties_go_to_the_lowest_feature_threshold_and_plus(make, penalty):
    """Equal features, thresholds and polarities; the constant is last."""
    x = np.array([0.0, 1.0, 2.0, np.nan])
    A = np.array([[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0], [0.0, 0.0]])
    if penalty.p is None:
        A[:, 1] *= 2.0  # its dual norm halves the second class
    oracle = make(bin_features(np.stack([x, x, x], axis=1), np.ones(4), None), np.ones(4))
    pricing = oracle.price(A, penalty)
    assert pricing.proposals.feature.tolist() == [0, 1, 2, 3]
    assert pricing.proposals.threshold.tolist()[:3] == [0, 0, 0]
    assert pricing.proposals.polarity.tolist()[:3] == [1, 1, 1]
    assert pricing.max_price == pytest.approx(float(penalty.dual_norm(np.array([[2.0, 0.0]]))[0]))


@every_oracle
@every_penalty
def test_prices_within_rounding_are_ties(make, penalty):
    """A later feature that is better by 1e-14 comes second, by 1e-9 first."""
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    A = np.array([[-1.0], [1.0]])
    for excess, first in ((1e-14, 0), (1e-9, 1)):
        oracle = make(bin_features(X, np.ones(2), None), np.array([1.0, 1.0 - excess, 1.0]))
        assert oracle.price(A, penalty).proposals.feature[0] == first


@every_oracle
@every_penalty
def test_the_constant_is_priced_with_its_own_cost(make, penalty):
    """If all coefficients have one sign the constant, of index d, beats every stump."""
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0]])
    A = np.array([[1.0, -0.2], [2.0, -0.2], [3.0, -0.2]])
    oracle = make(bin_features(X, np.ones(3), None), np.array([1.0, 1.0, 1.0]))
    pricing = oracle.price(A, penalty)
    assert pricing.proposals.feature[0] == 2
    assert (pricing.proposals.threshold[0], pricing.proposals.polarity[0]) == (0, 1)
    expected = float(penalty.dual_norm(np.array([[6.0, -0.6]]))[0])
    assert pricing.max_price == pytest.approx(expected)
    dear = make(bin_features(X, np.ones(3), None), np.array([1.0, 1.0, 4.0]))
    assert dear.price(A, penalty).proposals.feature[0] == 0


@every_oracle
@every_penalty
def test_rounding_is_a_bound(make, penalty, rng):
    """It is positive and small, and covers the effect of the order of summation."""
    X, k = rng.normal(size=(300, 2)), 4
    A = rng.normal(size=(300, k)) * 10.0 ** rng.uniform(-8, 0, (300, 1))
    oracle = make(bin_features(X, np.ones(300), None), np.ones(3))
    pricing = oracle.price(A, penalty)
    assert 0.0 < pricing.rounding < 1e-9 * pricing.max_price
    for _ in range(5):
        order = rng.permutation(300)
        other = make(bin_features(X[order], np.ones(300), None), np.ones(3)).price(
            A[order], penalty
        )
        assert abs(other.max_price - pricing.max_price) <= pricing.rounding
    exact = [
        [math.fsum(h * a for h, a in zip(response, column, strict=True)) for column in A.T]
        for f in range(3)
        for response in (
            oracle.binned.response(f, j, s)
            for j in range(oracle.binned.n_thresholds(f))
            for s in (1, -1)
        )
    ]
    assert abs(penalty.dual_norm(np.array(exact)).max() - pricing.max_price) <= pricing.rounding


@every_oracle
def test_zero_coefficients(make):
    """Zero coefficients give price zero; features without a stump propose nothing."""
    X = np.array([[1.0], [1.0]])
    oracle = make(bin_features(X, np.ones(2), None), np.ones(2))
    pricing = oracle.price(np.zeros((2, 2)), L1())
    assert pricing.max_price == 0.0
    assert not (pricing.proposals.price > 0.0).any()


@every_oracle
@every_penalty
def test_single_precision_is_close(make, penalty, rng):
    X, A = rng.normal(size=(200, 3)), rng.normal(size=(200, 4))
    oracle = make(bin_features(X, np.ones(200), None), np.ones(4))
    single = oracle.price(A.astype(np.float32), penalty).max_price
    assert single == pytest.approx(oracle.price(A, penalty).max_price, rel=1e-5)


def test_memory_order_and_threads_change_nothing(rng):
    X, A = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 4))
    binned = bin_features(X, np.ones(2000), 30)
    alone = StumpOracle(binned, np.ones(4)).price(A, GroupNorm(2.0))
    with Team(2) as team:
        other = StumpOracle(binned, np.ones(4), team).price(np.asfortranarray(A), GroupNorm(2.0))
    assert alone.max_price == other.max_price
    np.testing.assert_array_equal(alone.proposals.threshold, other.proposals.threshold)


@every_oracle
def test_the_name_of_the_dictionary(make, rng):
    X = rng.normal(size=(20, 2))
    assert make(bin_features(X, np.ones(20), None), np.ones(3)).dictionary == "all stumps"
    assert make(bin_features(X, np.ones(20), 5), np.ones(3)).dictionary == "binned stumps"
