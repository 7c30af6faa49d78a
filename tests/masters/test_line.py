"""The objective along the way to the minimum of a model."""

import numpy as np
import pytest

from directboost.losses import SmoothLoss
from directboost.masters.line import AllRows, Line
from tests.masters.problems import SMOOTH
from tests.masters.test_quadratic import make_model

every_loss = pytest.mark.parametrize(("loss", "margin"), SMOOTH)
DOUBLE = np.dtype(np.float64)


def make_line(loss, margin, rows):
    """Return problem, point and the line to the minimum of a model there."""
    problem, point, model = make_model(loss, margin, 2.0)
    model.epoch()
    return problem, point, Line(rows, problem.objective, problem.columns, model)


@every_loss
@pytest.mark.parametrize("step", [0.4, 1.0, 1.5])
def test_points_of_the_line(loss, margin, step):
    """Its jumps, scores, value and derivatives belong together."""
    problem, _, line = make_line(loss, margin, AllRows(DOUBLE))
    there = line.at(step)
    F = problem.columns.scores(there.W)
    np.testing.assert_allclose(there.F, F, rtol=1e-12, atol=1e-12)
    assert there.value == pytest.approx(problem.value(there.W), rel=1e-12)
    assert line.value(step) == there.value
    np.testing.assert_allclose(there.U, problem.objective.weights(F), rtol=1e-10, atol=1e-15)


def test_points_take_the_place_of_the_last_one_but_not_its_weights():
    """The weights may be kept as a proof; the point the line starts from stays as it is."""
    rows = AllRows(DOUBLE)
    _, start, line = make_line("logistic", "pairwise", rows)
    before = start.F.copy()
    one = line.at(1.0)
    U = one.U.copy()
    two = line.at(0.5)
    assert two.F is one.F
    assert two.A is one.A
    np.testing.assert_array_equal(one.U, U)
    np.testing.assert_array_equal(start.F, before)
    rows.give_back(start)
    assert line.at(0.0).F is start.F


def test_losses_without_a_fused_pass_go_the_same_way():
    problem, _, line = make_line("logistic", "pairwise", AllRows(DOUBLE))
    plain = SmoothLoss(
        lambda z: np.logaddexp(0.0, -z),
        lambda z: -1.0 / (1.0 + np.exp(z)),
        lambda z: 0.25 / np.cosh(0.5 * z) ** 2,
    )
    object.__setattr__(problem.objective, "loss", plain)
    _, _, fused = make_line("logistic", "pairwise", AllRows(DOUBLE))
    for step in (0.4, 1.0):
        one, two = line.at(step), fused.at(step)
        assert one.value == pytest.approx(two.value, rel=1e-12)
        assert line.value(step) == pytest.approx(one.value, rel=1e-14)
        for name in "FUAC":
            expected = getattr(two, name)
            np.testing.assert_allclose(getattr(one, name), expected, rtol=1e-9, atol=1e-14)
