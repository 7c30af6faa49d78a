"""Block descent on the smoothed hinge: the fused pass, and Newton steps with bounds."""

import numpy as np
import pytest

from directboost.data.binning import bin_features
from directboost.kernels.structs import SearchDirection
from directboost.losses import SampleWeights
from directboost.losses.hinge import SmoothedHinge
from directboost.margins import OneVsAll, Pairwise
from directboost.penalties import L1, GroupNorm
from directboost.problem.feature_columns import FeatureColumns
from directboost.problem.objective import Objective, RestrictedProblem
from directboost.solvers.line_search import RowEvaluator
from directboost.solvers.quadratic_model import QuadraticModel, RowSample
from directboost.solvers.smoothing import SmoothedRowEvaluator


def smoothed_problem(rng, margin=Pairwise, penalty=None, m=200, k=4):
    """Return a small problem with a smoothed hinge that has a prior, over all features."""
    y = rng.integers(0, k, m).astype(np.int32)
    X = rng.normal(size=(m, 5)) + rng.normal(size=(k, 5))[y]
    binned = bin_features(X, np.ones(m), 12, None)
    side = margin.from_codes(y, k)
    rows = SampleWeights.weighted(rng.uniform(0.5, 2.0, m), k, side.true_class)
    loss = SmoothedHinge(0.2)
    U = loss.negative_gradient(side.forward(rng.normal(size=(m, k))), rows)
    objective = Objective(side, loss.around(U, rows, 0.1), penalty or L1(), 2e-3, rows)
    columns = FeatureColumns(binned, np.ones(6), k)
    columns.features = list(range(6))
    return RestrictedProblem(objective, columns)


@pytest.mark.parametrize("margin", [Pairwise, OneVsAll])
def test_the_fused_pass_equals_the_loss(margin, rng):
    problem = smoothed_problem(rng, margin)
    F = rng.normal(size=(200, 4))
    direction = SearchDirection(rng.normal(size=F.shape), 0.7)
    double = np.dtype(np.float64)
    fused, plain = (
        evaluator.evaluate_in_place(
            evaluator.evaluate(problem.objective, problem.columns, [], F.copy(), 0.0),
            problem.objective, problem.columns, [], 0.0, direction,
        )
        for evaluator in (SmoothedRowEvaluator(double), RowEvaluator(double))
    )  # fmt: skip
    np.testing.assert_allclose(fused.F, F + 0.7 * direction.change)
    alone = SmoothedRowEvaluator(double).loss(problem.objective, problem.columns, F, direction)
    assert alone == pytest.approx(plain.loss, rel=1e-12)
    assert fused.loss == pytest.approx(plain.loss, rel=1e-12)
    for name in ("U", "A", "C"):
        np.testing.assert_allclose(getattr(fused, name), getattr(plain, name), atol=1e-12)


def make_model(problem):
    """Return the model at zero after one sweep, which makes coefficients non-zero."""
    columns = problem.columns
    W = columns.grow([])
    F = np.zeros((columns.binned.n_rows, 4))
    iterate = SmoothedRowEvaluator(F.dtype).evaluate(problem.objective, columns, W, F, 0.0)
    sample = RowSample(columns.binned, problem.objective.margin.true_class, columns.binned.n_rows)
    model = QuadraticModel(problem.objective, columns, iterate, sample, 0.0)
    model.epoch()
    return model


@pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0), GroupNorm(np.inf)])
def test_a_repeated_step_gains_at_least_as_much_as_a_plain_one(penalty, rng):
    """With the crossing weights fixed at zero, the other weights can move further."""
    seed = int(rng.integers(1000))
    gains = []
    for repeats in (1, 6):
        model = make_model(smoothed_problem(np.random.default_rng(seed), Pairwise, penalty))
        before = np.sign(model.work.jumps)
        gains.append(model.newton(40, 1e-3, repeats))
        assert (np.sign(model.work.jumps) * before >= 0.0).all()
    assert gains[1] >= 0.9 * gains[0]
    assert gains[1] > 0.0
