"""Shards are balanced over the workers, with few moves."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from directboost.dask.cluster_executor import balancing_moves

NAMES = "abcd"


def loads(holders, threads):
    """Return the shards per thread of every worker."""
    counts = Counter(holders)
    return [counts[worker] / n for worker, n in threads.items()]


@given(
    holders=st.lists(st.sampled_from(NAMES), max_size=20),
    threads=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_no_further_move_helps(holders, threads):
    """No further move reduces the load of the busiest worker."""
    by_name = dict(zip(NAMES, threads, strict=True))
    after, moved = list(holders), balancing_moves(holders, by_name)
    for shard, worker in moved.items():
        assert worker != holders[shard]
        after[shard] = worker
    counts, most = Counter(after), max(loads(after, by_name))
    assert most <= max(loads(holders, by_name))
    assert all((counts[w] + 1) / n >= most for w, n in by_name.items())


def test_balanced_shards_stay():
    assert balancing_moves(list("abab"), {"a": 1, "b": 1}) == {}
    assert balancing_moves(list("aab"), {"a": 1, "b": 1}) == {}
    assert balancing_moves(list("aabb"), {"a": 2, "b": 2}) == {}


def test_the_surplus_moves():
    assert balancing_moves(list("aaaaabbb"), {"a": 1, "b": 1}) == {4: "b"}
    assert balancing_moves(list("aaaa"), {"a": 1, "b": 1, "c": 2}) == {3: "c", 2: "b", 1: "c"}


def test_shards_of_a_lost_worker_do_not_move():
    assert balancing_moves(list("gga"), {"a": 1, "b": 1}) == {}
