"""Logistic loss: the printed equations and the tails."""

import numpy as np
import pytest

from directboost.losses import Logistic, SampleWeights
from directboost.margins import OneVsAll, Pairwise

LOSS = Logistic()
M, K = 5, 3
Y = np.array([0, 1, 2, 2, 1])
MARGINS = [Pairwise(Y, K), OneVsAll.from_codes(Y, K)]

both_margins = pytest.mark.parametrize("margin", MARGINS, ids=lambda margin: margin.name)


@both_margins
@pytest.mark.paper("Eq. 28")
def test_value_of_the_paper(margin, rng):
    """With equal weights L = (1/mk) sum log(1 + exp(-rho))."""
    rho = margin.forward(rng.normal(size=(M, K)))
    expected = np.log(1.0 + np.exp(-rho)).sum() / (M * K)
    rows = SampleWeights.weighted(np.ones(M), K, margin.true_class)
    assert LOSS.value(rho, rows) == pytest.approx(expected, rel=1e-14)


@both_margins
@pytest.mark.paper("Eq. 33")
def test_dual_of_the_paper(margin, rng):
    """With equal weights D(U) = -(1/mk) sum of the binary entropies of mkU."""
    v = rng.uniform(size=(M, K))
    expected = -np.sum(v * np.log(v) + (1 - v) * np.log(1 - v)) / (M * K)
    rows = SampleWeights.weighted(np.ones(M), K, margin.true_class)
    assert LOSS.dual_value(v / (M * K), rows) == pytest.approx(expected, rel=1e-13)


@both_margins
@pytest.mark.paper("Eq. 34")
def test_weights_of_the_paper(margin, rng):
    """With equal weights U = exp(-rho) / (mk (1 + exp(-rho)))."""
    rho = margin.forward(rng.normal(size=(M, K)))
    expected = np.exp(-rho) / (M * K * (1.0 + np.exp(-rho)))
    rows = SampleWeights.weighted(np.ones(M), K, margin.true_class)
    np.testing.assert_allclose(LOSS.negative_gradient(rho, rows), expected, rtol=1e-13)


@pytest.mark.paper("Eq. 34")
def test_start_is_half_of_the_start_the_paper_prints():
    """At W = 0 the weights are 1/(2mk), not 1/(mk)."""
    rows = SampleWeights.weighted(np.ones(M), K, Y)
    np.testing.assert_allclose(LOSS.start(rows), 1.0 / (2 * M * K), rtol=1e-15)


def test_entropy_is_zero_at_both_ends_of_the_domain():
    """v = 0 and v = 1 have no entropy, and v = 1/2 has log 2."""
    rows = SampleWeights.weighted(np.ones(1), 3, None)
    U = rows.c[0] * np.array([[0.0, 1.0, 0.5]])
    assert LOSS.dual_value(U, rows) == pytest.approx(np.log(2.0) / 3, abs=1e-14)


def test_tails_keep_their_relative_precision():
    """Far right the loss and its weights are exp(-z), far left the loss is -z."""
    z = np.array([30.0, 300.0, 700.0])
    np.testing.assert_allclose(LOSS.theta(z), np.exp(-z), rtol=1e-12)
    np.testing.assert_allclose(-LOSS.theta_gradient(z), np.exp(-z), rtol=1e-12)
    np.testing.assert_allclose(LOSS.theta_curvature(z), np.exp(-z), rtol=1e-12)
    np.testing.assert_allclose(LOSS.theta(-z), z, rtol=1e-12)
    np.testing.assert_allclose(LOSS.theta_curvature(-z), np.exp(-z), rtol=1e-12)


def test_small_terms_keep_their_digits():
    """In the tails of both functions a term is good relative to itself."""
    z = np.array([0.0, 1e-9, 1.0, 17.0, 40.0, 300.0])
    np.testing.assert_allclose(LOSS.theta(z), np.log1p(np.exp(-z)), rtol=4e-16)
    np.testing.assert_allclose(LOSS.theta(-z), z + np.log1p(np.exp(-z)), rtol=4e-16)
    v = np.array([1e-300, 1e-20, 1e-9, 0.3, 0.5, 1.0 - 1e-9])
    expected = v * np.log(v) + (1.0 - v) * np.log1p(-v)
    np.testing.assert_allclose(LOSS.conjugate(-v), expected, rtol=1e-15)
