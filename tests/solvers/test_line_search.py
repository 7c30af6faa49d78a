"""The line search towards the minimum of a model."""

import numpy as np
import pytest

from directboost.kernels.structs import SearchDirection
from directboost.losses import SmoothLoss
from directboost.solvers.line_search import LineSearch, RowEvaluator
from tests.solvers.problems import SMOOTH
from tests.solvers.test_quadratic_model import make_model

every_loss = pytest.mark.parametrize(("loss", "margin"), SMOOTH)
DOUBLE = np.dtype(np.float64)


def make_line(loss, margin, evaluator):
    """Return problem, iterate and the line search towards the minimum of its model."""
    problem, iterate, model = make_model(loss, margin, 2.0)
    model.epoch()
    return problem, iterate, LineSearch(evaluator, problem.objective, problem.columns, model)


@every_loss
@pytest.mark.parametrize("step", [0.4, 1.0, 1.5])
def test_iterates_on_the_line(loss, margin, step):
    """Coefficients, scores, value and derivatives are consistent."""
    problem, _, line = make_line(loss, margin, RowEvaluator(DOUBLE))
    value = line.value(step)
    there = line.accept(step)
    F = problem.columns.scores(there.W)
    np.testing.assert_allclose(there.F, F, rtol=1e-12, atol=1e-12)
    assert there.value == pytest.approx(problem.value(there.W), rel=1e-12)
    assert value == there.value
    np.testing.assert_allclose(
        there.U, problem.objective.negative_gradient(F), rtol=1e-10, atol=1e-15
    )


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_arrays_of_the_first_iterate_are_reused(precision):
    """Except for U in double precision, which may be kept for the certificate."""
    problem, _, model = make_model("exponential", "pairwise", 2.0)
    F = problem.columns.scores(model.iterate.W).astype(precision)
    evaluator = RowEvaluator(np.dtype(precision))
    first = evaluator.evaluate(problem.objective, problem.columns, model.iterate.W, F, 0.0)
    U, scores = first.U.copy(), F.copy()
    change = np.random.default_rng(0).normal(size=F.shape).astype(precision)
    direction = SearchDirection(change, 0.25)
    there = evaluator.evaluate_in_place(
        first, problem.objective, problem.columns, first.W, 0.0, direction
    )
    assert there.F is F
    assert there.A is first.A
    assert there.C is first.C
    np.testing.assert_allclose(F, scores + precision(0.25) * direction.change, rtol=1e-6)
    fresh = evaluator.evaluate(problem.objective, problem.columns, first.W, F.copy(), 0.0)
    for name in "UAC":
        np.testing.assert_allclose(getattr(there, name), getattr(fresh, name), rtol=1e-5)
    if precision is np.float64:
        np.testing.assert_array_equal(first.U, U)


def test_losses_without_a_fused_pass_give_the_same_iterates():
    problem, _, line = make_line("logistic", "pairwise", RowEvaluator(DOUBLE))
    plain = SmoothLoss(
        lambda z: np.logaddexp(0.0, -z),
        lambda z: -1.0 / (1.0 + np.exp(z)),
        lambda z: 0.25 / np.cosh(0.5 * z) ** 2,
    )
    object.__setattr__(problem.objective, "loss", plain)
    _, _, fused = make_line("logistic", "pairwise", RowEvaluator(DOUBLE))
    value = line.value(0.4)
    one, two = line.accept(0.4), fused.accept(0.4)
    assert one.value == pytest.approx(two.value, rel=1e-12)
    assert value == pytest.approx(one.value, rel=1e-14)
    for name in "FUAC":
        expected = getattr(two, name)
        np.testing.assert_allclose(getattr(one, name), expected, rtol=1e-9, atol=1e-14)
