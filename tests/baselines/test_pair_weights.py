"""The weights of pairs: gradients, and what one step along a coordinate does."""

import numpy as np
import pytest

from directboost.baselines.multiboost_cw import PairWeights
from directboost.baselines.stump_search import BoostingProblem, StumpSearch
from directboost.data.binning import bin_features
from tests.baselines.rows import noisy


class Rows:
    """A small problem with what the formulas say of it."""

    def __init__(self, nu, k=3, weighted=True):
        X, y, weight = noisy(k=k, weighted=weighted)
        self.y, self.k, self.weight, self.nu = y, k, weight, nu
        self.search = StumpSearch(bin_features(X, np.ones(y.size), None))
        problem = BoostingProblem(
            self.search, y, weight / weight.sum(), k, weight.sum(), X, np.random.RandomState(0)
        )
        self.pairs, self.known = PairWeights(problem, nu), []

    def F(self):
        F = np.zeros((self.y.size, self.k))
        for one in self.known:
            h = np.where(self.search.right(one.place), 1.0, -1.0)
            F[:, one.label] += one.weight * one.polarity * h
        return F

    def mu(self):
        F = self.F()
        own = F[np.arange(self.y.size), self.y]
        mu = self.weight[:, None] * np.exp(F - own[:, None])
        mu[np.arange(self.y.size), self.y] = 0.0
        return mu

    def objective(self):
        return self.mu().sum() + self.nu * sum(one.weight for one in self.known)

    def sums(self, one):
        """Return V+ and V- of a coordinate as the weights are, and the sum of all others."""
        mu = self.mu()
        h = one.polarity * np.where(self.search.right(one.place), 1.0, -1.0)
        response = np.zeros_like(mu)
        response[self.y == one.label] = h[self.y == one.label, None]
        response[self.y != one.label, one.label] = -h[self.y != one.label]
        return tuple(mu[response == sign].sum() for sign in (1.0, -1.0, 0.0))


@pytest.mark.parametrize("nu", [0.0, 0.5])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_weights_follow_the_scores(nu, k):
    rows = Rows(nu, k)
    assert rows.pairs.total == pytest.approx(rows.weight.sum() * (k - 1))
    for _ in range(4):
        mu = rows.mu()
        V = np.eye(k)[rows.y] * mu.sum(axis=1, keepdims=True) - mu
        np.testing.assert_allclose(rows.pairs.gradients(), V, rtol=1e-9, atol=1e-12)
        new = rows.pairs.best_coordinates()
        rows.known += new
        for one in new:
            rows.pairs.solve(one)
        assert rows.pairs.total == pytest.approx(rows.mu().sum(), rel=1e-9)
        assert rows.pairs.update_total() == pytest.approx(rows.mu().sum(), rel=1e-9)


def test_a_stage_wise_step_leaves_twice_the_root():
    """Of V+ and V- there is 2 sqrt(V+ V-) afterwards; the rest stays as it is."""
    rows = Rows(0.0)
    steps = 0
    for _ in range(5):
        for one in rows.pairs.best_coordinates():
            rows.known.append(one)
            gain, loss, rest = rows.sums(one)
            before = rows.objective()
            rows.pairs.solve(one)
            if gain > loss:
                steps += 1
                assert rows.objective() == pytest.approx(rest + 2.0 * np.sqrt(gain * loss))
                assert one.weight == pytest.approx(np.log(gain / loss) / 2.0, rel=1e-6)
            else:
                assert one.weight == 0.0
            assert rows.objective() <= before * (1.0 + 1e-12)
    assert steps >= 5


@pytest.mark.parametrize("nu", [1e-5, 0.7])
def test_no_step_raises_the_objective(nu):
    """And none leaves a slope: V+ - V- = nu where the weight is positive, at most nu else."""
    rows, random = Rows(nu), np.random.default_rng(0)
    for _ in range(8):
        new = rows.pairs.best_coordinates()
        rows.known += new
        for one in [*new, *random.permutation(rows.known)]:
            before = rows.objective()
            rows.pairs.solve(one)
            assert rows.objective() <= before * (1.0 + 1e-12)
            gain, loss, _ = rows.sums(one)
            slope = gain - loss - nu
            assert slope <= 1e-9
            assert one.weight == 0.0 or abs(slope) < 1e-9


def test_a_stump_without_errors():
    """The price alone bounds its weight, at ln(V+ / nu); without a price a relative floor does."""
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])
    for nu, expected in ((0.25, np.log(3.0 / 0.25)), (0.0, np.log(1e10) / 2.0)):
        search = StumpSearch(bin_features(X, np.ones(3), None))
        random = np.random.RandomState(0)
        pairs = PairWeights(BoostingProblem(search, y, np.full(3, 1 / 3), 2, 3.0, X, random), nu)
        first, second = pairs.best_coordinates()
        assert pairs.solve(first) == pytest.approx(expected, rel=1e-9)
        assert (first.polarity, second.polarity) == (-1, 1)


def test_rates_and_scales():
    whole, part = Rows(0.0), Rows(0.0)
    one, other = whole.pairs.best_coordinates()[1], part.pairs.best_coordinates()[1]
    part.pairs.rescale()
    assert part.pairs.mu.sum() == pytest.approx(1.0)
    assert part.pairs.solve(other, 0.25) == pytest.approx(whole.pairs.solve(one) / 4.0, rel=1e-9)
