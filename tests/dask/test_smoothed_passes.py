"""Passes of the smoothed hinge, added up, give the results of its formulas for all rows."""

import pickle

import numpy as np
import pytest

from directboost.dask.hinge import (
    HingeObjective,
    HingeStatistics,
    SmoothingParameters,
    hinge_weights,
    smoothed_curvature_sums,
    smoothed_gradient_sums,
    smoothed_line_losses,
    smoothed_line_losses_and_sums,
)
from directboost.dask.passes import GradientRequest, LineRequest
from directboost.dask.shard import PointCache, RemoteScores, SparseCoefficients
from directboost.losses import Hinge, SampleWeights
from directboost.losses.hinge import SmoothedHinge
from directboost.margins import MARGINS
from directboost.penalties import L1
from tests.dask.shard_data import K, draw_point, draw_shards
from tests.reference import formulas

ALL = np.arange(5, dtype=np.int32)
SOME = np.array([3, 0, 2], dtype=np.int32)
both_margins = pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])


def smoothed_twice(data, rng, dtype=np.float64):
    """Return parameters around two solutions, and the same loss as a `SmoothedHinge`."""
    solutions = [draw_point(data, rng, dtype), draw_point(data, rng, dtype)]
    soft = (
        SmoothingParameters(0.5)
        .around(solutions[0].coefficients, 0.4)
        .around(solutions[1].coefficients, 0.3)
    )
    margin, rows = data.whole.margin, data.whole.rows
    smooth = SmoothedHinge(0.5)
    for solution, mu in zip(solutions, (0.4, 0.3), strict=True):
        rho = margin.forward(data.scores(solution.coefficients))
        smooth = smooth.around(smooth.negative_gradient(rho, rows), rows, mu)
    return soft, smooth


@both_margins
def test_the_sum_of_the_solutions_determines_the_prior(margin):
    """The prior is that of a chain of solutions."""
    data, rng = draw_shards(margin), np.random.default_rng(3)
    soft, smooth = smoothed_twice(data, rng)
    point = draw_point(data, rng)
    rho = data.whole.margin.forward(data.scores(point.coefficients))
    U = hinge_weights(data.whole, soft.at(point))
    np.testing.assert_allclose(
        U, smooth.negative_gradient(rho, data.whole.rows), rtol=1e-9, atol=1e-18
    )


@both_margins
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradient_sums(margin, dtype):
    data, rng = draw_shards(margin), np.random.default_rng(1)
    soft, smooth = smoothed_twice(data, rng, dtype)
    point = soft.at(draw_point(data, rng, dtype))
    found = data.executor.run(smoothed_gradient_sums, GradientRequest(point, Hinge(), SOME))
    rows, own = data.whole.rows, data.whole.margin.true_class
    rho = formulas.margins(data.scores(point.coefficients), margin, data.labels)
    U = smooth.negative_gradient(rho, rows)
    A = formulas.edge_coefficients(U, margin, data.labels)
    facts = [
        smooth.value(rho, rows), float(formulas.loss_value("hinge", rho, data.c, own)),
        float((U * rho).sum()), float(formulas.dual_value("hinge", U, data.c, own)),
    ]  # fmt: skip
    near = {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(found.values, facts, **near)
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME.tolist(), A), **near)
    np.testing.assert_allclose(found.arrays[1], np.abs(A).sum(axis=0), **near)


@both_margins
def test_weights_are_inside_the_dual_domain_of_the_hinge(margin):
    """In single precision too, at scores so large that rounding leaves the domain."""
    data, rng = draw_shards(margin), np.random.default_rng(2)
    soft = SmoothingParameters(1e-3).around(draw_point(data, rng).coefficients, 1e-3)
    for dtype in (np.float64, np.float32):
        U = hinge_weights(data.whole, soft.at(draw_point(data, rng, dtype)))
        assert U.dtype == np.float64
        assert formulas.domain_violation("hinge", U, data.c, data.whole.margin.true_class) < 1e-14


@both_margins
def test_without_smoothing_the_weights_are_the_start_of_the_hinge(margin):
    data = draw_shards(margin)
    start = RemoteScores(SparseCoefficients.from_features([], [], K), np.dtype(np.float64))
    found = data.executor.run(smoothed_gradient_sums, GradientRequest(start, Hinge(), ALL))
    U = formulas.start_weights("hinge", data.c, data.whole.margin.true_class, K)
    A = formulas.edge_coefficients(U, margin, data.labels)
    np.testing.assert_allclose(found.arrays[0], data.summed(ALL.tolist(), A), atol=1e-15)
    assert found.values[0] == found.values[1] == pytest.approx(1.0)
    assert found.values[2] == 0.0
    assert found.values[3] == pytest.approx(U.sum())


@both_margins
def test_curvature_and_line_losses(margin):
    data, rng = draw_shards(margin), np.random.default_rng(4)
    soft, smooth = smoothed_twice(data, rng)
    point, end = soft.at(draw_point(data, rng)), soft.at(draw_point(data, rng))
    F, there = data.scores(point.coefficients), data.scores(end.coefficients)
    objective = data.objective(smooth)
    curvature = data.executor.run(smoothed_curvature_sums, GradientRequest(point, Hinge(), SOME))
    np.testing.assert_allclose(
        curvature.arrays[0],
        data.summed(SOME.tolist(), objective.curvature(F)),
        rtol=1e-8,
        atol=1e-12,
    )
    steps = (1.0, 1.5, 0.4)
    expected = [objective.loss_value(F + step * (there - F)) for step in steps]
    line = data.executor.run(smoothed_line_losses, LineRequest(point, Hinge(), end, steps, SOME))
    np.testing.assert_allclose(line.values, expected, rtol=1e-10)
    both = data.executor.run(
        smoothed_line_losses_and_sums, LineRequest(point, Hinge(), end, steps, SOME)
    )
    at_end = data.executor.run(smoothed_gradient_sums, GradientRequest(end, Hinge(), SOME))
    np.testing.assert_array_equal(both.values[:4], at_end.values)
    np.testing.assert_array_equal(both.values[4:], line.values[1:])
    np.testing.assert_array_equal(both.arrays[0], at_end.arrays[0])


@both_margins
def test_a_recomputed_shard_returns_the_same_bits(margin):
    """It has neither the scores nor the smoothed loss of earlier passes."""
    data, rng = draw_shards(margin), np.random.default_rng(5)
    soft, _ = smoothed_twice(data, rng)
    requests = [GradientRequest(s.at(draw_point(data, rng)), Hinge(), ALL) for s in (soft, soft)]
    requests.append(GradientRequest(SmoothingParameters(0.2).at(requests[0].point), Hinge(), ALL))
    for request in requests:
        used = smoothed_gradient_sums(data.whole, request)
        fresh = smoothed_gradient_sums(pickle.loads(pickle.dumps(data.whole)), request)
        np.testing.assert_array_equal(used.values, fresh.values)
        np.testing.assert_array_equal(used.arrays[0], fresh.arrays[0])
    assert len(data.whole.notes) == 1


@both_margins
@pytest.mark.parametrize("tau", [1.0, 0.3])
def test_the_bound_is_that_of_the_formulas(margin, tau):
    data, rng = draw_shards(margin), np.random.default_rng(6)
    soft, smooth = smoothed_twice(data, rng)
    statistics = HingeStatistics(
        data.executor, Hinge(), data.whole.binned, data.costs, None, K, data.counts
    )
    one = MARGINS[margin].from_codes(np.zeros(1, dtype=np.int32), K)
    rows = SampleWeights(np.array([1.0 / K]), K, one.true_class)
    objective = HingeObjective(one, Hinge(), L1(), 0.01, rows, statistics)
    point = soft.at(draw_point(data, rng))
    rho = formulas.margins(data.scores(point.coefficients), margin, data.labels)
    U = smooth.negative_gradient(rho, data.whole.rows)
    own = data.whole.margin.true_class
    shrunk = formulas.shrink("hinge", U, tau, data.c, own)
    expected = float(formulas.dual_value("hinge", shrunk, data.c, own))
    found = objective.dual_estimate(point, 0.01 / tau)
    assert found <= expected + 1e-15
    assert found == pytest.approx(expected, rel=1e-9)


def test_scores_in_two_precisions():
    point = RemoteScores(SparseCoefficients.from_features([], [], K), np.dtype(np.float32))
    point.cache.loss = 1.0
    soft = SmoothingParameters(0.5)
    there = soft.at(point)
    assert there.key == point.key
    assert vars(there.cache) == vars(PointCache())
    assert soft.at(there) is there
    assert SmoothingParameters(0.5).at(there) is not there
    double = there.astype(np.float64)
    assert (double.dtype, double.smoothing) == (np.float64, soft)
    assert double.key != there.key
    assert there.astype(np.float32) is there
