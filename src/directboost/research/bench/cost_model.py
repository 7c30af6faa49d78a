"""A cluster that answers questions, event by event.

Where its answers are large, a question is one task per shard; sums of eight at a time are taken
above them, and one task reads the last sum. Else it is one task per thread of a worker for all
shards there, and the driver adds up. The scheduler hands out one task after the other; a task waits
for its inputs, for those that lie on other workers longer, and then for a thread.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from ...dask.cluster_executor import LARGE, NEAR
from ...dask.executor import together, tree_widths
from ...dask.shard import FAN_IN

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


_NUMBER = 8  # bytes: sums are in double precision
_SCORE = 4  # bytes: scores are in single precision
_ROW = 20  # bytes of the weight, the class and the margin of a row


@dataclass(frozen=True)
class Line:
    """Seconds that grow with the number of classes: alpha + beta k."""

    alpha: float
    beta: float

    def at(self, k: int) -> float:
        """Return the seconds for k classes."""
        return self.alpha + self.beta * k


@dataclass(frozen=True)
class Rates:
    """What the pieces take on one core, in seconds.

    Attributes
    ----------
    loss : mapping of str to Line
        The pass over the loss of one row in every question.
    scores, sums : Line
        The scores of one row from one feature; its share in the sums over the bins of one.
    reading : float
        One value of the data: learning its bins and coding it.
    adding : float
        One byte of a sum added to another.
    pricing : float
        One (bin, class) of a feature.
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
        Rows, features, classes, bins of a feature.
    features, jumps : int
        Features with weight, and jumps that are not zero, of a point.
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
        """Return what a question takes: "stride", "dual", "look", "search" or "value".

        "pick" reads a sum that is there once more.
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
        """Return the bytes of a point: its jumps, their places, and the features that have some."""
        return float(self.jumps * (self.k + 1) * _NUMBER + self.features * 12)

    def _sums(self, name: str) -> float:
        features = {"look": self.d, "stride": self.d, "dual": self.features}.get(name, 0)
        return float(_NUMBER * (1 + features * self.bins * self.k))

    def loading(self, rates: Rates) -> Question:
        """Return what reading and coding the rows takes."""
        sketch = float(8 * self.bins * self.d * 2 * _NUMBER)  # groups of values, several per bin
        seconds = self.m / self.shards * self.d * rates.reading
        adding = sketch * rates.adding
        return Question(self.shards, seconds, 0.0, sketch, sketch, adding, always_far=True)

    def memory(self, workers: int, threads: int) -> float:
        """Return the bytes of a worker: codes and scores of its rows, and a pass and sums at work.

        What Python and its packages take is not counted, nor is the data before it is coded.
        """
        rows = self.m / workers * (self.d + _ROW + 2 * self.k * _SCORE)
        at_work = threads * self.m / self.shards * 3 * self.k * _SCORE
        return rows + at_work + 9 * self._sums("look")


@dataclass(frozen=True)
class Rounds:
    """How often a fit asks: rounds, questions of every name, and the seconds of the driver."""

    rounds: int
    asked: Mapping[str, float]
    driver: float


def round_seconds(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the seconds of one round, simulated, with what the driver takes between questions."""
    return (_asking(work, rates, rounds, machines) + rounds.driver) / rounds.rounds


def fit_seconds(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the seconds of a fit, simulated: loading, questions, and the driver."""
    loading = simulate(work.loading(rates), machines)
    return loading + _asking(work, rates, rounds, machines) + rounds.driver


def _asking(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> float:
    """Return the seconds of all questions."""
    asked = [(times, name) for name, times in rounds.asked.items() if times]
    return sum(n * simulate(work.question(name, rates), machines) for n, name in asked)


def round_bytes(work: Work, rates: Rates, rounds: Rounds) -> float:
    """Return the bytes of one round, as `bytes_moved` of a record counts them."""
    total = sum(n * work.question(name, rates).moved for name, n in rounds.asked.items())
    return total / rounds.rounds


def busy(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> dict[str, float]:
    """Return the seconds per round that workers, scheduler and driver are at work."""
    asked = [(n / rounds.rounds, work.question(name, rates)) for name, n in rounds.asked.items()]
    threads = machines.workers * machines.threads
    return {
        "workers": sum(n * q.shards * q.seconds for n, q in asked) / threads,
        "scheduler": sum(n * q.tasks(machines) for n, q in asked) * machines.overhead,
        "driver": rounds.driver / rounds.rounds,
    }
