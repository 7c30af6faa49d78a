"""Hinge loss: ties, and its linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from directboost.losses import Hinge, SampleWeights
from directboost.margins import Pairwise
from tests.conftest import make_blobs
from tests.reference.stumps import enumerate_dictionary

HINGE = Hinge()
SIXTH = 1.0 / 6.0


def pairwise_rows(labels, k=3):
    """Return rows of equal weight with these labels."""
    return SampleWeights.weighted(np.ones(len(labels)), k, np.asarray(labels))


def test_tied_classes_share_the_weight_of_the_row():
    """All maximisers of a row get the same weight, including the label if its slack ties."""
    rho = np.array([[0.0, 0.5, 0.5], [0.0, 0.5, 0.6], [1.0, 0.0, 1.0], [2.0, 0.0, 2.0]])
    U = HINGE.negative_gradient(rho, SampleWeights.weighted(np.ones(4), 3, np.array([0, 0, 1, 1])))
    expected = [[0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0]]
    np.testing.assert_allclose(U, np.array(expected) / 4)


def test_one_vs_all_weight_ends_at_margin_one():
    """A margin of exactly 1 has no loss and no weight."""
    rows = SampleWeights.weighted(np.ones(2), 3, None)
    rho = np.array([[1.0, np.nextafter(1.0, 0.0), 2.0], [-1.0, 0.0, 1.5]])
    np.testing.assert_allclose(HINGE.negative_gradient(rho, rows), SIXTH * (rho < 1.0))
    assert HINGE.value(rho, rows) == pytest.approx(3.0 * SIXTH)


@pytest.mark.paper("Eq. 3")
def test_value_is_the_smallest_slack():
    """Only the worst class of a row counts, and a row with margins above 1 has no loss."""
    rho = np.array([[0.0, -1.0, 0.5], [3.0, 0.0, 2.0], [0.0, 0.25, 4.0]])
    assert HINGE.value(rho, pairwise_rows([0, 1, 0])) == pytest.approx((2.0 + 0.0 + 0.75) / 3)


@pytest.mark.paper("Eq. 6")
def test_dual_value_is_one_minus_the_mass_on_the_labels(rng):
    """D(U) = 1 - sum_i U_i,yi: the paper minimises that mass (summed, not averaged)."""
    rows = pairwise_rows([0, 1, 2, 0])
    U = rows.share[:, None] * rng.dirichlet(np.ones(3), 4)
    expected = 1.0 - U[np.arange(4), rows.true_class].sum()
    assert HINGE.dual_value(U, rows) == pytest.approx(expected, abs=1e-14)


@pytest.mark.paper("Eq. 6")
def test_duals_of_the_linear_program_close_the_gap():
    """The multipliers of Eq. 3 lie in the domain, meet Eq. 6 and have the primal value."""
    data, nu = make_blobs(3, m=12, d=2), 0.02
    H, costs, _ = enumerate_dictionary(data.X)
    m, n, k = 12, H.shape[1], 3
    margin, rows = Pairwise(data.y, k), SampleWeights.weighted(data.s, k, data.y)
    lines, ones = [], []
    for i in range(m):
        for r in range(k):
            W = np.zeros((n, k))
            W[:, data.y[i]] += H[i]
            W[:, r] -= H[i]
            lines.append(np.r_[-W.ravel(), -np.eye(m)[i]])
            ones.append(-float(r != data.y[i]))
    cost = np.r_[nu * np.repeat(costs, k), rows.share]
    free = [(0.0, None)] * (n * k) + [(None, None)] * m
    found = linprog(cost, A_ub=np.array(lines), b_ub=ones, bounds=free)
    U = -found.ineqlin.marginals.reshape(m, k)
    rho = margin.forward(H @ found.x[: n * k].reshape(n, k))
    penalty = nu * found.x[: n * k].sum()
    assert found.fun == pytest.approx(HINGE.value(rho, rows) + penalty, rel=1e-9)
    assert HINGE.dual_value(U, rows) == pytest.approx(found.fun, rel=1e-9)
    assert (H.T @ margin.adjoint(U)).max() <= nu * (1 + 1e-8)
    np.testing.assert_allclose(HINGE.shrink(U, 1.0, rows), U, atol=1e-12)


def test_the_hinge_is_not_smooth():
    """Solvers that need a gradient can check that the loss has none."""
    assert not HINGE.smooth
    assert not HINGE.curvature(np.zeros((2, 3)), pairwise_rows([0, 1])).any()
