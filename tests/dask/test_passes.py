"""Passes on shards, added up, give the results of the formulas for all rows at once."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask import passes
from directboost.dask import statistics as statistics_module
from directboost.dask.passes import GradientRequest, LineRequest
from directboost.dask.problem import ShardedObjective, ShardedOracle
from directboost.dask.shard import PointCache
from directboost.kernels.structs import Wanted
from directboost.losses import SampleWeights
from directboost.oracles.stump import StumpOracle
from directboost.penalties import L1, GroupNorm
from tests.dask.shard_data import (
    KINDS,
    K,
    M,
    draw_point,
    draw_shards,
    formula_of,
    loss_of,
)
from tests.reference import formulas

every_kind = pytest.mark.parametrize(("name", "margin"), KINDS)
ALL = np.arange(5, dtype=np.int32)
SOME = np.array([3, 0, 2], dtype=np.int32)  # not in order


def state(name, margin, dtype=np.float64):
    """Return rows, a loss, a point with coefficients, and a generator."""
    data, rng = draw_shards(margin), np.random.default_rng(1)
    return data, loss_of(name), draw_point(data, rng, dtype), rng


def value_by_formula(data, name, margin, F):
    rho = formulas.margins(F, margin, data.labels)
    return float(formulas.loss_value(formula_of(name), rho, data.c, data.whole.margin.true_class))


def weights_by_formula(data, name, margin, F):
    rho = formulas.margins(F, margin, data.labels)
    return formulas.loss_weights(formula_of(name), rho, data.c, data.whole.margin.true_class)


def near(dtype):
    """Return how closely results of a precision agree."""
    return {"rtol": 1e-10, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_the_responses_of_all_stumps(dtype):
    data, _, point, _ = state("logistic", "pairwise", dtype)
    found = np.concatenate([shard.scores(point) for shard in data.shards])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, data.scores(point.coefficients), **near(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_kind
def test_gradient_sums(name, margin, dtype):
    data, loss, point, _ = state(name, margin, dtype)
    found = data.executor.run(passes.gradient_sums, GradientRequest(point, loss, SOME))
    F = data.scores(point.coefficients)
    U = weights_by_formula(data, name, margin, F)
    A = formulas.edge_coefficients(U, margin, data.labels)
    assert found.values[0] == pytest.approx(
        value_by_formula(data, name, margin, F), rel=near(dtype)["rtol"]
    )
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, A), **near(dtype))
    np.testing.assert_allclose(found.arrays[1], np.abs(A).sum(axis=0), **near(dtype))


@every_kind
def test_curvature_sums(name, margin):
    """The diagonal curvature is that of the plain objective on all rows."""
    data, loss, point, _ = state(name, margin)
    found = data.executor.run(passes.curvature_sums, GradientRequest(point, loss, SOME))
    C = data.objective(loss).curvature(data.scores(point.coefficients))
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, C), rtol=1e-7, atol=1e-10)


@every_kind
def test_value(name, margin):
    data, loss, point, _ = state(name, margin)
    found = data.executor.run(passes.value, GradientRequest(point, loss, SOME))
    expected = value_by_formula(data, name, margin, data.scores(point.coefficients))
    assert found.values[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_kind
def test_line_losses(name, margin, dtype):
    data, loss, point, rng = state(name, margin, dtype)
    end, steps = draw_point(data, rng, dtype), (1.0, 1.5, 0.16)
    found = data.executor.run(passes.line_losses, LineRequest(point, loss, end, steps, SOME))
    F, there = data.scores(point.coefficients), data.scores(end.coefficients)
    expected = [value_by_formula(data, name, margin, F + step * (there - F)) for step in steps]
    np.testing.assert_allclose(found.values, expected, **near(dtype))
    assert not found.arrays


@every_kind
def test_line_losses_and_sums(name, margin):
    """The result combines `line_losses` and `gradient_sums` at the end."""
    data, loss, point, rng = state(name, margin)
    end = draw_point(data, rng)
    line = LineRequest(point, loss, end, (1.0, 1.5), SOME)
    found = data.executor.run(passes.line_losses_and_sums, line)
    at_end = data.executor.run(passes.gradient_sums, GradientRequest(end, loss, SOME))
    np.testing.assert_allclose(
        found.values, data.executor.run(passes.line_losses, line).values, rtol=1e-12
    )
    np.testing.assert_array_equal(found.values[0], at_end.values[0])
    for one, other in zip(found.arrays, at_end.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


@every_kind
def test_one_pass_returns_the_dual_value_and_the_curvature(name, margin):
    data, loss, point, _ = state(name, margin)
    value = value_by_formula(data, name, margin, data.scores(point.coefficients))
    alone = data.executor.run(passes.dual, passes.DualRequest(point, loss, value, 0.7))
    found = data.executor.run(passes.dual, passes.DualRequest(point, loss, value, 0.7, SOME))
    assert not alone.arrays
    np.testing.assert_allclose(found.values, alone.values, rtol=1e-12)
    C = data.objective(loss).curvature(data.scores(point.coefficients))
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, C), rtol=1e-7, atol=1e-10)


def test_bin_weights():
    data = draw_shards("pairwise")
    found = data.executor.run(passes.bin_weights, ALL).arrays[0]
    share = (data.weight / data.weight.sum())[:, None]
    np.testing.assert_allclose(found, data.summed(ALL, share), rtol=1e-13)


def test_requests_report_their_bytes():
    data, loss, point, rng = state("logistic", "pairwise")
    weights = point.coefficients
    size = sum(
        a.nbytes for a in (weights.features, weights.counts, weights.thresholds, weights.rows)
    )
    end = draw_point(data, rng)
    assert GradientRequest(point, loss, SOME).nbytes == size + 12
    assert passes.DualRequest(point, loss, 0.0, 1.0).nbytes == size + 16
    assert passes.DualRequest(point, loss, 0.0, 1.0, SOME).nbytes == size + 16 + 12
    line = LineRequest(point, loss, end, (1.0, 2.0), SOME)
    assert line.nbytes == size + end.coefficients.nbytes + 16 + 12


def sharded_objective(data, loss, penalty, nu):
    one = type(data.whole.margin).from_codes(np.zeros(1, dtype=np.int32), K)
    rows = SampleWeights(np.array([1.0 / K]), K, one.true_class)
    return ShardedObjective(one, loss, penalty, nu, rows, data.statistics(loss))


@pytest.mark.parametrize("price", [0.005, 0.02, 3.0])
@every_kind
def test_dual_bounds(name, margin, price):
    """The dual value is that of the weights of all rows, shrunk."""
    data, loss, point, _ = state(name, margin)
    found = sharded_objective(data, loss, L1(), 0.01).dual_bound(point, price)
    U = weights_by_formula(data, name, margin, data.scores(point.coefficients))
    own = data.whole.margin.true_class
    shrunk = formulas.shrink(formula_of(name), U, min(1.0, 0.01 / price), data.c, own)
    expected = float(formulas.dual_value(formula_of(name), shrunk, data.c, own))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-8)


@every_kind
def test_the_objective_equals_that_of_all_rows(name, margin):
    data, loss, point, _ = state(name, margin)
    remote, plain = sharded_objective(data, loss, GroupNorm(2.0), 0.01), data.objective(loss)
    assert remote.n_rows == M
    assert remote.constant == pytest.approx(plain.constant, rel=1e-13, abs=1e-15)
    assert remote.start_value() == pytest.approx(plain.start_value(), rel=1e-13)
    expected = value_by_formula(data, name, margin, data.scores(point.coefficients))
    assert remote.loss_value(point) == pytest.approx(expected, rel=1e-12)
    assert remote.evaluate(point, Wanted.DERIVATIVES).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.covering
@pytest.mark.parametrize("block", [None, 1, 700])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0)])
@every_kind
def test_prices(name, margin, penalty, signed, block, monkeypatch):
    """Prices, thresholds and polarities are those of the local oracle on all rows."""
    if block is not None:
        monkeypatch.setattr(statistics_module, "_BLOCK_BYTES", block)
    data, loss, point, _ = state(name, margin)
    signs = np.zeros((5, K), dtype=np.int8)
    signs[0], signs[3, 1:] = 1, -1
    signs = signs if signed else None
    statistics = data.statistics(loss, signs)
    assert len(statistics.blocks) == {None: 1, 1: 5, 700: 3}[block]
    U = weights_by_formula(data, name, margin, data.scores(point.coefficients))
    A = formulas.edge_coefficients(U, margin, data.labels)
    oracle = StumpOracle(data.whole.binned, data.costs, None, signs)
    expected, found = oracle.price(A, penalty), ShardedOracle(statistics).price(point, penalty)
    assert found.max_price == pytest.approx(expected.max_price, rel=1e-7)
    for part in ("feature", "threshold", "polarity"):
        ours, theirs = getattr(found.proposals, part), getattr(expected.proposals, part)
        np.testing.assert_array_equal(ours, theirs)


@given(
    features=st.lists(st.integers(0, 4), unique=True, min_size=1),
    begun=st.none() | st.lists(st.integers(0, 4), unique=True, min_size=1),
    block=st.sampled_from([1, 500, 700, 1 << 25]),
    kind=st.sampled_from(KINDS),
)
def test_sums_over_bins(features, begun, block, kind):
    """Sums over bins come in the order of the features, for every split into blocks."""
    data, loss, point, _ = state(*kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics_module, "_BLOCK_BYTES", block)
        statistics = data.statistics(loss)
    if begun is not None:
        known = np.array(begun, dtype=np.int32)
        request = GradientRequest(point.without_cache(), loss, known)
        point.cache.curvature = data.executor.run(passes.curvature_sums, request)
        point.cache.curvature_features = known
    G, D = statistics.sums(point, np.array(features, dtype=np.int32))
    F = data.scores(point.coefficients)
    U = weights_by_formula(data, *kind, F)
    A = formulas.edge_coefficients(U, kind[1], data.labels)
    C = data.objective(loss).curvature(F)
    np.testing.assert_allclose(G, data.summed(features, A), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(D, data.summed(features, C), rtol=1e-7, atol=1e-10)


def test_a_recomputed_shard_returns_the_same_bits():
    """Scores at earlier points have no influence, and are not transferred."""
    data, loss, point, rng = state("logistic", "pairwise")
    old = data.shards[1]
    old.scores(draw_point(data, rng))
    request = GradientRequest(point, loss, SOME)
    first, again = passes.gradient_sums(old, request), passes.gradient_sums(old, request)
    new = pickle.loads(pickle.dumps(old))
    assert new.cached_scores == ()
    for other in (again, passes.gradient_sums(new, pickle.loads(pickle.dumps(request)))):
        np.testing.assert_array_equal(first.values, other.values)
        np.testing.assert_array_equal(first.arrays[0], other.arrays[0])


def test_requests_do_not_contain_cached_statistics():
    data, loss, point, _ = state("logistic", "pairwise")
    statistics = data.statistics(loss)
    statistics.prices(point, L1())
    sent = pickle.loads(pickle.dumps(point.without_cache()))
    assert point.cache.prices
    assert point.cache.gradient is not None
    assert sent.key == point.key
    assert vars(sent.cache) == vars(PointCache())
    assert point.astype(np.float64) is point
    assert point.astype(np.float32).key != point.key
