"""Long solves report their progress and can be ended."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.history import Status
from directboost.solvers import Conic, LinearProgram
from directboost.solvers.monitor import Monitor
from tests.solvers.problems import make_problem, solve


@pytest.mark.parametrize("solver_type", [LinearProgram, Conic])
def test_a_solve_reports_its_iterations(solver_type):
    seen = []
    solver = solver_type()
    solver.report = lambda iterations: bool(seen.append(iterations))
    assert solve(solver, make_problem("hinge", shape=(60, 20, 4))).solved
    assert len(seen) > 3
    assert max(seen) > 3


@pytest.mark.parametrize("solver_type", [LinearProgram, Conic])
def test_a_solve_that_is_ended_returns_its_start_and_can_be_repeated(solver_type):
    problem, solver = make_problem("hinge", shape=(60, 20, 4)), solver_type()
    start = np.full((20, 4), 1e-3)
    solver.report = lambda iterations: True
    ended = solve(solver, problem, start=start)
    assert not ended.solved
    assert problem.value(ended.W) <= problem.value(start)
    solver.report = lambda iterations: False
    assert solve(solver, problem).solved


@pytest.mark.parametrize("solver_type", [LinearProgram, Conic])
def test_exceptions_of_a_report_reach_the_caller(solver_type):
    solver = solver_type()

    def interrupt(iterations):
        raise KeyboardInterrupt

    solver.report = interrupt
    with pytest.raises(KeyboardInterrupt):
        solve(solver, make_problem("hinge", shape=(60, 20, 4)))


def test_a_monitor_stays_stopped():
    answers = iter([False, True, False])
    monitor = Monitor(lambda iterations: next(answers))
    assert [monitor.stops(i) for i in range(4)] == [False, True, True, True]


class EndsTheSolve:
    """A callback that ends the fit during the first solve."""

    def __init__(self):
        self.records = []

    def __call__(self, record):
        return Status.TIME_LIMIT if self.records else None

    def during_solve(self, record):
        self.records.append(record)
        return True


@pytest.mark.parametrize("solver", ["lp", "conic"])
def test_callbacks_are_called_during_a_solve(monkeypatch, solver):
    monkeypatch.setattr("directboost.training.column_generation._PERIOD", 0.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 3, 80)
    callback = EndsTheSolve()
    clf = DirectBoostClassifier(
        loss="hinge", penalty="l1", solver=solver, nu=0.05, callbacks=callback
    )
    with pytest.warns(match="time_limit"):
        clf.fit(X, y)
    assert clf.status_ is Status.TIME_LIMIT
    assert len(callback.records) == 1
    assert callback.records[0].round == 0
    assert not clf.certificate_.converged
