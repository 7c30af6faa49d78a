"""The weights of pairs and their colours against the formulas."""

import numpy as np
import pytest

from directboost.baselines.colouring import ColouredPairs, best_colours
from directboost.baselines.stump_search import BoostingProblem
from tests.baselines.pairs import all_colourings, gradient, pair_weights, two_colours


def made(k=4, m=40, seed=0):
    """Return pairs after a step with random votes, what they follow, and labels and weights."""
    random = np.random.default_rng(seed)
    y, v = np.arange(m) % k, random.uniform(0.1, 1.0, size=m)
    v /= v.sum()
    pairs = ColouredPairs(BoostingProblem(None, y, v, k, float(m), None, None))
    right, votes = random.random(m) < 0.5, random.normal(size=(2, k))
    assert pairs.update(right, *votes)
    D, total = pair_weights(votes[right.astype(int)], y, v)
    return pairs, D / total, total, y


def test_a_step_follows_the_scores():
    pairs, D, total, y = made()
    assert pairs.objective == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(pairs.gradient(), gradient(D, y), atol=1e-15)
    confusion = [D[y == c].sum(axis=0) for c in range(4)]
    np.testing.assert_allclose(pairs.confusion(), confusion, atol=1e-15)


def test_the_binary_problems_of_all_colourings():
    pairs, D, _, y = made()
    for mu in all_colourings(4):
        U, d, b = two_colours(D, y, mu)
        problem = pairs.binary_problem(mu)
        assert pytest.approx(U, rel=1e-12) == problem.U
        np.testing.assert_allclose(problem.signed, b * d, atol=1e-15)
        np.testing.assert_allclose(pairs.gradient() @ mu, 2.0 * U * b * d, atol=1e-15)
        right = np.arange(y.size) % 3 == 0
        error = d[np.where(right, 1.0, -1.0) != b].sum()
        assert problem.error(right) == pytest.approx(error, rel=1e-12)
        assert problem.swapped().error(right) == pytest.approx(1.0 - error, rel=1e-12)


@pytest.mark.parametrize(("k", "U"), [(2, 1.0), (3, 2.0 / 3.0), (10, 25.0 / 45.0)])
def test_the_weight_between_halves_at_the_start(k, U):
    """U = floor(k / 2) ceil(k / 2) / (k (k - 1) / 2) for balanced classes."""
    y = np.arange(3 * k) % k
    pairs = ColouredPairs(
        BoostingProblem(None, y, np.full(3 * k, 1 / (3 * k)), k, 3.0 * k, None, None)
    )
    mu = np.where(np.arange(k) < k // 2, 1.0, -1.0)
    assert pytest.approx(U, rel=1e-12) == pairs.binary_problem(mu).U


def test_one_colour_alone_gives_a_task_without_weight():
    pairs, _, _, _ = made()
    problem = pairs.binary_problem(np.ones(4))
    assert problem.U == 0.0
    assert (problem.signed == 0.0).all()
    assert pairs.best_stump(np.ones(4)) is None


def test_colours_are_signs_and_rounding_counts_as_zero():
    G = np.array([[1.0, -1e-15, -1.0], [-2.0, 2.0, 0.0]])
    np.testing.assert_array_equal(best_colours(G), [[1, 1, -1], [-1, 1, 1]])


def test_weights_that_vanish_are_told():
    pairs, _, _, y = made(k=2)
    right = y == 1
    votes = np.array([-800.0, 800.0])
    with np.errstate(over="ignore"):
        assert not pairs.update(right, -votes, votes)
