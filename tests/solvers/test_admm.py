"""ADMM with one block: corrected formulas of the paper, feasible solutions."""

import numpy as np
import pytest

from directboost.losses import LOSSES, SmoothLoss
from directboost.margins import MARGINS, OneVsAll
from directboost.penalties import L1
from directboost.solvers.consensus import ADMM, ADMMIteration, Consensus
from directboost.solvers.proximal_gradient import ProximalGradient
from directboost.solvers.row_blocks import ThreadBlocks, split_rows
from tests.solvers.problems import (
    COMBINATIONS,
    SMOOTH,
    in_dual_domain,
    make_problem,
    relative_gap,
    solve,
    without_columns,
)
from tests.solvers.test_smooth_solvers import Weighted

SHAPE = (24, 8, 3)


@pytest.mark.paper("Eq. 40")
def test_admm_is_consensus_with_one_block():
    problem = make_problem("logistic", p=2.0)
    one, other = solve(ADMM(), problem, 1e-7), solve(Consensus(1), problem, 1e-7)
    assert np.array_equal(one.W, other.W)
    assert one.iterations == other.iterations


def make_executor(problem, start):
    U = problem.objective.negative_gradient(problem.columns.scores(start))
    return ThreadBlocks(split_rows(problem, start, U, 1), None)


def plain(problem, steps, sigma, z_update):
    """Run the textbook iteration with a given Z-update, starting at zero."""
    shape = (len(problem.columns), problem.objective.rows.k)
    executor, Z, M = make_executor(problem, np.zeros(shape)), np.zeros(shape), np.zeros(shape)
    for _ in range(steps):
        W = executor.update((Z - M / sigma).reshape(1, -1), sigma, 1e-10).reshape(shape)
        Z = z_update(W, M)
        M = M + sigma * (W - Z)
    return Z


@pytest.mark.paper("Eq. 41")
@pytest.mark.paper("Eq. 42")
@pytest.mark.paper("Eq. 43")
@pytest.mark.paper("Eq. 44")
@pytest.mark.paper("Eq. 45")
@pytest.mark.paper("Eq. 46")
@pytest.mark.paper("Eq. 48")
def test_the_formulas_reach_the_same_optimum():
    """The three lines of the docstring, run literally, reach the value of the solver."""
    problem, sigma = make_problem("logistic", p=2.0, nu=0.03, shape=SHAPE), 0.05
    step = problem.objective.nu * problem.columns.costs / sigma
    prox = problem.objective.penalty.prox
    Z = plain(problem, 150, sigma, lambda W, M: prox(W + M / sigma, step))
    assert problem.value(Z) == pytest.approx(solve(ADMM(), problem, 1e-8).value, rel=1e-6)


@pytest.mark.paper("Eq. 49")
def test_the_multiplier_is_divided_by_sigma():
    """Without 1/sigma, as in Eq. 49, the iteration converges to another point."""
    problem, sigma = make_problem("logistic", p=2.0, nu=0.03, shape=SHAPE), 0.05
    step = problem.objective.nu * problem.columns.costs / sigma
    prox, best = problem.objective.penalty.prox, solve(ADMM(), problem, 1e-8).value
    printed = plain(problem, 150, sigma, lambda W, M: prox(W + M, step))
    assert problem.value(printed) > best + 1e-3


@pytest.mark.paper("Eq. 49")
@pytest.mark.paper("Eq. 50")
def test_weights_stay_non_negative():
    """The block soft threshold of Eq. 50 alone gives negative weights; the solver never does."""
    problem, sigma = make_problem("logistic", p=2.0, nu=0.005, shape=SHAPE), 0.05
    step = problem.objective.nu * problem.columns.costs / sigma

    def soft(W, M):
        V = W + M / sigma
        return np.maximum(1.0 - step / np.linalg.norm(V, axis=1), 0.0)[:, None] * V

    assert plain(problem, 60, sigma, soft).min() < -1e-2
    iteration = ADMMIteration(
        problem, make_executor(problem, np.zeros((8, 3))), np.zeros((8, 3)), None
    )
    for _ in range(30):
        iteration.step()
        assert iteration.W.min() >= 0.0


def test_the_solution_is_z_not_w():
    """W of the blocks has negative entries during the iteration, the solution has none."""
    problem = make_problem("logistic", nu=0.005, shape=SHAPE)
    iteration = ADMMIteration(
        problem, make_executor(problem, np.zeros((8, 3))), np.zeros((8, 3)), None
    )
    for _ in range(5):
        iteration.step()
    assert iteration.X.min() < 0.0
    assert (solve(ADMM(5), problem, 1e-8).W >= 0.0).all()


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_never_worse_than_the_start(loss, margin):
    problem = make_problem(loss, margin, nu=0.03, shape=SHAPE, seed=4)
    near = solve(ProximalGradient(), problem, 1e-9).W
    for start in (near, np.random.default_rng(0).random(near.shape)):
        result = solve(ADMM(), problem, 1e-6, start)
        assert result.solved
        assert problem.value(result.W) <= problem.value(start) + 1e-14


def test_a_solved_start_is_returned_at_once():
    problem = make_problem("multinomial", nu=0.03)
    first = solve(ADMM(), problem, 1e-8)
    again = solve(ADMM(), problem, 1e-7, first.W)
    assert again.iterations == 0
    assert np.array_equal(first.W, again.W)


def test_an_unreachable_accuracy_terminates():
    problem = make_problem("logistic", shape=(20, 6, 3), nu=0.1)
    result = solve(ADMM(), problem, 0.0)
    assert not result.solved
    assert relative_gap(problem, result) <= 1e-9


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_sigma_recovers_from_a_bad_initial_value(loss):
    """Residual balancing corrects a bad sigma."""
    problem = make_problem(loss, nu=0.03, shape=SHAPE)
    for sigma in (1e-3, 10.0):
        solver = ADMM()
        solver._sigma = sigma
        assert solve(solver, problem, 1e-5).solved
        assert sigma / solver._sigma > 2.0 or solver._sigma / sigma > 2.0


def test_a_looser_accuracy_takes_fewer_steps():
    problem = make_problem("logistic", nu=0.01)
    steps = [solve(ADMM(), problem, accuracy).iterations for accuracy in (1e-2, 1e-5, 1e-8)]
    assert steps == sorted(set(steps))


def test_any_penalty_with_a_prox():
    problem = make_problem("logistic", nu=0.02)
    penalty = Weighted(np.array([1.0, 2.0, 0.5, 3.0]))
    object.__setattr__(problem.objective, "penalty", penalty)
    assert ADMM().supports(problem.objective.loss, OneVsAll, penalty) is None
    assert relative_gap(problem, solve(ADMM(), problem, 1e-6)) <= 1e-6


def test_several_labels_per_row():
    problem = make_problem("hinge", "one-vs-all", 2.0, 0.03, shape=SHAPE)
    targets = np.where(np.random.default_rng(1).random((24, 3)) < 0.4, 1, -1)
    object.__setattr__(problem.objective, "margin", OneVsAll(targets))
    assert solve(ADMM(), problem, 1e-6).solved


class NonSmooth(LOSSES["hinge"]):
    """A user-defined loss that is not smooth."""


def test_unsupported_combinations_have_a_reason():
    reason = ADMM().supports(LOSSES["multinomial"](), MARGINS["one-vs-all"], L1())
    assert "pairwise" in reason
    assert "smooth" in ADMM().supports(NonSmooth(), MARGINS["pairwise"], L1())
    own = SmoothLoss(lambda z: np.exp(-z), lambda z: -np.exp(-z))
    assert ADMM().supports(own, MARGINS["pairwise"], L1()) is None


@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_a_large_nu_gives_the_empty_model(loss, margin):
    problem = make_problem(loss, margin, 2.0, nu=1e3, shape=(20, 8, 3))
    result = solve(ADMM(), problem, 1e-6)
    assert result.solved
    assert not result.W.any()


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_no_columns(loss):
    problem = without_columns(make_problem(loss))
    result = solve(ADMM(), problem)
    assert result.W.shape == (0, 4)
    assert in_dual_domain(problem.objective, result.U)
