"""Exponential loss: the logarithmic form and its normalisation."""

import numpy as np
import pytest

from directboost.losses import Exponential, SampleWeights
from directboost.margins import OneVsAll, Pairwise

LOSS = Exponential()
M, K = 6, 3


@pytest.fixture
def y():
    """Return labels of six rows."""
    return np.array([0, 1, 2, 0, 1, 2])


@pytest.fixture
def rho(y, rng):
    """Return pairwise margins of random scores."""
    return Pairwise(y, K).forward(rng.normal(size=(M, K)))


@pytest.mark.paper("Eq. 11")
def test_log_form_of_the_paper_plus_its_constant(rho, y):
    """With equal weights L is the paper's log sum exp(-rho) plus log(1/(m k))."""
    rows = SampleWeights.weighted(np.ones(M), K, y)
    expected = np.log(np.exp(-rho).sum()) + np.log(1.0 / (M * K))
    assert LOSS.value(rho, rows) == pytest.approx(expected, rel=1e-14)
    assert LOSS.value(0.0 * rho, rows) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.paper("Eq. 12")
def test_dual_is_the_entropy_of_the_paper_minus_its_constant(y, rng):
    """With equal weights D(U) = -sum U log U - log(m k), and 0 log 0 = 0."""
    rows = SampleWeights.weighted(np.ones(M), K, y)
    U = rng.dirichlet(np.ones(M * K)).reshape(M, K)
    U[0, 1] = 0.0
    U /= U.sum()
    positive = U[U > 0.0]
    expected = -np.sum(positive * np.log(positive)) - np.log(M * K)
    assert LOSS.dual_value(U, rows) == pytest.approx(expected, rel=1e-13)


@pytest.mark.paper("Eq. 13")
def test_weights_are_normalised_over_the_whole_matrix(rho, y):
    """U = exp(-rho) / sum exp(-rho), summed over all rows and classes."""
    U = LOSS.negative_gradient(rho, SampleWeights.weighted(np.ones(M), K, y))
    np.testing.assert_allclose(U, np.exp(-rho) / np.exp(-rho).sum(), rtol=1e-13)
    assert U.sum() == pytest.approx(1.0, abs=1e-15)


def test_label_terms_keep_the_log_form_bounded(y):
    """However large the margins, L stays above -log k."""
    rho = Pairwise(y, K).forward(1e3 * np.eye(K)[y])
    rows = SampleWeights.weighted(np.arange(1.0, M + 1), K, y)
    assert LOSS.value(rho, rows) == pytest.approx(-np.log(K), abs=1e-14)


def test_one_vs_all_has_no_logarithm(y, rng):
    """L = sum c_i exp(-rho) and U its terms, which need not sum to 1."""
    rows = SampleWeights.weighted(np.arange(1.0, M + 1), K, None)
    rho = OneVsAll.from_codes(y, K).forward(rng.normal(size=(M, K)))
    terms = rows.c[:, None] * np.exp(-rho)
    assert LOSS.value(rho, rows) == pytest.approx(terms.sum(), rel=1e-14)
    np.testing.assert_allclose(LOSS.negative_gradient(rho, rows), terms, rtol=1e-13)
    assert LOSS.dual_value(np.zeros((M, K)), rows) == 0.0


def test_shrink_frees_mass_in_proportion_to_the_row_weights(rho, y):
    """The mass that off-label entries lose moves to the labels, in proportion to c."""
    rows = SampleWeights.weighted(np.arange(1.0, M + 1), K, y)
    U = LOSS.shrink(LOSS.negative_gradient(rho, rows), 0.3, rows)
    own = U[np.arange(M), y]
    np.testing.assert_allclose(own / rows.c, own[0] / rows.c[0], rtol=1e-13)
    assert U.sum() == pytest.approx(1.0, abs=1e-15)


def test_shrink_survives_weights_that_leave_no_mass_for_the_labels(y):
    """With all mass off the labels rounding must not push the rest below zero."""
    rows = SampleWeights.weighted(np.ones(M) / 3.0, K, y)
    U = np.full((M, K), 1.0 / 12.0)
    U[np.arange(M), y] = 0.0
    for excess in (0.0, 1e-15, 4e-16):
        shrunk = LOSS.shrink(U * (1.0 + excess), 1.0, rows)
        assert shrunk.min() >= 0.0
        assert np.isfinite(LOSS.dual_value(shrunk, rows))


def test_infinite_weights_have_a_dual_value_of_minus_infinity():
    """One-vs-all weights may overflow; the bound is then useless, but not NaN."""
    rows = SampleWeights.weighted(np.ones(2), 2, None)
    U = LOSS.negative_gradient(np.array([[-1e4, 1.0], [0.0, 0.0]]), rows)
    assert np.isposinf(U[0, 0])
    assert LOSS.dual_value(U, rows) == -np.inf
