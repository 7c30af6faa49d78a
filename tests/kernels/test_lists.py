"""Lists of the rows without the commonest code: what is in them, and that they change nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directboost.kernels import native
from directboost.kernels.reference import binning as reference
from directboost.kernels.structs import LIST_ROWS, SparseCodes, codes_of
from directboost.kernels.threads import Team
from tests.kernels.draws import CODES, REALS, Coded, both, native_test

NEAR = {np.float64: {"rtol": 1e-11, "atol": 1e-11}, np.float32: {"rtol": 1e-4, "atol": 1e-3}}
#: Bins, missing code, commonest code and share of the rows with another one.
FEATURES = [
    (1, False, 0, 0.0),
    (2, False, 1, 0.0),
    (2, False, 0, 0.05),
    (30, False, 0, 0.2),
    (30, True, 29, 0.3),
    (30, True, 7, 0.1),
    (40, False, 12, 0.39),
    (40, True, 3, 1.0),
    (250, False, 0, 0.7),
]


def draw(rng, m, dtype=np.uint8, features=FEATURES):
    """Draw codes of features that have their commonest code in all rows but a share."""
    codes = np.empty((len(features), m), dtype=dtype)
    for row, (n, _, usual, share) in zip(codes, features, strict=True):
        row[:] = np.where(rng.random(m) < share, rng.integers(0, n, m), usual)
    n_bins = np.array([feature[0] for feature in features], dtype=np.int32)
    return Coded(codes, n_bins, np.array([feature[1] for feature in features]))


def codes_from_lists(lists, d, m):
    """Write the codes anew from the lists; features without one stay -1."""
    blocks = -(-m // LIST_ROWS)
    found = np.repeat(lists.usual[:, None].astype(np.int64), m, axis=1)
    for place, (begin, end) in enumerate(zip(lists.starts[:-1], lists.starts[1:], strict=True)):
        f, block = divmod(place, blocks)
        assert (np.diff(lists.rows[begin:end].astype(int)) > 0).all()
        found[f, block * LIST_ROWS + lists.rows[begin:end].astype(int)] = lists.codes[begin:end]
    return found.reshape(d, m)


@both
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("m", [1, 31, 512, 513, 3000])
def test_lists_hold_what_is_not_the_commonest(kernels, m, code, rng):
    coded, most = draw(rng, m, code), int(0.4 * m)
    lists = kernels.list_codes(coded.codes, most)
    found = codes_from_lists(lists, len(FEATURES), m)
    assert lists.codes.dtype == code
    for row, written, usual in zip(coded.codes, found, lists.usual, strict=True):
        sparse = m - np.bincount(row).max() <= most
        np.testing.assert_array_equal(written, row if sparse else -1)
        assert (usual >= 0) == sparse


@both
@pytest.mark.parametrize("code", CODES)
def test_the_longest_list(kernels, code):
    """A feature with one row too many has no list; nor has one without any row in common."""
    codes = np.zeros((3, 1000), dtype=code)
    codes[0, 100:500] = codes[1, 100:501] = 1
    codes[2] = np.arange(1000) % 250
    lists = kernels.list_codes(codes, 400)
    assert lists.usual.tolist() == [0, -1, -1]
    np.testing.assert_array_equal(np.diff(lists.starts), [400, 0, 0, 0, 0, 0])


@both
def test_no_rows_and_no_features(kernels):
    empty = kernels.list_codes(np.empty((0, 5), dtype=np.uint8), 2)
    assert empty.starts.tolist() == [0]
    rowless = kernels.list_codes(np.empty((2, 0), dtype=np.uint8), 0)
    assert rowless.usual.tolist() == [0, 0]
    assert rowless.rows.size == 0


@native_test
@pytest.mark.parametrize("period", [2, 3, 59, 64, 1000])
def test_periods_do_not_hide_the_commonest_code(period):
    """The rows that vote for it are not at equal distances."""
    codes = (np.arange(60_000) % period == 0).astype(np.uint8)[None]
    most = int(0.4 * codes.size)
    expected = reference.list_codes(codes, most)
    for name, array in vars(native.list_codes(codes, most)).items():
        np.testing.assert_array_equal(array, getattr(expected, name))


def draw_tables(rng, coded, features, k):
    """Draw a table of every listed feature."""
    return {f: rng.normal(size=(int(coded.n_bins[f]), k)) for f in features}


def everything(kernels, coded, A, tables, team=None, lists=None):
    """Return prices of all features, and histograms and scores of those that have a table."""
    which = np.array(list(tables), dtype=np.int32)
    costs, F = np.linspace(0.5, 2.0, len(coded.n_bins)), A.copy()
    prices = [
        kernels.price(coded.codes, coded.n_bins, coded.kinds, A, q, costs, team, lists)[0]
        for q in (1.0, 2.0, np.inf)
    ]
    sums = kernels.histograms(coded.codes, which, coded.n_bins[which], A, team, lists)
    kernels.add_tables(coded.codes, which, list(tables.values()), F, team, lists)
    return [*prices, sums, F]


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("m", [1, 700, 5000])
def test_lists_change_only_the_rounding(m, code, real, rng):
    for k in (1, 3, 10, 13):
        coded, A = draw(rng, m, code), rng.normal(size=(m, k)).astype(real)
        tables = draw_tables(rng, coded, [8, 4, 2, 0, 7, 6], k)
        kept = np.concatenate(list(tables.values()))
        lists = native.list_codes(coded.codes, int(0.4 * m))
        found = everything(native, coded, A, tables, lists=lists)
        expected = everything(reference, coded, A, tables)
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, two, **NEAR[real])
        np.testing.assert_array_equal(np.concatenate(list(tables.values())), kept)


@native_test
@pytest.mark.parametrize("real", REALS)
def test_threads_change_no_bit(real, rng):
    coded = draw(rng, 20_000, np.uint8, FEATURES * 5)
    A = rng.normal(size=(20_000, 4)).astype(real)
    tables = draw_tables(rng, coded, range(0, 45, 2), 4)
    lists = native.list_codes(coded.codes, 8000)
    alone = everything(native, coded, A, tables, None, lists)
    with Team(3) as team:
        for name, array in vars(native.list_codes(coded.codes, 8000, team)).items():
            np.testing.assert_array_equal(array, getattr(lists, name))
        together = everything(native, coded, A, tables, team, lists)
        for one, two in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, two)


@native_test
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 1300),
    share=st.floats(0.0, 0.45),
    features=st.lists(
        st.tuples(st.integers(2, 60), st.booleans(), st.floats(0.0, 1.0)), min_size=1, max_size=12
    ),
)
def test_any_densities(seed, m, share, features):
    """Whatever the densities and whichever features have lists, prices and scores are the same."""
    rng = np.random.default_rng(seed)
    shapes = [(n, gone, int(rng.integers(n)), density) for n, gone, density in features]
    coded, A = draw(rng, m, np.uint8, shapes), rng.normal(size=(m, 3))
    tables = draw_tables(rng, coded, rng.permutation(len(shapes)).tolist(), 3)
    lists = native.list_codes(coded.codes, int(share * m))
    found = everything(native, coded, A, tables, lists=lists)
    for one, two in zip(found, everything(native, coded, A, tables), strict=True):
        np.testing.assert_allclose(one, two, **NEAR[np.float64])


@native_test
def test_lists_of_many_rows_change_only_the_rounding(rng):
    """More rows than the largest block has."""
    m, shapes = 140_000, FEATURES[2:6]
    coded, A = draw(rng, m, np.uint8, shapes), rng.normal(size=(m, 3))
    tables = draw_tables(rng, coded, [3, 0, 1], 3)
    codes, alone = without_rows(coded, native.list_codes(coded.codes, int(0.4 * m)), m, 65_536)
    assert codes.shape[0] == 0
    found = everything(native, replace(coded, codes=codes), A, tables, lists=alone)
    for one, two in zip(found, everything(native, coded, A, tables), strict=True):
        np.testing.assert_allclose(one, two, **NEAR[np.float64])


def without_rows(coded, lists, m, block):
    """Return the rows of codes of features that have no list, and lists in blocks of that size."""
    bare = np.flatnonzero(lists.usual < 0)
    places = np.full(lists.usual.size, -1, dtype=np.int32)
    places[bare] = np.arange(bare.size)
    listed = codes_from_lists(lists, lists.usual.size, m)
    feature, row = np.nonzero((listed != lists.usual[:, None]) & (lists.usual[:, None] >= 0))
    blocks = -(-m // block)
    counts = np.bincount(feature * blocks + row // block, minlength=lists.usual.size * blocks)
    return coded.codes[bare], SparseCodes(
        lists.usual, np.append(0, np.cumsum(counts)), (row % block).astype(np.uint16),
        listed[feature, row].astype(coded.codes.dtype), places, block,
    )  # fmt: skip


@both
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("block", [512, 2048, 65536])
@pytest.mark.parametrize("m", [1, 700, 5000])
def test_lists_alone_are_enough(kernels, m, block, real, rng):
    """Features with a list need no row of codes, whatever the blocks; no bit is another."""
    coded, A = draw(rng, m, np.uint16, 2 * FEATURES), rng.normal(size=(m, 5)).astype(real)
    tables = draw_tables(rng, coded, [8, 4, 17, 2, 0, 7, 6, 13], 5)
    lists = kernels.list_codes(coded.codes, int(0.4 * m))
    expected = everything(kernels, coded, A, tables, lists=lists)
    codes, alone = without_rows(coded, lists, m, block)
    found = everything(kernels, replace(coded, codes=codes), A, tables, lists=alone)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)
    for f, row in enumerate(coded.codes):
        np.testing.assert_array_equal(codes_of(codes, alone, f), row)
        np.testing.assert_array_equal(codes_of(coded.codes, lists, f), row)
