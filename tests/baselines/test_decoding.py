"""Scores of classes from scores of bits, against their formulas."""

import numpy as np
import pytest
from scipy.special import logsumexp

from directboost.baselines.votes import DECODINGS, hamming_scores, linear_scores, loss_scores


def example(scale, m=50, k=5, L=8):
    random = np.random.default_rng(0)
    return scale * random.normal(size=(m, L)), random.choice([-1.0, 1.0], size=(k, L))


@pytest.mark.parametrize("scale", [0.0, 1e-8, 1.0, 100.0, 250.0, 1e3, 1e6])
def test_loss_scores_at_any_size(scale):
    f, M = example(scale)
    expected = -logsumexp(-M[None] * f[:, None], axis=2)
    np.testing.assert_allclose(loss_scores(f, M), expected, rtol=1e-12, atol=1e-12)


def test_loss_scores_of_a_sure_row():
    """If all bits agree with a code word by a large margin, its score is that margin minus ln L."""
    M = example(1.0)[1]
    F = loss_scores(np.array([900.0, 290.0])[:, None] * M[:2], M)
    np.testing.assert_allclose(F[[0, 1], [0, 1]], np.array([900.0, 290.0]) - np.log(8))


def test_hamming_scores_count_bits():
    f, M = example(1.0)
    agree = np.array([[np.sum((row >= 0.0) == (word > 0.0)) for word in M] for row in f])
    np.testing.assert_array_equal(hamming_scores(f, M), 2 * agree - M.shape[1])


def test_a_bit_of_zero_counts_as_one():
    np.testing.assert_array_equal(
        hamming_scores(np.zeros((1, 2)), np.array([[1.0, 1.0], [-1.0, 1.0]])), [[2.0, 0.0]]
    )


def test_linear_scores_are_products():
    f, M = example(3.0)
    np.testing.assert_allclose(linear_scores(f, M), [[row @ word for word in M] for row in f])


@pytest.mark.parametrize("name", DECODINGS)
def test_a_word_is_decoded_as_its_class(name):
    M = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
    np.testing.assert_array_equal(DECODINGS[name](2.0 * M, M).argmax(axis=1), range(4))
