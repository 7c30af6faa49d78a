"""The linear program: the model that lives on between calls, and hard cases."""

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
def test_columns_one_by_one_equal_one_cold_solve(margin, p):
    problem = without_columns(make_problem("hinge", margin, p, nu=0.01))
    master = LinearProgram()
    for number in range(12):
        problem.columns.extend(named([number]))
        grown = solve(master, problem)
        cold = solve(LinearProgram(), problem)
        assert problem.value(grown.W) == pytest.approx(problem.value(cold.W), rel=1e-10)
        assert relative_gap(problem, grown) <= 1e-9
    assert master.builds == 1


@pytest.mark.parametrize("p", PENALTIES)
def test_a_new_nu_keeps_the_model(p):
    problem = without_columns(make_problem("hinge", p=p))
    problem.columns.extend(named(range(8)))
    master = LinearProgram()
    for nu in (0.1, 0.02, 0.003):
        problem = RestrictedProblem(replace(problem.objective, nu=nu), problem.columns)
        problem.columns.extend(named([len(problem.columns)]))
        assert relative_gap(problem, solve(master, problem)) <= 1e-9
    assert master.builds == 1


def test_removed_columns_and_other_objectives_need_a_new_model():
    problem = make_problem("hinge")
    master = LinearProgram()
    solve(master, problem)
    problem.columns.keep(np.arange(12) % 2 == 0)
    result = solve(master, problem)
    assert (result.W.shape, master.builds) == ((6, 4), 2)
    assert relative_gap(problem, result) <= 1e-9
    solve(master, make_problem("hinge"))
    assert master.builds == 3


@pytest.mark.parametrize("nu", [1e-6, 1e-4, 10.0, 1e6])
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
def test_extreme_nu(margin, p, nu):
    problem = make_problem("hinge", margin, p, nu, shape=(40, 20, 5), seed=2)
    result = solve(LinearProgram(), problem)
    assert result.solved
    assert in_dual_domain(problem.objective, result.U)


def test_unequal_weights_far_apart():
    problem = make_problem("hinge")
    c = problem.objective.rows.c * np.logspace(-6, 0, 30)
    rows = replace(problem.objective.rows, c=c / (4.0 * c.sum()))
    problem = RestrictedProblem(replace(problem.objective, rows=rows), problem.columns)
    assert relative_gap(problem, solve(LinearProgram(), problem)) <= 1e-9


@pytest.mark.parametrize("p", PENALTIES)
def test_a_failed_hot_run_is_followed_by_a_cold_one(monkeypatch, p):
    problem = without_columns(make_problem("hinge", p=p))
    problem.columns.extend(named(range(6)))
    master = LinearProgram()
    solve(master, problem)
    problem.columns.extend(named(range(12)))
    model = master._model
    monkeypatch.setattr(
        "directboost.solvers.linear_program._HOT",
        {"solver": "simplex", "simplex_strategy": 4, "simplex_iteration_limit": 1},
    )
    first, runs = model.run, []

    def run(options):
        runs.append(options["solver"])
        if len(runs) > 1:
            model.highs.setOptionValue("simplex_iteration_limit", 10_000)
        return first(options)

    monkeypatch.setattr(model, "run", run)
    result = solve(master, problem)
    assert len(runs) >= 2
    assert relative_gap(problem, result) <= 1e-9


def test_a_simplex_that_does_not_end_is_ended(monkeypatch):
    """Without any step allowed the interior-point method gives the answer."""
    X, y = load_wine(return_X_y=True)
    settings = {"loss": "hinge", "penalty": "l1", "solver": "lp", "nu": 0.05, "tol": 1e-6}
    expected = DirectBoostClassifier(**settings).fit(X, y).certificate_
    for limit in ("_STEPS", "_HOT_STEPS"):
        monkeypatch.setattr(f"directboost.solvers.linear_program.{limit}", 0)
    found = DirectBoostClassifier(**settings).fit(X, y).certificate_
    assert found.converged
    assert found.primal == pytest.approx(expected.primal, rel=1e-5)


def test_a_hot_start_that_cycles_is_solved_cold(monkeypatch):
    """No step allowed after new columns: dual simplex answers from nothing, to the same optimum."""
    problem = without_columns(make_problem("hinge"))
    problem.columns.extend(named(range(6)))
    master = LinearProgram()
    solve(master, problem)
    problem.columns.extend(named(range(12)))
    monkeypatch.setattr("directboost.solvers.linear_program._HOT_STEPS", 0)
    runs, run = [], master._model.run
    monkeypatch.setattr(master._model, "run", lambda options: runs.append(options) or run(options))
    result = solve(master, problem)
    assert [options["simplex_strategy"] for options in runs] == [4, 1]
    assert relative_gap(problem, result) <= 1e-9


@pytest.mark.parametrize("margin", MARGINS)
def test_margin_rows_are_the_margins(margin):
    rng = np.random.default_rng(0)
    the_margin = MARGINS[margin].from_codes(rng.integers(0, 3, 7), 3)
    kept = MarginMatrix(the_margin, 7)
    F = rng.normal(size=(7, 3))
    rho = the_margin.forward(F)
    assert np.allclose(kept.scatter(kept.G @ F.ravel()), rho)
    U = rng.random((7, 3))
    values = kept.sign * the_margin.adjoint(U).flat[kept.index]
    assert np.allclose(values, U.flat[kept.index])


def test_many_labels_per_row():
    problem = make_problem("hinge", "one-vs-all", 1.0, 0.01)
    targets = np.where(np.random.default_rng(1).random((30, 4)) < 0.4, 1, -1)
    objective = replace(problem.objective, margin=OneVsAll(targets))
    problem = RestrictedProblem(objective, problem.columns)
    assert relative_gap(problem, solve(LinearProgram(), problem)) <= 1e-9
