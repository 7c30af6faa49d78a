"""Quantile sketches: their contents, merging, and the error of ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask.binning import GROUPS_PER_BIN, groups_for, merge_sketches, sketch

NAN = np.nan
numbers = st.one_of(
    st.integers(-9, 9).map(float),
    st.floats(-1e3, 1e3, width=32),
    st.sampled_from([NAN, 0.0, -0.0, 1.0]),
)
rows = st.lists(st.tuples(numbers, st.integers(1, 40)), max_size=60)


def one_column(part):
    """Return drawn rows as X (m, 1) and weights."""
    X = np.array([x for x, _ in part], dtype=np.float64).reshape(-1, 1)
    return X, np.array([w for _, w in part], dtype=np.float64)


def weight_up_to(x, values, weights):
    """Add up the weights of the values <= x, one by one."""
    return sum(w for v, w in zip(values, weights, strict=True) if v <= x)


def distinct(x, weight):
    """Return a dictionary of the weights of the distinct values."""
    found = {}
    for v, w in zip(x.tolist(), weight.tolist(), strict=True):
        if not np.isnan(v):
            found[v] = found.get(v, 0.0) + w
    return dict(sorted(found.items()))


def check_exact(found, X, weight):
    """All that is kept equals a count by hand."""
    for f in range(X.shape[1]):
        expected = distinct(X[:, f].astype(np.float64), weight)
        np.testing.assert_array_equal(found.values[f], list(expected))
        np.testing.assert_allclose(found.weights[f], list(expected.values()), rtol=1e-13)
        assert found.exact[f]
        assert found.missing[f] == np.isnan(X[:, f]).any()
        assert found.least[f] == min(expected, default=np.inf)


@pytest.mark.parametrize("most", [None, 12])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [True, False])
def test_few_values_are_all_kept(most, order, real, unit):
    rng = np.random.default_rng(0)
    X = rng.choice([0.1, -2.0, 3.3, 1e30, 7.0], size=(200, 5))
    X[:, 1], X[:, 2], X[::3, 3] = NAN, 4.0, NAN
    weight = np.ones(200) if unit else rng.uniform(0.5, 2.0, 200)
    X = np.asarray(X, dtype=real, order=order)
    check_exact(sketch(X, weight, most), X, weight)


def test_many_features_are_processed_in_groups(monkeypatch):
    """The result does not depend on the number of columns per call."""
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(50, 41)), rng.uniform(0.5, 2.0, 50)
    whole = sketch(X, weight, 7)
    monkeypatch.setattr("directboost.dask.binning._BUFFER_CODES", 1)
    apart = sketch(X, weight, 7)
    for name in ("values", "weights", "exact", "missing", "least"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(apart, name))


def test_no_rows():
    found = sketch(np.empty((0, 3)), np.empty(0), 5)
    assert [v.size for v in found.values] == [v.size for v in found.weights] == [0, 0, 0]
    assert found.exact.all()
    assert not found.missing.any()
    assert np.isposinf(found.least).all()


@given(part=rows, most=st.integers(2, 9))
def test_groups_of_one_part(part, most):
    """The weight up to an end is what the rows have; groups of several are light below it."""
    X, weight = one_column(part)
    found, own = sketch(X, weight, most), distinct(X[:, 0], weight)
    ends, total = found.values[0], sum(own.values())
    assert ends.size <= most
    assert found.exact[0] == (len(own) <= most)
    assert not own or ends[-1] == max(own)
    start = -np.inf
    for end in ends:
        assert weight_up_to(end, ends, found.weights[0]) == weight_up_to(end, own, own.values())
        inside = sum(w for v, w in own.items() if start < v < end)
        assert inside <= total / most * (1.0 + 1e-9)
        start = end


@given(parts=st.lists(rows, min_size=1, max_size=7), most=st.sampled_from([None, 60]))
def test_exact_parts_merge_exactly(parts, most):
    columns = [one_column(part[:8]) for part in parts]
    found = merge_sketches([sketch(X, w, most) for X, w in columns], most)
    check_exact(found, *map(np.concatenate, zip(*columns, strict=True)))


@given(parts=st.lists(rows, min_size=2, max_size=6), most=st.integers(2, 9))
def test_pruning_keeps_the_weight_up_to_what_is_kept(parts, most):
    """Parts that keep all: the merged ends have the ranks of all rows."""
    columns = [one_column(part) for part in parts]
    found = merge_sketches([sketch(X, w, None) for X, w in columns], most)
    X, weight = map(np.concatenate, zip(*columns, strict=True))
    own = distinct(X[:, 0], weight)
    assert found.values[0].size <= most
    assert found.exact[0] == (len(own) <= most)
    for end in found.values[0]:
        merged = weight_up_to(end, found.values[0], found.weights[0])
        assert merged == weight_up_to(end, own, own.values())


@given(
    parts=st.lists(rows, min_size=4, max_size=8),
    most=st.integers(2, 16),
    levels=st.integers(1, 3),
    share=st.floats(0.01, 0.99),
)
def test_ranks_are_off_by_a_share_for_every_level(parts, most, levels, share):
    """Ranks fall short by at most total / most per level, and quantiles are as good."""
    columns = [one_column(part) for part in parts]
    found = [sketch(X, w, most) for X, w in columns]
    for _ in range(levels - 1):
        found = [merge_sketches(found[i : i + 2], most) for i in range(0, len(found), 2)]
    last = merge_sketches(found, most)
    X, weight = map(np.concatenate, zip(*columns, strict=True))
    own = distinct(X[:, 0], weight)
    total = sum(own.values())
    allowed = (levels + 1) * total / most * (1.0 + 1e-9)
    ends, kept = last.values[0], last.weights[0]
    assert kept.sum() == total
    for x in own:
        rest = weight_up_to(x, own, own.values()) - weight_up_to(x, ends, kept)
        assert 0.0 <= rest <= allowed
    if own:
        quantile = ends[np.searchsorted(np.cumsum(kept), share * total)]
        assert weight_up_to(quantile, own, own.values()) >= share * total
        below = sum(w for v, w in own.items() if v < quantile)
        assert below <= share * total + allowed


@given(parts=st.lists(rows, min_size=2, max_size=6), seed=st.integers(0, 99))
def test_whole_weights_merge_in_any_order(parts, seed):
    """With sums that do not round, only the parts matter."""
    found = [sketch(*one_column(part), 5) for part in parts]
    order = np.random.default_rng(seed).permutation(len(found))
    one, other = merge_sketches(found, 5), merge_sketches([found[i] for i in order], 5)
    np.testing.assert_array_equal(one.values[0], other.values[0])
    np.testing.assert_array_equal(one.weights[0], other.weights[0])
    assert one.exact[0] == other.exact[0]
    assert one.least[0] == other.least[0]


def test_a_grouped_part_stays_inexact():
    """A merged feature with few groups stays inexact."""
    X = np.arange(20.0)[:, None]
    found = merge_sketches([sketch(X, np.ones(20), 5), sketch(X[:2], np.ones(2), 5)], 99)
    assert not found.exact[0]
    assert found.least[0] == 0.0


def test_groups_for_bins():
    assert groups_for(None) is None
    assert groups_for(2) == groups_for(255) == 2048
    assert groups_for(1000) == 1000 * GROUPS_PER_BIN
