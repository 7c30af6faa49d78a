"""Sparse codes: their content, and that kernels give the same results with them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directboost.kernels import native, reference
from directboost.kernels.structs import SPARSE_BLOCK_ROWS, SparseCodes, codes_of
from directboost.kernels.threads import Team
from tests.kernels.draws import CODES, REALS, Coded, both, native_test

NEAR = {np.float64: {"rtol": 1e-11, "atol": 1e-11}, np.float32: {"rtol": 1e-4, "atol": 1e-3}}
#: Bins, missing code, most common code and share of the rows with another one.
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
    """Draw codes of features that have their most common code in all rows except a share."""
    codes = np.empty((len(features), m), dtype=dtype)
    for row, (n, _, most_common, share) in zip(codes, features, strict=True):
        row[:] = np.where(rng.random(m) < share, rng.integers(0, n, m), most_common)
    n_bins = np.array([feature[0] for feature in features], dtype=np.int32)
    kinds = np.array([feature[1] for feature in features])
    return Coded(codes=codes, n_bins=n_bins, kinds=kinds)


def dense_codes(sparse, d, m):
    """Return the codes (d, m) of the sparse features, -1 for the others."""
    blocks = -(-m // SPARSE_BLOCK_ROWS)
    found = np.repeat(sparse.most_common[:, None].astype(np.int64), m, axis=1)
    for place, (begin, end) in enumerate(zip(sparse.starts[:-1], sparse.starts[1:], strict=True)):
        f, block = divmod(place, blocks)
        assert (np.diff(sparse.rows[begin:end].astype(int)) > 0).all()
        found[f, block * SPARSE_BLOCK_ROWS + sparse.rows[begin:end].astype(int)] = sparse.codes[
            begin:end
        ]
    return found.reshape(d, m)


@both
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("m", [1, 31, 512, 513, 3000])
def test_rows_off_the_most_common_code_are_stored(kernels, m, code, rng):
    coded, most = draw(rng, m, code), int(0.4 * m)
    sparse = kernels.list_codes(coded.codes, most)
    found = dense_codes(sparse, len(FEATURES), m)
    assert sparse.codes.dtype == code
    for row, written, common in zip(coded.codes, found, sparse.most_common, strict=True):
        is_sparse = m - np.bincount(row).max() <= most
        np.testing.assert_array_equal(written, row if is_sparse else -1)
        assert (common >= 0) == is_sparse


@both
@pytest.mark.parametrize("code", CODES)
def test_the_limit_of_stored_rows(kernels, code):
    """A feature with one row too many is not sparse, nor is one with all codes equally common."""
    codes = np.zeros((3, 1000), dtype=code)
    codes[0, 100:500] = codes[1, 100:501] = 1
    codes[2] = np.arange(1000) % 250
    sparse = kernels.list_codes(codes, 400)
    assert sparse.most_common.tolist() == [0, -1, -1]
    np.testing.assert_array_equal(np.diff(sparse.starts), [400, 0, 0, 0, 0, 0])


@both
def test_no_rows_and_no_features(kernels):
    empty = kernels.list_codes(np.empty((0, 5), dtype=np.uint8), 2)
    assert empty.starts.tolist() == [0]
    rowless = kernels.list_codes(np.empty((2, 0), dtype=np.uint8), 0)
    assert rowless.most_common.tolist() == [0, 0]
    assert rowless.rows.size == 0


@native_test
@pytest.mark.parametrize("period", [2, 3, 59, 64, 1000])
def test_periods_do_not_hide_the_most_common_code(period):
    """The rows that vote for the most common code are not equally spaced."""
    codes = (np.arange(60_000) % period == 0).astype(np.uint8)[None]
    most = int(0.4 * codes.size)
    expected = reference.list_codes(codes, most)
    for name, array in vars(native.list_codes(codes, most)).items():
        np.testing.assert_array_equal(array, getattr(expected, name))


def draw_tables(rng, coded, features, k):
    """Draw a table for every given feature."""
    return {f: rng.normal(size=(int(coded.n_bins[f]), k)) for f in features}


def everything(kernels, coded, A, tables, team=None, sparse=None):
    """Return prices of all features, and histograms and scores of those that have a table."""
    which = np.array(list(tables), dtype=np.int32)
    costs, F = np.linspace(0.5, 2.0, len(coded.n_bins)), A.copy()
    prices = [
        kernels.price(coded.codes, coded.n_bins, coded.kinds, A, q, costs, team, sparse)[0]
        for q in (1.0, 2.0, np.inf)
    ]
    sums = kernels.histograms(coded.codes, which, coded.n_bins[which], A, team, sparse)
    kernels.add_tables(coded.codes, which, list(tables.values()), F, team, sparse)
    return [*prices, sums, F]


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("m", [1, 700, 5000])
def test_sparse_codes_change_only_the_rounding(m, code, real, rng):
    for k in (1, 3, 10, 13):
        coded, A = draw(rng, m, code), rng.normal(size=(m, k)).astype(real)
        tables = draw_tables(rng, coded, [8, 4, 2, 0, 7, 6], k)
        kept = np.concatenate(list(tables.values()))
        sparse = native.list_codes(coded.codes, int(0.4 * m))
        found = everything(native, coded, A, tables, sparse=sparse)
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
    sparse = native.list_codes(coded.codes, 8000)
    alone = everything(native, coded, A, tables, None, sparse)
    with Team(3) as team:
        for name, array in vars(native.list_codes(coded.codes, 8000, team)).items():
            np.testing.assert_array_equal(array, getattr(sparse, name))
        together = everything(native, coded, A, tables, team, sparse)
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
    """For any densities and any choice of sparse features, prices and scores are the same."""
    rng = np.random.default_rng(seed)
    shapes = [(n, gone, int(rng.integers(n)), density) for n, gone, density in features]
    coded, A = draw(rng, m, np.uint8, shapes), rng.normal(size=(m, 3))
    tables = draw_tables(rng, coded, rng.permutation(len(shapes)).tolist(), 3)
    sparse = native.list_codes(coded.codes, int(share * m))
    found = everything(native, coded, A, tables, sparse=sparse)
    for one, two in zip(found, everything(native, coded, A, tables), strict=True):
        np.testing.assert_allclose(one, two, **NEAR[np.float64])


@native_test
def test_sparse_codes_of_many_rows_change_only_the_rounding(rng):
    """More rows than the largest block has."""
    m, shapes = 140_000, FEATURES[2:6]
    coded, A = draw(rng, m, np.uint8, shapes), rng.normal(size=(m, 3))
    tables = draw_tables(rng, coded, [3, 0, 1], 3)
    codes, alone = keep_dense_rows(coded, native.list_codes(coded.codes, int(0.4 * m)), m, 65_536)
    assert codes.shape[0] == 0
    found = everything(native, replace(coded, codes=codes), A, tables, sparse=alone)
    for one, two in zip(found, everything(native, coded, A, tables), strict=True):
        np.testing.assert_allclose(one, two, **NEAR[np.float64])


def keep_dense_rows(coded, sparse, m, block):
    """Return the codes of the dense features only, and sparse codes in blocks of that size."""
    dense = np.flatnonzero(sparse.most_common < 0)
    places = np.full(sparse.most_common.size, -1, dtype=np.int32)
    places[dense] = np.arange(dense.size)
    written = dense_codes(sparse, sparse.most_common.size, m)
    feature, row = np.nonzero(
        (written != sparse.most_common[:, None]) & (sparse.most_common[:, None] >= 0)
    )
    blocks = -(-m // block)
    counts = np.bincount(
        feature * blocks + row // block, minlength=sparse.most_common.size * blocks
    )
    return coded.codes[dense], SparseCodes(
        sparse.most_common, np.append(0, np.cumsum(counts)), (row % block).astype(np.uint16),
        written[feature, row].astype(coded.codes.dtype), places, block,
    )  # fmt: skip


@both
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("block", [512, 2048, 65536])
@pytest.mark.parametrize("m", [1, 700, 5000])
def test_sparse_features_need_no_row_of_codes(kernels, m, block, real, rng):
    """Results are equal to the bit without the rows of codes, for any size of the blocks."""
    coded, A = draw(rng, m, np.uint16, 2 * FEATURES), rng.normal(size=(m, 5)).astype(real)
    tables = draw_tables(rng, coded, [8, 4, 17, 2, 0, 7, 6, 13], 5)
    sparse = kernels.list_codes(coded.codes, int(0.4 * m))
    expected = everything(kernels, coded, A, tables, sparse=sparse)
    codes, alone = keep_dense_rows(coded, sparse, m, block)
    found = everything(kernels, replace(coded, codes=codes), A, tables, sparse=alone)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)
    for f, row in enumerate(coded.codes):
        np.testing.assert_array_equal(codes_of(codes, alone, f), row)
        np.testing.assert_array_equal(codes_of(coded.codes, sparse, f), row)
