"""Multinomial loss: the probabilities it models."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from directboost.losses import Multinomial, SampleWeights
from directboost.margins import Pairwise

LOSS = Multinomial()
Y = np.array([0, 1, 2, 2, 1])
MARGIN = Pairwise(Y, 3)
ROWS = SampleWeights.weighted(np.arange(1.0, 6.0), 3, Y)


def test_value_is_the_negative_log_likelihood(rng):
    """L is the weighted mean of -log softmax(F) at the label."""
    F = rng.normal(size=(5, 3))
    expected = -np.average(log_softmax(F, axis=1)[np.arange(5), Y], weights=np.arange(1.0, 6.0))
    assert LOSS.value(MARGIN.forward(F), ROWS) == pytest.approx(expected, rel=1e-14)


def test_coefficients_are_labels_minus_probabilities(rng):
    """A = (s_i / S) (onehot - softmax(F))."""
    F = rng.normal(size=(5, 3))
    A = MARGIN.adjoint(LOSS.negative_gradient(MARGIN.forward(F), ROWS))
    expected = (np.arange(1.0, 6.0) / 15.0)[:, None] * (np.eye(3)[Y] - softmax(F, axis=1))
    np.testing.assert_allclose(A, expected, atol=1e-16)


def test_start_of_equal_scores_is_log_k():
    """At F = 0 the loss is log k and all classes have the same weight."""
    assert LOSS.value(np.zeros((5, 3)), ROWS) == pytest.approx(np.log(3.0), rel=1e-15)


def test_only_pairwise_margins_are_offered():
    """There is no one-vs-all form."""
    assert LOSS.margins == ("pairwise",)


def test_shrunk_rows_keep_their_mass(rng):
    """The rows of shrunk weights sum to s_i / S for every tau."""
    U = LOSS.negative_gradient(MARGIN.forward(rng.normal(size=(5, 3))), ROWS)
    for tau in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(LOSS.shrink(U, tau, ROWS).sum(axis=1), ROWS.share, rtol=1e-14)
