"""Sums of shards add up to the sums of all rows."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask.executor import LocalExecutor, tree_widths
from directboost.dask.shard import FAN_IN, Sums, add_up

cuts = st.lists(st.integers(1, 29), max_size=12, unique=True).map(sorted)
seeds = st.integers(0, 2**32 - 1)


def plain(values, rows):
    """Return the sums of rows, each with values and an array of its own."""
    return Sums(values.sum(axis=0), (rows.sum(axis=0), np.abs(rows[:, :1]).sum(axis=0)))


def coupled(values, rows):
    """Return the logarithm of the sum of exponentials, and an array divided by that sum."""
    masses = np.exp(values[:, 0])
    return Sums(np.log(masses.sum(keepdims=True)), ((masses @ rows) / masses.sum(),), coupled=True)


def parted(function, values, rows, ends):
    """Return the sums of every part of the rows."""
    places = [0, *ends, len(rows)]
    return [function(values[i:j], rows[i:j]) for i, j in pairwise(places)]


@pytest.mark.parametrize("function", [plain, coupled])
@given(seed=seeds, ends=cuts, spread=st.sampled_from([0.1, 5.0, 60.0]))
def test_parts_add_up_to_the_whole(function, seed, ends, spread):
    rng = np.random.default_rng(seed)
    values, rows = spread * rng.normal(size=(30, 1)), rng.normal(size=(30, 4))
    found = add_up(parted(function, values, rows, ends))
    whole = function(values, rows)
    np.testing.assert_allclose(found.values, whole.values, rtol=1e-12, atol=1e-12)
    for array, expected in zip(found.arrays, whole.arrays, strict=True):
        np.testing.assert_allclose(array, expected, rtol=1e-11, atol=1e-11)
    assert found.coupled is whole.coupled


@given(seed=seeds, n=st.integers(2, 6))
def test_coupled_values_of_several_steps(seed, n):
    values = 3.0 * np.random.default_rng(seed).normal(size=(n, 4))
    found = add_up([Sums(v, (), coupled=True) for v in values])
    np.testing.assert_allclose(found.values, np.log(np.exp(values).sum(axis=0)), rtol=1e-12)


def test_coupled_values_that_are_too_large_for_an_exponential():
    parts = [Sums(np.array([v]), (np.array([a]),), coupled=True) for v, a in ((900, 2), (900, 4))]
    found = add_up(parts)
    assert found.values[0] == pytest.approx(900 + np.log(2))
    assert found.arrays[0][0] == pytest.approx(3.0)


@pytest.mark.parametrize("joined", [True, False])
def test_parts_are_not_modified(joined, rng):
    parts = [Sums(rng.normal(size=1), (rng.normal(size=(3, 2)),), joined) for _ in range(4)]
    before = [(part.values.copy(), part.arrays[0].copy()) for part in parts]
    add_up(parts)
    for part, (values, array) in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.values, values)
        np.testing.assert_array_equal(part.arrays[0], array)


def test_a_sum_of_one_part_is_that_part():
    part = Sums(np.array([2.0]), (np.ones(3),))
    assert add_up([part]) is part


def test_bytes():
    assert Sums(np.zeros(2), (np.zeros((3, 5)), np.zeros(1))).nbytes == 8 * (2 + 15 + 1)


def answer(shard, message):
    """Stand for a pass over a shard, which is a number here."""
    return Sums(np.array([shard]), (np.array([shard, message.size * shard]),))


def total(some):
    """Add numbers in the order of the tree, from its root."""
    if len(some) == 1:
        return some[0]
    step = 1
    while step * FAN_IN < len(some):
        step *= FAN_IN
    return reduce(add, [total(some[i : i + step]) for i in range(0, len(some), step)])


@given(seed=seeds, count=st.integers(1, 80))
def test_an_executor_adds_in_the_order_of_the_tree(seed, count):
    """Groups of neighbours, left to right, then groups of groups: to the bit."""
    shards = np.random.default_rng(seed).normal(size=count) * 10.0 ** (np.arange(count) % 7)
    executor, message = LocalExecutor(shards.tolist()), np.zeros(3)
    found = executor.run(answer, message)
    assert found.values[0] == total(shards)
    assert found.arrays[0][0] == total(shards)
    assert executor.n_shards == count


@pytest.mark.parametrize(
    ("count", "widths"),
    [(1, [1]), (2, [2, 1]), (8, [8, 1]), (9, [9, 2, 1]), (64, [64, 8, 1]), (65, [65, 9, 2, 1])],
)
def test_the_levels_of_the_tree(count, widths):
    assert tree_widths(count) == widths


def test_traffic_counts_requests_and_sums():
    executor, message = LocalExecutor([1.0] * 9), np.zeros(4)
    executor.run(answer, message)
    assert executor.traffic == 9 * 32 + (9 + 2 + 1) * 24


def test_every_shard_gets_its_own_request():
    executor = LocalExecutor([1.0, 2.0, 4.0])
    assert executor.run_each(lambda shard, message: shard * message, [3, 5, 7]) == [3.0, 10.0, 28.0]
    with pytest.raises(ValueError, match="shorter"):
        executor.run_each(lambda shard, message: shard, [1, 2])


def test_a_released_executor_has_no_shards():
    executor = LocalExecutor([1.0])
    executor.release()
    assert executor.n_shards == 0
