"""The executor on a Dask cluster: tasks on shards that stay on their workers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import uuid4
from weakref import WeakSet

from dask.delayed import Delayed
from distributed import Client, Future, get_client

from .cluster import Cluster, ResultLostError, release
from .executor import (
    Executor,
    Group,
    LocalExecutor,
    Merge,
    PassFunction,
    Reader,
    group_shards,
    in_shard_order,
    run_each_on_group,
    run_on_group,
)
from .shard import FAN_IN, Sums, add_up, add_up_all

LARGE_REQUEST = 1 << 22  # bytes above which a request is sent once, not with every task
LOCAL_SUMS = 1 << 23  # bytes of all results of a pass up to which the driver adds them up
_REGROUP_AFTER = 20  # requests between two checks of the groups


def make_executor(client: Any, task_timeout: float, cluster_timeout: float) -> Executor:
    """Return the executor of a client, or of the current client; without any, a local one."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            return LocalExecutor()
    if not isinstance(client, Client) or client.asynchronous:
        kind = (
            "an asynchronous client" if isinstance(client, Client) else f"a {type(client).__name__}"
        )
        raise TypeError(
            f"client is {kind}; expected a distributed.Client with asynchronous=False, or None"
        )
    return ClusterExecutor(Cluster(client, task_timeout, cluster_timeout))


@dataclass(eq=False)
class SumFuture:
    """A pass over all shards, with what is needed to submit it again.

    Attributes
    ----------
    function : pass function
    request : object
    local : bool
        Whether the results of all shards are sent to the driver, which adds them up. In that case
        there is one task per group of shards.
    tasks : list of Future
    groups : list of Group
    sums : Sums or None
        The sum, if it is on the driver.
    counted : bool
        Whether its traffic has been counted.
    """

    function: PassFunction
    request: Any
    local: bool
    tasks: list[Future] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    sums: Sums | None = None
    counted: bool = False


@dataclass(eq=False)
class Reading:
    """A reader applied to a sum; a task unless the sum is on the driver."""

    future: SumFuture
    reader: Reader
    arguments: tuple[Any, ...]
    task: Future | None = None


class ClusterExecutor(Executor):
    """Runs passes on the workers of a cluster.

    If its results are large, a pass is one task per shard and a tree of tasks that add up the
    results. If they are small, it is one task per thread of a worker, which processes the shards
    of that worker one after the other, and the driver adds up the results in the order of the
    same tree. A task depends only on its shards and its request, so it returns the same result on
    every worker and in every attempt.

    Parameters
    ----------
    cluster : Cluster
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._parts: list[Delayed] = []
        self._name, self._submitted = f"directboost-{uuid4().hex[:12]}", 0
        self._tasks: WeakSet[Future] = WeakSet()
        self._shards: list[Future] = []
        self._groups: list[Group] = []
        self._threads: dict[str, int] = {}  # of all workers when the groups were formed
        self._grouped_at = 0  # value of `_submitted` when the groups were last checked

    def reduce(self, parts: Sequence[Delayed], merge: Merge, *arguments: Any) -> Any:
        """Compute delayed parts on the workers and merge them in a tree of tasks."""
        tasks: list[Future] = []
        try:
            for _ in self._cluster.attempts():
                level = self._cluster.compute(parts)
                tasks, name = list(level), f"directboost-merge-{uuid4().hex[:12]}"
                while len(level) > 1:
                    groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
                    level = [
                        self._cluster.submit(
                            merge, group, *arguments, key=f"{name}-{len(tasks)}-{place}"
                        )
                        for place, group in enumerate(groups)
                    ]
                    tasks += level
                with suppress(ResultLostError):
                    return self._cluster.gather(tasks[-1:], tasks)[0]
        finally:
            release(tasks)
        raise AssertionError

    def load(self, shards: Sequence[Delayed]) -> None:
        """Compute the shards and keep them on the workers."""
        self._parts, self.n_shards = list(shards), len(shards)
        self._compute_shards()

    def submit(self, function: PassFunction, request: Any, size: int = 0) -> SumFuture:
        """Start a pass over all shards; return a future of the sum of the results."""
        future = SumFuture(function, request, local=size * self.n_shards <= LOCAL_SUMS)
        self._start(future)
        return future

    def submit_reader(self, future: SumFuture, reader: Reader, *arguments: Any) -> Reading:
        """Start reader(sum, *arguments) where the sum is stored."""
        reading = Reading(future, reader, arguments)
        if not future.local:
            self._start_reading(reading)
        return reading

    def gather(self, readings: Sequence[Reading]) -> list[Any]:
        """Return the results of readings, in order; resubmit what was lost."""
        for _ in self._cluster.attempts():
            remote = [one for one in readings if not one.future.local]
            local = {id(f): f for one in readings if (f := one.future).local and f.sums is None}
            tasks = [_task_of(one) for one in remote]
            tasks += [task for future in local.values() for task in future.tasks]
            below = [task for one in remote for task in one.future.tasks]
            try:
                results = self._cluster.gather(tasks, [*tasks, *below, *self._shards])
            except ResultLostError:
                self._recover()
                self._resubmit(remote, list(local.values()))
                continue
            self._add_up(list(local.values()), iter(results[len(remote) :]))
            return self._read(readings, iter(results))
        raise AssertionError

    def run_each(
        self, function: PassFunction, requests: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Run a pass with one request per shard; return all results, in order."""
        for _ in self._cluster.attempts():
            groups = self._groups if owners is None else [Group([q]) for q in range(len(owners))]
            where = list(range(self.n_shards)) if owners is None else list(owners)
            shards = [[self._shards[where[i]] for i in group.shards] for group in groups]
            own = [[requests[i] for i in group.shards] for group in groups]
            functions = [function] * len(groups)
            tasks = self._map("each", run_each_on_group, shards, own, functions)
            with suppress(ResultLostError):
                found = self._cluster.gather(tasks, [*tasks, *self._shards])
                return in_shard_order(groups, found)
            self._recover()
        raise AssertionError

    def release(self) -> None:
        """Free the shards and all tasks on them."""
        release([*self._shards, *self._tasks])
        self._shards, self.n_shards = [], 0

    def _recover(self) -> None:
        """Recompute all shards if the scheduler has forgotten them.

        The scheduler itself recomputes shards that were lost with their workers. For a while,
        every shard is a task of its own, because a group may have taken too long.
        """
        if any(shard.cancelled() for shard in self._shards):
            self._compute_shards()
        self._split_groups()

    def _compute_shards(self) -> None:
        """Compute the shards, and group them."""
        self._shards = self._cluster.compute(self._parts)
        self._form_groups()

    def _form_groups(self) -> None:
        """Group the shards by worker; first move some to other workers to balance the load."""
        self._split_groups()
        with suppress(ResultLostError):  # a lost shard is detected by the next pass
            holders, self._threads = self._cluster.holders(self._shards)
            for q, worker in balancing_moves(holders, self._threads).items():
                self._shards[q] = self._submit("move", _unchanged, self._shards[q], worker=worker)
                holders[q] = worker
            self._groups = group_shards(holders, self._threads)
            self._grouped_at = self._submitted

    def _split_groups(self) -> None:
        """Make every shard a group of its own, until the groups are checked again."""
        self._groups, self._threads = [Group([q]) for q in range(self.n_shards)], {}
        self._grouped_at = self._submitted

    def _start(self, future: SumFuture) -> None:
        """Submit the tasks of a pass."""
        request, name = future.request, future.function.__name__
        if getattr(request, "nbytes", 0) * self.n_shards > LARGE_REQUEST:
            request = self._submit("request", _unchanged, request)
        if future.local:
            future.groups = self._groups
            shards = [[self._shards[q] for q in group.shards] for group in future.groups]
            same = [future.function] * len(shards), [request] * len(shards)
            future.tasks = self._map(name, run_on_group, shards, *same)
            return
        level = self._map(name, future.function, self._shards, [request] * self.n_shards)
        future.tasks = list(level)
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self._submit("sum", add_up, group) for group in groups]
            future.tasks += level

    def _start_reading(self, reading: Reading) -> None:
        root, name = reading.future.tasks[-1], reading.reader.__name__
        reading.task = self._submit(name, _read_sum, root, reading.reader, reading.arguments)

    def _add_up(self, local: list[SumFuture], results: Iterator[tuple[str, list[Sums]]]) -> None:
        """Add up the results of all shards, for several passes; regroup shards if necessary."""
        moved = False
        for future in local:
            found = list(islice(results, len(future.groups)))
            future.sums = add_up_all(in_shard_order(future.groups, [sums for _, sums in found]))
            self._count_once(future, future.sums.nbytes)
            future.tasks = []
            pairs = zip(future.groups, found, strict=True)
            moved |= any(worker != group.worker for group, (worker, _) in pairs)
        if self._submitted < self._grouped_at + _REGROUP_AFTER:
            return
        self._grouped_at = self._submitted
        if moved or self._cluster.threads() != self._threads:  # shards moved, or workers changed
            self._form_groups()

    def _read(self, readings: Sequence[Reading], remote: Iterator[tuple[Any, int]]) -> list[Any]:
        """Return the results of readings, from the cluster or from sums on the driver."""
        values = []
        for one in readings:
            if one.future.sums is not None:
                values.append(one.reader(one.future.sums, *one.arguments))
                continue
            value, size = next(remote)
            self._count_once(one.future, size)
            del one.future.tasks[:-1]  # the sum itself is the last task
            values.append(value)
        return values

    def _count_once(self, future: SumFuture, size: int) -> None:
        if not future.counted:
            self.count_traffic(future.request, size)
            future.counted = True

    def _resubmit(self, remote: Sequence[Reading], local: Sequence[SumFuture]) -> None:
        """Submit everything that has not finished again, each pass once."""
        lost = [one for one in remote if _task_of(one).status != "finished"]
        for future in [*{id(one.future): one.future for one in lost}.values(), *local]:
            self._start(future)
        for one in lost:
            self._start_reading(one)

    def _submit(
        self, name: str, function: Any, *arguments: Any, worker: str | None = None
    ) -> Future:
        task = self._cluster.submit(function, *arguments, key=self._key(name), worker=worker)
        self._tasks.add(task)
        return task

    def _map(self, name: str, function: Any, *arguments: Sequence[Any]) -> list[Future]:
        first = self._key(name)  # all tasks of a pass share one number
        keys = [f"{first}-{place}" for place in range(len(arguments[0]))]
        tasks = self._cluster.map(function, *arguments, keys=keys)
        self._tasks.update(tasks)
        return tasks

    def _key(self, name: str) -> str:
        self._submitted += 1
        return f"{self._name}-{name}-{self._submitted}"


def balancing_moves(holders: Sequence[str], threads: Mapping[str, int]) -> dict[int, str]:
    """Return the shards to move, with their new workers, so that the load is balanced.

    Parameters
    ----------
    holders : sequence of str
        The worker of every shard; all shards have about the same size.
    threads : mapping of str to int
        Number of threads of every worker.

    Returns
    -------
    dict of int to str
        As few moves as possible: a shard moves only if this reduces the load of the busiest worker.
    """
    shards: dict[str, list[int]] = {worker: [] for worker in threads}
    for shard, worker in enumerate(holders):
        shards.setdefault(worker, []).append(shard)
    moved: dict[int, str] = {}
    while True:
        busiest = max(threads, key=lambda w: (len(shards[w]) / threads[w], w))
        idlest = min(threads, key=lambda w: ((len(shards[w]) + 1) / threads[w], w))
        load_after = (len(shards[idlest]) + 1) / threads[idlest]
        if load_after >= len(shards[busiest]) / threads[busiest]:
            return moved
        shard = shards[busiest].pop()
        shards[idlest].append(shard)
        moved[shard] = idlest


def _task_of(reading: Reading) -> Future:
    assert reading.task is not None
    return reading.task


def _unchanged(value: Any) -> Any:
    return value


def _read_sum(sums: Sums, reader: Reader, arguments: tuple[Any, ...]) -> tuple[Any, int]:
    """Return the result of the reader, and the bytes of the sum."""
    return reader(sums, *arguments), sums.nbytes
