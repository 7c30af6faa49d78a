"""The search over all stumps: sums by side, edges, and the best of them."""

import numpy as np
import pytest

from tests.baselines.brute_force import first_largest
from tests.baselines.problems import problem_of
from tests.baselines.rows import noisy


def search_of(seed=0):
    """Return a search over numbers, gaps and levels, and the predictions of all stumps, (n, m)."""
    X, y, weight = noisy(m=80, d=4, seed=seed)
    X[np.random.default_rng(seed).random(80) < 0.2, 1] = np.nan
    X[:, 3] = np.arange(80) % 5
    search = problem_of(X, y, weight, np.array([False, False, False, True])).search
    return search, np.array([np.where(search.right(n), 1.0, -1.0) for n in range(len(search))])


@pytest.mark.parametrize("q", [1, 2, 3, 10, 16, 17, 20, 33])
def test_sums_and_edges_of_any_number_of_columns(q):
    search, H = search_of()
    G = np.random.default_rng(1).normal(size=(80, q))
    left, total = search.left(G)
    np.testing.assert_allclose(left, (H < 0.0) @ G, atol=1e-12)
    np.testing.assert_allclose(total, G.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(search.edges(G), H @ G, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_every_column(seed):
    search, H = search_of(seed)
    G = np.random.default_rng(seed).normal(size=(80, 7))
    places, edges = search.best_stumps(G)
    E = H @ G
    assert places.tolist() == [first_largest(np.abs(column)) for column in E.T]
    np.testing.assert_allclose(edges, E[places, np.arange(7)], atol=1e-12)


def test_of_equal_stumps_the_first_is_taken():
    search, _ = search_of()
    places, edges = search.best_stumps(np.zeros((80, 3)))
    assert places.tolist() == [0, 0, 0]
    assert edges.tolist() == [0.0, 0.0, 0.0]
