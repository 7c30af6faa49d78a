"""All solvers that support a problem find the same value, with a small gap."""

import math

import cvxpy as cp
import numpy as np
import pytest

from directboost.losses import LOSSES
from directboost.margins import MARGINS
from directboost.penalties import L1, GroupNorm
from directboost.solvers.conic import Conic
from directboost.solvers.lbfgsb import LBFGSB
from directboost.solvers.linear_program import LinearProgram
from directboost.solvers.proximal_gradient import ProximalGradient
from tests.solvers.problems import (
    COMBINATIONS,
    in_dual_domain,
    make_problem,
    relative_gap,
    solve,
    without_columns,
)

CLASSES = (LinearProgram, Conic, LBFGSB, ProximalGradient)
ACCURACY = 1e-8


def solutions(problem):
    """Solve a problem with every solver that supports it; return the results by name."""
    parts = problem.objective
    able = [
        c() for c in CLASSES if c().supports(parts.loss, type(parts.margin), parts.penalty) is None
    ]
    return {solver.name: solve(solver, problem, ACCURACY) for solver in able}


@pytest.mark.covering
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("nu", [0.002, 0.03])
@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_solvers_agree(loss, margin, nu, p):
    shape = {1.0: (32, 16, 4), 2.0: (25, 10, 5), math.inf: (24, 14, 3)}[p]
    problem = make_problem(loss, margin, p, nu, shape=shape, seed=7)
    found = solutions(problem)
    assert len(found) >= (1 if loss == "hinge" and p == 2.0 else 2)
    values = [problem.value(result.W) for result in found.values()]
    scale = max(1e-12, min(values) - problem.objective.loss.constant(problem.objective.rows))
    assert max(values) - min(values) <= 1e-7 * scale
    for name, result in found.items():
        assert result.solved, name
        assert -1e-15 <= relative_gap(problem, result) <= ACCURACY, name
        assert (result.W >= 0.0).all(), name
        assert in_dual_domain(problem.objective, result.U), name


@pytest.mark.parametrize("p", [1.5, 3.0])
@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_general_p(loss, margin, p):
    problem = make_problem(loss, margin, p, 0.05, shape=(20, 8, 3), seed=3)
    found = solutions(problem)
    values = [problem.value(result.W) for result in found.values()]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-7)
    assert all(result.solved for result in found.values())


def test_two_classes():
    for loss, margin in COMBINATIONS:
        found = solutions(make_problem(loss, margin, nu=0.05, shape=(20, 8, 2), seed=5))
        assert all(result.solved for result in found.values()), (loss, margin)


@pytest.mark.parametrize("solver", CLASSES)
def test_no_columns(solver):
    loss = "hinge" if solver is LinearProgram else "logistic"
    problem = without_columns(make_problem(loss))
    result = solve(solver(), problem)
    assert result.W.shape == (0, 4)
    assert result.solved
    assert in_dual_domain(problem.objective, result.U)


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_a_large_nu_gives_the_empty_model(loss, margin, p):
    problem = make_problem(loss, margin, p, nu=1e3, shape=(20, 8, 3))
    zero = problem.value(np.zeros((8, 3)))
    for name, result in solutions(problem).items():
        assert problem.value(result.W) == pytest.approx(zero, rel=1e-9), name
        assert relative_gap(problem, result) <= ACCURACY, name


UNSUPPORTED = [
    (LinearProgram(), "logistic", "pairwise", L1(), "'prox'"),
    (LinearProgram(), "hinge", "pairwise", GroupNorm(2.0), "conic"),
    (LBFGSB(), "hinge", "pairwise", L1(), "'lp'"),
    (LBFGSB(), "logistic", "pairwise", GroupNorm(2.0), "'prox'"),
    (LBFGSB(), "multinomial", "one-vs-all", L1(), "pairwise"),
    (ProximalGradient(), "hinge", "one-vs-all", L1(), "'lp'"),
    (ProximalGradient(), "multinomial", "one-vs-all", L1(), "pairwise"),
    (Conic(), "multinomial", "one-vs-all", L1(), "pairwise"),
]


@pytest.mark.parametrize(("solver", "loss", "margin", "penalty", "hint"), UNSUPPORTED)
def test_reasons_name_an_alternative(solver, loss, margin, penalty, hint):
    reason = solver.supports(LOSSES[loss](), MARGINS[margin], penalty)
    assert reason is not None
    assert hint in reason


def cvxpy_optimum(problem, make_loss, norm):
    """Solve the pairwise problem with CVXPY."""
    objective, columns = problem.objective, problem.columns
    m, k = columns.H.shape[0], objective.rows.k
    W = cp.Variable((len(columns), k), nonneg=True)
    F = columns.H @ W
    own = np.eye(k)[objective.margin.true_class]
    rho = cp.sum(cp.multiply(own, F), axis=1, keepdims=True) @ np.ones((1, k)) - F
    penalty = objective.nu * (columns.costs @ cp.norm(W, norm, axis=1))
    target = cp.Problem(cp.Minimize(make_loss(rho, own, objective.rows.c.reshape(m, 1)) + penalty))
    target.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return target.value


def hinge(rho, own, c):
    return cp.sum(cp.multiply(own.shape[1] * c[:, 0], cp.max((1.0 - own) - rho, axis=1)))


def logistic(rho, own, c):
    return cp.sum(cp.multiply(c @ np.ones((1, own.shape[1])), cp.logistic(-rho)))


def squared_hinge(rho, own, c):
    return cp.sum(cp.multiply(c @ np.ones((1, own.shape[1])), cp.square(cp.pos(1.0 - rho))))


@pytest.mark.parametrize(
    ("loss", "written", "p"),
    [
        pytest.param("hinge", hinge, 1.0, marks=pytest.mark.paper("Eq. 3")),
        pytest.param("hinge", hinge, 2.0, marks=pytest.mark.paper("Eq. 18")),
        pytest.param("hinge", hinge, math.inf, marks=pytest.mark.paper("Eq. 24")),
        pytest.param("logistic", logistic, 2.0, marks=pytest.mark.paper("Eq. 28")),
        pytest.param("squared_hinge", squared_hinge, math.inf),
    ],
)
def test_cvxpy_agrees(loss, written, p):
    problem = make_problem(loss, p=p, nu=0.01, shape=(24, 10, 4), seed=11)
    expected = cvxpy_optimum(problem, written, "inf" if math.isinf(p) else int(p))
    for name, result in solutions(problem).items():
        assert problem.value(result.W) == pytest.approx(expected, rel=1e-7), name
