"""Results are fetched from the workers if they can be reached, otherwise through the scheduler."""

import asyncio

import pytest
from dask.delayed import delayed
from distributed import client as distributed_client

from directboost.dask import cluster as clusters
from directboost.dask.cluster import Cluster
from tests.dask.dask_data import GAPS, WORDS, assert_same_bits, fit_dask

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]


async def fail_to_connect(client, workers):
    raise OSError(f"cannot reach {workers}")


async def wait_forever(client, workers):
    await asyncio.Event().wait()


@pytest.fixture
def direct(client, monkeypatch):
    """Return a list with True for every result that was fetched without the scheduler."""
    found, gather = [], client.gather

    def noted(futures, **how):
        found.append(how["direct"])
        return gather(futures, **how)

    monkeypatch.setattr(client, "gather", noted)
    return found


def test_results_are_fetched_from_the_workers(client, direct):
    assert_same_bits(fit_dask(GAPS, WORDS, client=client, nu=0.1), fit_dask(GAPS, WORDS, nu=0.1))
    assert direct.count(True) > direct.count(False)


def test_unreachable_workers_send_through_the_scheduler(client, direct, monkeypatch):
    monkeypatch.setattr(clusters, "_connect", fail_to_connect)
    assert_same_bits(fit_dask(GAPS, WORDS, client=client, nu=0.1), fit_dask(GAPS, WORDS, nu=0.1))
    assert direct
    assert not any(direct)


def test_a_silent_worker_is_unreachable(client, monkeypatch):
    """The connection times out, although neither a reply nor an error arrives."""
    monkeypatch.setattr(clusters, "_CONNECT_TIMEOUT", 0.5)
    monkeypatch.setattr(clusters, "_connect", wait_forever)
    assert not Cluster(client, 60.0, 30.0)._can_connect(["tcp://127.0.0.1:9"])


def test_a_failed_connection_is_not_used_again(client, direct, monkeypatch):
    cluster = Cluster(client, 60.0, 30.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)

    def broken(*arguments, **how):
        raise OSError("connection lost")

    with monkeypatch.context() as patch:
        patch.setattr(client, "gather", broken)
        with pytest.raises(clusters.ResultLostError):
            cluster.gather(futures, futures)
    assert cluster.gather(futures, futures) == [3]
    assert direct == [False]


def test_a_slow_connection_is_not_used_again(client, direct, monkeypatch):
    """Dask itself falls back to the scheduler when workers do not reply."""
    cluster = Cluster(client, 60.0, 30.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)
    monkeypatch.setattr(clusters, "_CONNECT_TIMEOUT", 0.0)
    assert [cluster.gather(futures, futures) for _ in range(2)] == [[3], [3]]
    assert direct == [True, False]


def test_a_hanging_connection_times_out(client, direct, monkeypatch):
    cluster = Cluster(client, 60.0, 1.0)
    futures = cluster.compute([delayed(sum)([1, 2])])
    cluster.holders(futures)

    async def silent(*arguments, **more):
        await asyncio.sleep(60.0)

    monkeypatch.setattr(distributed_client, "gather_from_workers", silent)
    assert cluster.gather(futures, futures) == [3]
    assert direct == [True, False]
