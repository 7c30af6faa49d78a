"""Binning: thresholds, quantiles, missing values, and the stumps on the codes."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from directboost.data.binning import bin_features
from directboost.kernels.threads import Team
from directboost.model.learners import Constant, Stump
from tests.reference.stumps import enumerate_dictionary, midpoint

NAN = np.nan
TINY = 5e-324
#: Columns with neighbouring floats, both ends of the range, denormals, both zeros, duplicates.
HARD = {
    "neighbours": [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 1.0],
    "huge": [1e300, 1.7e308, -1.7e308, -1e300, 1e300],
    "small": [1e-300, 2e-300, -1e-300, 0.0],
    "denormal": [TINY, 2 * TINY, 3 * TINY, 0.0, -TINY, -2 * TINY, -3 * TINY],
    "zeros": [0.0, -0.0, 0.0, 1.0, -1.0],
    "duplicates": [3.0, 1.0, 3.0, 2.0, 1.0, 3.0],
    "missing": [NAN, 1.0, 2.0, NAN, 1.0],
    "present and one missing": [1.0, 2.0, NAN],
    "only missing": [NAN, NAN, NAN],
    "constant": [7.0, 7.0, 7.0],
    "constant with missing": [7.0, NAN, 7.0],
    "single row": [2.5],
}
numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False, width=64),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, TINY, 1e300, NAN]),
)


def bin_column(x, weight=None, max_bins=None):
    """Bin one column with weights 1."""
    x = np.asarray(x)[:, None]
    return bin_features(x, np.ones(len(x)) if weight is None else np.asarray(weight), max_bins)


def check_codes(binned, x):
    """x > t after b if and only if code > b, missing has the last code, thresholds ascend."""
    codes, cuts = binned.codes[0], binned.thresholds[0]
    x = np.asarray(x).astype(np.float64)
    gone = np.isnan(x)
    assert (np.diff(cuts) > 0.0).all()
    assert binned.missing[0] == gone.any()
    assert binned.n_bins[0] == cuts.size + 1 + gone.any()
    assert (codes[gone] == binned.n_bins[0] - 1).all()
    for b, t in enumerate(cuts):
        np.testing.assert_array_equal(x[~gone] > t, codes[~gone] > b)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("name", HARD)
def test_exact_dictionary(name, real):
    """Every pair of neighbouring values has a threshold, midway or at the lower value."""
    with np.errstate(over="ignore"):
        x = np.array(HARD[name]).astype(real)
    x = x[~np.isinf(x)]
    binned = bin_column(x)
    check_codes(binned, x)
    values = sorted({float(v) for v in x if not np.isnan(v)})
    expected = [midpoint(a, b) for a, b in itertools.pairwise(values)]
    np.testing.assert_array_equal(binned.thresholds[0], expected)
    assert binned.exact
    assert binned.dictionary == "all stumps"


@pytest.mark.parametrize("real", [np.float64, np.float32])
@given(values=st.lists(numbers, min_size=1, max_size=12), max_bins=st.sampled_from([None, 2, 3]))
def test_codes_and_thresholds_agree(real, values, max_bins):
    with np.errstate(over="ignore"):
        x = np.array(values).astype(real)
    x[np.isinf(x)] = 0.0
    binned = bin_column(x, max_bins=max_bins)
    check_codes(binned, x)
    distinct = np.unique(x[~np.isnan(x)]).size
    if max_bins is not None:
        assert binned.thresholds[0].size < max_bins
    assert binned.exact == (max_bins is None or distinct <= max_bins)
    if binned.exact:
        assert binned.thresholds[0].size == max(distinct - 1, 0)


@given(
    values=st.lists(st.integers(0, 30), min_size=3, max_size=40),
    repeats=st.lists(st.integers(1, 4), min_size=40, max_size=40),
    max_bins=st.integers(2, 9),
)
@example(values=[0, 1, 2], repeats=[1] * 40, max_bins=3)
def test_weights_equal_repeated_rows(values, repeats, max_bins):
    """Weighted quantiles give the thresholds, codes and centre of repeated rows."""
    x, s = np.array(values, dtype=float), np.array(repeats[: len(values)])
    weighted = bin_column(x, s.astype(float), max_bins)
    repeated = bin_column(np.repeat(x, s), None, max_bins)
    np.testing.assert_array_equal(weighted.thresholds[0], repeated.thresholds[0])
    np.testing.assert_array_equal(np.repeat(weighted.codes[0], s), repeated.codes[0])
    assert weighted.centre[0] == repeated.centre[0]
    assert weighted.exact == repeated.exact


@given(
    values=st.lists(st.integers(0, 60), min_size=3, max_size=60),
    factor=st.floats(1e-6, 1e6),
    max_bins=st.integers(2, 9),
)
def test_the_scale_of_the_weights_does_not_matter(values, factor, max_bins):
    x = np.array(values, dtype=float)
    one = bin_column(x, np.ones(x.size), max_bins)
    two = bin_column(x, np.full(x.size, factor), max_bins)
    np.testing.assert_array_equal(one.thresholds[0], two.thresholds[0])


def test_quantile_bins_have_equal_weight():
    """Bins of many distinct values have about equal weight, even if a few rows weigh much."""
    x = np.arange(1000.0)
    for weight in (np.ones(1000), np.where(x < 100, 50.0, 1.0)):
        binned = bin_column(x, weight, 10)
        mass = np.bincount(binned.codes[0], weights=weight)
        assert mass.size == 10
        assert np.abs(mass / weight.sum() - 0.1).max() <= weight.max() / weight.sum() + 1e-12
        assert not binned.exact
        assert binned.dictionary == "binned stumps"


def test_quantiles_of_equal_weights_by_hand():
    binned = bin_column(np.arange(12.0), None, 4)
    np.testing.assert_array_equal(binned.thresholds[0], [2.5, 5.5, 8.5])


def test_quantiles_on_a_heavy_value_give_one_cut():
    """Quantiles on the same value give one cut; those on the last value cut before it."""
    x = np.arange(6.0)
    np.testing.assert_array_equal(bin_column(x, [100.0, 1, 1, 1, 1, 1], 4).thresholds[0], [0.5])
    np.testing.assert_array_equal(bin_column(x, [1, 1, 1, 1, 1, 100.0], 4).thresholds[0], [4.5])


def test_exactness_needs_every_feature():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    assert not bin_features(X, np.ones(3), 2).exact
    assert bin_features(X, np.ones(3), 3).exact


@pytest.mark.parametrize(
    ("bins", "missing", "dtype"),
    [
        (256, False, np.uint8),
        (257, False, np.uint16),
        (255, True, np.uint8),
        (256, True, np.uint16),
        (65536, False, np.uint16),
        (65537, False, np.uint32),
        (65536, True, np.uint32),
    ],
)
def test_code_types(bins, missing, dtype):
    """Codes use the smallest type that can represent the last one."""
    x = np.append(np.arange(float(bins)), NAN) if missing else np.arange(float(bins))
    binned = bin_column(x)
    assert binned.codes.dtype == dtype
    np.testing.assert_array_equal(binned.codes[0], np.arange(x.size))


def test_the_constant_is_the_last_feature():
    binned = bin_column([1.0, 2.0])
    assert (binned.n_features, binned.n_rows) == (1, 2)
    assert binned.n_bins.tolist() == [2, 2]
    assert binned.codes[1].tolist() == [1, 1]
    assert binned.n_thresholds(1) == 1
    for polarity in (1, -1):
        assert binned.learner(1, 0, polarity) == Constant(polarity)
        np.testing.assert_array_equal(binned.response(1, 0, polarity), [polarity] * 2)


@given(
    values=st.lists(st.integers(0, 6), min_size=2, max_size=20),
    weights=st.lists(st.integers(1, 9), min_size=20, max_size=20),
    max_bins=st.sampled_from([None, 3]),
)
def test_the_centre_is_on_the_heavier_side(values, weights, max_bins):
    """A value that is missing only at prediction goes to the heavier side of every stump."""
    x, s = np.array(values, dtype=float), np.array(weights[: len(values)], dtype=float)
    binned = bin_column(x, s, max_bins)
    for threshold, t in enumerate(binned.thresholds[0]):
        right, left = s[x > t].sum(), s[x <= t].sum()
        if right != left:
            assert binned.learner(0, threshold, 1).missing_right == (right > left)


@given(
    columns=st.lists(
        st.lists(st.sampled_from([NAN, -1.0, 0.0, 0.5, 3.0]), min_size=7, max_size=7),
        min_size=1,
        max_size=3,
    )
)
@example(columns=[HARD["only missing"][:1] * 7, [1.0] * 7])
def test_the_dictionary_is_complete(columns):
    """The jumps with both polarities are exactly the stumps of the dictionary.

    The responses of a stump from codes equal those of its learner.
    """
    X = np.array(columns).T
    binned = bin_features(X, np.ones(len(X)), None)
    H, _, listed = enumerate_dictionary(X)
    expected = {name: H[:, j] for j, name in enumerate(listed)}
    for f in range(binned.n_features + 1):
        for threshold in range(binned.n_thresholds(f)):
            for polarity in (1, -1):
                learner = binned.learner(f, threshold, polarity)
                response = binned.response(f, threshold, polarity)
                np.testing.assert_array_equal(learner.predict(X), response)
                np.testing.assert_array_equal(expected.pop(_name(binned, f, learner)), response)
    assert not expected


def _name(binned, f, learner):
    """Return the key of a learner; without missing rows the dictionary sends missing right."""
    if isinstance(learner, Constant):
        return (-1, np.inf, learner.polarity, True)
    assert isinstance(learner, Stump)
    side = learner.missing_right if binned.missing[f] else True
    return (learner.feature, learner.threshold, learner.polarity, side)


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_and_memory_order_change_nothing(order, rng):
    X = np.array(rng.normal(size=(300, 7)), order=order)
    X[rng.random(X.shape) < 0.1] = NAN
    weight = rng.uniform(0.5, 2.0, 300)
    alone = bin_features(np.ascontiguousarray(X), weight, 20)
    with Team(2) as team:
        together = bin_features(X, weight, 20, team)
    np.testing.assert_array_equal(alone.codes, together.codes)
    np.testing.assert_array_equal(alone.centre, together.centre)
    for one, two in zip(alone.thresholds, together.thresholds, strict=True):
        np.testing.assert_array_equal(one, two)


KINDS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "grid": lambda rng, m: rng.integers(0, 256, m) / 255.0,
    "integers": lambda rng, m: rng.integers(-20, 20, m) * 1.0,
    "wide integers": lambda rng, m: rng.integers(0, 7000, m) * 1.0,
    "skewed": lambda rng, m: np.exp(9.0 * rng.normal(size=m)),
    "mostly zero": lambda rng, m: np.where(rng.random(m) < 0.9, 0.0, rng.normal(size=m)),
    "hard": lambda rng, m: rng.choice([0.0, -0.0, TINY, -TINY, 1e-310, 1.0, 1e38, -1e38], m),
    "missing": lambda rng, m: np.where(rng.random(m) < 0.3, NAN, rng.normal(size=m)),
    "all missing": lambda rng, m: np.full(m, NAN),
    "constant": lambda rng, m: np.full(m, 2.5),
}


def one_by_one(x, weight, max_bins):
    """Return thresholds and centre of a column, from its sorted distinct values."""
    keep = ~np.isnan(x)
    values, inverse = np.unique(x[keep].astype(float), return_inverse=True)
    mass = np.cumsum(np.bincount(inverse, weights=weight[keep], minlength=values.size))
    if values.size == 0:
        return [], 0
    after = np.arange(values.size - 1)
    if max_bins is not None and values.size > max_bins:
        targets = mass[-1] * np.arange(1, max_bins) / max_bins * (1.0 - 1e-12)
        after = np.unique(np.minimum(np.searchsorted(mass, targets), values.size - 2))
    cuts = [midpoint(a, b) for a, b in zip(values[after], values[after + 1], strict=True)]
    return cuts, np.searchsorted(after, np.searchsorted(mass, 0.5 * mass[-1]))


@pytest.mark.parametrize("m", [3, 129, 2500, 40_000])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_kind_of_column(m, real, weighted, rng):
    """All methods of the kernel find the cuts given by the distinct values and their weights."""
    X = np.stack([draw(rng, m) for draw in KINDS.values()], axis=1)
    with np.errstate(over="ignore", under="ignore"):
        X = np.nan_to_num(X.astype(real), nan=NAN, posinf=1.0)
    weight = rng.uniform(0.5, 2.0, m) if weighted else np.ones(m)
    for max_bins, rows in ((255, X), (7, np.asfortranarray(X)), (None, X[::-1, ::-1][::-1, ::-1])):
        binned = bin_features(rows, weight, max_bins)
        for f in range(X.shape[1]):
            cuts, centre = one_by_one(X[:, f], weight, max_bins)
            np.testing.assert_array_equal(binned.thresholds[f], cuts)
            assert binned.centre[f] == centre
            gone = np.isnan(X[:, f])
            below = np.searchsorted(cuts, X[:, f].astype(float))
            np.testing.assert_array_equal(
                binned.codes[f], np.where(gone, binned.n_bins[f] - 1, below)
            )


def mixed_rows(rng, m=400):
    """Return rows with many, few and missing values."""
    return np.stack([KINDS[name](rng, m) for name in ("normal", "integers", "missing")], axis=1)


def test_only_features_with_one_code_in_most_rows_have_lists(rng):
    """Constant features alone get no lists; next to other lists they have empty ones."""
    dense = rng.normal(size=(300, 3))
    dense[:, 2] = 1.0
    assert bin_features(dense, np.ones(300), None).sparse is None
    rare = np.where(rng.random((300, 1)) < 0.1, 1.0, 0.0)
    rare[:2, 0] = 0.0, np.nan
    lists = bin_features(np.hstack([dense, rare]), np.ones(300), None).sparse
    assert lists.most_common.tolist() == [-1, -1, 0, 0, 1]
    assert lists.starts[-1] == lists.starts[-2] == (rare[:, 0] != 0.0).sum()


@pytest.mark.parametrize("name", HARD)
def test_every_stump_maps_back_to_its_name(name):
    """From name to weak classifier and back is the identity on the same data."""
    binned = bin_column(HARD[name])
    for feature in range(2):
        for threshold in range(binned.n_thresholds(feature)):
            for polarity in (1, -1):
                learner = binned.learner(feature, threshold, polarity)
                found = binned.name_of(learner)
                again = None if found is None else binned.learner(*found)
                assert again == learner
                same = binned.response(*found) == binned.response(feature, threshold, polarity)
                assert same.all()


def test_stumps_of_other_data_use_the_next_threshold():
    """Stumps without a threshold are dropped; weights at the same threshold add up."""
    binned = bin_column([0.0, 1.0, 2.0, 3.0])
    learners = [Stump(0, t, 1, True) for t in (-9.0, 0.6, 0.9, 99.0, np.inf)]
    stumps = binned.stumps_of([*learners, Constant(-1)], np.arange(1.0, 7.0)[:, None])
    found = {
        tuple(name): float(row[0])
        for name, row in zip(stumps.names.tolist(), stumps.rows, strict=True)
    }
    assert found == {(0, 0, 1): 1.0, (0, 1, 1): 5.0, (0, 2, 1): 4.0, (1, 0, -1): 6.0}
    flat = bin_column([7.0, 7.0])
    assert flat.stumps_of(learners, np.ones((5, 1))).names.shape == (0, 3)
