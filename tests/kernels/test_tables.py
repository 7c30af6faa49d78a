"""Histograms, edges, prices, codes and tables: definitions, and agreement of the twins."""

import numpy as np
import pytest

from directboost.data.binning import BinnedData
from directboost.kernels import native, reference
from directboost.kernels.step_functions import ORDERED, WITH_MISSING
from directboost.kernels.threads import Team
from tests.kernels.draws import CODES, REALS, SHAPES, VIEWS, both, draw_codes, native_test

NORMS = (1.0, 2.0, np.inf)
CLASSES = range(1, 13)
NEAR = {np.float64: {"rtol": 1e-12, "atol": 1e-13}, np.float32: {"rtol": 1e-5, "atol": 1e-5}}


def coded_as_binned(coded):
    """Return codes as BinnedData, whose `response` gives the values of every threshold."""
    nothing = [np.empty(0)] * len(coded.n_bins)
    kinds = coded.kinds
    return BinnedData(
        coded.codes, coded.n_bins, kinds, kinds == WITH_MISSING, nothing, np.empty(0), True, nothing
    )


def histogram(kernels, codes, n_bins, A):
    """Return the histogram of one feature."""
    only = np.zeros(1, dtype=np.int32)
    return kernels.histograms(codes[None], only, np.array([n_bins], dtype=np.int32), A)


@both
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("k", [1, 3, 9])
def test_histogram_sums_the_rows_of_a_code(kernels, code, k, rng):
    coded, A = draw_codes(rng, 70, code), rng.normal(size=(70, k))
    for codes, n in zip(coded.codes, coded.n_bins.tolist(), strict=True):
        expected = [A[codes == t].sum(axis=0) for t in range(n)]
        found = histogram(kernels, codes, n, A)
        np.testing.assert_allclose(found, expected, atol=1e-13)


@both
@pytest.mark.parametrize("k", [1, 2, 5, 11])
def test_edges_are_responses_times_coefficients(kernels, k, rng):
    """Row j of the edges is h_j' A, in the order in which BinnedData numbers the jumps."""
    coded, A = draw_codes(rng, 60), rng.normal(size=(60, k))
    binned = coded_as_binned(coded)
    for f, (n, kind) in enumerate(SHAPES):
        found = kernels.edges(coded.codes[f], n, kind, A)
        assert found.shape == (binned.n_thresholds(f), k)
        for j, row in enumerate(found):
            np.testing.assert_allclose(row, binned.response(f, j, 1) @ A, atol=1e-12)


@both
@pytest.mark.parametrize("q", NORMS)
def test_price_is_the_best_dual_norm_over_the_cost(kernels, q, rng):
    coded, A = draw_codes(rng, 60), rng.normal(size=(60, 4))
    costs, binned = rng.uniform(0.3, 3.0, len(SHAPES)), coded_as_binned(coded)
    best, threshold, polarity = kernels.price(coded.codes, coded.n_bins, coded.kinds, A, q, costs)
    for f in range(len(SHAPES)):
        names = [(j, sign) for j in range(binned.n_thresholds(f)) for sign in (1, -1)]
        if not names:
            assert (best[f], threshold[f], polarity[f]) == (0.0, 0, 1)
            continue
        edges = [binned.response(f, *name) @ A for name in names]
        prices = [np.linalg.norm(np.maximum(e, 0.0), ord=q) / costs[f] for e in edges]
        assert best[f] == pytest.approx(max(prices), rel=1e-13)
        assert prices[names.index((threshold[f], polarity[f]))] == pytest.approx(
            max(prices), rel=1e-11
        )


@both
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("q", NORMS)
def test_ties_go_to_the_lowest_jump_then_to_plus(kernels, q, real):
    """Bins 1 and 2 are empty, so jumps 0 to 2 are equal on the rows, and both polarities tie.

    With the missing code, which no row has, the jumps that send missing to the left tie too.
    """
    codes = np.array([[0, 0, 3, 3]], dtype=np.uint8)
    A = np.array([[-1.0, 1.0], [-2.0, 2.0], [3.0, -3.0], [1.0, -1.0]], dtype=real)
    for n, kind in ((4, ORDERED), (5, WITH_MISSING)):
        bins, kinds = np.array([n], dtype=np.int32), np.array([kind], dtype=np.uint8)
        best, threshold, polarity = kernels.price(codes, bins, kinds, A, q, np.ones(1))
        assert (best[0], threshold[0], polarity[0]) == (7.0, 0, 1)


@both
@pytest.mark.parametrize(("real", "tie"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_the_width_of_a_tie(kernels, real, tie):
    """A later threshold wins only if its price is larger by more than the tie width."""
    codes = np.array([[0, 1, 2]], dtype=np.uint8)
    bins, kinds = np.array([3], dtype=np.int32), np.zeros(1, dtype=np.uint8)
    for excess, winner in ((0.4 * tie, 0), (3.0 * tie, 1)):
        # E of threshold 0 is a1 + a2 - a0 = 1, of threshold 1 it is a2 - a0 - a1 = 1 + excess
        A = np.array([[-1.0], [-excess / 2.0], [excess / 2.0]], dtype=real)
        _, threshold, polarity = kernels.price(codes, bins, kinds, A, np.inf, np.ones(1))
        assert (threshold[0], polarity[0]) == (winner, 1)


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("code", CODES)
def test_sums_agree(code, real, rng):
    """Histogram and edges of the twins are equal for every width, code and precision."""
    shapes = SHAPES if code is np.uint8 else [*SHAPES, (700, WITH_MISSING)]
    for k in CLASSES:
        coded, A = draw_codes(rng, 90, code, shapes), rng.normal(size=(90, k)).astype(real)
        for f, (n, kind) in enumerate(shapes):
            codes = coded.codes[f]
            sums = [histogram(kernels, codes, n, A) for kernels in (native, reference)]
            np.testing.assert_allclose(*sums, **NEAR[real])
            np.testing.assert_allclose(
                native.edges(codes, n, kind, A),
                reference.edges(codes, n, kind, A),
                **NEAR[real],
            )


@native_test
@pytest.mark.parametrize("q", NORMS)
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("code", CODES)
def test_prices_agree(code, real, q, rng):
    shapes = SHAPES if code is np.uint8 else [*SHAPES, (700, WITH_MISSING)]
    for k in CLASSES:
        coded, A = draw_codes(rng, 90, code, shapes), rng.normal(size=(90, k)).astype(real)
        costs = rng.uniform(0.5, 2.0, len(shapes))
        one = native.price(coded.codes, coded.n_bins, coded.kinds, A, q, costs)
        two = reference.price(coded.codes, coded.n_bins, coded.kinds, A, q, costs)
        np.testing.assert_allclose(one[0], two[0], **NEAR[real])
        if real is np.float64:
            np.testing.assert_array_equal(one[1], two[1])
            np.testing.assert_array_equal(one[2], two[2])


@both
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("code", CODES)
def test_add_tables_adds_rows_of_tables(kernels, code, real, rng):
    shapes = SHAPES if code is np.uint8 else [*SHAPES, (700, WITH_MISSING)]
    for k in CLASSES:
        coded = draw_codes(rng, 50, code, shapes)
        which = np.array([5, 0, 3, len(shapes) - 1], dtype=np.int32)
        tables = [rng.normal(size=(int(coded.n_bins[f]), k)) for f in which]
        start = rng.normal(size=(50, k)).astype(real)
        F = start.copy()
        kernels.add_tables(coded.codes, which, tables, F)
        rows = [t[coded.codes[f]] for f, t in zip(which, tables, strict=True)]
        assert F.dtype == real
        np.testing.assert_allclose(F, start + sum(rows), **NEAR[real])


@both
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_encode_counts_the_thresholds_below(kernels, order, real, code, rng):
    """Strided columns, values on a threshold, infinities and missing values."""
    X = np.array(rng.integers(-60, 70, (333, 20)) / 2.0, dtype=real, order=order)
    X[3:6] = np.nan
    X[6:8, 1] = np.inf, -np.inf
    sizes = [0, 1, 2, 3, 4, 7, 12, 13, 14, 20, 31, 32, 33, 50, 60, 70, 80, 90, 100, 5]
    cuts = [np.unique(rng.integers(-50, 60, n) / 2.0) for n in sizes]
    cuts[16] = np.concatenate([[-1e30], np.linspace(0.0, 1e-3, 70), [1.0, 1e300]])
    codes = np.full((20, 333), 77, dtype=code)
    kernels.encode(X, cuts, np.array([c.size + 1 for c in cuts]), codes)
    for f, c in enumerate(cuts):
        expected = [c.size + 1 if np.isnan(x) else int((c < x).sum()) for x in X[:, f]]
        np.testing.assert_array_equal(codes[f], expected)


@both
def test_encode_keeps_double_thresholds_for_single_values(kernels):
    """A threshold between two neighbouring float32 values is not a float32 itself."""
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1.0))
    cut = np.array([0.5 * float(low) + 0.5 * float(high)])
    codes = np.empty((1, 2), dtype=np.uint8)
    kernels.encode(np.array([[low], [high]]), [cut], np.array([2]), codes)
    assert codes.tolist() == [[0, 1]]


@both
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("view", VIEWS)
def test_ranges_are_the_extremes(kernels, view, real, rng):
    """Smallest and largest number; missing values are ignored, infinities are extremes."""
    X = VIEWS[view](rng.normal(size=(70, 5)).astype(real))
    X[4:9, 2], X[:, 3], X[7, 4] = np.nan, np.nan, -np.inf
    low, high, missing = kernels.ranges(X)
    np.testing.assert_array_equal(low, [*X[:, :2].min(axis=0), np.nanmin(X[:, 2]), np.inf, -np.inf])
    np.testing.assert_array_equal(high[[0, 1, 3]], [*X[:, :2].max(axis=0), -np.inf])
    np.testing.assert_array_equal(missing, [False, False, True, True, False])


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("view", VIEWS)
def test_cuts_of_the_twins_agree(view, real, rng):
    X = np.stack([rng.normal(size=1000), rng.integers(0, 90, 1000), np.full(1000, np.nan)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X = VIEWS[view](X.astype(real))
    for weight in (None, rng.uniform(0.1, 1.0, 1000)):
        for max_bins in (None, 2, 30, 255):
            one = native.find_cuts(X, weight, max_bins)
            two = reference.find_cuts(X, weight, max_bins)
            for name, array in vars(one).items():
                np.testing.assert_array_equal(array, getattr(two, name))


@both
def test_empty_inputs(kernels):
    """No rows, no features and no tables are valid inputs."""
    none = np.empty((0, 3))
    codes = np.empty(0, dtype=np.uint8)
    np.testing.assert_array_equal(histogram(kernels, codes, 4, none), np.zeros((4, 3)))
    np.testing.assert_array_equal(kernels.edges(codes, 4, True, none), np.zeros((5, 3)))
    assert kernels.edges(codes, 1, False, none).shape == (0, 3)
    nothing = np.empty((0, 5), dtype=np.uint8)
    ints, flags = np.empty(0, dtype=np.int32), np.empty(0, dtype=bool)
    best, threshold, polarity = kernels.price(
        nothing, ints, flags, np.ones((5, 3)), 2.0, np.empty(0)
    )
    assert best.shape == threshold.shape == polarity.shape == (0,)
    F = np.ones((5, 3))
    kernels.add_tables(nothing, ints, [], F)
    np.testing.assert_array_equal(F, np.ones((5, 3)))
    kernels.encode(np.empty((0, 1)), [np.empty(0)], np.ones(1, dtype=int), codes[None])
    kernels.encode(np.empty((5, 0)), [], ints, nothing)


@native_test
def test_threads_change_no_bit(rng):
    """Pricing and tables give the same bits with one and with two threads."""
    m, k = 40_000, 3
    coded = draw_codes(rng, m, np.uint8, [(9, ORDERED), (5, WITH_MISSING)] * 6)
    A, costs = rng.normal(size=(m, k)), np.ones(12)
    which = np.array([0, 3, 7], dtype=np.int32)
    tables = [rng.normal(size=(int(coded.n_bins[f]), k)) for f in which]
    X = rng.normal(size=(m, 2))

    def everything(team):
        F = np.zeros((m, k))
        native.add_tables(coded.codes, which, tables, F, team)
        prices = native.price(coded.codes, coded.n_bins, coded.kinds, A, 2.0, costs, team)
        coarse = native.find_cuts(X, None, 50, team)
        return [F, *prices, *vars(coarse).values()]

    with Team(2) as team:
        for one, two in zip(everything(None), everything(team), strict=True):
            np.testing.assert_array_equal(one, two)
