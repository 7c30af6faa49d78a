"""The search for conjunctions against a search through all of them."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.stats import entropy

from directboost.baselines.adaboost_sip import _gains, mine_conjunctions
from directboost.model.learners import CategoryStump, Stump
from tests.baselines.problems import problem_of
from tests.baselines.rows import noisy


def third(x, weight, share):
    """Return the quantile of the rows, each as often as its weight says."""
    values = np.sort(np.repeat(x[~np.isnan(x)], weight[~np.isnan(x)].astype(int)))
    return float(values[int(np.ceil(share * values.size - 1e-9)) - 1])


def all_items(X, weight):
    """Return the frequent items of rows of numbers."""
    v, found = weight / weight.sum(), []
    for f in range(X.shape[1]):
        for q in sorted({third(X[:, f], weight, share) for share in (1 / 3, 2 / 3)}):
            found += [Stump(f, q, 1, False), Stump(f, q, -1, True)]
    return [item for item in found if 0.05 <= v[item.predict(X) > 0].sum() <= 0.95]


def holds(items, X):
    return np.logical_and.reduce([item.predict(X) > 0 for item in items])


def gain(side, y, v):
    """Return the information that a side gives about y: an entropy less the mean of two."""
    k = y.max() + 1
    parts = [np.bincount(y[rows], v[rows], k) for rows in (side, ~side)]
    after = sum(part.sum() * entropy(part) for part in parts)
    return entropy(parts[0] + parts[1]) - after


def all_conjunctions(X, y, weight, max_len):
    """Return the gain of every admissible conjunction."""
    v, items = weight / weight.sum(), all_items(X, weight)
    last, found = {(item,): 0.0 for item in items}, {}
    for length in range(2, max_len + 1):
        longer = {}
        for chosen in combinations(items, length):
            side = holds(chosen, X)
            if not 0.05 <= v[side].sum() <= 0.95:
                continue
            for item in chosen:
                base = tuple(other for other in chosen if other != item)
                fewer = min(v[holds(base, X)].sum(), v[holds([item], X)].sum())
                if base in last and v[side].sum() < fewer - 1e-12:
                    longer[chosen] = gain(side, y, v)
        last = longer
        found |= longer
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_len", [2, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_all_conjunctions_are_found_in_the_order_of_their_gain(weighted, max_len, gaps):
    X, y, weight = noisy(m=90, d=3, weighted=weighted)
    if gaps:
        X = np.where(np.random.default_rng(3).random(X.shape) < 0.2, np.nan, X)
    found = mine_conjunctions(problem_of(X, y, weight), max_len)
    expected = all_conjunctions(X, y, weight, max_len)
    assert len(found[0]) == len(expected) > 20
    assert set(found[0]) == set(expected)
    gains = [expected[items] for items in found[0]]
    np.testing.assert_allclose(gains, sorted(gains, reverse=True), atol=1e-11)
    for items, rows in zip(*found, strict=True):
        np.testing.assert_array_equal(rows, holds(items, X))


def test_only_the_best_are_kept_and_extended(monkeypatch):
    X, y, weight = noisy(m=90, d=3, weighted=True)
    problem = problem_of(X, y, weight)
    every = mine_conjunctions(problem, 2)
    monkeypatch.setattr("directboost.baselines.adaboost_sip.MAX_CONJUNCTIONS", 5)
    assert mine_conjunctions(problem, 2)[0] == every[0][:5]
    triples = [items for items in mine_conjunctions(problem, 3)[0] if len(items) == 3]
    assert len(mine_conjunctions(problem, 3)[0]) == 5
    assert triples
    for items in triples:
        assert any(set(pair) < set(items) for pair in every[0][:5])


def test_the_batch_size_does_not_matter(monkeypatch):
    X, y, weight = noisy(m=90, d=3, weighted=True)
    problem = problem_of(X, y, weight)
    whole = mine_conjunctions(problem, 3)
    monkeypatch.setattr("directboost.baselines.adaboost_sip._MINING_BATCH", 300)
    assert mine_conjunctions(problem, 3)[0] == whole[0]


def test_weights_are_repetitions():
    X, y, weight = noisy(m=60, weighted=True)
    times = weight.astype(int)
    repeated = problem_of(np.repeat(X, times, axis=0), np.repeat(y, times), np.ones(times.sum()))
    assert mine_conjunctions(problem_of(X, y, weight), 2)[0] == mine_conjunctions(repeated, 2)[0]


def test_sparse_rows_give_the_same_conjunctions():
    X, y, weight = noisy(m=80, d=4, weighted=True)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    X[::7, 1] = np.nan
    dense = mine_conjunctions(problem_of(X, y, weight), 2)
    sparse = mine_conjunctions(problem_of(csc_array(X), y, weight), 2)
    assert dense[0] == sparse[0]
    np.testing.assert_array_equal(dense[1], sparse[1])


def test_items_of_categories_are_single_levels():
    """Levels are unordered, so they have no thresholds."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 4, size=100), random.normal(size=100)])
    y, weight = np.arange(100) % 3, np.ones(100)
    found = mine_conjunctions(problem_of(X, y, weight, np.array([True, False])), 2)
    kinds = {(item.feature, type(item)) for items in found[0] for item in items}
    assert kinds == {(0, CategoryStump), (1, Stump)}
    for items, rows in zip(*found, strict=True):
        np.testing.assert_array_equal(rows, holds(items, X))


def test_a_feature_that_is_missing_in_all_rows_has_no_items():
    X, y, weight = noisy(m=60)
    found = mine_conjunctions(problem_of(np.column_stack([X, np.full(60, np.nan)]), y, weight), 2)
    assert found[0] == mine_conjunctions(problem_of(X, y, weight), 2)[0]


def test_constant_features_have_no_conjunctions():
    found = mine_conjunctions(problem_of(np.ones((6, 2)), np.arange(6) % 2, np.ones(6)), 3)
    assert found[0] == []
    assert found[1].shape == (0, 6)


def test_rounding_makes_no_gain_infinite():
    """0.1 + 0.2 exceeds 0.3 by rounding, so the difference is negative."""
    found = _gains(np.array([[0.1 + 0.2, 0.1]]), np.array([0.3, 0.7]))
    expected = entropy([0.3, 0.7]) - 0.4 * entropy([0.3, 0.1])
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_redundant_items_are_not_added():
    """An item that holds wherever the first one holds adds nothing."""
    x = np.arange(60.0)
    found = mine_conjunctions(problem_of(x[:, None], np.arange(60) % 2, np.ones(60)), 2)
    assert [sorted(item.polarity for item in items) for items in found[0]] == [[-1, 1]]
