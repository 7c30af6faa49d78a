"""A crew asks the shards and adds up their answers: in this process, or on a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import get_worker

from .shard import FAN_IN, Shard, Sums, add_up_all, give_back

Question = Callable[[Shard, Any], Any]
Reader = Callable[..., Any]


class Executor(ABC):
    """Holds the shards of a fit, in a fixed order.

    Sums are taken in an order that the number of the shards alone decides, whoever takes them: so
    the result does not depend on the workers, to the bit.
    """

    #: Bytes that have left a task since the start, as if none stayed where it was.
    traffic: int = 0

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of shards."""

    @abstractmethod
    def hold(self, question: Question, message: Any, size: int = 0) -> Any:
        """Ask all shards; return a handle of the sum of their answers, which may come later.

        `size` is about how many bytes an answer has.
        """

    @abstractmethod
    def begin(self, held: Any, reader: Reader, *arguments: Any) -> Any:
        """Begin reader(sum, *arguments) where the sum is; return a handle of what it gives."""

    @abstractmethod
    def finish(self, begun: Sequence[Any]) -> list[Any]:
        """Return what was begun, in order."""

    @abstractmethod
    def each(
        self, question: Question, messages: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Ask every shard something of its own; return all answers, in order.

        Where a shard is asked several things, `owners` tells the shard of every message.
        """

    def release(self) -> None:  # noqa: B027
        """Let go of the shards: nothing more will be asked."""

    def read(self, held: Any, reader: Reader, *arguments: Any) -> Any:
        """Return reader(sum, *arguments)."""
        return self.finish([self.begin(held, reader, *arguments)])[0]

    def ask(self, question: Question, message: Any, size: int = 0) -> Sums:
        """Ask all shards; return the sum of their answers, of about so many bytes."""
        found: Sums = self.read(self.hold(question, message, size), whole)
        return found

    def count_traffic(self, message: Any, sums: int) -> None:
        """Count a message to all shards, and sums of so many bytes of the tree above them."""
        size = int(getattr(message, "nbytes", 0))
        self.traffic += size * self.count + sums * sum(tree_widths(self.count))


def tree_widths(count: int) -> list[int]:
    """Return how many sums every level of the tree over so many shards takes, the root as one."""
    widths = [count]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // FAN_IN))
    return widths


def whole(sums: Sums) -> Sums:
    """Return the sum as it is."""
    return sums


class LocalExecutor(Executor):
    """Shards in this process, one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = list(shards)

    @property
    def count(self) -> int:
        """Number of shards."""
        return len(self._shards)

    def hold(self, question: Question, message: Any, size: int = 0) -> Sums:
        """Ask all shards; return the sum of their answers."""
        found = add_up_all([question(shard, message) for shard in self._shards])
        self.count_traffic(message, found.nbytes)
        return found

    def begin(self, held: Sums, reader: Reader, *arguments: Any) -> Any:
        """Return reader(sum, *arguments)."""
        return reader(held, *arguments)

    def finish(self, begun: Sequence[Any]) -> list[Any]:
        """Return what was begun."""
        return list(begun)

    def each(
        self, question: Question, messages: Sequence[Any], owners: Sequence[int] | None = None
    ) -> list[Any]:
        """Ask every shard something of its own; return all answers, in order."""
        pairs = zip(range(self.count) if owners is None else owners, messages, strict=True)
        return [question(self._shards[q], message) for q, message in pairs]

    def release(self) -> None:
        """Let go of the shards, and of the room of their questions."""
        self._shards = []
        give_back()


_MOST = 8  # shards that one task asks: so that tasks end from time to time


@dataclass(frozen=True)
class Group:
    """Shards that one task asks, and the worker that had them all; None where nobody knows."""

    shards: list[int]
    worker: str | None = None


def together(holders: Sequence[str], threads: Mapping[str, int]) -> list[Group]:
    """Return groups of shards: of every worker about equal ones, as many as it has threads.

    Parameters
    ----------
    holders : sequence of str
        The worker of every shard.
    threads : mapping of str to int
        The threads of every worker.

    Returns
    -------
    list of Group
        More of them where one would have more than eight shards.
    """
    groups = []
    for worker in dict.fromkeys(holders):
        held = [shard for shard, holder in enumerate(holders) if holder == worker]
        tasks = max(min(threads.get(worker, 1), len(held)), -(-len(held) // _MOST))
        groups += [Group(held[place::tasks], worker) for place in range(tasks)]
    return groups


def ask_together(shards: list[Shard], question: Question, message: Any) -> tuple[str, list[Sums]]:
    """Ask shards the same, one after the other; return where they are, and their answers."""
    here = get_worker().contact_address  # by which the scheduler knows the worker
    return str(here), [question(shard, message) for shard in shards]


def ask_each(shards: list[Shard], messages: list[Any], question: Question) -> list[Any]:
    """Ask shards something of their own, one after the other; return their answers."""
    return [question(shard, message) for shard, message in zip(shards, messages, strict=True)]


def in_order(groups: Sequence[Group], answers: Sequence[list[Any]]) -> list[Any]:
    """Return the answers of all shards in their order, from those of groups."""
    pairs = zip(groups, answers, strict=True)
    found = {q: one for group, some in pairs for q, one in zip(group.shards, some, strict=True)}
    return [found[q] for q in sorted(found)]
