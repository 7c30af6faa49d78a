"""Binning of sparse matrices: codes equal those of the array, cost grows with stored entries."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from directboost import DirectBoostClassifier
from directboost.data import sparse_binning
from directboost.data.binning import bin_features
from directboost.model.ensemble import Ensemble
from directboost.model.learners import Stump
from directboost.oracles import StumpOracle
from directboost.penalties import L1, GroupNorm
from directboost.solvers.quadratic_model import RowSample
from directboost.training import strategy
from directboost.training.strategy import coarsened
from tests.fits.test_sparse import GAPS, WEIGHT, X, Y
from tests.kernels.draws import native_test


def assert_same_codes(found, expected):
    """Assert that two BinnedData are equal."""
    for name in ("n_bins", "kinds", "missing", "centre"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype
    assert found.codes.dtype == expected.codes.dtype
    assert (found.exact, found.dictionary) == (expected.exact, expected.dictionary)
    # Constant columns of a sparse matrix always have lists.
    assert (found.sparse is None) <= (expected.sparse is None)
    for f, thresholds in enumerate(expected.thresholds):
        np.testing.assert_array_equal(found.thresholds[f], thresholds)
    for f in range(expected.n_bins.size):
        np.testing.assert_array_equal(found.codes_of(f), expected.codes_of(f))
    if expected.sparse is not None:
        np.testing.assert_array_equal(found.sparse.most_common, expected.sparse.most_common)
        np.testing.assert_array_equal(found.sparse.codes, expected.sparse.codes)


@pytest.mark.parametrize("max_bins", [None, 2, 7, 255])
@pytest.mark.parametrize(
    "numbers", [X, GAPS, X.astype(np.float32)], ids=["whole", "gaps", "single"]
)
@pytest.mark.parametrize("weight", [np.ones(Y.size), WEIGHT / 4.0], ids=["plain", "weighted"])
def test_codes_equal_those_of_the_array(numbers, weight, max_bins, monkeypatch):
    expected = bin_features(numbers, weight, max_bins)
    assert_same_codes(bin_features(sparse.csc_array(numbers), weight, max_bins), expected)
    monkeypatch.setattr(sparse_binning, "_CUT_COLUMNS", 30)  # one or a few columns at a time
    assert_same_codes(bin_features(sparse.csc_array(numbers), weight, max_bins), expected)


def test_ties_of_weights_are_ties(rng):
    """Medians and quantiles on a value do not depend on the order of summation."""
    for _ in range(100):
        numbers = np.where(rng.random((30, 4)) < 0.6, rng.integers(-3, 12, (30, 4)), 0).astype(
            float
        )
        weight = rng.integers(1, 4, 30) / 3.0
        found = bin_features(sparse.csc_array(numbers), weight, 4)
        assert_same_codes(found, bin_features(numbers, weight, 4))
        order = rng.permutation(30)
        shuffled = bin_features(numbers[order], weight[order], 4)
        np.testing.assert_array_equal(shuffled.centre, found.centre)


@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 1300),
    shares=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8),
    values=st.lists(
        st.sampled_from([-1e300, -1.0, -0.0, 0.0, 1e-310, 1.0, 1e300, np.nan]), min_size=1
    ),
    max_bins=st.sampled_from([None, 2, 4, 255]),
)
def test_arbitrary_columns(seed, m, shares, values, max_bins):
    """Any stored values, including zeros of both signs."""
    rng = np.random.default_rng(seed)
    stored = rng.random((m, len(shares))) < shares
    rows, columns = np.nonzero(stored)
    data = rng.choice([*values, 2.0], rows.size)
    held = sparse.coo_array((data, (rows, columns)), stored.shape).tocsc()
    expected = bin_features(held.toarray(), np.ones(m), max_bins)
    assert_same_codes(bin_features(held, np.ones(m), max_bins), expected)


def test_columns_without_entries_and_without_values():
    held = sparse.csc_array((5, 3))
    assert_same_codes(
        bin_features(held, np.ones(5), 255), bin_features(np.zeros((5, 3)), np.ones(5), 255)
    )
    gone = np.full((5, 1), np.nan)
    assert_same_codes(
        bin_features(sparse.csc_array(gone), np.ones(5), 255), bin_features(gone, np.ones(5), 255)
    )


def rare_words(m, d, stored, seed=0):
    """Return a matrix with `stored` entries, evenly distributed over the columns."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, m, stored), np.arange(stored) % d
    held = sparse.coo_array((rng.integers(1, 4, stored).astype(float), (rows, columns)), (m, d))
    return held.tocsc()


def numbers_read(binned):
    """Return how many numbers the histograms of all features read, apart from A."""
    lists = binned.sparse
    return lists.rows.size + lists.starts.size + binned.codes.size


def test_pricing_reads_stored_entries_only():
    """One number per entry, and a few per feature; rows without entries cost nothing."""
    reads = {}
    for m, d, stored in ((50_000, 500, 20_000), (100_000, 500, 20_000), (50_000, 500, 40_000)):
        binned = bin_features(rare_words(m, d, stored), np.ones(m), 255)
        assert binned.codes.shape == (0, m)
        reads[m, stored] = numbers_read(binned)
    assert reads[50_000, 20_000] <= 1.5 * 20_000
    assert reads[100_000, 20_000] <= 1.1 * reads[50_000, 20_000]
    assert 1.8 <= reads[50_000, 40_000] / reads[50_000, 20_000] <= 2.2


def peak_of(function, *arguments):
    """Return the peak memory of a call in bytes."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_binning_grows_with_stored_entries():
    """Far less than a matrix of codes, and proportional to the entries."""
    m, d = 200_000, 1000
    weight = np.ones(m)
    few, many = (peak_of(bin_features, rare_words(m, d, n), weight, 255) for n in (50_000, 100_000))
    assert few <= 0.1 * m * d
    assert many <= 2.2 * few
    taller = peak_of(bin_features, rare_words(2 * m, d, 50_000), np.ones(2 * m), 255)
    assert taller <= 1.5 * few


def test_constant_columns_need_no_codes():
    """Even if all other columns are stored in most rows."""
    m, d = 300, 2000
    few = np.random.default_rng(0).normal(size=(m, 2))
    held = sparse.hstack([sparse.csc_array(few), sparse.csc_array((m, d))], format="csc")
    binned = bin_features(held, np.ones(m), 255)
    assert binned.codes.shape == (3, m)
    expected = bin_features(few, np.ones(m), 255)
    for f in range(2):
        np.testing.assert_array_equal(binned.codes_of(f), expected.codes_of(f))
    labels = (few[:, 0] + few[:, 1] > 0.0).astype(int)
    model = DirectBoostClassifier(nu=0.05, tol=1e-6).fit(held, labels)
    alone = DirectBoostClassifier(nu=0.05, tol=1e-6).fit(few, labels)
    assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-6)


@native_test
def test_a_fit_allocates_no_dense_matrix():
    m, d = 4000, 20_000
    held = rare_words(m, d, 40_000).tocsr()
    labels = (held[:, :50].sum(axis=1) > 0).astype(int)
    model = DirectBoostClassifier(nu=0.2, max_learners=10)
    assert peak_of(model.fit, held, labels) <= 0.6 * m * d
    assert model.n_learners_ > 0
    assert peak_of(model.predict, held) <= 0.05 * m * d


def test_prediction_converts_only_used_columns():
    held = rare_words(2000, 50_000, 20_000).tocsr()
    model = Ensemble([Stump(7, 0.5, 1, True), Stump(40_000, 0.5, -1, True)], np.eye(2))
    assert peak_of(model.scores, held.tocsc()) <= 2000 * 100
    expected = Ensemble(model.learners, model.weights).scores(held.toarray())
    np.testing.assert_array_equal(model.scores(held.tocsc()), expected)


@pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0), GroupNorm(1.5)], ids=["1", "2", "1.5"])
def test_prices_equal_those_of_the_array(penalty, rng):
    """Equal up to rounding, since not all penalties have a native kernel."""
    A, costs = rng.normal(size=(Y.size, 3)), np.linspace(0.5, 2.0, GAPS.shape[1] + 1)
    found, expected = (
        StumpOracle(bin_features(numbers, np.ones(Y.size), 255), costs).price(A, penalty)
        for numbers in (sparse.csc_array(GAPS), GAPS)
    )
    np.testing.assert_allclose(found.max_price, expected.max_price, rtol=1e-14)
    np.testing.assert_allclose(found.proposals.price, expected.proposals.price, rtol=1e-12)
    np.testing.assert_array_equal(found.proposals.feature, expected.proposals.feature)


@pytest.mark.parametrize("numbers", [X, GAPS], ids=["whole", "gaps"])
def test_row_samples_with_coarse_bins(numbers, rng, monkeypatch):
    """The start of a large fit uses the codes of the array, merged in the same way."""
    monkeypatch.setattr(strategy, "_MANY_BINS", 16)
    monkeypatch.setattr(strategy, "_COARSE_BINS", 4)
    monkeypatch.setattr(sparse_binning, "_LIST_ENTRIES", 20)  # a few features at a time
    rows = np.sort(rng.choice(Y.size, 100, replace=False))
    found = coarsened(bin_features(sparse.csc_array(numbers), np.ones(Y.size), 255), rows)
    expected = coarsened(bin_features(numbers, np.ones(Y.size), 255), rows)
    assert (expected.binned.n_bins[[17, 18]] < 8).all()
    for f in range(expected.binned.n_bins.size):
        np.testing.assert_array_equal(found.binned.codes_of(f), expected.binned.codes_of(f))
        np.testing.assert_array_equal(found.thresholds[f], expected.thresholds[f])
    lists = found.binned.sparse
    common = np.repeat(lists.most_common, np.diff(lists.starts))
    assert (lists.codes != common).all()


@native_test
def test_a_large_fit_starts_on_a_sample_of_the_rows(monkeypatch):
    """The model is as good as the proof says, whatever the start."""
    for name, value in (
        ("_COARSE_ROWS", 80),
        ("_ENOUGH_ROWS", 200),
        ("_MANY_BINS", 16),
        ("_COARSE_BINS", 8),
    ):
        monkeypatch.setattr(strategy, name, value)
    monkeypatch.setattr("directboost.solvers.quadratic_model._RARE", 20)
    dense, model = (
        DirectBoostClassifier(nu=0.02, tol=1e-5).fit(numbers, Y)
        for numbers in (X, sparse.csr_array(X))
    )
    assert model.certificate_.converged
    np.testing.assert_allclose(model.certificate_.primal, dense.certificate_.primal, rtol=1e-5)


def test_row_samples_are_read_from_lists():
    binned = bin_features(sparse.csc_array(GAPS), np.ones(Y.size), 255)
    expected = bin_features(GAPS, np.ones(Y.size), 255)
    for size in (60, Y.size):
        found, other = RowSample(binned, Y, size), RowSample(expected, Y, size)
        features = [3, 17, 18, 0, 12, binned.constant]
        codes, places = found.codes(features)
        dense, rows = other.codes(features)
        np.testing.assert_array_equal(codes[places], dense[rows])
