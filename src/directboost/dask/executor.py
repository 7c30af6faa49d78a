"""Executors run passes on all shards and add up the results: in this process, or on a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask
from dask.delayed import Delayed
from distributed import get_worker

from .shard import FAN_IN, Shard, Sums, add_up_all, release_scratch

#: A pass over the rows of a shard; called with the shard and a request.
PassFunction = Callable[[Shard, Any], Any]
#: Reads a sum where it is stored; called with the `Sums` and further arguments.
Reader = Callable[..., Any]
#: Merges partial results; called with a list of them and further arguments.
Merge = Callable[..., Any]

_GROUP_SHARDS = 8  # most shards of one task, so that tasks finish from time to time


class Executor(ABC):
    """Holds the shards of a fit, in a fixed order, and runs passes on them.

    The order of summation depends only on the number of shards. Results therefore do not depend
    on the workers, to the bit.
    """

    #: Number of shards.
    n_shards: int = 0
    #: Bytes transferred since the start, counted as if no result stayed on its worker.
    traffic: int = 0

    @abstractmethod
    def reduce(self, parts: Sequence[Delayed], merge: Merge, *arguments: Any) -> Any:
        """Compute delayed parts and merge them, eight at a time, by merge(list, *arguments)."""

    @abstractmethod
    def load(self, shards: Sequence[Delayed]) -> None:
        """Compute the shards and keep them."""

    @abstractmethod
    def submit(self, function: PassFunction, request: Any, size: int = 0) -> Any:
        """Start a pass over all shards; return a future of the sum of the results.

        `size` is the approximate number of bytes of a result.
        """

    @abstractmethod
    def submit_reader(self, future: Any, reader: Reader, *arguments: Any) -> Any:
        """Start reader(sum, *arguments) where the sum is stored; return a future of the result."""

    @abstractmethod
    def gather(self, readings: Sequence[Any]) -> list[Any]:
        """Return the results of `submit_reader`, in order."""

    @abstractmethod
    def run_each(
        self, function: PassFunction, requests: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Run a pass with one request per shard; return all results, in order.

        With several requests per shard, `owners` gives the shard of every request.
        """

    def release(self) -> None:  # noqa: B027
        """Free the shards."""

    def read(self, future: Any, reader: Reader, *arguments: Any) -> Any:
        """Return reader(sum, *arguments)."""
        return self.gather([self.submit_reader(future, reader, *arguments)])[0]

    def run(self, function: PassFunction, request: Any, size: int = 0) -> Sums:
        """Run a pass over all shards; return the sum of the results."""
        sums: Sums = self.read(self.submit(function, request, size), _identity)
        return sums

    def count_traffic(self, request: Any, sum_bytes: int) -> None:
        """Count a request to all shards, and the sums in the tree above them."""
        size = int(getattr(request, "nbytes", 0))
        self.traffic += size * self.n_shards + sum_bytes * sum(tree_widths(self.n_shards))


def tree_widths(n_shards: int) -> list[int]:
    """Return the number of sums on every level of the tree over the shards, down to the root."""
    widths = [n_shards]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // FAN_IN))
    return widths


def _identity(sums: Sums) -> Sums:
    return sums


class LocalExecutor(Executor):
    """Runs passes in this process, one shard after the other.

    Parameters
    ----------
    shards : sequence of Shard, optional
    """

    def __init__(self, shards: Sequence[Shard] = ()) -> None:
        self._shards = list(shards)
        self.n_shards = len(self._shards)

    def reduce(self, parts: Sequence[Delayed], merge: Merge, *arguments: Any) -> Any:
        """Compute delayed parts, one at a time to save memory, and merge them."""
        level = [dask.compute(part, scheduler="synchronous")[0] for part in parts]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [merge(group, *arguments) for group in groups]
        return level[0]

    def load(self, shards: Sequence[Delayed]) -> None:
        """Compute the shards, one at a time, and keep them."""
        self._shards = [dask.compute(shard, scheduler="synchronous")[0] for shard in shards]
        self.n_shards = len(self._shards)

    def submit(self, function: PassFunction, request: Any, size: int = 0) -> Sums:
        """Run a pass over all shards; return the sum of the results."""
        parts = []
        for shard in self._shards:
            parts.append(function(shard, request))
        sums = add_up_all(parts)
        self.count_traffic(request, sums.nbytes)
        return sums

    def submit_reader(self, future: Sums, reader: Reader, *arguments: Any) -> Any:
        """Return reader(sum, *arguments)."""
        return reader(future, *arguments)

    def gather(self, readings: Sequence[Any]) -> list[Any]:
        """Return the readings."""
        return list(readings)

    def run_each(
        self, function: PassFunction, requests: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Run a pass with one request per shard; return all results, in order."""
        pairs = zip(range(self.n_shards) if owners is None else owners, requests, strict=True)
        return [function(self._shards[q], request) for q, request in pairs]

    def release(self) -> None:
        """Free the shards and the scratch buffers of their passes."""
        self._shards, self.n_shards = [], 0
        release_scratch()


@dataclass(frozen=True)
class Group:
    """Shards that one task processes.

    Attributes
    ----------
    shards : list of int
    worker : str or None
        The worker that held all of them; None if unknown.
    """

    shards: list[int]
    worker: str | None = None


def group_shards(holders: Sequence[str], threads: Mapping[str, int]) -> list[Group]:
    """Group the shards of every worker into one group per thread, of about equal size.

    Parameters
    ----------
    holders : sequence of str
        The worker of every shard.
    threads : mapping of str to int
        Number of threads of every worker.

    Returns
    -------
    list of Group
        A worker gets more groups than threads if one would have more than eight shards.
    """
    groups = []
    for worker in dict.fromkeys(holders):
        own = [shard for shard, holder in enumerate(holders) if holder == worker]
        tasks = max(min(threads.get(worker, 1), len(own)), -(-len(own) // _GROUP_SHARDS))
        groups += [Group(own[place::tasks], worker) for place in range(tasks)]
    return groups


def run_on_group(
    shards: list[Shard], function: PassFunction, request: Any
) -> tuple[str, list[Sums]]:
    """Run a pass on shards, one after the other; return the address of the worker and the sums."""
    here = get_worker().contact_address  # the address by which the scheduler knows the worker
    return str(here), [function(shard, request) for shard in shards]


def run_each_on_group(
    shards: list[Shard], requests: list[Any], function: PassFunction
) -> list[Any]:
    """Run a pass on shards, one after the other, with one request each; return the results."""
    return [function(shard, request) for shard, request in zip(shards, requests, strict=True)]


def in_shard_order(groups: Sequence[Group], results: Sequence[list[Any]]) -> list[Any]:
    """Return the results of all shards in the order of the shards, from those of groups."""
    pairs = zip(groups, results, strict=True)
    found = {q: one for group, some in pairs for q, one in zip(group.shards, some, strict=True)}
    return [found[q] for q in sorted(found)]
