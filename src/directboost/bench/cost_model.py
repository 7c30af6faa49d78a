"""What a round on a cluster costs: seconds and bytes of its questions, and memory.

The rows of m x d data with k classes are on P shards. A point has weights on w features, n jumps
in all; a row takes alpha + beta k seconds in each part of a pass:

- `stride`: scores from w features, the loss twice, sums over the bins of all d features;
- `dual`: the loss and its conjugate, and sums over the bins of w features;
- `look`: as a stride, the loss once; `search`: scores from w features, the loss at two steps.

The driver takes a number of seconds per round that does not depend on m: it works on a sample.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .simulation import Machines, Question, simulate

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
