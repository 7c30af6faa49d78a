"""Answers come from the workers themselves where they can be reached, else by the scheduler."""

import asyncio

import pytest
from dask.delayed import delayed
from distributed import client as distributed_client

from directboost.dask import cluster as clusters
from directboost.dask.cluster import Cluster
from tests.dask.dask_data import GAPS, WORDS, assert_same_bits, fit_far

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]


async def refuse(client, workers):
    raise OSError(f"no way to {workers}")


async def wait_for_ever(client, workers):
    await asyncio.Event().wait()


@pytest.fixture
def ways(client, monkeypatch):
    """Return a list that gets True for every answer that came without the scheduler."""
    found, gather = [], client.gather

    def noted(futures, **how):
        found.append(how["direct"])
        return gather(futures, **how)

    monkeypatch.setattr(client, "gather", noted)
    return found


def test_answers_come_from_workers(client, ways):
    assert_same_bits(fit_far(GAPS, WORDS, client=client), fit_far(GAPS, WORDS))
    assert ways.count(True) > ways.count(False)


def test_workers_out_of_reach_answer_by_the_scheduler(client, ways, monkeypatch):
    monkeypatch.setattr(clusters, "_greet", refuse)
    assert_same_bits(fit_far(GAPS, WORDS, client=client), fit_far(GAPS, WORDS))
    assert ways
    assert not any(ways)


def test_a_worker_that_keeps_silent_is_out_of_reach(client, monkeypatch):
    """The greeting ends after its time, though neither an answer nor an error ever comes."""
    monkeypatch.setattr(clusters, "_GREETING", 0.5)
    monkeypatch.setattr(clusters, "_greet", wait_for_ever)
    assert not Cluster(client, 60.0, 30.0)._reaches(["tcp://127.0.0.1:9"])


def test_a_way_that_failed_is_not_taken_again(client, ways, monkeypatch):
    cluster = Cluster(client, 60.0, 30.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)

    def broken(*arguments, **how):
        raise OSError("lost on the way")

    with monkeypatch.context() as patch:
        patch.setattr(client, "gather", broken)
        with pytest.raises(clusters.ResultLostError):
            cluster.finish(futures, futures)
    assert cluster.finish(futures, futures) == [3]
    assert ways == [False]


def test_a_way_that_has_become_slow_is_not_taken_again(client, ways, monkeypatch):
    """Workers that do not answer this process are asked by the scheduler in the end."""
    cluster = Cluster(client, 60.0, 30.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)
    monkeypatch.setattr(clusters, "_GREETING", 0.0)
    assert [cluster.finish(futures, futures) for _ in range(2)] == [[3], [3]]
    assert ways == [True, False]


def test_a_way_without_an_end_is_left_for_the_other(client, ways, monkeypatch):
    cluster = Cluster(client, 60.0, 1.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)

    async def silent(*arguments, **more):
        await asyncio.sleep(60.0)

    monkeypatch.setattr(distributed_client, "gather_from_workers", silent)
    assert cluster.finish(futures, futures) == [3]
    assert ways == [True, False]
