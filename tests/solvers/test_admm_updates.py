"""The W-updates of a row block minimise the functions given in their docstrings."""

import numpy as np
import pytest
from scipy.optimize import minimize

from directboost.losses import Exponential, SampleWeights, SmoothLoss
from directboost.solvers.admm_updates import BlockLoss, HingeUpdate, LogSumBlock, SmoothUpdate
from directboost.solvers.row_blocks import interleave, split_rows
from tests.solvers.problems import COMBINATIONS, SMOOTH, in_dual_domain, make_problem

SHAPE = (18, 6, 3)
SIGMA = 0.07


def draw(problem, seed=0):
    """Draw Z and M of the size of W, flattened; also return U at the start."""
    rng = np.random.default_rng(seed)
    shape = (len(problem.columns), problem.objective.rows.k)
    U = problem.objective.negative_gradient(problem.columns.scores(np.zeros(shape)))
    return rng.random(shape).ravel(), 0.02 * rng.normal(size=shape).ravel(), U


def only_block(problem, U):
    """Return one block of all rows that starts at W = 0."""
    W = np.zeros((len(problem.columns), problem.objective.rows.k))
    return split_rows(problem, W, U, 1)[0]


def update_objective(problem, Z, M):
    """Return f(W) + <M, W> + sigma/2 ||W - Z||^2 as a function of W."""
    shape = (len(problem.columns), -1)

    def value(x):
        loss = problem.objective.loss_value(problem.columns.scores(x.reshape(shape)))
        return loss + M @ x + 0.5 * SIGMA * np.sum((x - Z) ** 2)

    return value


@pytest.mark.paper("Eq. 47")
@pytest.mark.paper("Eq. 65")
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_the_gradient_vanishes(loss, margin):
    """At the solution grad f(W) + M + sigma (W - Z) = 0, for each class or all classes."""
    problem = make_problem(loss, margin, shape=SHAPE)
    Z, M, U = draw(problem)
    block = only_block(problem, U)
    assert len(block.parts) == (3 if margin == "one-vs-all" else 1)
    for tolerance in (1e-3, 1e-10, 1e-13):
        x = block.update(Z - M / SIGMA, SIGMA, tolerance)
        gradient = problem.loss_and_gradient(x.reshape(-1, 3))[1].ravel()
        assert np.abs(gradient + M + SIGMA * (x - Z)).max() <= max(2.0 * tolerance, 1e-12)


@pytest.mark.paper("Eq. 61")
@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
@pytest.mark.parametrize("sigma", [0.003, 0.07, 2.0])
def test_the_hinge_is_solved_with_its_duals(margin, sigma):
    """W = V + H'A(U) / sigma, U is in the domain, and primal and dual value are equal."""
    problem = make_problem("hinge", margin, shape=(30, 8, 4))
    Z, M, U = draw(problem)
    V, block = Z - M / sigma, only_block(problem, U)
    x, U = block.update(V, sigma, 0.0), block.weights()
    objective, columns = problem.objective, problem.columns
    edges = columns.edges(objective.coefficients(U)).ravel()
    assert in_dual_domain(objective, U)
    assert x == pytest.approx(V + edges / sigma, abs=1e-12)
    F = columns.scores(x.reshape(-1, 4))
    dual = np.sum(objective.loss.dual_terms(U, objective.rows)) - np.sum(
        objective.coefficients(U) * F
    )
    assert objective.loss_value(F) == pytest.approx(dual, abs=1e-9)


@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_the_interior_point_and_the_newton_steps_agree(margin, monkeypatch):
    problem = make_problem("hinge", margin, shape=(30, 8, 4), seed=2)
    Z, M, U = draw(problem)
    newton = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 0.0)
    monkeypatch.setattr(HingeUpdate, "_newton", lambda self, U, *rest: (U, False))
    interior = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 0.0)
    assert interior == pytest.approx(newton, abs=1e-6)


@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_a_general_solver_finds_nothing_lower(loss, margin):
    """The update minimises f(W) + <M, W> + sigma/2 ||W - Z||^2."""
    problem = make_problem(loss, margin, shape=SHAPE, seed=1)
    Z, M, U = draw(problem)
    value = update_objective(problem, Z, M)
    x = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 1e-10)
    near = minimize(value, x, method="Powell", options={"maxiter": 2}).fun
    rng = np.random.default_rng(0)
    around = min(value(x + size * rng.normal(size=x.size)) for size in (1e-3, 1e-2, 0.1))
    assert value(x) <= min(near, around) + 1e-9


@pytest.mark.paper("Eq. 47")
def test_the_square_of_the_distance_is_needed():
    """With the plain distance, as in Eq. 41, the update is another point."""
    problem = make_problem("logistic", shape=SHAPE)
    Z, M, U = draw(problem)
    x = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 1e-10)

    def printed(w):
        loss = problem.objective.loss_value(problem.columns.scores(w.reshape(-1, 3)))
        return loss + M @ w + 0.5 * SIGMA * np.linalg.norm(w - Z)

    other = minimize(printed, x, method="BFGS", options={"maxiter": 50})
    assert printed(x) > other.fun + 1e-3
    assert np.linalg.norm(other.x - x) > 0.1


@pytest.mark.paper("Eq. 47")
def test_the_opposite_sign_of_the_margins_rewards_errors():
    """With rho as printed below Eq. 48, the W-update increases the loss."""
    problem = make_problem("logistic", shape=SHAPE)
    U = draw(problem)[2]
    zero, loss = np.zeros(18), problem.objective.loss_value
    right = only_block(problem, U).update(zero, SIGMA, 1e-10)
    assert loss(problem.columns.scores(right.reshape(-1, 3))) < loss(np.zeros((18, 3)))
    printed = SmoothLoss(lambda z: np.logaddexp(0.0, z), lambda z: 1.0 / (1.0 + np.exp(-z)))
    printed.theta_gradient = printed.derivative
    rows, margin = problem.objective.rows, problem.objective.margin
    update = SmoothUpdate(BlockLoss(problem.columns.H, margin, printed, rows), zero)
    wrong = update.update(zero, SIGMA, 1e-10)
    assert loss(problem.columns.scores(wrong.reshape(-1, 3))) > loss(np.zeros((18, 3)))


@pytest.mark.paper("Eq. 62")
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_blocks_add_up_to_the_whole_loss(loss, margin):
    """Values and gradients of the blocks sum to those of all rows; the paper's do not."""
    problem = make_problem(loss, margin, shape=SHAPE)
    W = np.random.default_rng(3).random((6, 3))
    value, gradient = problem.loss_and_gradient(W)
    U = problem.objective.negative_gradient(problem.columns.scores(W))
    blocks = split_rows(problem, W, U, 5)
    values = [
        part.loss.value_and_gradient(part.x)[0] for block in blocks for _, part in block.parts
    ]
    multipliers = sum(block.multiplier() for block in blocks)[:18]
    assert sum(values) == pytest.approx(value, abs=1e-13)
    assert -multipliers == pytest.approx(gradient.ravel(), abs=1e-14)
    assert interleave([block.weights() for block in blocks]) == pytest.approx(U, abs=1e-15)
    if loss == "logistic" and margin == "pairwise":
        scales = [
            1.0 / (3.0 * part.loss.rows.c.sum()) for block in blocks for _, part in block.parts
        ]
        assert sum(f * scale for f, scale in zip(values, scales, strict=True)) > 4.0 * value


def test_the_logarithm_is_the_minimum_over_t():
    """min over t of sum c exp(-rho - t) + t - 1 is log sum c exp(-rho), at the same t."""
    problem = make_problem("exponential", shape=SHAPE)
    rows, W = problem.objective.rows, np.random.default_rng(1).random((6, 3))
    block = LogSumBlock(
        problem.columns.H,
        problem.objective.margin,
        Exponential(),
        SampleWeights(rows.c, 3, None),
        1.0,
    )
    expected = problem.objective.loss_value(problem.columns.scores(W))
    value, gradient = block.value_and_gradient(np.append(W.ravel(), expected))
    assert value == pytest.approx(expected, abs=1e-14)
    assert gradient[-1] == pytest.approx(0.0, abs=1e-14)
    assert gradient[:-1] == pytest.approx(problem.loss_and_gradient(W)[1].ravel(), abs=1e-14)
    for t in expected + np.array([-1.0, -0.1, 0.1, 1.0]):
        assert block.value_and_gradient(np.append(W.ravel(), t))[0] > expected


@pytest.mark.parametrize(
    ("loss", "margin"),
    [("logistic", "pairwise"), ("squared_hinge", "pairwise"), ("exponential", "one-vs-all")],
)
def test_the_curvature_is_the_second_derivative(loss, margin):
    """Compare sum_i h_i h_i' (x) B_i with finite differences of gradients."""
    problem = make_problem(loss, margin, shape=SHAPE)
    rows, block = problem.objective.rows, problem.objective.margin
    f = BlockLoss(problem.columns.H, block, problem.objective.loss, rows)
    x, h = 0.1 * np.random.default_rng(2).random(18), 1e-6
    K = f.curvature(x)
    for j, one in enumerate(np.eye(18)):
        ahead, back = (f.value_and_gradient(x + s * one)[1] for s in (h, -h))
        assert K[:, j] == pytest.approx((ahead - back) / (2.0 * h), abs=1e-7)


def test_many_variables_without_the_curvature(monkeypatch):
    problem = make_problem("logistic", shape=SHAPE)
    Z, M, U = draw(problem)
    dense = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 1e-10)
    monkeypatch.setattr("directboost.solvers.admm_updates._MAX_DENSE", 0)
    plain = only_block(problem, U).update(Z - M / SIGMA, SIGMA, 1e-10)
    assert plain == pytest.approx(dense, abs=1e-7)


@pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
def test_the_start_is_a_fixed_point_with_its_multipliers(loss, margin):
    """With the multiplier of the start and Z = W, the update does not move."""
    problem = make_problem(loss, margin, shape=SHAPE)
    W = np.zeros((6, 3))
    U = problem.objective.negative_gradient(problem.columns.scores(W))
    block = split_rows(problem, W, U, 1)[0]
    x = block.update(W.ravel() - block.multiplier() / SIGMA, SIGMA, 1e-12)
    assert x == pytest.approx(W.ravel(), abs=1e-9)


def test_overflow_on_a_long_step_is_handled():
    steep = SmoothLoss(lambda z: np.exp(-400.0 * z), lambda z: -400.0 * np.exp(-400.0 * z))
    problem = make_problem(steep, "one-vs-all", shape=SHAPE)
    U = draw(problem)[2]
    x = only_block(problem, U).update(np.zeros(18), SIGMA, 1e-8)
    assert np.isfinite(x).all()
    assert update_objective(problem, np.zeros(18), np.zeros(18))(x) < 1.0
