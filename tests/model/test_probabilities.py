"""The factor from scores to probabilities: most likely, and unique if no row is wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from directboost.model.ensemble import class_probabilities, fit_temperature


def scores(wrong, m=60, k=4, scale=1.0):
    """Return scores (m, k) and classes; the first `wrong` rows favour another class."""
    random = np.random.default_rng(0)
    codes = np.arange(m) % k
    F = random.uniform(-1.0, 0.0, size=(m, k))
    F[np.arange(m), np.where(np.arange(m) < wrong, (codes + 1) % k, codes)] = 1.0
    return scale * F, codes


@pytest.mark.parametrize("scale", [0.05, 1.0, 20.0])
def test_the_factor_maximises_the_likelihood(scale):
    F, codes = scores(wrong=8, scale=scale)
    weight = np.random.default_rng(1).uniform(size=codes.size)

    def negative_log_likelihood(log_factor):
        P = class_probabilities(F, np.exp(log_factor))
        return -weight @ np.log(P[np.arange(codes.size), codes])

    best = minimize_scalar(negative_log_likelihood, bounds=(-6.0, 6.0), method="bounded").x
    assert fit_temperature(F, codes, weight) == pytest.approx(np.exp(best), rel=1e-4)


@pytest.mark.parametrize("scale", [0.5, 1.0, 20.0])
def test_the_factor_is_unique_if_no_row_is_wrong(scale):
    """The factor scales with the scores; order and scale of the weights do not matter."""
    F, codes = scores(wrong=0, scale=scale)
    weight = np.arange(1.0, codes.size + 1.0)
    factor = fit_temperature(F, codes, weight)
    order = np.random.default_rng(2).permutation(codes.size)
    other = fit_temperature(F[order], codes[order], 1e-3 * weight[order])
    assert factor == pytest.approx(other, rel=1e-10)
    rows = np.repeat(np.arange(codes.size), weight.astype(int))
    repeated = fit_temperature(F[rows], codes[rows], np.ones(rows.size))
    assert factor == pytest.approx(repeated, rel=1e-10)
    assert 10.0 < factor * scale < 40.0


def test_the_factor_stays_in_its_range():
    """Scores that are always wrong get the smallest factor, tiny scores the largest."""
    F, codes = scores(wrong=60)
    assert fit_temperature(F, codes, np.ones(60)) == pytest.approx(np.exp(-6.0))
    F, codes = scores(wrong=0, scale=1e-6)
    assert fit_temperature(F, codes, np.ones(60)) == pytest.approx(np.exp(6.0))
    P = class_probabilities(F, fit_temperature(F, codes, np.ones(60)))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
