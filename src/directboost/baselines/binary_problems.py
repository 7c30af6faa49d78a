"""Binary problems side by side: what one-vs-all, LPBoost and CGBoost have in common."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..history import Status
from .base import Baseline, Rounds
from .binary_boosters import BinaryBooster
from .distinct_rows import DistinctRows
from .rounds import Problem, Round

#: The last of these that any problem ended with is how all of them did.
_RANKS = (
    *(Status.SEPARATED, Status.CONVERGED, Status.NO_EDGE),
    *(Status.NO_BETTER_COLUMN, Status.STOPPED),
)


@dataclass(frozen=True)
class _Addition:
    """Number of a binary problem, its new stump by place and sign, and the weighted error."""

    number: int
    place: int
    sign: float
    error: float


class LockStep:
    """Binary problems that each add a stump in every round, until they have ended.

    One pass over the data finds the stumps of all problems.

    Parameters
    ----------
    problem : Problem
    votes : (q, k) array
        What the answer +1 with weight 1 adds to the scores, for every binary problem; its positive
        rows are those of the classes with a positive vote.
    start : callable
        Makes a `BinaryBooster` from the weights of its rows, which have sum 1.
    """

    def __init__(
        self, problem: Problem, votes: Array, start: Callable[[Array], BinaryBooster]
    ) -> None:
        self._problem, self._votes, self._rows = problem, votes, DistinctRows(problem)
        self._y = np.where(votes.T[self._rows.labels] > 0.0, 1.0, -1.0)
        self.boosters = [start(self._rows.v) for _ in votes]
        self._owners: list[int] = []

    def rounds(self) -> Rounds:
        """Yield rounds until all problems have ended; return why."""
        while added := self._grow():
            yield self._round(added)
        return max((b.status for b in self.boosters if b.status), key=_RANKS.index)

    def _grow(self) -> list[_Addition]:
        """Offer its best stump to every problem that has not ended; return what was taken."""
        live = [n for n, booster in enumerate(self.boosters) if booster.status is None]
        if not live:
            return []
        G = np.column_stack([self.boosters[n].u * self._y[:, n] for n in live])
        places, edges = (a.tolist() for a in self._problem.search.bests(self._rows.spread(G)))
        offers = [self._offer(*one) for one in zip(live, places, edges, strict=True)]
        return [taken for taken in offers if taken is not None]

    def _offer(self, number: int, place: int, signed: float) -> _Addition | None:
        """Offer a stump with its edge; a negative one is that of its opposite."""
        edge, sign = abs(signed), -1.0 if signed < 0.0 else 1.0
        right = self._problem.search.right(place)[self._rows.first]
        column = np.where(right, sign, -sign) * self._y[:, number]
        booster = self.boosters[number]
        booster.status = booster.refusal(column, edge)
        if booster.status is not None:
            return None
        error = (1.0 - edge / float(booster.u.sum())) / 2.0
        booster.add(column, edge)
        return _Addition(number, place, sign, error)

    def _round(self, added: list[_Addition]) -> Round:
        self._owners += [addition.number for addition in added]
        learners = [self._problem.search.learner(addition.place) for addition in added]
        new = np.array([self.boosters[addition.number].weights[-1] for addition in added])
        right = np.stack([addition.sign * self._votes[addition.number] for addition in added])
        error = float(np.mean([addition.error for addition in added]))
        objective = float(np.mean([booster.objective for booster in self.boosters]))
        numbers = (float(new.max()), error, objective)
        return Round(learners, -right, right, *numbers, weights=self._weights())

    def _weights(self) -> Array:
        """Return the weights of all stumps, in the order in which they came."""
        owners, weights = np.array(self._owners), np.empty(len(self._owners))
        for number, booster in enumerate(self.boosters):
            weights[owners == number] = booster.weights
        return weights


class BinaryBaseline(Baseline):
    """A method for two classes, the second one +1: F = (-f, f).

    More classes are as many problems of one class against the rest, in lock step: F_c = f_c.
    """

    @abstractmethod
    def _booster(self, v: Array) -> BinaryBooster:
        """Return the start of a problem with rows of these weights, which have sum 1."""

    def _rounds(self, problem: Problem) -> Rounds:
        votes = np.array([[-1.0, 1.0]]) if problem.k == 2 else np.eye(problem.k)
        return LockStep(problem, votes, self._booster).rounds()
