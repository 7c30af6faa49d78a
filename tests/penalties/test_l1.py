"""The l1 penalty by hand."""

import numpy as np
import pytest

from directboost.penalties import L1

PENALTY = L1()


@pytest.mark.paper("Eq. 3")
def test_value_is_the_sum_of_all_weights():
    """With unit costs the penalty is the sum of W >= 0; costs weight the rows."""
    W = np.array([[1.0, 2.0], [0.0, 0.5]])
    assert PENALTY.value(W) == 3.5
    assert PENALTY.value(W, np.array([2.0, 4.0])) == 8.0


def test_prox_is_soft_thresholding_with_a_step_per_row():
    """Entries lose the step of their row and stop at zero."""
    V = np.array([[1.0, 0.2, -3.0], [1.0, 0.2, -3.0]])
    expected = [[0.5, 0.0, 0.0], [0.75, 0.0, 0.0]]
    np.testing.assert_array_equal(PENALTY.prox(V, np.array([0.5, 0.25])), expected)


def test_dual_norm_is_the_largest_positive_edge():
    """Negative edges count as zero."""
    E = np.array([[0.1, -5.0, 0.3], [-1.0, -2.0, -3.0]])
    np.testing.assert_array_equal(PENALTY.dual_norm(E), [0.3, 0.0])
