"""Conjunctions as weak classifiers, and the pool of stumps and conjunctions."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csc_array

from directboost.baselines.adaboost_sip import make_pattern_pool
from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Conjunction, Stump
from tests.baselines.problems import problem_of
from tests.baselines.rows import noisy

RULE = Conjunction((Stump(0, 1.0, 1, False), Stump(2, 0.5, -1, True)))
X = np.array([[2.0, 0, 0], [2, 0, 1], [1, 0, 0], [np.nan, 0, 0], [2, 0, np.nan]])


def test_all_items_must_hold():
    """A missing value is neither above nor below a threshold."""
    np.testing.assert_array_equal(RULE.predict(X), [1, -1, -1, -1, -1])
    np.testing.assert_array_equal(RULE.predict(csc_array(X)), [1, -1, -1, -1, -1])
    assert RULE.features == (0, 2)


def test_levels_in_conjunctions():
    rule = Conjunction((CategoryStump(0, 2.0, 1), CategoryStump(2, 1.0, -1)))
    np.testing.assert_array_equal(rule.predict(X), [1, -1, -1, -1, 1])


@pytest.mark.parametrize(
    ("rule", "name", "words"),
    [
        (RULE, "age, height", "age > 1 and height <= 0.5"),
        (RULE, "2 features at once", "x0 > 1 and x2 <= 0.5"),
        (Conjunction((Stump(1, 1.0, 1, False), Stump(1, 2.0, -1, True))), "size",
         "size > 1 and size <= 2"),
    ],
)  # fmt: skip
def test_rules_in_words(rule, name, words):
    assert rule.describe(name) == words


def test_conjunctions_are_values():
    assert Conjunction((Stump(0, 1.0, 1, False), Stump(2, 0.5, -1, True))) == RULE
    assert pickle.loads(pickle.dumps(RULE)) == RULE


def test_an_ensemble_with_conjunctions():
    ensemble = Ensemble([RULE, Stump(1, 0.5, 1, True)], np.array([[1.0, 2.0], [0.5, 0.0]]))
    h = RULE.predict(X)
    expected = np.column_stack([h - 0.5, 2.0 * h])
    np.testing.assert_allclose(ensemble.scores(X), expected)
    np.testing.assert_allclose(ensemble.scores(csc_array(X)), expected)
    assert ensemble.features.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"x0 > 1 and x2 <= 0\.5"):
        ensemble.contributions(X)


def test_the_pool_has_stumps_and_conjunctions():
    rows, y, weight = noisy(m=90, d=4, weighted=True)
    problem = problem_of(rows, y, weight)
    pool, n = make_pattern_pool(problem, 2), len(problem.search)
    G = np.random.default_rng(0).normal(size=(90, 3))
    edges = pool.edges(G)
    np.testing.assert_array_equal(edges[:n], problem.search.edges(G))
    assert len(edges) > n + 10
    for place in (0, n - 1, n, len(edges) - 1):
        h = pool.learner(place).predict(rows)
        np.testing.assert_array_equal(h > 0, pool.right(place))
        np.testing.assert_allclose(edges[place], h @ G, atol=1e-12)
    assert isinstance(pool.learner(n), Conjunction)


def test_a_pool_without_conjunctions():
    problem = problem_of(np.ones((4, 2)), np.arange(4) % 2, np.ones(4))
    pool = make_pattern_pool(problem, 3)
    np.testing.assert_allclose(pool.edges(np.ones((4, 2))), [[4.0, 4.0]])


def test_many_rows_are_summed_part_by_part(monkeypatch):
    rows, y, weight = noisy(m=90, d=4)
    pool = make_pattern_pool(problem_of(rows, y, weight), 2)
    G = np.random.default_rng(0).normal(size=(90, 3))
    whole = pool.edges(G)
    monkeypatch.setattr("directboost.baselines.adaboost_sip._POOL_BATCH", 200)
    np.testing.assert_allclose(pool.edges(G), whole, atol=1e-13)
