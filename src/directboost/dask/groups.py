"""Shards that one task asks: where answers are small, the task itself is what costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import get_worker

from .crew import Question
from .shards import Shard
from .sums import Sums

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
