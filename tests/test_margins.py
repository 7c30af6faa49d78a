"""Pairwise and one-vs-all margins."""

import numpy as np
import pytest

from directboost.margins import OneVsAll, Pairwise


@pytest.fixture
def margin():
    """Return the map of three rows with labels 0, 2, 2 of three classes."""
    return Pairwise(np.array([0, 2, 2]), 3)


@pytest.mark.paper("Eq. 10")
def test_margins_of_a_small_example(margin):
    """rho_ir = F_i,yi - F_ir, by hand."""
    F = np.array([[1.0, 2.0, 4.0], [0.0, 0.5, 2.0], [3.0, 3.0, 3.0]])
    expected = [[0.0, -1.0, -3.0], [2.0, 1.5, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(margin.forward(F), expected)


@pytest.mark.paper("Eq. 14")
def test_coefficients_of_a_small_example(margin):
    """A_ir = [r = y_i] sum_l U_il - U_ir, by hand."""
    U = np.array([[7.0, 2.0, 4.0], [1.0, 0.5, 9.0], [0.0, 0.0, 5.0]])
    expected = [[6.0, -2.0, -4.0], [-1.0, -0.5, 1.5], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(margin.adjoint(U), expected)


def test_rows_of_the_coefficients_sum_to_zero(margin, rng):
    """The edges of every h sum to 0 over the classes."""
    A = margin.adjoint(rng.normal(size=(3, 3)))
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-15)


def test_no_edge_reads_the_weight_of_the_label(margin, rng):
    """Changing U at r = y_i does not change the coefficients, to the last bit."""
    U = rng.normal(size=(3, 3))
    changed = U.copy()
    changed[np.arange(3), [0, 2, 2]] = 1e9
    np.testing.assert_array_equal(margin.adjoint(U), margin.adjoint(changed))


def test_a_constant_added_to_all_scores_changes_nothing(margin):
    """Margins depend on differences of scores only."""
    F = np.arange(9.0).reshape(3, 3) ** 2
    np.testing.assert_array_equal(margin.forward(F), margin.forward(F + 8.0))


F = np.array([[1.0, 2.0, 4.0], [0.0, 0.5, -2.0]])


@pytest.mark.paper("Eq. 63")
def test_one_vs_all_margins_of_a_small_example():
    """rho_ir = t_ir F_ir with +1 at the label only, by hand."""
    margin = OneVsAll.from_codes(np.array([1, 2]), 3)
    np.testing.assert_array_equal(margin.forward(F), [[-1.0, 2.0, -4.0], [0.0, -0.5, -2.0]])


@pytest.mark.paper("Eq. 64")
def test_one_vs_all_coefficients_of_a_small_example():
    """A_ir = t_ir U_ir, by hand."""
    margin = OneVsAll.from_codes(np.array([1, 2]), 3)
    U = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_array_equal(margin.adjoint(U), [[-0.1, 0.2, -0.3], [-0.4, -0.5, 0.6]])


def test_rows_with_several_labels_and_with_none():
    """A multi-label row may have +1 everywhere or nowhere."""
    margin = OneVsAll(np.array([[1, 1, 1], [-1, -1, -1]]))
    np.testing.assert_array_equal(margin.forward(F), F * [[1.0], [-1.0]])
    assert margin.true_class is None


def test_map_is_its_own_inverse_and_adjoint(rng):
    """Multiplying by t twice changes nothing."""
    margin = OneVsAll(rng.choice([-1, 1], size=(2, 3)))
    np.testing.assert_array_equal(margin.adjoint(margin.forward(F)), F)
