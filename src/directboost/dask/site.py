"""Where the work on partitions is done: in this process, or on a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import dask
from dask.delayed import Delayed
from distributed import Client, Future, get_client

from .cluster import AnswerLost, Cluster, release
from .crew import Crew, Here
from .sums import FAN_IN
from .workers import Workers

Join = Callable[..., Any]


class Site(ABC):
    """Computes what is delayed, and keeps shards."""

    @abstractmethod
    def reduce(self, parts: Sequence[Delayed], join: Join, *arguments: Any) -> Any:
        """Compute all parts and join them, eight at once, by join(list, *arguments)."""

    @abstractmethod
    def crew(self, shards: Sequence[Delayed]) -> Crew:
        """Compute shards, and keep them where they are."""


class ThisProcess(Site):
    """Computes one part after the other, so that one is in memory at a time."""

    def reduce(self, parts: Sequence[Delayed], join: Join, *arguments: Any) -> Any:
        """Compute all parts and join them."""
        level = [_computed(part) for part in parts]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [join(group, *arguments) for group in groups]
        return level[0]

    def crew(self, shards: Sequence[Delayed]) -> Crew:
        """Compute shards one after the other."""
        return Here([_computed(shard) for shard in shards])


class OnCluster(Site):
    """Computes on the workers of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def reduce(self, parts: Sequence[Delayed], join: Join, *arguments: Any) -> Any:
        """Compute all parts and join them."""
        tasks: list[Future] = []
        try:
            for _ in self._cluster.attempts():
                tasks = self._tree(self._cluster.compute(parts), join, arguments)
                with suppress(AnswerLost):
                    return self._cluster.finish(tasks[-1:], tasks)[0]
        finally:
            release(tasks)
        raise AssertionError

    def _tree(self, level: list[Future], join: Join, arguments: tuple[Any, ...]) -> list[Future]:
        tasks, name = list(level), f"directboost-join-{uuid4().hex[:12]}"
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [
                self._cluster.submit(join, group, *arguments, key=f"{name}-{len(tasks)}-{place}")
                for place, group in enumerate(groups)
            ]
            tasks += level
        return tasks

    def crew(self, shards: Sequence[Delayed]) -> Crew:
        """Compute shards, and keep them on the workers."""
        return Workers(self._cluster, shards)


def _computed(part: Delayed) -> Any:
    return dask.compute(part, scheduler="synchronous")[0]


def site_of(client: Any, task_timeout: float, patience: float) -> Site:
    """Return the cluster of a client, or of the current one; without any, this process."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            return ThisProcess()
    if not isinstance(client, Client) or client.asynchronous:
        kind = (
            "an asynchronous client" if isinstance(client, Client) else f"a {type(client).__name__}"
        )
        raise TypeError(
            f"client is {kind}; it takes a distributed.Client that is not asynchronous, or None"
        )
    return OnCluster(Cluster(client, task_timeout, patience))
