"""Support vector machines: kernels against their formulas, errors on rows that are easy."""

import numpy as np
import pytest

from directboost.research.experiments.methods import (
    intersection_kernel,
    linear_kernel,
    machine_error,
)


@pytest.fixture
def counts(rng):
    return rng.integers(0, 300, (101, 7)).astype(float), rng.integers(0, 300, (5, 7)).astype(float)


def test_intersection_in_blocks(counts):
    A, B = counts
    expected = np.minimum(A[:, None], B).sum(axis=2)
    np.testing.assert_array_equal(intersection_kernel(A, B), expected)
    np.testing.assert_array_equal(intersection_kernel(B, A), expected.T)


def test_linear(counts):
    A, B = counts
    found = linear_kernel(A.astype(np.float32), B)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.einsum("if,jf->ij", A, B))


@pytest.mark.parametrize("kernel", [linear_kernel, intersection_kernel])
def test_machine(rng, kernel):
    """Three classes, each with a word that is frequent in it; the scale of counts is no matter."""
    y = np.repeat(np.arange(3), 20)
    X = rng.poisson(3.0, (60, 6)) + 9 * (np.arange(6) == y[:, None])
    train, test = (X[::2], y[::2]), (X[1::2], y[1::2])
    error, cost = machine_error(kernel, train, test)
    assert error <= 0.1
    assert cost in [10.0**power for power in range(-5, 3)]
    assert machine_error(kernel, (X[::2] * 8, y[::2]), (X[1::2] * 8, y[1::2])) == (error, cost)
