"""The crew on a cluster: plain tasks on shards that stay where they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import dask
from dask.delayed import Delayed
from distributed import Client, Future, get_client

from .cluster import Cluster, ResultLostError, release
from .executor import (
    Executor,
    Group,
    LocalExecutor,
    Question,
    Reader,
    ask_each,
    ask_together,
    in_order,
    together,
)
from .shard import FAN_IN, Sums, add_up, add_up_all


def moves(holders: Sequence[str], threads: Mapping[str, int]) -> dict[int, str]:
    """Return which shards should go to which worker.

    Parameters
    ----------
    holders : sequence of str
        The worker of every shard; shards are about equally large.
    threads : mapping of str to int
        The threads of every worker.

    Returns
    -------
    dict of int to str
        As few as possible: a shard goes only where that lowers the load of the busiest worker.
    """
    held: dict[str, list[int]] = {worker: [] for worker in threads}
    for shard, worker in enumerate(holders):
        held.setdefault(worker, []).append(shard)
    moved: dict[int, str] = {}
    while True:
        busiest = max(threads, key=lambda w: (len(held[w]) / threads[w], w))
        idlest = min(threads, key=lambda w: ((len(held[w]) + 1) / threads[w], w))
        if (len(held[idlest]) + 1) / threads[idlest] >= len(held[busiest]) / threads[busiest]:
            return moved
        shard = held[busiest].pop()
        held[idlest].append(shard)
        moved[shard] = idlest


LARGE = 1 << 22  # bytes from which on a message goes out once, not with the task of every shard
NEAR = 1 << 23  # bytes of all answers to a question up to which they are added up here
_SELDOM = 20  # questions from one look at how the shards lie to the next


@dataclass(eq=False)
class _Held:
    """A sum, and what it takes to ask for it again.

    Where it is `near`, the answers of all shards come here and are added up here, into `sums`; a
    task is asked for those of a group.
    """

    question: Question
    message: Any
    near: bool
    tasks: list[Future] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    sums: Sums | None = None
    counted: bool = False


@dataclass(eq=False)
class _Begun:
    """What a reader makes of a sum, on its way; of a near sum when it is there."""

    held: _Held
    reader: Reader
    arguments: tuple[Any, ...]
    task: Future | None = None


class ClusterExecutor(Executor):
    """Shards on the workers of a cluster.

    Where its answers are large, a question is one task per shard and a tree of tasks that add up.
    Where they are small, it is one task per thread of a worker, which asks the shards the worker
    has one after the other, and the answers are added up in this process, in the order of the same
    tree. A task needs nothing but its shards and its message: wherever and however often it runs,
    it gives the same.

    Parameters
    ----------
    cluster : Cluster
    parts : list of Delayed
        What makes the shards.
    """

    def __init__(self, cluster: Cluster, parts: Sequence[Delayed]) -> None:
        self._cluster, self._parts = cluster, list(parts)
        self._name, self._asked = f"directboost-{uuid4().hex[:12]}", 0
        self._given: WeakSet[Future] = WeakSet()
        self._shards: list[Future] = []
        self._groups: list[Group] = []
        self._threads: dict[str, int] = {}  # of all workers, when the groups were formed
        self._grouped = 0  # how much was asked before
        self._make_shards()

    @property
    def count(self) -> int:
        """Number of shards."""
        return len(self._shards)

    def hold(self, question: Question, message: Any, size: int = 0) -> _Held:
        """Ask all shards; return a handle of the sum of their answers."""
        held = _Held(question, message, size * self.count <= NEAR)
        self._ask(held)
        return held

    def begin(self, held: _Held, reader: Reader, *arguments: Any) -> _Begun:
        """Begin reader(sum, *arguments) where the sum is; return a handle of what it gives."""
        begun = _Begun(held, reader, arguments)
        if not held.near:
            self._read(begun)
        return begun

    def finish(self, begun: Sequence[_Begun]) -> list[Any]:
        """Return what was begun, in order; ask again for what was lost."""
        for _ in self._cluster.attempts():
            far = [one for one in begun if not one.held.near]
            near = {id(h): h for one in begun if (h := one.held).near and h.sums is None}
            tasks = [self._task(one) for one in far]
            tasks += [task for held in near.values() for task in held.tasks]
            below = [task for one in far for task in one.held.tasks]
            try:
                found = self._cluster.finish(tasks, [*tasks, *below, *self._shards])
            except ResultLostError:
                self._mend()
                self._again(far, list(near.values()))
                continue
            self._take_in(list(near.values()), iter(found[len(far) :]))
            return self._values(begun, iter(found))
        raise AssertionError

    def each(
        self, question: Question, messages: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Ask every shard something of its own; return all answers, in order."""
        for _ in self._cluster.attempts():
            groups = self._groups if owners is None else [Group([q]) for q in range(len(owners))]
            asked = list(range(self.count)) if owners is None else list(owners)
            shards = [[self._shards[asked[i]] for i in group.shards] for group in groups]
            own = [[messages[i] for i in group.shards] for group in groups]
            tasks = self._map("each", ask_each, shards, own, [question] * len(groups))
            with suppress(ResultLostError):
                found = self._cluster.finish(tasks, [*tasks, *self._shards])
                return in_order(groups, found)
            self._mend()
        raise AssertionError

    def release(self) -> None:
        """Let go of the shards and of all that was asked of them."""
        release([*self._shards, *self._given])
        self._shards = []

    def _mend(self) -> None:
        """Make all shards anew where the scheduler has forgotten them.

        Those that went away with their workers it makes anew by itself. For a while every shard is
        asked alone: a group may have taken too long.
        """
        if any(shard.cancelled() for shard in self._shards):
            self._make_shards()
        self._part_groups()

    def _make_shards(self) -> None:
        """Make the shards, and group them."""
        self._shards = self._cluster.compute(self._parts)
        self._form_groups()

    def _form_groups(self) -> None:
        """Group the shards; bring some to other workers where that evens out the work."""
        self._part_groups()
        with suppress(ResultLostError):  # who has lost something sees it at the next question
            holders, self._threads = self._cluster.holders(self._shards)
            for q, worker in moves(holders, self._threads).items():
                self._shards[q] = self._submit("move", _same, self._shards[q], worker=worker)
                holders[q] = worker
            self._groups, self._grouped = together(holders, self._threads), self._asked

    def _part_groups(self) -> None:
        """Let every shard be a group of its own, until the groups are looked at again."""
        self._groups, self._threads = [Group([q]) for q in range(self.count)], {}
        self._grouped = self._asked

    def _look_at_groups(self, strayed: bool) -> None:
        """Form groups anew where shards lie elsewhere, or workers have gone or come."""
        if self._asked < self._grouped + _SELDOM:
            return
        self._grouped = self._asked
        if strayed or self._cluster.threads() != self._threads:
            self._form_groups()

    def _ask(self, held: _Held) -> None:
        message: Any = held.message
        if getattr(message, "nbytes", 0) * self.count > LARGE:
            message = self._submit("message", _same, message)
        if held.near:
            self._ask_groups(held, message)
        else:
            self._ask_shards(held, message)

    def _ask_groups(self, held: _Held, message: Any) -> None:
        held.groups = self._groups
        shards = [[self._shards[q] for q in group.shards] for group in held.groups]
        same = [held.question] * len(shards), [message] * len(shards)
        held.tasks = self._map(held.question.__name__, ask_together, shards, *same)

    def _ask_shards(self, held: _Held, message: Any) -> None:
        name, messages = held.question.__name__, [message] * self.count
        level = self._map(name, held.question, self._shards, messages)
        held.tasks = list(level)
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self._submit("sum", add_up, group) for group in groups]
            held.tasks += level

    def _take_in(self, near: list[_Held], answers: Iterator[tuple[str, list[Sums]]]) -> None:
        """Add up the answers of all shards for each of some sums."""
        strayed = False
        for held in near:
            found = list(islice(answers, len(held.groups)))
            held.sums = add_up_all(in_order(held.groups, [sums for _, sums in found]))
            self._count(held, held.sums.nbytes)
            held.tasks = []
            pairs = zip(held.groups, found, strict=True)
            strayed |= any(worker != group.worker for group, (worker, _) in pairs)
        self._look_at_groups(strayed)

    def _values(self, begun: Sequence[_Begun], far: Iterator[tuple[Any, int]]) -> list[Any]:
        """Return what was begun: from the cluster, or read here."""
        values = []
        for one in begun:
            if one.held.sums is not None:
                values.append(one.reader(one.held.sums, *one.arguments))
                continue
            value, size = next(far)
            self._count(one.held, size)
            del one.held.tasks[:-1]  # the sum itself is the last
            values.append(value)
        return values

    def _read(self, begun: _Begun) -> None:
        root = begun.held.tasks[-1]
        name = begun.reader.__name__
        begun.task = self._submit(name, _read_sum, root, begun.reader, begun.arguments)

    def _count(self, held: _Held, size: int) -> None:
        """Count what a sum took, once."""
        if not held.counted:
            self.count_traffic(held.message, size)
            held.counted = True

    def _task(self, begun: _Begun) -> Future:
        assert begun.task is not None
        return begun.task

    def _again(self, far: Sequence[_Begun], near: Sequence[_Held]) -> None:
        """Ask anew for everything that is not there, each sum once."""
        lost = [one for one in far if self._task(one).status != "finished"]
        for held in [*{id(one.held): one.held for one in lost}.values(), *near]:
            self._ask(held)
        for one in lost:
            self._read(one)

    def _submit(
        self, name: str, function: Any, *arguments: Any, worker: str | None = None
    ) -> Future:
        task = self._cluster.submit(function, *arguments, key=self._key(name), worker=worker)
        self._given.add(task)
        return task

    def _map(self, name: str, function: Any, *arguments: Sequence[Any]) -> list[Future]:
        first = self._key(name)  # one number for all tasks of a question
        keys = [f"{first}-{place}" for place in range(len(arguments[0]))]
        tasks = self._cluster.map(function, *arguments, keys=keys)
        self._given.update(tasks)
        return tasks

    def _key(self, name: str) -> str:
        self._asked += 1
        return f"{self._name}-{name}-{self._asked}"


def _same(what: Any) -> Any:
    return what


def _read_sum(sums: Sums, reader: Reader, arguments: tuple[Any, ...]) -> tuple[Any, int]:
    """Return what the reader gives, and the bytes of the sum."""
    return reader(sums, *arguments), sums.nbytes


Join = Callable[..., Any]


class Site(ABC):
    """Computes what is delayed, and keeps shards."""

    @abstractmethod
    def reduce(self, parts: Sequence[Delayed], join: Join, *arguments: Any) -> Any:
        """Compute all parts and join them, eight at once, by join(list, *arguments)."""

    @abstractmethod
    def crew(self, shards: Sequence[Delayed]) -> Executor:
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

    def crew(self, shards: Sequence[Delayed]) -> Executor:
        """Compute shards one after the other."""
        return LocalExecutor([_computed(shard) for shard in shards])


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
                with suppress(ResultLostError):
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

    def crew(self, shards: Sequence[Delayed]) -> Executor:
        """Compute shards, and keep them on the workers."""
        return ClusterExecutor(self._cluster, shards)


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
