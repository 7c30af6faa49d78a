"""Groups of shards that one task processes."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed")

from directboost.dask.executor import Group, group_shards, in_shard_order, run_each_on_group

NAMES = "abcd"


@given(
    holders=st.lists(st.sampled_from(NAMES), max_size=60),
    threads=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_every_thread_gets_its_share(holders, threads):
    """A shard is in one group, on its worker; groups of a worker are even, and not too large."""
    by_name = dict(zip(NAMES, threads, strict=True))
    groups = group_shards(holders, by_name)
    assert sorted(q for group in groups for q in group.shards) == list(range(len(holders)))
    assert all(holders[q] == group.worker for group in groups for q in group.shards)
    for worker, held in Counter(holders).items():
        sizes = [len(group.shards) for group in groups if group.worker == worker]
        assert max(sizes) <= 8
        assert max(sizes) - min(sizes) <= 1
        assert len(sizes) == max(min(by_name[worker], held), -(-held // 8))


def test_a_worker_without_known_threads():
    assert group_shards(list("gag"), {"a": 2}) == [Group([0, 2], "g"), Group([1], "a")]


def test_results_are_in_the_order_of_the_shards():
    groups = [Group([0, 3]), Group([2]), Group([1])]
    assert in_shard_order(groups, [["x", "w"], ["z"], ["y"]]) == ["x", "y", "z", "w"]
    assert in_shard_order([], []) == []


def test_every_shard_gets_its_own_request():
    assert run_each_on_group([1, 2], [10, 20], lambda shard, message: shard + message) == [11, 22]
