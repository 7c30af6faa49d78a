"""Code matrices: their properties, and invalid codes."""

from math import ceil, log2

import numpy as np
import pytest

from directboost.baselines.adaboost_mo import check_code, code_matrix, row_distance


def code(kind, k, seed=0):
    return code_matrix(kind, k, np.random.RandomState(seed))


def assert_fine(M):
    """Assert that M is of -1 and +1 with different rows and really different columns."""
    k, L = M.shape
    assert set(np.unique(M)) == {-1.0, 1.0}
    assert np.unique(M, axis=0).shape[0] == k
    assert np.unique(M * M[0], axis=1).shape[1] == L  # up to sign
    assert (np.abs(M.sum(axis=0)) < k).all()


def distances(M):
    """Return in how many bits the rows differ, for all pairs."""
    return [np.sum(M[a] != M[b]) for a in range(len(M)) for b in range(a)]


@pytest.mark.parametrize("k", range(2, 11))
def test_an_exhaustive_code_has_all_columns(k):
    M = code("exhaustive", k)
    assert M.shape == (k, 2 ** (k - 1) - 1)
    assert_fine(M)
    assert set(distances(M)) == {2 ** (k - 2)}


@pytest.mark.parametrize("k", range(2, 8))
def test_few_classes_have_an_exhaustive_code(k):
    np.testing.assert_array_equal(code("auto", k), code("exhaustive", k))


@pytest.mark.parametrize(("k", "L"), [(8, 30), (10, 34), (40, 54)])
def test_many_classes_have_a_random_code(k, L):
    M = code("auto", k)
    assert M.shape == (k, L)
    assert ceil(10 * log2(k)) == L
    assert_fine(M)
    np.testing.assert_array_equal(M, code("random", k))
    assert not np.array_equal(M, code("auto", k, seed=1))


def test_a_random_code_is_the_best_of_many():
    """Its rows differ in more bits than those of a few hundred matrices drawn at random."""
    random = np.random.default_rng(5)
    others = [min(distances(random.choice([-1, 1], size=(10, 34)))) for _ in range(300)]
    assert min(distances(code("random", 10))) >= max(others)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_a_random_code_has_no_more_columns_than_there_are(k):
    np.testing.assert_array_equal(code("random", k), code("exhaustive", k))


def test_one_class_against_the_others():
    np.testing.assert_array_equal(code("ova", 3), [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    assert code("ova", 2).shape == (2, 2)


def test_three_classes_are_parted_as_one_against_the_others():
    """The exhaustive columns are those of "ova" up to sign and order."""
    columns = {tuple(column * column[0]) for column in code("exhaustive", 3).T}
    assert columns == {tuple(column * column[0]) for column in code("ova", 3).T}


@pytest.mark.parametrize(
    ("k", "L"), [(2, 1), (3, 2), (4, 2), (4, 6), (8, 3), (8, 126), (9, 4), (16, 4), (35, 7)]
)
def test_a_code_of_a_given_length(k, L):
    M = code(L, k)
    assert M.shape == (k, L)
    assert_fine(M)
    np.testing.assert_array_equal(M, code(np.int64(L), k))


def test_a_given_matrix_is_taken_as_it_is():
    """Repeated and opposite columns count as often as they are given."""
    M = [[1, 1, -1], [-1, -1, 1]]
    np.testing.assert_array_equal(code(M, 2), M)
    np.testing.assert_array_equal(code(np.array(M, dtype=np.int8), 2), M)


@pytest.mark.parametrize("kind", ["exhaustive", "random", "ova", 5])
def test_the_distance_of_rows(kind):
    M = code(kind, 6)
    assert row_distance(M) == min(distances(M))


@pytest.mark.parametrize(
    ("kind", "k", "message"),
    [
        ("exhaustive", 11, "at most 10 classes, but y has 11.* 2.10 - 1 bits; use code='random'"),
        (2, 5, "code=2 is invalid: 5 classes need at least 3 bits"),
        (8, 4, "code=8 is invalid: 4 classes have only 7 splits"),
        ([[1, -1], [-1, 1]], 3, "code has 2 rows, but y has 3 classes"),
        ([[1, 1], [1, -1]], 2, "column 0 of code is constant"),
        ([[1, 1], [-1, 1], [1, 1]], 3, "column 1 of code is constant"),
        ([[1, -1], [-1, 1], [1, -1]], 3, "rows 0 and 2 of code are equal"),
    ],
)
def test_codes_that_cannot_separate_the_classes_are_rejected(kind, k, message):
    check_code(kind)
    with pytest.raises(ValueError, match=message):
        code(kind, k)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("all", "code='all' is invalid: expected one of 'auto', 'exhaustive', 'random', 'ova'"),
        (0, "code=0 is invalid: expected a number of bits"),
        (True, "code=True is invalid"),
        (2.5, "code=2.5 is invalid: expected one of 'auto'"),
        (None, "code=None is invalid"),
        ([1, -1], "a matrix with one row per class"),
        ([[1, -1], [1]], "a matrix with one row per class"),
        ([[]], "a matrix with one row per class"),
        ([[1, 0], [-1, 1]], "code contains 0: expected a matrix of -1 and .1"),
        ([[1, np.nan], [-1, 1]], "code contains nan"),
    ],
)
def test_invalid_codes_are_rejected(kind, message):
    with pytest.raises(ValueError, match=message):
        check_code(kind)
