"""What shards say of the smoothed hinge, added up, is what its formulas give for all rows."""

import pickle

import numpy as np
import pytest

from directboost.dask import hinge as kinks
from directboost.dask.hinge import HingeObjective, HingeStatistics, Softening
from directboost.dask.passes import LookMessage, WayMessage
from directboost.dask.shard import RemoteScores, SparseCoefficients
from directboost.losses import Hinge, SampleWeights
from directboost.losses.hinge import SmoothedHinge
from directboost.margins import MARGINS
from directboost.penalties import L1
from tests.dask.shard_data import K, draw_place, draw_shards
from tests.reference import formulas

ALL = np.arange(5, dtype=np.int32)
SOME = np.array([3, 0, 2], dtype=np.int32)
both_margins = pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])


def smoothed_twice(data, rng, dtype=np.float64):
    """Return a softening around two answers, and the loss that `SmoothedHinge` makes of them."""
    answers = [draw_place(data, rng, dtype), draw_place(data, rng, dtype)]
    soft = Softening(0.5).around(answers[0].weights, 0.4).around(answers[1].weights, 0.3)
    margin, rows = data.whole.margin, data.whole.rows
    smooth = SmoothedHinge(0.5)
    for answer, mu in zip(answers, (0.4, 0.3), strict=True):
        rho = margin.forward(data.scores(answer.weights))
        smooth = smooth.around(smooth.negative_gradient(rho, rows), rows, mu)
    return soft, smooth


@both_margins
def test_weights_around_answers_are_described_by_their_sum(margin):
    """The prior is that of a chain of answers, whatever was smoothed around before."""
    data, rng = draw_shards(margin), np.random.default_rng(3)
    soft, smooth = smoothed_twice(data, rng)
    place = draw_place(data, rng)
    rho = data.whole.margin.forward(data.scores(place.weights))
    U = kinks.weights(data.whole, soft.at(place))
    np.testing.assert_allclose(
        U, smooth.negative_gradient(rho, data.whole.rows), rtol=1e-9, atol=1e-18
    )


@both_margins
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_look_at_a_smoothed_place(margin, dtype):
    data, rng = draw_shards(margin), np.random.default_rng(1)
    soft, smooth = smoothed_twice(data, rng, dtype)
    place = soft.at(draw_place(data, rng, dtype))
    found = data.crew.ask(kinks.smoothed_gradient_sums, LookMessage(place, Hinge(), SOME))
    rows, own = data.whole.rows, data.whole.margin.true_class
    rho = formulas.margins(data.scores(place.weights), margin, data.labels)
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
    """In single precision too, at scores so large that rounding takes them out of it."""
    data, rng = draw_shards(margin), np.random.default_rng(2)
    soft = Softening(1e-3).around(draw_place(data, rng).weights, 1e-3)
    for dtype in (np.float64, np.float32):
        U = kinks.weights(data.whole, soft.at(draw_place(data, rng, dtype)))
        assert U.dtype == np.float64
        assert formulas.domain_violation("hinge", U, data.c, data.whole.margin.true_class) < 1e-14


@both_margins
def test_a_place_that_is_not_smoothed_has_the_start_of_the_hinge(margin):
    data = draw_shards(margin)
    start = RemoteScores(SparseCoefficients.of([], [], K), np.dtype(np.float64))
    found = data.crew.ask(kinks.smoothed_gradient_sums, LookMessage(start, Hinge(), ALL))
    U = formulas.start_weights("hinge", data.c, data.whole.margin.true_class, K)
    A = formulas.edge_coefficients(U, margin, data.labels)
    np.testing.assert_allclose(found.arrays[0], data.summed(ALL.tolist(), A), atol=1e-15)
    assert found.values[0] == found.values[1] == pytest.approx(1.0)
    assert found.values[2] == 0.0
    assert found.values[3] == pytest.approx(U.sum())


@both_margins
def test_bend_and_search(margin):
    data, rng = draw_shards(margin), np.random.default_rng(4)
    soft, smooth = smoothed_twice(data, rng)
    place, end = soft.at(draw_place(data, rng)), soft.at(draw_place(data, rng))
    F, there = data.scores(place.weights), data.scores(end.weights)
    objective = data.objective(smooth)
    bent = data.crew.ask(kinks.smoothed_curvature_sums, LookMessage(place, Hinge(), SOME))
    np.testing.assert_allclose(
        bent.arrays[0], data.summed(SOME.tolist(), objective.curvature(F)), rtol=1e-8, atol=1e-12
    )
    steps = (1.0, 1.5, 0.4)
    expected = [objective.loss_value(F + step * (there - F)) for step in steps]
    searched = data.crew.ask(
        kinks.smoothed_line_losses, WayMessage(place, Hinge(), end, steps, SOME)
    )
    np.testing.assert_allclose(searched.values, expected, rtol=1e-10)
    strode = data.crew.ask(
        kinks.smoothed_line_losses_and_sums, WayMessage(place, Hinge(), end, steps, SOME)
    )
    looked = data.crew.ask(kinks.smoothed_gradient_sums, LookMessage(end, Hinge(), SOME))
    np.testing.assert_array_equal(strode.values[:4], looked.values)
    np.testing.assert_array_equal(strode.values[4:], searched.values[1:])
    np.testing.assert_array_equal(strode.arrays[0], looked.arrays[0])


@both_margins
def test_a_shard_that_was_made_anew_answers_the_same(margin):
    """It has neither the scores nor the smoothed loss of earlier questions."""
    data, rng = draw_shards(margin), np.random.default_rng(5)
    soft, _ = smoothed_twice(data, rng)
    messages = [LookMessage(s.at(draw_place(data, rng)), Hinge(), ALL) for s in (soft, soft)]
    messages.append(LookMessage(Softening(0.2).at(messages[0].place), Hinge(), ALL))
    for message in messages:
        used = kinks.smoothed_gradient_sums(data.whole, message)
        fresh = kinks.smoothed_gradient_sums(pickle.loads(pickle.dumps(data.whole)), message)
        np.testing.assert_array_equal(used.values, fresh.values)
        np.testing.assert_array_equal(used.arrays[0], fresh.arrays[0])
    assert len(data.whole.notes) == 1


@both_margins
@pytest.mark.parametrize("tau", [1.0, 0.3])
def test_the_bound_is_that_of_the_formulas(margin, tau):
    data, rng = draw_shards(margin), np.random.default_rng(6)
    soft, smooth = smoothed_twice(data, rng)
    field = HingeStatistics(data.crew, Hinge(), data.whole.binned, data.costs, None, K, data.counts)
    one = MARGINS[margin].from_codes(np.zeros(1, dtype=np.int32), K)
    rows = SampleWeights(np.array([1.0 / K]), K, one.true_class)
    objective = HingeObjective(one, Hinge(), L1(), 0.01, rows, field)
    place = soft.at(draw_place(data, rng))
    U = smooth.negative_gradient(formulas.margins(data.scores(place.weights), margin, data.labels),
        data.whole.rows)  # fmt: skip
    own = data.whole.margin.true_class
    shrunk = formulas.shrink("hinge", U, tau, data.c, own)
    expected = float(formulas.dual_value("hinge", shrunk, data.c, own))
    found = objective.dual_estimate(place, 0.01 / tau)
    assert found <= expected + 1e-15
    assert found == pytest.approx(expected, rel=1e-9)


def test_places_of_one_precision_and_of_another():
    place = RemoteScores(SparseCoefficients.of([], [], K), np.dtype(np.float32))
    place.known["value"] = 1.0
    soft = Softening(0.5)
    there = soft.at(place)
    assert (there.key, there.known) == (place.key, {})
    assert soft.at(there) is there
    assert Softening(0.5).at(there) is not there
    double = there.astype(np.float64)
    assert (double.dtype, double.soft) == (np.float64, soft)
    assert double.key != there.key
    assert there.astype(np.float32) is there
