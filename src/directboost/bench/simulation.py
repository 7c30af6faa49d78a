"""A cluster that answers questions, event by event.

Where its answers are large, a question is one task per shard; sums of eight at a time are taken
above them, and one task reads the last sum. Else it is one task per thread of a worker for all
shards there, and the driver adds up. The scheduler hands out one task after the other; a task waits
for its inputs, for those that lie on other workers longer, and then for a thread.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from ..dask.cluster_executor import LARGE, NEAR
from ..dask.executor import together, tree_widths
from ..dask.shard import FAN_IN

HOPS = 4  # from the driver to the scheduler and back, and the same for the answer


@dataclass(frozen=True)
class Machines:
    """Workers and what lies between them.

    Attributes
    ----------
    workers : int
    threads : int
        Of every worker.
    overhead : float
        Seconds the scheduler needs for a task, one after the other.
    latency : float
        Seconds from one process to another.
    bandwidth : float
        Bytes per second into a process.
    """

    workers: int
    threads: int
    overhead: float
    latency: float
    bandwidth: float

    def groups(self, shards: int) -> list[list[int]]:
        """Return the shards that one task asks; they go round the workers, so that sums travel."""
        names = [str(worker) for worker in range(self.workers)]
        holders = [names[shard % self.workers] for shard in range(shards)]
        return [group.shards for group in together(holders, dict.fromkeys(names, self.threads))]


@dataclass(frozen=True)
class Question:
    """What one question takes.

    Attributes
    ----------
    shards : int
    seconds : float
        Of the task on one shard.
    message, sums, answer : float
        Bytes that go to every worker, between two tasks, and to the driver.
    adding : float
        Seconds to add one sum to another.
    reading : float
        Seconds to read the last sum.
    always_far : bool
        Whether workers add up however small the answers are.
    """

    shards: int
    seconds: float
    message: float = 0.0
    sums: float = 0.0
    answer: float = 0.0
    adding: float = 0.0
    reading: float = 0.0
    always_far: bool = False

    @property
    def near(self) -> bool:
        """Whether the answers of all shards come to the driver."""
        return not self.always_far and self.shards > 0 and self.shards * self.sums <= NEAR

    @property
    def large(self) -> bool:
        """Whether the message is a task of its own."""
        return self.message * self.shards > LARGE

    def tasks(self, machines: Machines) -> int:
        """Return the number of tasks."""
        if self.near:
            return len(machines.groups(self.shards)) + self.large
        return sum(tree_widths(self.shards)) + 1 + self.large

    @property
    def moved(self) -> float:
        """Bytes that leave a task, as if none stayed where it is, as `bytes_moved` counts them."""
        return self.message * self.shards + self.sums * sum(tree_widths(self.shards)) + self.answer


@dataclass
class _Task:
    """A task: its inputs, those that wait for it, and where it runs."""

    seconds: float
    size: float
    inputs: list["_Task"]
    worker: int | None = None
    wait: float = 0.0
    missing: int = 0
    users: list["_Task"] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Tell the inputs, and run where the first of most of them is."""
        self.missing = len(self.inputs)
        for task in self.inputs:
            task.users.append(self)
        if self.worker is None:
            owners = [task.place for task in self.inputs] or [0]
            self.worker = max(owners, key=owners.count)

    @property
    def place(self) -> int:
        """The worker it runs on."""
        assert self.worker is not None
        return self.worker

    def fetching(self, machines: Machines) -> float:
        """Return the seconds until all inputs are on the worker."""
        far = [task.size for task in self.inputs if task.worker != self.worker]
        return self.wait + (machines.latency + sum(far) / machines.bandwidth if far else 0.0)


def simulate(question: Question, machines: Machines) -> float:
    """Return the seconds from asking until the driver has the answer."""
    tasks = _tasks(question, machines)
    arriving = sum(task.size for task in tasks if not task.users) / machines.bandwidth
    adding = (question.shards - 1) * question.adding + question.reading if question.near else 0.0
    return _last(tasks, machines) + HOPS * machines.latency + arriving + adding


def _last(tasks: Sequence[_Task], machines: Machines) -> float:
    """Return when the last task is done and the scheduler knows of it."""
    events: list[tuple[float, int, str, _Task]] = []
    order = count()

    def tell(when: float, what: str, task: _Task) -> None:
        heapq.heappush(events, (when, next(order), what, task))

    for task in tasks:
        if not task.inputs:
            tell(0.0, "ready", task)
    scheduler, end = 0.0, 0.0
    threads = [[0.0] * machines.threads for _ in range(machines.workers)]
    while events:
        now, _, what, task = heapq.heappop(events)
        if what == "ready":
            scheduler = max(now, scheduler) + machines.overhead
            tell(scheduler + machines.latency + task.fetching(machines), "start", task)
        elif what == "start":
            done = max(now, heapq.heappop(threads[task.place])) + task.seconds
            heapq.heappush(threads[task.place], done)
            tell(done + machines.latency, "done", task)
        else:
            end = max(end, now)
            for user in task.users:
                user.missing -= 1
                if not user.missing:
                    tell(now, "ready", user)
    return end


def _tasks(question: Question, machines: Machines) -> list[_Task]:
    """Return the tasks of a question."""
    first = [_Task(0.0, 0.0, [], 0)] if question.large else []
    alone = [[shard] for shard in range(question.shards)]
    level = []
    for group in machines.groups(question.shards) if question.near else alone:
        worker, n = group[0] % machines.workers, len(group)
        wait = (worker + 1) * question.message / machines.bandwidth  # they get it in turn
        level.append(_Task(n * question.seconds, n * question.sums, first, worker, wait))
    tasks = [*first, *level]
    if question.near:
        return tasks
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [
            _Task((len(group) - 1) * question.adding, question.sums, group) for group in groups
        ]
        tasks += level
    return [*tasks, _Task(question.reading, question.answer, level)]
