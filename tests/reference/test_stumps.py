"""The brute force dictionary itself, by hand."""

import numpy as np
import pytest

from directboost.model.learners import Constant, Stump
from tests.reference.stumps import best_price, enumerate_dictionary, midpoint


def test_dictionary_of_a_small_example():
    """Three distinct values, one of them twice, and a missing one give five stumps of each sign."""
    X = np.array([[1.0], [3.0], [np.nan], [1.0], [7.0]])
    H, costs, columns = enumerate_dictionary(X, [2.0], polarities=(1,))
    assert [(c.feature, c.threshold, c.missing_right) for c in columns] == [
        (0, 2.0, True),
        (0, 2.0, False),
        (0, 5.0, True),
        (0, 5.0, False),
        (0, np.inf, True),
        (-1, np.inf, True),
    ]
    expected = [
        [-1, 1, 1, -1, 1],
        [-1, 1, -1, -1, 1],
        [-1, -1, 1, -1, 1],
        [-1, -1, -1, -1, 1],
        [-1, -1, 1, -1, -1],
        [1, 1, 1, 1, 1],
    ]
    np.testing.assert_array_equal(H.T, expected)
    np.testing.assert_array_equal(costs, [2.0, 2.0, 2.0, 2.0, 2.0, 1.0])


def test_both_polarities_close_the_dictionary_under_negation(blobs_missing):
    """Every column has its negative right behind it."""
    H, _, columns = enumerate_dictionary(blobs_missing.X)
    np.testing.assert_array_equal(H[:, ::2], -H[:, 1::2])
    assert [c.polarity for c in columns[::2]] == [1] * (len(columns) // 2)


def test_thresholds_part_neighbouring_floats():
    """The middle of two neighbours is one of them; it must leave the upper one on the right."""
    for a in (1.0, -1.0, 1e-320, 1.7e308, np.nextafter(1.0, 0.0)):
        b = float(np.nextafter(a, np.inf))
        assert a <= midpoint(a, b) < b
    assert midpoint(-1.7e308, 1.7e308) == 0.0


def test_library_stumps_respond_as_enumerated(blobs_missing):
    """The weak classifiers of a fitted model answer as the enumeration says they must."""
    H, _, columns = enumerate_dictionary(blobs_missing.X)
    for response, column in zip(H.T, columns, strict=True):
        stump = Constant(column.polarity) if column.feature < 0 else Stump(*column)
        np.testing.assert_array_equal(stump.predict(blobs_missing.X), response)


@pytest.mark.parametrize("q", [1.0, 1.5, 2.0, np.inf])
def test_best_price_by_hand(q):
    """Only positive edges count, and the cost divides."""
    H = np.array([[1.0, -1.0], [1.0, 1.0]])
    A = np.array([[0.25, -0.5], [0.5, 0.0]])
    edges = np.array([[0.75, -0.5], [0.25, 0.5]])
    np.testing.assert_array_equal(H.T @ A, edges)
    second = max(0.25, 0.5) if np.isinf(q) else (0.25**q + 0.5**q) ** (1 / q)
    price, column = best_price(H, np.array([2.0, 1.0]), A, q)
    assert column == 1
    assert price == pytest.approx(second, rel=1e-14)
