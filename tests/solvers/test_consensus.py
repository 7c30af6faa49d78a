"""Consensus over row blocks: independence of the blocks, and the formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest

from directboost.losses import Logistic, SmoothLoss
from directboost.losses.multinomial import Multinomial
from directboost.margins import Pairwise
from directboost.penalties import L1
from directboost.problem.objective import RestrictedProblem
from directboost.solvers.consensus import ADMMIteration, AndersonAcceleration, Consensus
from directboost.solvers.proximal_gradient import ProximalGradient
from directboost.solvers.row_blocks import ThreadBlocks, split_rows
from tests.solvers.problems import (
    COMBINATIONS,
    in_dual_domain,
    make_problem,
    named,
    relative_gap,
    solve,
    without_columns,
)

ACCURACY = 1e-3
SHAPE = (18, 6, 3)


@pytest.mark.paper("Eq. 51")
@pytest.mark.parametrize(
    ("loss", "margin", "p"),
    [
        pytest.param(*parts, p, marks=() if q == number % 3 else pytest.mark.slow)
        for number, parts in enumerate(COMBINATIONS)
        for q, p in enumerate([1.0, 2.0, math.inf])
    ],
)
def test_the_number_of_blocks_does_not_matter(loss, margin, p):
    """1, 2 and 5 blocks find the same value, with a small gap."""
    problem = make_problem(loss, margin, p, 0.03, shape=SHAPE, seed=7)
    values = []
    for blocks in (1, 2, 5):
        result = solve(Consensus(blocks), problem, ACCURACY)
        assert result.solved
        assert relative_gap(problem, result) <= ACCURACY
        assert (result.W >= 0.0).all()
        assert in_dual_domain(problem.objective, result.U)
        assert result.value == pytest.approx(problem.value(result.W), rel=1e-12)
        values.append(result.value)
    constant = problem.objective.loss.constant(problem.objective.rows)
    assert max(values) - min(values) <= ACCURACY * (min(values) - constant)


def make_executor(problem, W, blocks):
    U = problem.objective.negative_gradient(problem.columns.scores(W))
    return ThreadBlocks(split_rows(problem, W, U, blocks), None)


@pytest.mark.paper("Eq. 52")
@pytest.mark.paper("Eq. 53")
@pytest.mark.paper("Eq. 54")
@pytest.mark.paper("Eq. 55")
@pytest.mark.paper("Eq. 56")
@pytest.mark.paper("Eq. 57")
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(
    "p",
    [
        pytest.param(1.0, marks=[pytest.mark.paper("Eq. 58"), pytest.mark.paper("Eq. 59")]),
        pytest.param(2.0, marks=pytest.mark.paper("Eq. 60")),
    ],
)
def test_a_step_follows_the_formulas(blocks, p, monkeypatch):
    """W_q, Z and M_q after one over-relaxed step, computed by hand."""
    monkeypatch.setattr("directboost.solvers.consensus._INEXACT", 1e-12)
    problem = make_problem("logistic", p=p, shape=SHAPE)
    iteration = ADMMIteration(
        problem, make_executor(problem, np.zeros((6, 3)), blocks), np.zeros((6, 3)), 0.05
    )
    Z, M, sigma = iteration.Z, iteration.M, iteration.sigma
    other = make_executor(problem, np.zeros((6, 3)), blocks)
    iteration.step()
    W = other.update(Z - M / sigma, sigma, 1e-13)
    relaxed = 1.6 * W - 0.6 * Z
    mean = (relaxed + M / sigma).mean(axis=0).reshape(6, 3)
    step = problem.objective.nu * problem.columns.costs / (sigma * blocks)
    new = problem.objective.penalty.prox(mean, step).ravel()
    assert pytest.approx(new, abs=1e-9) == iteration.Z
    assert pytest.approx(M + sigma * (relaxed - new), abs=1e-9) == iteration.M
    by_hand = np.maximum(mean, 0.0)
    if p == 1.0:
        by_hand = np.maximum(mean - step[:, None], 0.0)
    else:
        norms = np.linalg.norm(by_hand, axis=1)
        by_hand *= np.maximum(1.0 - step / np.maximum(norms, 1e-300), 0.0)[:, None]
    assert new == pytest.approx(by_hand.ravel(), abs=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge"])
def test_the_optimum_is_a_fixed_point(loss):
    """At an optimum with its multipliers, -grad f_q, steps do not move Z."""
    problem = make_problem(loss, nu=0.03, shape=SHAPE)
    best = solve(Consensus(1), problem, 1e-9)
    executor = ThreadBlocks(split_rows(problem, best.W, best.U, 2), None)
    iteration = ADMMIteration(problem, executor, best.W, None)
    for _ in range(3):
        iteration.step()
    assert pytest.approx(best.W, abs=1e-4) == iteration.W
    assert iteration.has_small_residuals(1e-3)


@pytest.mark.paper("Eq. 62")
def test_the_scale_of_the_blocks_is_that_of_all_rows():
    """Scaled by its own rows m_q, as printed, a block has too much weight: another optimum."""
    problem = make_problem("logistic", nu=0.02, shape=SHAPE)
    right = solve(Consensus(2), problem, 1e-7)
    rows = problem.objective.rows
    double = replace(problem.objective, rows=replace(rows, c=2.0 * rows.c))
    printed = solve(Consensus(2), RestrictedProblem(double, problem.columns), 1e-7)
    assert problem.value(printed.W) > problem.value(right.W) + 1e-3


def test_columns_added_one_by_one():
    """A solver continues with more columns from its last duals and sigma."""
    problem = without_columns(make_problem("hinge", p=2.0, nu=0.03, shape=SHAPE))
    solver, W = Consensus(2), np.zeros((0, 3))
    for number in range(6):
        problem.columns.extend(named([number]))
        result = solve(solver, problem, ACCURACY, problem.columns.grow(W))
        assert result.solved
        W = result.W
    fresh = solve(Consensus(2), problem, ACCURACY)
    assert result.value == pytest.approx(fresh.value, rel=ACCURACY)
    again = solve(solver, problem, ACCURACY, W)
    assert again.iterations == 0


def test_removed_columns():
    """The multipliers are computed from the rows, so removed columns have no effect."""
    problem = make_problem("hinge", nu=0.03, shape=SHAPE)
    solver = Consensus(2)
    W = solve(solver, problem, ACCURACY).W
    stays = np.array([True, False, True, True, False, True])
    problem.columns.keep(stays)
    result = solve(solver, problem, ACCURACY, W[stays])
    assert result.solved
    assert result.value == pytest.approx(solve(Consensus(1), problem, ACCURACY).value, rel=1e-4)


def test_processes_find_the_same_solution():
    problem = make_problem("hinge", nu=0.05, shape=SHAPE)
    threads = solve(Consensus(2), problem, 1e-5)
    processes = solve(Consensus(2, workers="processes"), problem, 1e-5)
    assert processes.solved
    assert processes.iterations == threads.iterations
    assert np.allclose(processes.W, threads.W, atol=1e-9)


def test_large_blocks_run_in_threads(monkeypatch):
    problem = make_problem("logistic", "one-vs-all", nu=0.03, shape=SHAPE)
    serial = solve(Consensus(2), problem, ACCURACY)
    monkeypatch.setattr("directboost.solvers.consensus._LARGE", 0)
    assert np.array_equal(solve(Consensus(2), problem, ACCURACY).W, serial.W)


def test_more_blocks_than_rows():
    problem = make_problem("logistic", nu=0.1, shape=(6, 5, 3))
    assert solve(Consensus(50), problem, 1e-4).solved


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_max_iterations_is_reported(loss):
    """After max_iterations, the solution is no worse than the start, and `solved` is False."""
    problem = make_problem(loss, nu=0.005)
    result = solve(Consensus(2, max_iterations=3), problem, 1e-8)
    assert not result.solved
    assert result.iterations == 3
    assert problem.value(result.W) <= problem.value(np.zeros((12, 4)))
    assert relative_gap(problem, result) > 1e-8


class Plain(Multinomial):
    """A user-defined loss that might couple its rows."""


def test_unsupported_combinations_have_a_reason():
    from_lambda = SmoothLoss(lambda z: np.exp(-z), lambda z: -np.exp(-z))
    assert "'admm'" in Consensus(2).supports(Plain(), Pairwise, L1())
    assert Consensus(1).supports(Plain(), Pairwise, L1()) is None
    assert Consensus(2).supports(from_lambda, Pairwise, L1()) is None
    reason = Consensus(2, workers="processes").supports(from_lambda, Pairwise, L1())
    assert "threads" in reason
    assert Consensus(2, workers="processes").supports(Logistic(), Pairwise, L1()) is None
    with pytest.raises(ValueError, match="blocks=0"):
        Consensus(0)
    with pytest.raises(ValueError, match="workers='cloud'"):
        Consensus(2, workers="cloud")


def test_an_affine_iteration_is_extrapolated_to_its_fixed_point():
    """In d dimensions, d + 1 differences determine the fixed point."""
    rng = np.random.default_rng(0)
    T = 0.9 * np.linalg.qr(rng.normal(size=(5, 5)))[0]
    y, target, memory = np.zeros(5), rng.normal(size=5), AndersonAcceleration()
    for _ in range(9):
        y = memory.next(y, T @ (y - target) + target - y)
    assert y == pytest.approx(target, abs=1e-5)


def test_a_bad_extrapolation_is_undone():
    memory = AndersonAcceleration()
    memory.next(np.zeros(2), np.array([1.0, 0.0]))
    memory.next(np.ones(2), np.array([0.5, 0.0]))
    assert np.array_equal(memory.next(np.full(2, 9.0), np.array([50.0, 0.0])), [1.5, 1.0])


def test_agrees_with_proximal_gradient():
    problem = make_problem("multinomial", p=2.0, nu=0.02)
    value = solve(Consensus(2), problem, 1e-8).value
    assert value == pytest.approx(problem.value(solve(ProximalGradient(), problem).W), rel=1e-7)
