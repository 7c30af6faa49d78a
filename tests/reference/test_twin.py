"""The judge is judged: known optima, other solvers, and the gap of the CVXPY twin."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import Twin, solve_twin

PAIRS = [(loss, margin) for loss, names in formulas.LOSS_MARGINS.items() for margin in names]
COSTS = (1.0, 2.5)


def problem(loss, margin, p, k=4, share=0.2):
    """Return a twin on ten rows with nu at a share of its largest useful value."""
    data = make_blobs(k, m=10, d=2, missing=0.1)
    H, costs, _ = enumerate_dictionary(data.X, COSTS)
    first = Twin(H, data.y, k, data.s, loss, margin, p, 1.0, costs)
    U = formulas.start_weights(loss, first.c, first.own, k)
    nu = share * first.max_price(U)
    return Twin(H, data.y, k, data.s, loss, margin, p, nu, costs)


@pytest.mark.parametrize(("loss", "margin"), PAIRS)
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf, 1.5, 3.0])
def test_twin_closes_its_own_gap(loss, margin, p):
    """Weak duality over all columns, in plain formulas, proves the twin right to 1e-6."""
    twin = problem(loss, margin, p)
    W, U = twin.solve()
    assert W.min() >= 0.0
    assert -1e-12 <= twin.relative_gap(W, U) <= 1e-6


@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_twin_is_empty_above_the_largest_useful_nu(loss, margin):
    """For nu above nu_max the optimum is W = 0, with the loss at zero margins."""
    twin = problem(loss, margin, 2.0, share=1.05)
    W, _ = twin.solve()
    assert twin.value(W) == pytest.approx(twin.value(0.0 * W), abs=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "multinomial"])
def test_penalties_agree_up_to_three_classes(loss):
    """Pairwise with k = 3: l1, l1,2 and l1,inf have the same optimum; with k = 4 they differ."""
    three, four = ([_optimum(loss, p, k) for p in (1.0, 2.0, np.inf)] for k in (3, 4))
    assert three == pytest.approx([three[0]] * 3, rel=1e-7)
    assert four[0] > four[1] * (1 + 1e-6)
    assert four[1] > four[2] * (1 + 1e-6)


def _optimum(loss, p, k):
    data = make_blobs(k, m=16, d=2)
    H, costs, _ = enumerate_dictionary(data.X)
    return solve_twin(H, data.y, k, data.s, loss, "pairwise", p, 0.02, costs)[0]


@pytest.mark.paper("Eq. 3")
def test_two_classes_with_hinge_are_the_soft_margin_linear_program():
    """k = 2, hinge, l1 is LPBoost: min sum of slacks + nu sum of weights, one weight per stump."""
    data, nu = make_blobs(2, m=14, d=2), 0.03
    H, costs, _ = enumerate_dictionary(data.X)
    sign, m = np.where(data.y == 0, 1.0, -1.0), 14
    lines = -np.c_[sign[:, None] * H, np.eye(m)]
    cost = np.r_[nu * costs, data.s / data.s.sum()]
    found = linprog(cost, A_ub=lines, b_ub=-np.ones(m))
    value, _ = solve_twin(H, data.y, 2, data.s, "hinge", "pairwise", 1.0, nu, costs)
    assert value == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.paper("Eq. 28")
def test_two_classes_with_logistic_loss_are_binary_logistic_regression():
    """k = 2: the pairwise optimum is log(2)/2 plus half the binary one at twice nu."""
    data, nu = make_blobs(2, m=14, d=2), 0.02
    H, costs, _ = enumerate_dictionary(data.X)
    sign, s = np.where(data.y == 0, 1.0, -1.0), data.s / data.s.sum()

    def binary(a):
        z = sign * (H @ a)
        gradient = -H.T @ (s * sign / (1.0 + np.exp(z))) + 2 * nu
        return s @ np.logaddexp(0.0, -z) + 2 * nu * a.sum(), gradient

    start = np.zeros(H.shape[1])
    bounds = [(0.0, None)] * start.size
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000}
    found = minimize(binary, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    value, _ = solve_twin(H, data.y, 2, data.s, "logistic", "pairwise", 1.0, nu, costs)
    assert value == pytest.approx(0.5 * np.log(2.0) + 0.5 * found.fun, rel=1e-7)


def test_multi_label_targets_equal_the_codes_they_come_from():
    """One-vs-all with the +-1 matrix of the labels is one-vs-all with the labels."""
    data = make_blobs(3, m=12, d=2)
    H, costs, _ = enumerate_dictionary(data.X)
    targets = formulas.targets_of(data.y, 3)
    values = [
        solve_twin(H, y, 3, data.s, "logistic", "one-vs-all", 2.0, 0.01, costs)[0]
        for y in (data.y, targets)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
