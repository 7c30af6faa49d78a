"""What shards are asked, added up, is what the formulas give for all rows at once."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask import passes
from directboost.dask import statistics as fields
from directboost.dask.passes import LookMessage, WayMessage
from directboost.dask.problem import ShardedBins, ShardedObjective, ShardedOracle
from directboost.kernels.structs import Wanted
from directboost.losses import SampleWeights
from directboost.oracles.stump import StumpOracle
from directboost.penalties import L1, GroupNorm
from tests.dask.shard_data import (
    KINDS,
    K,
    M,
    draw_place,
    draw_shards,
    formula_of,
    loss_of,
)
from tests.reference import formulas

every_kind = pytest.mark.parametrize(("name", "margin"), KINDS)
ALL = np.arange(5, dtype=np.int32)
SOME = np.array([3, 0, 2], dtype=np.int32)  # not in order


def state(name, margin, dtype=np.float64):
    """Return rows, a loss, a place with weights, and a generator."""
    data, rng = draw_shards(margin), np.random.default_rng(1)
    return data, loss_of(name), draw_place(data, rng, dtype), rng


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
def test_scores_are_the_answers_of_all_stumps(dtype):
    data, _, place, _ = state("logistic", "pairwise", dtype)
    found = np.concatenate([shard.scores(place) for shard in data.shards])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, data.scores(place.weights), **near(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_kind
def test_look(name, margin, dtype):
    data, loss, place, _ = state(name, margin, dtype)
    found = data.crew.ask(passes.gradient_sums, LookMessage(place, loss, SOME))
    F = data.scores(place.weights)
    U = weights_by_formula(data, name, margin, F)
    A = formulas.edge_coefficients(U, margin, data.labels)
    assert found.values[0] == pytest.approx(
        value_by_formula(data, name, margin, F), rel=near(dtype)["rtol"]
    )
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, A), **near(dtype))
    np.testing.assert_allclose(found.arrays[1], np.abs(A).sum(axis=0), **near(dtype))


@every_kind
def test_bend(name, margin):
    """The diagonal curvature is that of the plain objective on all rows."""
    data, loss, place, _ = state(name, margin)
    found = data.crew.ask(passes.curvature_sums, LookMessage(place, loss, SOME))
    C = data.objective(loss).curvature(data.scores(place.weights))
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, C), rtol=1e-7, atol=1e-10)


@every_kind
def test_value(name, margin):
    data, loss, place, _ = state(name, margin)
    found = data.crew.ask(passes.value, LookMessage(place, loss, SOME))
    expected = value_by_formula(data, name, margin, data.scores(place.weights))
    assert found.values[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_kind
def test_search(name, margin, dtype):
    data, loss, place, rng = state(name, margin, dtype)
    end, steps = draw_place(data, rng, dtype), (1.0, 1.5, 0.16)
    found = data.crew.ask(passes.line_losses, WayMessage(place, loss, end, steps, SOME))
    F, there = data.scores(place.weights), data.scores(end.weights)
    expected = [value_by_formula(data, name, margin, F + step * (there - F)) for step in steps]
    np.testing.assert_allclose(found.values, expected, **near(dtype))
    assert not found.arrays


@every_kind
def test_stride(name, margin):
    """It gives what a search and a look at its end give."""
    data, loss, place, rng = state(name, margin)
    end = draw_place(data, rng)
    way = WayMessage(place, loss, end, (1.0, 1.5), SOME)
    found = data.crew.ask(passes.line_losses_and_sums, way)
    looked = data.crew.ask(passes.gradient_sums, LookMessage(end, loss, SOME))
    np.testing.assert_allclose(
        found.values, data.crew.ask(passes.line_losses, way).values, rtol=1e-12
    )
    np.testing.assert_array_equal(found.values[0], looked.values[0])
    for one, other in zip(found.arrays, looked.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


@every_kind
def test_the_dual_value_comes_with_the_curvature(name, margin):
    data, loss, place, _ = state(name, margin)
    value = value_by_formula(data, name, margin, data.scores(place.weights))
    alone = data.crew.ask(passes.dual, passes.DualMessage(place, loss, value, 0.7))
    found = data.crew.ask(passes.dual, passes.DualMessage(place, loss, value, 0.7, SOME))
    assert not alone.arrays
    np.testing.assert_allclose(found.values, alone.values, rtol=1e-12)
    C = data.objective(loss).curvature(data.scores(place.weights))
    np.testing.assert_allclose(found.arrays[0], data.summed(SOME, C), rtol=1e-7, atol=1e-10)


def test_bin_weights():
    data = draw_shards("pairwise")
    found = data.crew.ask(passes.bin_weights, ALL).arrays[0]
    share = (data.weight / data.weight.sum())[:, None]
    np.testing.assert_allclose(found, data.summed(ALL, share), rtol=1e-13)


def test_every_message_says_what_travels():
    data, loss, place, rng = state("logistic", "pairwise")
    weights = place.weights
    size = sum(a.nbytes for a in (weights.features, weights.counts, weights.jumps, weights.rows))
    end = draw_place(data, rng)
    assert LookMessage(place, loss, SOME).nbytes == size + 12
    assert passes.DualMessage(place, loss, 0.0, 1.0).nbytes == size + 16
    assert passes.DualMessage(place, loss, 0.0, 1.0, SOME).nbytes == size + 16 + 12
    way = WayMessage(place, loss, end, (1.0, 2.0), SOME)
    assert way.nbytes == size + end.weights.nbytes + 16 + 12


def sharded_objective(data, loss, penalty, nu):
    one = type(data.whole.margin).from_codes(np.zeros(1, dtype=np.int32), K)
    rows = SampleWeights(np.array([1.0 / K]), K, one.true_class)
    return ShardedObjective(one, loss, penalty, nu, rows, data.field(loss))


@pytest.mark.parametrize("price", [0.005, 0.02, 3.0])
@every_kind
def test_dual_bounds(name, margin, price):
    """The dual value is that of the weights of all rows, shrunk."""
    data, loss, place, _ = state(name, margin)
    found = sharded_objective(data, loss, L1(), 0.01).dual_bound(place, price)
    U = weights_by_formula(data, name, margin, data.scores(place.weights))
    own = data.whole.margin.true_class
    shrunk = formulas.shrink(formula_of(name), U, min(1.0, 0.01 / price), data.c, own)
    expected = float(formulas.dual_value(formula_of(name), shrunk, data.c, own))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-8)


@every_kind
def test_the_objective_stands_for_that_of_all_rows(name, margin):
    data, loss, place, _ = state(name, margin)
    far, plain = sharded_objective(data, loss, GroupNorm(2.0), 0.01), data.objective(loss)
    assert far.n_rows == M
    assert far.constant == pytest.approx(plain.constant, rel=1e-13, abs=1e-15)
    assert far.start_value() == pytest.approx(plain.start_value(), rel=1e-13)
    expected = value_by_formula(data, name, margin, data.scores(place.weights))
    assert far.loss_value(place) == pytest.approx(expected, rel=1e-12)
    assert far.evaluate(place, Wanted.DERIVATIVES).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.covering
@pytest.mark.parametrize("block", [None, 1, 700])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("penalty", [L1(), GroupNorm(2.0)])
@every_kind
def test_prices(name, margin, penalty, signed, block, monkeypatch):
    """Prices, jumps and polarities are those of the plain oracle on all rows."""
    if block is not None:
        monkeypatch.setattr(fields, "_BLOCK_BYTES", block)
    data, loss, place, _ = state(name, margin)
    signs = np.zeros((5, K), dtype=np.int8)
    signs[0], signs[3, 1:] = 1, -1
    signs = signs if signed else None
    field = data.field(loss, signs)
    assert len(field.blocks) == {None: 1, 1: 5, 700: 3}[block]
    U = weights_by_formula(data, name, margin, data.scores(place.weights))
    A = formulas.edge_coefficients(U, margin, data.labels)
    oracle = StumpOracle(data.whole.binned, data.costs, None, signs)
    expected, found = oracle.price(A, penalty), ShardedOracle(field).price(place, penalty)
    assert found.max_price == pytest.approx(expected.max_price, rel=1e-7)
    for part in ("feature", "jump", "polarity"):
        ours, theirs = getattr(found.proposals, part), getattr(expected.proposals, part)
        np.testing.assert_array_equal(ours, theirs)


@given(
    features=st.lists(st.integers(0, 4), unique=True, min_size=1),
    begun=st.none() | st.lists(st.integers(0, 4), unique=True, min_size=1),
    block=st.sampled_from([1, 500, 700, 1 << 25]),
    kind=st.sampled_from(KINDS),
)
def test_sums_of_a_field(features, begun, block, kind):
    """Sums over bins come in the order of the features, however they are cut into blocks."""
    data, loss, place, _ = state(*kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "_BLOCK_BYTES", block)
        field = data.field(loss)
    if begun is not None:
        field.begin_bend(place, np.array(begun, dtype=np.int32))
    G, D = field.sums(place, np.array(features, dtype=np.int32))
    F = data.scores(place.weights)
    U = weights_by_formula(data, *kind, F)
    A = formulas.edge_coefficients(U, kind[1], data.labels)
    C = data.objective(loss).curvature(F)
    np.testing.assert_allclose(G, data.summed(features, A), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(D, data.summed(features, C), rtol=1e-7, atol=1e-10)


def test_a_shard_made_anew_answers_the_same():
    """Scores of earlier places leave no trace, and do not travel."""
    data, loss, place, rng = state("logistic", "pairwise")
    old = data.shards[1]
    old.scores(draw_place(data, rng))
    message = LookMessage(place, loss, SOME)
    first, again = passes.gradient_sums(old, message), passes.gradient_sums(old, message)
    new = pickle.loads(pickle.dumps(old))
    assert new.kept == ()
    for other in (again, passes.gradient_sums(new, pickle.loads(pickle.dumps(message)))):
        np.testing.assert_array_equal(first.values, other.values)
        np.testing.assert_array_equal(first.arrays[0], other.arrays[0])


def test_places_travel_without_what_is_known():
    data, loss, place, _ = state("logistic", "pairwise")
    field = data.field(loss)
    field.prices(place, L1())
    far = pickle.loads(pickle.dumps(place.alone()))
    assert place.known
    assert (far.key, far.known) == (place.key, {})
    assert place.astype(np.float64) is place
    assert place.astype(np.float32).key != place.key
    assert ShardedBins(**{**vars(data.whole.binned), "m": M}).n_rows == M
