"""The pricing of pairs: the compiled kernel against its twin, the twin against the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.kernels import price_pairs, reference
from directboost.kernels.step_functions import answers, n_thresholds
from directboost.kernels.threads import Team

NORMS = [1.0, 2.0, np.inf]


def draw(seed, m=40, n=5, k=3, dtype=np.float64):
    """Draw features of every kind; some categorical ones have a last code without a threshold."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n).astype(np.uint8)
    n_bins = rng.integers(2, 7, n).astype(np.int32)
    n_bins[kinds == 2] += 1
    counts = [n_thresholds(bins, kind) for bins, kind in zip(n_bins, kinds, strict=True)]
    counts -= (kinds == 2) * rng.integers(0, 2, n)
    codes = np.column_stack([rng.integers(0, bins, m) for bins in n_bins]).astype(np.uint8)
    pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.8] or [(0, 1)]
    pairs = np.array(pairs, dtype=np.int32)
    features = (np.ascontiguousarray(codes), n_bins, kinds, np.array(counts, dtype=np.int32))
    A = rng.normal(size=(m, k)).astype(dtype)
    return features, pairs, A, rng.choice([0.5, 1.0, 2.0], len(pairs))


def by_definition(features, pair, A, q):
    """Return the prices at cost 1 of all products of a pair, from their responses to the rows."""
    codes, n_bins, kinds, counts = features
    one, other = (answers(n_bins[f], kinds[f])[: counts[f], codes[:, f]] for f in pair)
    prices = []
    for first, second in itertools.product(one, other):
        edges = (first * second) @ A
        prices += [np.linalg.norm(np.maximum(sign * edges, 0.0), q) for sign in (1, -1)]
    return np.array(prices)


def peaks(prices, shape, first):
    """Return prices and places of the further products of a pair, by the definition."""
    rows = prices.reshape(shape[0], -1)
    best = rows.max(axis=1)
    found = []
    for row, own in enumerate(best):
        around = best[max(row - 1, 0) : row + 2]
        is_peak = own > 0.0 and own >= 0.8 * best.max() and own >= around.max()
        if is_peak and row != first // rows.shape[1]:
            found.append((-own, row, row * rows.shape[1] + int(np.argmax(rows[row]))))
    return [(-price, place) for price, _, place in sorted(found)]


@pytest.mark.parametrize("q", NORMS)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5))
def test_the_twin_follows_the_definition(q, seed, k):
    """The best price with the first product that attains it within a tie, then the peaks."""
    features, pairs, A, costs = draw(seed, k=k)
    price, thresholds, polarity = reference.price_pairs(*features, pairs, A, q, costs, 3)
    for i, pair in enumerate(pairs.tolist()):
        prices, counts = by_definition(features, pair, A, q), [int(features[3][f]) for f in pair]
        first = int(np.argmax(prices >= prices.max() * (1.0 - 1e-12)))
        expected = [(prices.max(), first), *peaks(prices, counts, first)][:3]
        values = [value / costs[i] for value, _ in expected] + [0.0] * (3 - len(expected))
        np.testing.assert_allclose(price[i], values, rtol=1e-12, atol=1e-14)
        for j in range(len(expected)):  # products that are equal may change places
            at = np.ravel_multi_index(thresholds[i, j], counts)
            value = prices[2 * at + (polarity[i, j] < 0)]
            assert value == pytest.approx(expected[j][0], rel=1e-12, abs=1e-14)
        at = np.ravel_multi_index(thresholds[i, 0], counts)
        assert 2 * at + (polarity[i, 0] < 0) == first


@pytest.mark.native
@pytest.mark.parametrize("q", NORMS)
@pytest.mark.parametrize("k", [1, 2, 8, 9, 17, 26, 40])
def test_the_kernel_equals_its_twin(q, k):
    """For every number of vectors of classes, with many partners of a feature and with few."""
    for seed, n in ((k, 4), (k + 1, 20)):
        features, pairs, A, costs = draw(seed, m=90, n=n, k=k)
        found, twin = (
            f(*features, pairs, A, q, costs, 4) for f in (price_pairs, reference.price_pairs)
        )
        np.testing.assert_allclose(found[0], twin[0], rtol=1e-12)
        np.testing.assert_array_equal(found[1], twin[1])
        np.testing.assert_array_equal(found[2], twin[2])
        assert n < 20 or (found[0][:, 1] > 0.0).any()


@pytest.mark.native
@pytest.mark.parametrize("q", NORMS)
def test_single_precision_is_close(q):
    """To the accuracy of sums in single precision."""
    features, pairs, A, costs = draw(3, m=500, n=8, k=10, dtype=np.float32)
    found = price_pairs(*features, pairs, A, q, costs, 1)
    exact = reference.price_pairs(*features, pairs, A.astype(np.float64), q, costs, 1)
    np.testing.assert_allclose(found[0], exact[0], rtol=1e-5)


@pytest.mark.native
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_matter(dtype):
    """Equal to the bit with 1, 2 and 5 threads; one feature has more partners than a piece."""
    features, pairs, A, costs = draw(5, m=200, n=75, k=7, dtype=dtype)
    alone = price_pairs(*features, pairs, A, 2.0, costs, 4)
    for threads in (2, 5):
        with Team(threads) as team:
            shared = price_pairs(*features, pairs, A, 2.0, costs, 4, team)
        for one, other in zip(alone, shared, strict=True):
            np.testing.assert_array_equal(one, other)


def test_ties_go_to_the_first_jumps_and_plus():
    """Two equal thresholds' worth of rows: the first threshold of the first feature wins."""
    codes = np.array([[0, 0], [0, 2], [2, 0], [2, 2]], dtype=np.uint8)
    n_bins, kinds = np.array([3, 3], dtype=np.int32), np.zeros(2, dtype=np.uint8)
    A = np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    pairs, thresholds = np.array([[0, 1]], dtype=np.int32), np.array([2, 2], dtype=np.int32)
    features, costs = (codes, n_bins, kinds, thresholds), np.ones(1)
    best, found, polarity = price_pairs(*features, pairs, A, 2.0, costs, 1)
    assert best[0] == pytest.approx(4.0)
    assert found.tolist() == [[[0, 0]]]
    assert polarity.tolist() == [[1]]


def test_no_pairs():
    codes, none = np.zeros((4, 2), dtype=np.uint8), np.zeros((0, 2), dtype=np.int32)
    sizes = np.ones(2, dtype=np.int32)
    A = np.ones((4, 3))
    features = (codes, sizes, np.zeros(2, np.uint8), 0 * sizes)
    found = price_pairs(*features, none, A, 2.0, np.ones(0), 2)
    assert [part.shape[0] for part in found] == [0, 0, 0]
