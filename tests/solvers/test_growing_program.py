"""The linear program that starts with few margins and weights."""

import math

import numpy as np
import pytest

from directboost.margins import MARGINS
from directboost.solvers.linear_program import LinearProgram
from tests.solvers.problems import make_problem, named, relative_gap, solve, without_columns

PENALTIES = [1.0, math.inf]


@pytest.fixture(autouse=True)
def grows(monkeypatch):
    """Let small models grow too, a few weights at a time."""
    monkeypatch.setattr("directboost.solvers.linear_program._WHOLE", 0)
    monkeypatch.setattr("directboost.solvers.linear_program._ENTERING", 3)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_the_whole_program(monkeypatch, margin, p, seed):
    problem = make_problem("hinge", margin, p, nu=0.005, shape=(60, 20, 4), seed=seed)
    solver = LinearProgram()
    found = solve(solver, problem)
    present = solver._model._present()[:, :-1]
    assert not present.all()
    assert (found.W[~present] == 0.0).all()
    assert found.solved
    assert relative_gap(problem, found) <= 1e-9
    monkeypatch.setattr("directboost.solvers.linear_program._WHOLE", 10_000)
    whole = solve(LinearProgram(), problem)
    assert problem.value(found.W) == pytest.approx(problem.value(whole.W), rel=1e-9)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
def test_a_warm_start_needs_a_part_of_the_margins(margin, p):
    problem = make_problem("hinge", margin, p, nu=0.005, shape=(60, 20, 4))
    start = solve(LinearProgram(), problem).W
    solver = LinearProgram()
    found = solve(solver, problem, start=start)
    assert solver._model.kept.size < solver._model.margins.index.size
    assert relative_gap(problem, found) <= 1e-9


@pytest.mark.parametrize("p", PENALTIES)
def test_missing_margins_enter(p):
    """From a start whose margins are too large, violated margins have to enter."""
    problem = make_problem("hinge", p=p, nu=0.02, shape=(60, 20, 4))
    start = 10.0 * solve(LinearProgram(), problem).W
    solver = LinearProgram()
    solver._model = None
    found = solve(solver, problem, start=start)
    rows = solver._model.kept
    assert rows.size > np.flatnonzero(solver._model._values(start) < 1.05).size
    assert relative_gap(problem, found) <= 1e-9


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("p", PENALTIES)
def test_new_columns_are_added_to_the_model(margin, p):
    problem = without_columns(make_problem("hinge", margin, p, nu=0.01))
    solver, models = LinearProgram(), []
    for number in range(12):
        problem.columns.extend(named([number]))
        found = solve(solver, problem)
        models.append(solver._model)
        assert relative_gap(problem, found) <= 1e-9
    assert all(model is models[0] for model in models)
