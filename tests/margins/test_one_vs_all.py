"""One-vs-all margins."""

import numpy as np
import pytest

from directboost.margins import OneVsAll

F = np.array([[1.0, 2.0, 4.0], [0.0, 0.5, -2.0]])


@pytest.mark.paper("Eq. 63")
def test_margins_of_a_small_example():
    """rho_ir = t_ir F_ir with +1 at the label only, by hand."""
    margin = OneVsAll.from_codes(np.array([1, 2]), 3)
    np.testing.assert_array_equal(margin.forward(F), [[-1.0, 2.0, -4.0], [0.0, -0.5, -2.0]])


@pytest.mark.paper("Eq. 64")
def test_coefficients_of_a_small_example():
    """A_ir = t_ir U_ir, by hand."""
    margin = OneVsAll.from_codes(np.array([1, 2]), 3)
    U = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_array_equal(margin.adjoint(U), [[-0.1, 0.2, -0.3], [-0.4, -0.5, 0.6]])


def test_rows_with_several_labels_and_with_none():
    """A multi-label row may have +1 everywhere or nowhere."""
    margin = OneVsAll(np.array([[1, 1, 1], [-1, -1, -1]]))
    np.testing.assert_array_equal(margin.forward(F), F * [[1.0], [-1.0]])
    assert margin.own is None


def test_map_is_its_own_inverse_and_adjoint(rng):
    """Multiplying by t twice changes nothing."""
    margin = OneVsAll(rng.choice([-1, 1], size=(2, 3)))
    np.testing.assert_array_equal(margin.adjoint(margin.forward(F)), F)
