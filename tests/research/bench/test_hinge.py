"""The linear program of the benchmark is the problem of the estimator."""

import numpy as np
import pytest

from directboost.research.bench import speed as hinge
from directboost.research.bench.methods import DirectBoost


def test_the_program_on_all_columns_has_the_value_of_the_model(iris):
    """The columns of a model solved to rounding: its objective is the optimum over them."""
    choices = {"loss": "hinge", "penalty": "l1", "tol": 1e-8, "nu": 0.05}
    model = DirectBoost(1, **choices).fit(iris.X, iris.y).model
    H = np.column_stack([learner.predict(iris.X) for learner in model.learners_])
    _, value, status = hinge.solve_from_scratch(hinge.build_program(H, iris.y, model.nu_))
    assert status == "optimal"
    assert value == pytest.approx(model.certificate_.primal, rel=1e-7)


def test_two_rows_by_hand():
    """One stump parts two rows: a weight of 1/2 for either class takes both to the margin 1."""
    program = hinge.build_program(np.array([[1.0], [-1.0]]), np.array([0, 1]), nu=0.1)
    assert hinge.solve_from_scratch(program)[1] == pytest.approx(0.1)
    program = hinge.build_program(np.array([[1.0], [-1.0]]), np.array([0, 1]), nu=2.0)
    assert hinge.solve_from_scratch(program)[1] == pytest.approx(1.0)


def test_rows(iris, terms):
    ours, program = hinge.measure_hinge(iris, terms)
    assert ours["bound"] <= program["objective"] * (1 + 1e-9)
    assert ours["ratio"] == ours["seconds"] / program["seconds"]
    assert program["stumps"] <= 60
    assert hinge.hinge_table([ours, program]).cells()[1][-1] == "optimal"
