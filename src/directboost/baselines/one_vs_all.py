"""Binary problems side by side: what one-vs-all, LPBoost and CGBoost have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import Status
from .base import Baseline, Rounds
from .stump_search import NO_EDGE, BoostingProblem, Round, log_odds, signs


def independent(problem: BoostingProblem, targets: Array, rate: float) -> Rounds:
    """Go on with a vote for every bit, and without those bits that have ended.

    targets +1 and -1 are (m, L), one AdaBoost for every column.
    """
    L, positive = targets.shape[1], targets > 0.0
    bits, G, means = np.arange(L), targets * problem.v[:, None], np.ones(L)
    status = Status.SEPARATED
    while bits.size:
        places, edges = problem.search.bests(G)
        live = np.abs(edges) >= NO_EDGE
        status = status if live.all() else Status.NO_EDGE
        if not live.any():
            break
        bits, places, edges = bits[live], places[live], edges[live]
        errors = (1.0 - np.abs(edges)) / 2.0
        votes = rate * np.array([log_odds(error) for error in errors]) / 2.0 * signs(edges)
        wrong = wrong_bits(problem, places, votes, np.take(positive, bits, axis=1))
        G = np.compress(live, G, axis=1) * factors(wrong, votes)
        Z = problem.ones @ np.abs(G)
        means[bits] *= Z
        rows = by_bit(votes, bits, L)
        yield round_of(problem, places, rows, float(errors.mean()), float(means.mean()))
        going = wrong.any(axis=0)
        bits, G = bits[going], np.compress(going, G / Z, axis=1)
    return status


def wrong_bits(problem: BoostingProblem, places: Ints, votes: Array, positive: Bools) -> Bools:
    """Return where votes_j h_j(x_i) and the bit have different signs, (m, n)."""
    right = np.stack([problem.search.right(place) for place in places.tolist()], axis=1)
    return np.asarray(right ^ positive ^ (votes < 0.0))


def factors(wrong: Bools, votes: Array) -> Array:
    """Return exp(-y_ij votes_j h_j(x_i)), (m, n): exponentials of votes, not of rows."""
    up, down = np.exp(np.abs(votes)), np.exp(-np.abs(votes))
    return np.asarray(down + wrong * (up - down))


def by_bit(votes: Array, bits: Ints, L: int) -> Array:
    """Return the votes of stumps, each for a bit of its own, (n, L)."""
    rows = np.zeros((votes.size, L))
    rows[np.arange(votes.size), bits] = votes
    return rows


def round_of(
    problem: BoostingProblem, places: Ints, votes: Array, error: float, objective: float
) -> Round:
    """Return the round of stumps by place with their votes, (n, L)."""
    learners = [problem.search.learner(place) for place in places.tolist()]
    return Round(learners, -votes, votes, float(np.abs(votes).max()), error, objective)


_SLACK = 1e-6  # by which an edge is to exceed the bound that all stumps so far keep


class BinaryBooster(ABC):
    """One binary problem: takes the stump of the largest edge, and says where to look next.

    A new stump may change the weights of those before it.

    Attributes
    ----------
    u : (m,) array
        Weights of the rows: the edge of a stump h is sum_i u_i y_i h(x_i).
    weights : (n,) array
        Of the stumps so far.
    objective : float
    status : Status or None
        Why the problem has ended.
    """

    u: Array
    weights: Array
    objective: float
    status: Status | None = None

    @abstractmethod
    def refusal(self, column: Array, edge: float) -> Status | None:
        """Return why the stump with column y_i h(x_i), (m,), is of no use, or None."""

    @abstractmethod
    def add(self, column: Array, edge: float) -> None:
        """Add the stump, and bring all attributes up to date."""


def kept(edge: float, bound: float) -> Status | None:
    """Return that column generation has converged if an edge keeps the bound, else None."""
    return Status.CONVERGED if edge <= bound + _SLACK else None


class DistinctRows:
    """The different rows of a problem; equal ones with the same class are one, with their weight.

    A solver may come to another answer, as good, when rows are repeated or come in another order.
    Here both make no difference: the order is that of numbers that only codes and class decide.

    Parameters
    ----------
    problem : BoostingProblem

    Attributes
    ----------
    first : (n,) int array
        A row of the problem for every one here.
    labels : (n,) int array
    v : (n,) array
        Weights, with sum 1.
    """

    def __init__(self, problem: BoostingProblem) -> None:
        random = np.random.default_rng(1)  # other numbers than those of the codes, which are added
        of_class = random.integers(2**64, size=problem.k, dtype=np.uint64)
        keys = problem.search.fingerprints() + of_class[problem.labels]
        _, self.first, group = np.unique(keys, return_index=True, return_inverse=True)
        self.labels, self._m = problem.labels[self.first], problem.labels.size
        self.v: Array = np.bincount(group, weights=problem.v).astype(np.float64)

    def spread(self, G: Array) -> Array:
        """Return weights (n, q) of these rows as weights of those of the problem, (m, q)."""
        full = np.zeros((self._m, G.shape[1]))
        full[self.first] = G
        return full


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
    problem : BoostingProblem
    votes : (q, k) array
        What the answer +1 with weight 1 adds to the scores, for every binary problem; its positive
        rows are those of the classes with a positive vote.
    start : callable
        Makes a `BinaryBooster` from the weights of its rows, which have sum 1.
    """

    def __init__(
        self, problem: BoostingProblem, votes: Array, start: Callable[[Array], BinaryBooster]
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

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        votes = np.array([[-1.0, 1.0]]) if problem.k == 2 else np.eye(problem.k)
        return LockStep(problem, votes, self._booster).rounds()


class OneVsAllBoost(Baseline):
    """k binary problems in lock step, y_i = +1 for the rows of class c: F_c = sum_t a_tc h_tc.

    Without a base every problem is AdaBoost: the weights u_i start at v_i; the stump of the largest
    edge sum_i u_i y_i h(x_i) has error e and vote a = ln((1 - e) / e) / 2; u_i is multiplied by
    exp(-a y_i h(x_i)) and divided by its sum. A problem ends with a stump without error, or
    without an edge. The mean of sum_i v_i exp(-y_i F_c) over the classes is the objective.

    Source: folklore, see Allwein, Schapire and Singer, JMLR 1, 2000. Rounds cost O(d m k) and add k
    stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    base : LPBoost, CGBoost or None, default=None
        The binary method, None for AdaBoost. Its own `n_rounds` and those of its parameters that
        are parameters here too are not read.
    normalize : bool, default=False
        Divide F_c by the sum of the weights of its stumps.
    learning_rate : float, default=1.0
        Factor on the votes of AdaBoost; a base has none.
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        base: BinaryBaseline | None = None,
        normalize: bool = False,
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.base = base
        self.normalize = normalize
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.normalize, bool | np.bool_):
            raise ValueError(f"normalize={self.normalize!r} does not fit: it takes True or False")
        if self.base is None:
            return
        if not isinstance(self.base, BinaryBaseline):
            raise ValueError(f"base={self.base!r} does not fit: it takes LPBoost, CGBoost or None")
        if self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} does not fit: with a base it takes 1.0"
            )
        self.base._check()

    def _temper(self) -> float | None:
        if self.normalize:
            return None
        return 1.0 if self.base is None else self.base._temper()

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        #: Sums of the weights after every round, (k,) each; none where nothing is divided.
        self._totals: list[Array] = []
        rounds = self._binary_rounds(problem)
        return self._totalled(rounds) if self.normalize else rounds

    def _binary_rounds(self, problem: BoostingProblem) -> Rounds:
        if self.base is None:
            return independent(problem, problem.targets, self.learning_rate)
        return LockStep(problem, np.eye(problem.k), self.base._booster).rounds()

    def _totalled(self, rounds: Rounds) -> Rounds:
        """Pass rounds on, and keep the sums of the weights of all stumps by class."""
        seen: list[Array] = []
        while True:
            try:
                found = next(rounds)
            except StopIteration as end:
                return Status(end.value)
            seen.append(np.abs(found.right))
            votes = np.concatenate(seen)
            weights = np.ones(len(votes)) if found.weights is None else found.weights
            self._totals.append(weights @ votes)
            yield found

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        if not self._totals:
            return F
        totals = self._totals[n_rounds - 1]
        return F / np.where(totals > 0.0, totals, 1.0)
