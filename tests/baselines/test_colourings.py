"""Colours of the classes: how they are drawn, cut best, and drawn again."""

from itertools import combinations, product

import numpy as np
import pytest

from directboost.baselines.adaboost_oc import AdaBoostECC
from directboost.baselines.colouring import coin, half, max_cut
from directboost.history import Status
from tests.baselines.pairs import all_colourings, rounds_of


def cut(S, mu):
    return S[np.ix_(mu > 0, mu < 0)].sum() + S[np.ix_(mu < 0, mu > 0)].sum()


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_half_of_the_classes(k):
    """The first floor(k / 2) of a permutation; every class is drawn as often as another."""
    order = np.random.RandomState(5).permutation(k)
    mu = half(k, np.random.RandomState(5))
    assert set(np.flatnonzero(mu > 0)) == set(order[: k // 2])
    random = np.random.RandomState(0)
    share = np.mean([half(k, random) > 0 for _ in range(2000)], axis=0)
    np.testing.assert_allclose(share, (k // 2) / k, atol=0.05)


def test_coins_are_fair_but_not_all_equal():
    random = np.random.RandomState(0)
    drawn = np.array([coin(3, random) for _ in range(3000)])
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(found) == 6
    np.testing.assert_allclose(counts / 3000, 1.0 / 6.0, atol=0.03)


@pytest.mark.parametrize("k", [2, 3, 6, 10, 13])
@pytest.mark.parametrize("seed", range(3))
def test_the_maximal_cut_is_exact(k, seed):
    S = np.random.default_rng(seed).random(size=(k, k))
    np.fill_diagonal(S, 0.0)
    best = max(cut(S, mu) for mu in all_colourings(k))
    assert cut(S, max_cut(S)) == pytest.approx(best, rel=1e-12)


def test_thirteen_classes_are_cut_exactly_and_fourteen_greedily():
    """Two hidden groups that are confused with each other alone are found by both."""
    for k in (13, 14, 40):
        mu = half(k, np.random.RandomState(k))
        S = np.random.default_rng(k).exponential(size=(k, k)) * (mu[:, None] != mu)
        found = max_cut(S)
        assert abs(found @ mu) == k


@pytest.mark.parametrize("seed", range(5))
def test_a_greedy_cut_has_half_of_the_weight(seed):
    S = np.random.default_rng(seed).exponential(size=(20, 20))
    np.fill_diagonal(S, 0.0)
    assert cut(S, max_cut(S)) >= S.sum() / 2.0


def greedy(S):
    """Join groups, which are colours by class, in the order of the pairs; the heaviest first."""
    group = {c: {c: 1} for c in range(len(S))}
    for a, b in sorted(combinations(group, 2), key=lambda pair: -S[pair] - S[pair[::-1]]):
        one, other = group[a], group[b]
        if one is other:
            continue
        alike = sum(one[c] * other[r] * (S[c, r] + S[r, c]) for c, r in product(one, other))
        one |= {r: -colour if alike > 0 else colour for r, colour in other.items()}
        group |= dict.fromkeys(other, one)
    return np.array([group[0][c] for c in range(len(S))])


@pytest.mark.parametrize("seed", range(5))
def test_heavy_pairs_come_first(seed):
    S = np.random.default_rng(seed).random(size=(15, 15))
    assert abs(max_cut(S) @ greedy(S)) == 15


def test_heavy_pairs_are_parted():
    """Of 14 classes in pairs, each pair gets two colours, whatever lighter pairs say."""
    S = np.full((14, 14), 1e-3)
    for c in range(0, 14, 2):
        S[c, c + 1] = 1.0 + c
    mu = max_cut(S)
    np.testing.assert_array_equal(mu[::2], -mu[1::2])


class Counting(np.random.RandomState):
    """Counts the permutations."""

    count = 0

    def permutation(self, x):
        self.count += 1
        return super().permutation(x)


def test_colours_without_an_edge_are_drawn_again():
    """One feature tells classes 0, 1 from 2, 3: no other colouring has an edge."""
    y = np.arange(16) % 4
    X = (y >= 2).astype(float)[:, None]
    random = Counting(2)
    model = AdaBoostECC(30, random_state=random).fit(X, y)
    used = [mu for _, _, _, mu, _ in rounds_of(model, X)]
    assert all(abs(mu @ [1, 1, -1, -1]) == 4 for mu in used)
    assert model.status_ is Status.NO_EDGE
    assert 1 < model.n_iter_ < 6  # each clipped vote leaves 1e-5 of the weight in U
    assert random.count > model.n_iter_ + 21


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_twenty_more_draws_it_ends():
    random = Counting(0)
    model = AdaBoostECC(30, random_state=random).fit(np.zeros((9, 1)), np.arange(9) % 3)
    assert random.count == 21
    assert (model.n_iter_, model.status_) == (0, Status.NO_EDGE)


def test_a_maximal_cut_without_an_edge_ends():
    """After the one round that tells 0, 1 from 2, 3 the heaviest cut parts what looks alike."""
    y = np.arange(16) % 4
    X = (y >= 2).astype(float)[:, None]
    model = AdaBoostECC(30, partition="max_cut").fit(X, y)
    assert (model.n_iter_, model.status_) == (1, Status.NO_EDGE)
    assert abs(np.sign(model.weights_[0]) @ [1, 1, -1, -1]) == 4
