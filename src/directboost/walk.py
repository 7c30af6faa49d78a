"""Fits of one task at several nus in a row."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .between import between, beyond, has_neighbours, judged
from .boosting_run import Known, Outcome
from .compaction import compact
from .data.binning import Stumps
from .history import Status
from .solving import ENDED_BY_USER, solve
from .task import Task
from .training import Trained, trained

_STRIDE = 3.0  # largest ratio of nu between answers that are solved for, where others lie between
_FEW = 6  # features from which on answers are made of others: one in between has those of both


class Walk:
    """Fits a task at one nu after the other; each fit starts from the answers before.

    Seconds in the records count from the start of the walk: an answer between two others is found
    after both.

    Parameters
    ----------
    task : Task
    before : Stumps, optional
        The start of the first fit.
    """

    def __init__(self, task: Task, before: Stumps | None = None) -> None:
        self.task = task
        #: Whether the user ended the last fit, so that another one is not wanted.
        self.ended = False
        self._before = before
        self._last: list[Outcome] = []
        self._began = time.perf_counter()

    def to(self, nu: float) -> Trained:
        """Return the model of that nu, absolute."""
        return self._model(self._solved(nu))

    def down(self, nus: Sequence[float]) -> Iterator[Trained]:
        """Yield the models of falling nus, absolute, until the user ends a fit.

        Only some are solved for. Those in between are made of their neighbours, and solved for
        where that is not good enough. Where the user ends a fit, nothing more is solved for: those
        in between follow as far as they are good enough, and the first that is not.
        """
        self.task = replace(self.task, keep_dual=True)
        rest = list(nus)
        while rest:
            count = self._stride(rest)
            for outcome in self._next(rest[:count]):
                yield self._model(outcome, quick=len(outcome.state.columns) >= _FEW)
                if self.ended:
                    return
            rest = rest[count:]

    def _stride(self, nus: list[float]) -> int:
        """Return how many nus it is to the next one to solve for."""
        known = self._last and has_neighbours(self.task, self._last[-1])
        if not known or len(self._last[-1].state.columns) < _FEW:
            return 1
        return max(sum(self._last[-1].certificate.nu <= _STRIDE * nu for nu in nus), 1)

    def _next(self, nus: list[float]) -> Iterator[Outcome]:
        """Yield the answers of some nus, of which the last one is solved for first."""
        before = self._last[-1:]
        lower = _as_wished(self._solved(nus[-1]))
        if before:
            yield from self._filled(before[0], lower, nus[:-1])
        yield lower

    def _filled(self, upper: Outcome, lower: Outcome, nus: list[float]) -> Iterator[Outcome]:
        """Yield the answers of falling nus between two others; the one half way is found first."""
        if not nus:
            return
        half = 0 if lower.status in ENDED_BY_USER else len(nus) // 2
        middle = self._between(upper, lower, nus[half])
        solved = len(middle.state.history) > 1
        below = middle if solved else replace(lower, status=middle.status)
        yield from self._filled(upper, below, nus[:half])
        yield middle
        yield from self._filled(middle if solved else upper, lower, nus[half + 1 :])

    def _between(self, upper: Outcome, lower: Outcome, nu: float) -> Outcome:
        try:
            return self._near(upper, lower, nu)
        except KeyboardInterrupt:
            last = replace(lower, status=Status.INTERRUPTED)
            return replace(self._near(upper, last, nu), status=Status.INTERRUPTED)

    def _near(self, upper: Outcome, lower: Outcome, nu: float) -> Outcome:
        """Return an answer made of two others; solve for one where it is not good enough.

        Where an answer has single columns, of a solver that finished it, the upper one has to do.
        """
        task = self.task.at(nu)
        both = all(has_neighbours(task, end) for end in (upper, lower))
        known = between(task, upper, lower) if both else upper.known
        found = judged(task, known, self._seconds())
        good = found.certificate.converged
        if lower.status in ENDED_BY_USER:
            return found if good else replace(found, status=lower.status)
        if good or found.state.wish:
            return _as_wished(found)
        return _as_wished(solve(task, known, self._seconds()))

    def _solved(self, nu: float) -> Outcome:
        """Return the answer of that nu, which the next one starts from.

        It starts from the answers themselves, not from the smaller models made of them.
        """
        task = self.task.at(nu)
        outcome = solve(task, self._start(task), self._seconds())
        self._last = [*self._last[-1:], outcome]
        return outcome

    def _start(self, task: Task) -> Stumps | Known | None:
        if not self._last:
            return self._before
        nus = [outcome.certificate.nu for outcome in self._last]
        falling = len(nus) == 2 and nus[0] > nus[1] > task.objective.nu
        if falling and all(has_neighbours(task, outcome) for outcome in self._last):
            return beyond(task, *self._last)
        return self._last[-1].known

    def _model(self, outcome: Outcome, quick: bool = False) -> Trained:
        """Return the model of an answer, made smaller within the tolerance."""
        task = self.task.at(outcome.certificate.nu)
        outcome = compact(task, outcome, quick)
        self.ended = outcome.status in ENDED_BY_USER
        return trained(task, outcome)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began


def _as_wished(outcome: Outcome) -> Outcome:
    """Return the answer with the status of the end that a callback wishes for, if one does.

    For a single fit a wish at an answer within the tolerance means nothing; a path it ends.
    """
    wish = outcome.state.wish
    return outcome if wish is None else replace(outcome, status=wish)
