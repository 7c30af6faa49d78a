"""Bins from sketches of parts equal those of all rows."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask.binning import groups_for, make_bins, merge_sketches, sketch
from directboost.data.binning import bin_features, coded
from directboost.kernels.threads import Team

NAN = np.nan
LEVELS = np.array([0, 0, 0, 0, 0, 0, 3, 2, 4, 1])


def draw_rows(m, real, seed=0):
    """Draw numbers, few numbers, gaps, constants, and at the end categories as in LEVELS."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, LEVELS.size))
    X[rng.random(m) < 0.2, 1] = NAN
    X[:, 2] = rng.integers(0, 4, m) / 3.0
    X[:, 3], X[:, 4] = 2.5, NAN
    X[:, 5] = np.where(rng.random(m) < 0.9, 0.0, X[:, 5])
    for f in np.flatnonzero(LEVELS):
        X[:, f] = rng.integers(0, LEVELS[f], m)
    X[rng.random(m) < 0.1, 8] = NAN
    return X.astype(real), rng.uniform(0.5, 3.0, m)


def parts_of(X, weight, n):
    """Split rows at random places into n parts; of several the first and another are empty."""
    rng = np.random.default_rng(n)
    ends = np.sort(rng.integers(0, X.shape[0], n - 1))
    if n > 1:
        ends[0], ends[-1] = 0, ends[-2] if n > 2 else 0
    return list(zip(np.split(X, ends), np.split(weight, ends), strict=True))


def bins_from(parts, max_bins, levels, most):
    """Return the bins of all parts."""
    sketches = [sketch(X, weight, most) for X, weight in parts]
    return make_bins(merge_sketches(sketches, most), max_bins, levels)


def check_same(found, expected):
    """All but the codes and lists is equal to the last bit."""
    for name in ("n_bins", "kinds", "missing", "centre"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype
    for name in ("thresholds", "levels"):
        for own, other in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_array_equal(own, other)
    assert found.exact == expected.exact
    assert found.dictionary == expected.dictionary
    assert found.codes.dtype == expected.codes.dtype


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("max_bins", [None, 4, 255])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_parts_have_the_bins_of_the_whole(n, max_bins, real, unit):
    X, weight = draw_rows(600, real)
    weight = np.ones(600) if unit else weight
    expected = bin_features(X, weight, max_bins, None, LEVELS > 0)
    parts = parts_of(X, weight, n)
    bins = bins_from(parts, max_bins, LEVELS, groups_for(max_bins))
    check_same(bins, expected)
    assert bins.codes.shape == (LEVELS.size + 1, 0)
    assert bins.sparse is None
    shards = [coded(bins, part) for part, _ in parts]
    np.testing.assert_array_equal(np.hstack([s.codes for s in shards]), expected.codes)
    for shard in shards:
        check_same(shard, expected)


def test_without_levels_all_features_are_numbers():
    X, weight = draw_rows(90, np.float64)
    expected = bin_features(X, weight, 4)
    check_same(bins_from(parts_of(X, weight, 3), 4, None, 2048), expected)


@pytest.mark.parametrize("threads", [None, 2])
def test_lists_of_a_part(threads):
    """The lists contain only rows of the part."""
    X, weight = draw_rows(700, np.float64)
    bins = bins_from([(X, weight)], 255, LEVELS, 2048)
    part = X[100:650]
    if threads is None:
        shard = coded(bins, part)
    else:
        with Team(threads) as team:
            shard = coded(bins, part, team)
    assert shard.n_rows == 550
    assert shard.sparse.most_common[5] == np.searchsorted(bins.thresholds[5], 0.0)
    assert shard.sparse.most_common[0] == -1
    for f in (5, 3):
        np.testing.assert_array_equal(shard.sparse.to_dense(f, 550), shard.codes[f])
    assert coded(bins, X[:0]).codes.shape == (LEVELS.size + 1, 0)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("max_bins", [2, 16, 64])
def test_bins_of_groups(max_bins, real):
    """Many values, few groups: codes count the ends below x, bins are even up to the groups."""
    X, weight = draw_rows(2500, real, seed=3)
    most = 64
    bins = bins_from(parts_of(X, weight, 7), max_bins, LEVELS, most)
    codes = coded(bins, X).codes
    assert not bins.exact
    assert set(np.unique(codes[-1])) == {1}
    for f in (0, 1):
        ends = bins.thresholds[f].tolist()
        assert set(ends) <= set(X[:, f].astype(float).tolist())
        here = ~np.isnan(X[:, f])
        by_hand = [bisect_left(ends, x) for x in X[here, f].astype(float).tolist()]
        np.testing.assert_array_equal(codes[f, here], by_hand)
        assert (codes[f, ~here] == bins.n_bins[f] - 1).all()
        own = np.bincount(by_hand, weights=weight[here], minlength=len(ends) + 1)
        spread = 2.0 / most  # two levels of groups
        assert (own > 0.0).all()
        assert own.max() <= own.sum() * (1.0 / max_bins + 2.0 * spread)
        above, below = own[bins.centre[f] :].sum(), own[: bins.centre[f] + 1].sum()
        assert min(above, below) >= own.sum() * (0.5 - spread)
    few = bin_features(X[:, 2:], weight, max_bins, None, LEVELS[2:] > 0)
    for f in range(2, LEVELS.size):
        if f != 5:
            np.testing.assert_array_equal(bins.thresholds[f], few.thresholds[f - 2])
            np.testing.assert_array_equal(codes[f], few.codes[f - 2])


numbers = st.one_of(
    st.floats(allow_infinity=False, width=32),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 5e-324, 1e300, NAN]),
)


@given(
    parts=st.lists(st.lists(st.tuples(numbers, st.integers(1, 9)), max_size=15), min_size=1),
    max_bins=st.sampled_from([None, 2, 3, 8]),
)
def test_hard_numbers(parts, max_bins):
    """Neighbouring floats, denormals, both zeros, and parts without any row."""
    if not any(parts):
        return
    rows = [np.array(part, dtype=np.float64).reshape(-1, 2) for part in parts]
    whole = np.concatenate(rows)
    expected = bin_features(whole[:, :1], whole[:, 1], max_bins)
    bins = bins_from([(r[:, :1], r[:, 1]) for r in rows], max_bins, None, groups_for(max_bins))
    check_same(bins, expected)
    shards = [coded(bins, r[:, :1]).codes for r in rows]
    np.testing.assert_array_equal(np.hstack(shards), expected.codes)
