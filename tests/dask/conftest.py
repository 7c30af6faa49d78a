"""A small real cluster, started on first use; shards of a few rows."""

from collections.abc import Iterator

import dask
import pytest
from distributed import Client, LocalCluster

from directboost.dask import loading

#: Workers do not look a hundred times a second what they are doing: that costs them a core.
dask.config.set({"distributed.worker.profile.enabled": False})


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    """Start two workers, each a process of its own; they end with the tests of this folder."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found


@pytest.fixture(scope="package")
def client(cluster: LocalCluster) -> Iterator[Client]:
    """Return a client that is not the default one: other tests run in this process."""
    with Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a shard of every partition, as if it had many rows."""
    monkeypatch.setattr(loading, "_SHARD_ROWS", 1)
