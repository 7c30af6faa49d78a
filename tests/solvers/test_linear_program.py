"""The linear program: the model kept between calls, and hard cases."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from directboost import DirectBoostClassifier
from directboost.margins import MARGINS, OneVsAll
from directboost.problem.objective import RestrictedProblem
from directboost.solvers.linear_program import LinearProgram
from directboost.solvers.margin_matrix import MarginMatrix
from tests.solvers.problems import (
    in_dual_domain,
    make_problem,
    named,
    relative_gap,
    solve,
    without_columns,
)

PENALTIES = [1.0, math.inf]


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
def test_columns_added_one_by_one_equal_one_cold_solve(margin, p):
    problem = without_columns(make_problem("hinge", margin, p, nu=0.01))
    solver, models = LinearProgram(), []
    for number in range(12):
        problem.columns.extend(named([number]))
        grown = solve(solver, problem)
        models.append(solver._model)
        cold = solve(LinearProgram(), problem)
        assert problem.value(grown.W) == pytest.approx(problem.value(cold.W), rel=1e-10)
        assert relative_gap(problem, grown) <= 1e-9
    assert all(model is models[0] for model in models)


@pytest.mark.parametrize("p", PENALTIES)
def test_a_new_nu_keeps_the_model(p):
    problem = without_columns(make_problem("hinge", p=p))
    problem.columns.extend(named(range(8)))
    solver, models = LinearProgram(), []
    for nu in (0.1, 0.02, 0.003):
        problem = RestrictedProblem(replace(problem.objective, nu=nu), problem.columns)
        problem.columns.extend(named([len(problem.columns)]))
        assert relative_gap(problem, solve(solver, problem)) <= 1e-9
        models.append(solver._model)
    assert all(model is models[0] for model in models)


def test_removed_columns_and_other_objectives_need_a_new_model():
    problem = make_problem("hinge")
    solver = LinearProgram()
    solve(solver, problem)
    first = solver._model
    problem.columns.keep(np.arange(12) % 2 == 0)
    result = solve(solver, problem)
    second = solver._model
    assert result.W.shape == (6, 4)
    assert second is not first
    assert relative_gap(problem, result) <= 1e-9
    solve(solver, make_problem("hinge"))
    assert solver._model is not second


@pytest.mark.parametrize("nu", [1e-6, 1e-4, 10.0, 1e6])
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
def test_extreme_nu(margin, p, nu):
    problem = make_problem("hinge", margin, p, nu, shape=(40, 20, 5), seed=2)
    result = solve(LinearProgram(), problem)
    assert result.solved
    assert in_dual_domain(problem.objective, result.U)


def test_sample_weights_of_very_different_size():
    problem = make_problem("hinge")
    c = problem.objective.rows.c * np.logspace(-6, 0, 30)
    rows = replace(problem.objective.rows, c=c / (4.0 * c.sum()))
    problem = RestrictedProblem(replace(problem.objective, rows=rows), problem.columns)
    assert relative_gap(problem, solve(LinearProgram(), problem)) <= 1e-9


@pytest.mark.parametrize("p", PENALTIES)
def test_a_failed_warm_run_is_followed_by_a_cold_one(monkeypatch, p):
    problem = without_columns(make_problem("hinge", p=p))
    problem.columns.extend(named(range(6)))
    solver = LinearProgram()
    solve(solver, problem)
    problem.columns.extend(named(range(12)))
    model = solver._model
    monkeypatch.setattr(
        "directboost.solvers.linear_program._WARM",
        {"solver": "simplex", "simplex_strategy": 4, "simplex_iteration_limit": 1},
    )
    first, runs = model.run, []

    def run(options):
        runs.append(options["solver"])
        if len(runs) > 1:
            model.highs.setOptionValue("simplex_iteration_limit", 10_000)
        return first(options)

    monkeypatch.setattr(model, "run", run)
    result = solve(solver, problem)
    assert len(runs) >= 2
    assert relative_gap(problem, result) <= 1e-9


def test_simplex_iterations_are_limited(monkeypatch):
    """Without any simplex iteration, the interior-point method finds the solution."""
    X, y = load_wine(return_X_y=True)
    settings = {"loss": "hinge", "penalty": "l1", "solver": "lp", "nu": 0.05, "tol": 1e-6}
    expected = DirectBoostClassifier(**settings).fit(X, y).certificate_
    for limit in ("_COLD_STEPS", "_WARM_STEPS"):
        monkeypatch.setattr(f"directboost.solvers.linear_program.{limit}", 0)
    found = DirectBoostClassifier(**settings).fit(X, y).certificate_
    assert found.converged
    assert found.primal == pytest.approx(expected.primal, rel=1e-5)


def test_a_warm_start_that_cycles_is_solved_cold(monkeypatch):
    """Without any iteration after new columns, cold dual simplex finds the optimum."""
    problem = without_columns(make_problem("hinge"))
    problem.columns.extend(named(range(6)))
    solver = LinearProgram()
    solve(solver, problem)
    problem.columns.extend(named(range(12)))
    monkeypatch.setattr("directboost.solvers.linear_program._WARM_STEPS", 0)
    runs, run = [], solver._model.run
    monkeypatch.setattr(solver._model, "run", lambda options: runs.append(options) or run(options))
    result = solve(solver, problem)
    assert [options["simplex_strategy"] for options in runs] == [4, 1]
    assert relative_gap(problem, result) <= 1e-9


@pytest.mark.parametrize("margin", MARGINS)
def test_the_margin_matrix_gives_the_margins(margin):
    rng = np.random.default_rng(0)
    the_margin = MARGINS[margin].from_codes(rng.integers(0, 3, 7), 3)
    kept = MarginMatrix(the_margin, 7)
    F = rng.normal(size=(7, 3))
    rho = the_margin.forward(F)
    assert np.allclose(kept.scatter(kept.G @ F.ravel()), rho)
    U = rng.random((7, 3))
    values = kept.sign * the_margin.adjoint(U).flat[kept.index]
    assert np.allclose(values, U.flat[kept.index])


def test_several_labels_per_row():
    problem = make_problem("hinge", "one-vs-all", 1.0, 0.01)
    targets = np.where(np.random.default_rng(1).random((30, 4)) < 0.4, 1, -1)
    objective = replace(problem.objective, margin=OneVsAll(targets))
    problem = RestrictedProblem(objective, problem.columns)
    assert relative_gap(problem, solve(LinearProgram(), problem)) <= 1e-9
