"""Cost model of a fit on Dask, and a discrete-event simulation of its passes on a cluster.

A pass whose results are large has one task per shard, a tree of sums with a fan-in of eight, and
a task that reads the last sum. Otherwise a pass has one task per worker thread for all its shards,
and the driver adds the results. The scheduler assigns one task at a time. A task waits for its
inputs, longer if they are on other workers, and then for a thread.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from ...dask.cluster_executor import LARGE_REQUEST, LOCAL_SUMS
from ...dask.executor import group_shards, tree_widths
from ...dask.shard import FAN_IN

HOPS = 4  # messages: driver to scheduler and back, for the request and for the result

_NUMBER = 8  # bytes: sums are in double precision
_SCORE = 4  # bytes: scores are in single precision
_ROW = 20  # bytes of the weight, the class and the margin of a row


@dataclass(frozen=True)
class Machines:
    """The workers and their network.

    Attributes
    ----------
    workers : int
    threads : int
        Threads of every worker.
    overhead : float
        Seconds of the scheduler per task; tasks are scheduled one at a time.
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
        """Return the shards of every task; shards are assigned to the workers in turn."""
        names = [str(worker) for worker in range(self.workers)]
        holders = [names[shard % self.workers] for shard in range(shards)]
        return [group.shards for group in group_shards(holders, dict.fromkeys(names, self.threads))]


@dataclass(frozen=True)
class Question:
    """Cost of one pass over the data.

    Attributes
    ----------
    shards : int
    seconds : float
        Seconds of the task on one shard.
    message, sums, answer : float
        Bytes sent to every worker, between two tasks, and to the driver.
    adding : float
        Seconds to add one sum to another.
    reading : float
        Seconds to read the last sum.
    always_far : bool
        Whether workers add the results even if they are small.
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
        """Whether the results of all shards are sent to the driver."""
        return not self.always_far and self.shards > 0 and self.shards * self.sums <= LOCAL_SUMS

    @property
    def large(self) -> bool:
        """Whether the message is a separate task."""
        return self.message * self.shards > LARGE_REQUEST

    def tasks(self, machines: Machines) -> int:
        """Return the number of tasks."""
        if self.near:
            return len(machines.groups(self.shards)) + self.large
        return sum(tree_widths(self.shards)) + 1 + self.large

    @property
    def moved(self) -> float:
        """Bytes that leave a task, counting local transfers too, as `bytes_moved` does."""
        return self.message * self.shards + self.sums * sum(tree_widths(self.shards)) + self.answer


@dataclass
class _Task:
    """A task: its inputs, the tasks that depend on it, and its worker."""

    seconds: float
    size: float
    inputs: list["_Task"]
    worker: int | None = None
    wait: float = 0.0
    missing: int = 0
    users: list["_Task"] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Register with the inputs; by default, run on the worker that has most of them."""
        self.missing = len(self.inputs)
        for task in self.inputs:
            task.users.append(self)
        if self.worker is None:
            owners = [task.place for task in self.inputs] or [0]
            self.worker = max(owners, key=owners.count)

    @property
    def place(self) -> int:
        """The worker that runs the task."""
        assert self.worker is not None
        return self.worker

    def fetching(self, machines: Machines) -> float:
        """Return the seconds until all inputs are on the worker."""
        far = [task.size for task in self.inputs if task.worker != self.worker]
        return self.wait + (machines.latency + sum(far) / machines.bandwidth if far else 0.0)


def simulate(question: Question, machines: Machines) -> float:
    """Return the seconds from the request until the driver has the result."""
    tasks = _tasks(question, machines)
    arriving = sum(task.size for task in tasks if not task.users) / machines.bandwidth
    adding = (question.shards - 1) * question.adding + question.reading if question.near else 0.0
    return _last(tasks, machines) + HOPS * machines.latency + arriving + adding


def _last(tasks: Sequence[_Task], machines: Machines) -> float:
    """Return the time when the scheduler knows that the last task is done."""
    events: list[tuple[float, int, str, _Task]] = []
    order = count()

    def schedule(when: float, what: str, task: _Task) -> None:
        heapq.heappush(events, (when, next(order), what, task))

    for task in tasks:
        if not task.inputs:
            schedule(0.0, "ready", task)
    scheduler, end = 0.0, 0.0
    threads = [[0.0] * machines.threads for _ in range(machines.workers)]
    while events:
        now, _, what, task = heapq.heappop(events)
        if what == "ready":
            scheduler = max(now, scheduler) + machines.overhead
            schedule(scheduler + machines.latency + task.fetching(machines), "start", task)
        elif what == "start":
            done = max(now, heapq.heappop(threads[task.place])) + task.seconds
            heapq.heappush(threads[task.place], done)
            schedule(done + machines.latency, "done", task)
        else:
            end = max(end, now)
            for user in task.users:
                user.missing -= 1
                if not user.missing:
                    schedule(now, "ready", user)
    return end


def _tasks(question: Question, machines: Machines) -> list[_Task]:
    """Return the tasks of a pass."""
    first = [_Task(0.0, 0.0, [], 0)] if question.large else []
    alone = [[shard] for shard in range(question.shards)]
    level = []
    for group in machines.groups(question.shards) if question.near else alone:
        worker, n = group[0] % machines.workers, len(group)
        wait = (worker + 1) * question.message / machines.bandwidth  # sent to one worker at a time
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


@dataclass(frozen=True)
class Line:
    """Seconds as a linear function of the number of classes: alpha + beta k."""

    alpha: float
    beta: float

    def at(self, k: int) -> float:
        """Return the seconds for k classes."""
        return self.alpha + self.beta * k


@dataclass(frozen=True)
class Rates:
    """Cost of the components on one core, in seconds.

    Attributes
    ----------
    loss : mapping of str to Line
        Evaluation of the loss of one row, for every kind of pass.
    scores, sums : Line
        Scores of one row from one feature; adding one row to the sums of one feature.
    reading : float
        Learning the bins of one value of the data, and coding it.
    adding : float
        Adding one byte of a sum to another.
    pricing : float
        Pricing one (bin, class) of a feature.
    """

    loss: Mapping[str, Line]
    scores: Line
    sums: Line
    reading: float
    adding: float
    pricing: float


@dataclass(frozen=True)
class Work:
    """The size of a fit.

    Attributes
    ----------
    m, d, k, bins : int
        Rows, features, classes, bins per feature.
    features, jumps : int
        Features with non-zero weight, and non-zero jumps, of an iterate.
    shards : int
    """

    m: int
    d: int
    k: int
    bins: int
    features: int
    jumps: int
    shards: int

    def question(self, name: str, rates: Rates) -> Question:
        """Return the cost of a pass: "stride", "dual", "look", "search" or "value".

        "pick" reads an existing sum again.
        """
        if name == "pick":
            return Question(0, 0.0, answer=self._sums("dual"))
        k, w = self.k, self.features
        scores, sums = w * rates.scores.at(k), rates.sums.at(k)
        whole = scores + self.d * sums
        parts = {"look": whole, "stride": whole, "dual": w * sums, "search": scores}
        seconds = self.m / self.shards * (rates.loss[name].at(k) + parts.get(name, 0.0))
        size, priced = self._sums(name), name in ("look", "stride")
        reading = self.d * self.bins * k * rates.pricing if priced else 0.0
        answer = self._sums("dual") if priced else size
        message = self._message() * (2.0 if name in ("search", "stride") else 1.0)
        return Question(
            self.shards, seconds, message, size, answer, size * rates.adding, reading
        )  # fmt: skip

    def _message(self) -> float:
        """Return the bytes of an iterate: its jumps, their places, and its features."""
        return float(self.jumps * (self.k + 1) * _NUMBER + self.features * 12)

    def _sums(self, name: str) -> float:
        features = {"look": self.d, "stride": self.d, "dual": self.features}.get(name, 0)
        return float(_NUMBER * (1 + features * self.bins * self.k))

    def loading(self, rates: Rates) -> Question:
        """Return the cost of reading and coding the rows."""
        sketch = float(8 * self.bins * self.d * 2 * _NUMBER)  # groups of values, several per bin
        seconds = self.m / self.shards * self.d * rates.reading
        adding = sketch * rates.adding
        return Question(self.shards, seconds, 0.0, sketch, sketch, adding, always_far=True)

    def memory(self, workers: int, threads: int) -> float:
        """Return the bytes of a worker: codes and scores of its rows, and buffers for passes.

        Memory of Python and its packages, and of the data before coding, is not included.
        """
        rows = self.m / workers * (self.d + _ROW + 2 * self.k * _SCORE)
        at_work = threads * self.m / self.shards * 3 * self.k * _SCORE
        return rows + at_work + 9 * self._sums("look")


@dataclass(frozen=True)
class Rounds:
    """Number of rounds, number of passes of every kind, and the seconds of the driver."""

    rounds: int
    asked: Mapping[str, float]
    driver: float


def round_seconds(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the simulated seconds of one round, including the driver between passes."""
    return (_asking(work, rates, rounds, machines) + rounds.driver) / rounds.rounds


def fit_seconds(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the simulated seconds of a fit: loading, passes and the driver."""
    loading = simulate(work.loading(rates), machines)
    return loading + _asking(work, rates, rounds, machines) + rounds.driver


def _asking(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the seconds of all passes."""
    asked = [(times, name) for name, times in rounds.asked.items() if times]
    return sum(n * simulate(work.question(name, rates), machines) for n, name in asked)


def round_bytes(work: Work, rates: Rates, rounds: Rounds) -> float:
    """Return the bytes of one round, as `bytes_moved` of a record counts them."""
    total = sum(n * work.question(name, rates).moved for name, n in rounds.asked.items())
    return total / rounds.rounds


def busy(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> dict[str, float]:
    """Return the seconds per round that workers, scheduler and driver are busy."""
    asked = [(n / rounds.rounds, work.question(name, rates)) for name, n in rounds.asked.items()]
    threads = machines.workers * machines.threads
    return {
        "workers": sum(n * q.shards * q.seconds for n, q in asked) / threads,
        "scheduler": sum(n * q.tasks(machines) for n, q in asked) * machines.overhead,
        "driver": rounds.driver / rounds.rounds,
    }
