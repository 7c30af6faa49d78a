"""L-BFGS-B and proximal gradient: warm starts, user-defined losses, overflow."""

import numpy as np
import pytest

from directboost.losses import SmoothLoss
from directboost.penalties import Penalty
from directboost.problem.objective import Objective, RestrictedProblem
from directboost.solvers.conic import Conic
from directboost.solvers.lbfgsb import LBFGSB
from directboost.solvers.proximal_gradient import ProximalGradient
from tests.solvers.problems import SMOOTH, make_problem, relative_gap, solve

BOTH = [LBFGSB, ProximalGradient]


def own_exponential():
    """Return a user-defined exp(-z), which may overflow."""
    return SmoothLoss(lambda z: np.exp(-z), lambda z: -np.exp(-z))


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_user_defined_loss(solver, margin):
    problem = make_problem(own_exponential(), margin, nu=0.02)
    assert relative_gap(problem, solve(solver(), problem)) <= 1e-8


def test_user_defined_loss_equals_the_built_in_one():
    mine = make_problem(own_exponential(), "one-vs-all", 2.0)
    built_in = make_problem("exponential", "one-vs-all", 2.0)
    value = built_in.value(solve(ProximalGradient(), mine).W)
    assert value == pytest.approx(built_in.value(solve(Conic(), built_in).W), rel=1e-8)


def test_conic_does_not_support_a_user_defined_loss():
    problem = make_problem(own_exponential())
    reason = Conic().supports(
        problem.objective.loss, type(problem.objective.margin), problem.objective.penalty
    )
    assert "prox" in reason


@pytest.mark.parametrize("solver", [*BOTH, Conic])
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_never_worse_than_the_start(solver, loss, margin):
    problem = make_problem(loss, margin, nu=0.02, seed=4)
    near = solve(ProximalGradient(), problem, 1e-10).W
    far = np.random.default_rng(0).random(near.shape)
    for start in (near, far):
        for accuracy in (1e-2, 1e-8):
            result = solve(solver(), problem, accuracy, start)
            assert problem.value(result.W) <= problem.value(start) + 1e-14
            assert result.solved


@pytest.mark.parametrize("solver", BOTH)
def test_a_solved_start_is_returned_at_once(solver):
    problem = make_problem("multinomial")
    first = solve(solver(), problem, 1e-9)
    again = solve(solver(), problem, 1e-8, first.W)
    assert again.iterations == 0
    assert np.array_equal(first.W, again.W)


@pytest.mark.parametrize("solver", BOTH)
def test_dual_weights_are_those_of_the_scores(solver):
    problem = make_problem("logistic")
    result = solve(solver(), problem)
    F = problem.columns.scores(result.W)
    assert np.array_equal(result.U, problem.objective.negative_gradient(F))


@pytest.mark.parametrize("solver", BOTH)
def test_an_unreachable_accuracy_terminates(solver):
    problem = make_problem("logistic", shape=(20, 8, 3), nu=0.05)
    result = solve(solver(), problem, 0.0)
    assert not result.solved
    assert relative_gap(problem, result) <= 1e-11


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("solver", BOTH)
def test_overflow_on_a_long_step_is_handled(solver):
    steep = SmoothLoss(lambda z: np.exp(-400.0 * z), lambda z: -400.0 * np.exp(-400.0 * z))
    problem = make_problem(steep, "one-vs-all", nu=0.5, shape=(20, 8, 3))
    assert relative_gap(problem, solve(solver(), problem, 1e-6)) <= 1e-6


class Weighted(Penalty):
    """A norm outside the l1,p family, with a separate cost for every class."""

    name = "weighted"

    def __init__(self, prices):
        self.prices = prices

    def norms(self, W):
        return W @ self.prices

    def prox(self, V, step):
        return np.maximum(V - np.reshape(step, (-1, 1)) * self.prices, 0.0)

    def dual_norm(self, E):
        return np.maximum(E / self.prices, 0.0).max(axis=1)


def test_any_penalty_with_a_prox():
    plain = make_problem("logistic", nu=0.01)
    parts = plain.objective
    penalty = Weighted(np.array([1.0, 2.0, 0.5, 3.0]))
    problem = RestrictedProblem(
        Objective(parts.margin, parts.loss, penalty, parts.nu, parts.rows), plain.columns
    )
    assert relative_gap(problem, solve(ProximalGradient(), problem)) <= 1e-8
    assert "prox" in Conic().supports(parts.loss, type(parts.margin), penalty)
