"""Block descent on single columns, compared with proximal gradient."""

import math

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.problem.columns import Proposals
from directboost.solvers import ColumnBlockDescent, column_blocks
from directboost.solvers.base import SolverResult
from directboost.solvers.column_blocks import ColumnFeatures
from directboost.solvers.proximal_gradient import ProximalGradient
from tests.conftest import make_blobs
from tests.solvers.problems import (
    SMOOTH,
    in_dual_domain,
    make_problem,
    named,
    relative_gap,
    solve,
    without_columns,
)

ACCURACY = 1e-7


def opposites(numbers):
    """Return proposals for the opposites of the columns of a `Table` with these numbers."""
    feature = np.asarray(list(numbers), dtype=np.int64)
    return Proposals(feature, 0 * feature, 0 * feature - 1, 0.0 * feature)


def assert_solved(problem, result):
    """Compare with accelerated proximal gradient, which works on W >= 0 without codes."""
    other = solve(ProximalGradient(), problem, ACCURACY)
    scale = problem.value(other.W) - problem.objective.loss.constant(problem.objective.rows)
    assert result.solved
    assert (result.W >= 0.0).all()
    assert -1e-14 <= relative_gap(problem, result) <= ACCURACY
    assert abs(problem.value(result.W) - problem.value(other.W)) <= 2 * ACCURACY * scale
    assert result.value == pytest.approx(problem.value(result.W), rel=1e-12)
    assert in_dual_domain(problem.objective, result.U)


@pytest.mark.covering
@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("nu", [0.002, 0.03])
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_the_solution_is_that_of_proximal_gradient(loss, margin, nu, p):
    problem = make_problem(loss, margin, p, nu, shape=(40, 14, 4), seed=7)
    assert_solved(problem, solve(ColumnBlockDescent(), problem, ACCURACY))


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_opposite_columns_share_a_feature(p):
    problem = make_problem("logistic", "pairwise", p, 0.005, shape=(40, 10, 4), seed=1)
    problem.columns.extend(opposites(range(0, 10, 2)))
    result = solve(ColumnBlockDescent(), problem, ACCURACY)
    assert result.W.shape == (15, 4)
    assert_solved(problem, result)


def test_columns_added_one_by_one():
    problem = without_columns(make_problem("exponential", "pairwise", 1.0, 0.01, seed=2))
    solver, W = ColumnBlockDescent(), np.zeros((0, 4))
    for number in range(12):
        problem.columns.extend(named([number]))
        problem.columns.extend(opposites([number] if number % 3 == 0 else []))
        result = solver.solve(problem, problem.columns.grow(W), ACCURACY)
        assert_solved(problem, result)
        W = result.W


def test_removed_columns():
    problem = make_problem("logistic", "pairwise", 2.0, 0.01, seed=3)
    solver = ColumnBlockDescent()
    W = solve(solver, problem, ACCURACY).W
    stays = W.any(axis=1)
    problem.columns.keep(stays)
    assert_solved(problem, solver.solve(problem, W[stays], ACCURACY))


LARGE = (1400, 14, 4)  # rows, columns and classes: enough scores for single precision


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_loose_solutions_on_many_rows_use_single_precision(loss, margin, p):
    problem = make_problem(loss, margin, p, 0.005, shape=LARGE, seed=8)
    solver = ColumnBlockDescent()
    result = solve(solver, problem, 1e-3)
    assert result.U.dtype == solver.precision == np.float32
    assert result.solved
    assert result.value == pytest.approx(problem.value(result.W), rel=1e-6)
    double = SolverResult(
        result.W, problem.objective.negative_gradient(problem.columns.scores(result.W)), True, 1
    )
    assert -1e-14 <= relative_gap(problem, double) <= 1.01e-3


def test_accurate_solutions_on_many_rows_use_double_precision():
    """Also after loose ones, and from then on, even if columns are removed."""
    problem = make_problem("logistic", "pairwise", 2.0, 0.005, shape=LARGE, seed=8)
    solver = ColumnBlockDescent()
    W = solve(solver, problem, 1e-2).W
    result = solver.solve(problem, W, ACCURACY)
    assert result.U.dtype == solver.precision == np.float64
    assert_solved(problem, result)
    stays = result.W.any(axis=1)
    problem.columns.keep(stays)
    assert solver.solve(problem, result.W[stays], 1e-2).U.dtype == np.float64


def test_double_precision_follows_if_single_does_not_suffice(monkeypatch):
    monkeypatch.setattr(column_blocks, "_SINGLE_GAP", 0.0)
    problem = make_problem("logistic", "pairwise", 2.0, 0.005, shape=LARGE, seed=8)
    result = solve(ColumnBlockDescent(), problem, 1e-9)
    assert result.U.dtype == np.float64
    assert result.solved
    assert relative_gap(problem, result) <= 1e-9


def test_tiny_sample_weights_require_double_precision():
    problem = make_problem("logistic", "pairwise", 2.0, 0.005, shape=LARGE, seed=8)
    problem.objective.rows.c[0] = 1e-31
    assert solve(ColumnBlockDescent(), problem, 1e-2).U.dtype == np.float64


def test_hinge_to_a_loose_gap():
    problem = make_problem("hinge", "pairwise", 2.0, 0.03, shape=(60, 10, 4), seed=5)
    result = solve(ColumnBlockDescent(), problem, 0.01)
    assert result.solved
    assert relative_gap(problem, result) <= 0.01


def test_columns_other_than_plus_and_minus_one_are_rejected():
    problem = make_problem("logistic")
    problem.columns.H[0, 0] = 0.5
    with pytest.raises(ValueError, match=r"predict \+1 or -1"):
        solve(ColumnBlockDescent(), problem)


def test_codes_of_columns():
    problem = make_problem("logistic")
    problem.columns.extend(opposites([4]))
    features = ColumnFeatures(problem.columns)
    features.update()
    assert features.n_features == len(problem.columns) - 1
    assert features.feature_of[-1] == 4
    assert features.sign_of[-1] == -1
    np.testing.assert_array_equal(
        features.signs, np.where(np.arange(features.n_features) == 4, 0, 1)
    )
    for column, (feature, sign) in enumerate(
        zip(features.feature_of, features.sign_of, strict=True)
    ):
        np.testing.assert_array_equal(
            features.response(feature, 0, sign), problem.columns.H[:, column]
        )


@pytest.mark.parametrize("settings", [{}, {"pricing": "paper"}, {"learner": "tree"}])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_of_single_columns_equal_those_of_another_solver(settings):
    data = make_blobs(3, m=60, d=3, seed=6)
    chosen = {"columns_per_round": 1, "max_learners": 8, "nu": 0.02, "tol": 1e-6} | settings
    ours = DirectBoostClassifier(solver="blocks", **chosen).fit(data.X, data.y)
    other = DirectBoostClassifier(solver="prox", **chosen).fit(data.X, data.y)
    assert ours.n_iter_ == other.n_iter_
    # Both solve to 0.3 tol: the same columns are generated, with nearly the same weights.
    np.testing.assert_allclose(
        list(ours.staged_decision_function(data.X))[-1],
        list(other.staged_decision_function(data.X))[-1],
        atol=0.02,
    )
    assert ours.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("best", [0, 1, 3])
def test_the_dual_weights_are_those_of_the_best_step(loss, margin, best, monkeypatch):
    """In single precision later steps overwrite U; the steps are then repeated in double."""
    gaps = 0.9 * np.ones(column_blocks._MAX_STEPS)
    gaps[best] = 0.1
    later = iter([*gaps[: best + column_blocks._MAX_IDLE + 1], *gaps])
    monkeypatch.setattr(column_blocks, "_gap", lambda *given: next(later))
    problem = make_problem(loss, margin, 2.0, 0.005, shape=LARGE, seed=8)
    result = solve(ColumnBlockDescent(), problem, 1e-3)
    assert result.U.dtype == np.float64
    assert result.A is None
    U = problem.objective.negative_gradient(problem.columns.scores(result.W))
    np.testing.assert_allclose(result.U, U, rtol=1e-9, atol=1e-12 * U.max())
