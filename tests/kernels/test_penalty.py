"""The penalty of stacked jumps on the line between two sets of jumps."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.step_functions import jump_penalty
from tests.kernels.draws import both, native_test

every_norm = pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, np.inf])


def draw_jumps(rng, k):
    """Draw two sets of jumps, many of them zero, of four features, one of them without jumps."""
    first = np.array([0, 5, 5, 12, 20], dtype=np.int64)
    start, end = rng.normal(size=(2, 20, k))
    start[rng.random(20) < 0.5] = 0.0
    end[rng.random(20) < 0.5] = 0.0
    return start, end, first, rng.random(4)


@both
@every_norm
@pytest.mark.parametrize("step", [0.0, 0.4, 1.0, 1.5])
def test_penalty_is_the_sum_over_the_features(kernels, p, step, rng):
    start, end, first, nu = draw_jumps(rng, 5)
    jumps = start + step * (end - start)
    expected = sum(nu[w] * jump_penalty(jumps[first[w] : first[w + 1]], p) for w in range(4))
    assert kernels.penalty(start, end, step, first, nu, p) == pytest.approx(expected, rel=1e-12)


@native_test
@every_norm
def test_twins_agree(p, rng):
    for k in (1, 2, 7, 26):
        start, end, first, nu = draw_jumps(rng, k)
        one = native.penalty(start, end, 0.7, first, nu, p)
        assert one == pytest.approx(reference.penalty(start, end, 0.7, first, nu, p), rel=1e-12)


@both
def test_penalty_without_features_is_zero(kernels):
    none, first = np.empty((0, 3)), np.zeros(1, dtype=np.int64)
    assert kernels.penalty(none, none, 1.0, first, np.empty(0), 2.0) == 0.0
