"""One-vs-all boosting, and the parallel binary problems of LPBoost and CGBoost."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import Status
from .base import Baseline, Rounds
from .stump_search import NO_EDGE, BoostingProblem, Round, log_odds, signs

_SLACK = 1e-6  # amount by which the edge of a new stump must exceed the bound
#: Statuses in the order of precedence; the last one of any problem is the status of the fit.
_RANKS = (
    *(Status.SEPARATED, Status.CONVERGED, Status.NO_EDGE),
    *(Status.NO_BETTER_COLUMN, Status.STOPPED),
)


def independent_rounds(problem: BoostingProblem, targets: Array, rate: float) -> Rounds:
    """Yield the rounds of independent AdaBoost runs, one for every column of targets (m, L).

    Targets are +1 and -1. Runs that have ended take no part in later rounds.
    """
    L, positive = targets.shape[1], targets > 0.0
    bits, G, means = np.arange(L), targets * problem.v[:, None], np.ones(L)
    status = Status.SEPARATED
    while bits.size:
        places, edges = problem.search.best_stumps(G)
        live = np.abs(edges) >= NO_EDGE
        status = status if live.all() else Status.NO_EDGE
        if not live.any():
            break
        bits, places, edges = bits[live], places[live], edges[live]
        errors = (1.0 - np.abs(edges)) / 2.0
        votes = rate * np.array([log_odds(error) for error in errors]) / 2.0 * signs(edges)
        wrong = wrong_bits(problem, places, votes, np.take(positive, bits, axis=1))
        G = np.compress(live, G, axis=1) * weight_factors(wrong, votes)
        Z = problem.ones @ np.abs(G)
        means[bits] *= Z
        rows = votes_by_bit(votes, bits, L)
        yield make_round(problem, places, rows, float(errors.mean()), float(means.mean()))
        going = wrong.any(axis=0)
        bits, G = bits[going], np.compress(going, G / Z, axis=1)
    return status


def wrong_bits(problem: BoostingProblem, places: Ints, votes: Array, positive: Bools) -> Bools:
    """Return where votes_j h_j(x_i) and the bit have different signs, (m, n)."""
    right = np.stack([problem.search.right(place) for place in places.tolist()], axis=1)
    return np.asarray(right ^ positive ^ (votes < 0.0))


def weight_factors(wrong: Bools, votes: Array) -> Array:
    """Return exp(-y_ij votes_j h_j(x_i)), (m, n), with one exponential per vote."""
    up, down = np.exp(np.abs(votes)), np.exp(-np.abs(votes))
    return np.asarray(down + wrong * (up - down))


def votes_by_bit(votes: Array, bits: Ints, L: int) -> Array:
    """Return the votes of stumps that belong to one bit each, (n, L)."""
    rows = np.zeros((votes.size, L))
    rows[np.arange(votes.size), bits] = votes
    return rows


def make_round(
    problem: BoostingProblem, places: Ints, votes: Array, error: float, objective: float
) -> Round:
    """Return the round that adds these stumps with their votes, (n, L)."""
    learners = [problem.search.learner(place) for place in places.tolist()]
    return Round(learners, -votes, votes, float(np.abs(votes).max()), error, objective)


class BinaryBooster(ABC):
    """One binary problem, to which stumps are added one by one.

    A new stump may change the weights of the earlier ones.

    Attributes
    ----------
    u : (m,) array
        Weights of the rows: the edge of a stump h is sum_i u_i y_i h(x_i).
    weights : (n,) array
        Weights of the stumps so far.
    objective : float
    status : Status or None
        The reason why the problem has ended; None while it continues.
    """

    u: Array
    weights: Array
    objective: float
    status: Status | None = None

    @abstractmethod
    def stop_reason(self, column: Array, edge: float) -> Status | None:
        """Return why adding the stump with column y_i h(x_i), (m,), is useless, or None."""

    @abstractmethod
    def add(self, column: Array, edge: float) -> None:
        """Add the stump, and update all attributes."""


def converged_within(edge: float, bound: float) -> Status | None:
    """Return `Status.CONVERGED` if an edge is within the bound, else None."""
    return Status.CONVERGED if edge <= bound + _SLACK else None


class DistinctRows:
    """The distinct rows of a problem; equal rows of one class are merged and their weights added.

    The solution that a solver finds may depend on repetitions and on the order of the rows. Here it
    depends on neither: the rows are sorted by hashes of their bin codes and class.

    Parameters
    ----------
    problem : BoostingProblem

    Attributes
    ----------
    first : (n,) int array
        Index of one of the equal rows in the problem.
    labels : (n,) int array
    v : (n,) array
        Weights, with sum 1.
    """

    def __init__(self, problem: BoostingProblem) -> None:
        random = np.random.default_rng(1)  # another seed than that of `row_hashes`
        of_class = random.integers(2**64, size=problem.k, dtype=np.uint64)
        keys = problem.search.row_hashes() + of_class[problem.labels]
        _, self.first, group = np.unique(keys, return_index=True, return_inverse=True)
        self.labels, self._m = problem.labels[self.first], problem.labels.size
        self.v: Array = np.bincount(group, weights=problem.v).astype(np.float64)

    def spread(self, G: Array) -> Array:
        """Return weights (n, q) of the distinct rows as weights of all rows, (m, q)."""
        full = np.zeros((self._m, G.shape[1]))
        full[self.first] = G
        return full


@dataclass(frozen=True)
class _AddedStump:
    """Number of a binary problem, the place and sign of its new stump, and the weighted error."""

    number: int
    place: int
    sign: float
    error: float


class ParallelBoosters:
    """Binary problems that are boosted in parallel: each adds a stump per round until it ends.

    One pass over the data finds the stumps of all problems.

    Parameters
    ----------
    problem : BoostingProblem
    votes : (q, k) array
        Scores added by h(x) = +1 with weight 1, for every binary problem. Rows of classes with a
        positive vote are its positive rows.
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
        """Yield rounds until all problems have ended; return the reason."""
        while added := self._add_stumps():
            yield self._round(added)
        return max((b.status for b in self.boosters if b.status), key=_RANKS.index)

    def _add_stumps(self) -> list[_AddedStump]:
        """Add the best stump to every problem that has not ended; return the added stumps."""
        live = [n for n, booster in enumerate(self.boosters) if booster.status is None]
        if not live:
            return []
        G = np.column_stack([self.boosters[n].u * self._y[:, n] for n in live])
        places, edges = (a.tolist() for a in self._problem.search.best_stumps(self._rows.spread(G)))
        added = [self._try_stump(*one) for one in zip(live, places, edges, strict=True)]
        return [stump for stump in added if stump is not None]

    def _try_stump(self, number: int, place: int, signed: float) -> _AddedStump | None:
        """Add a stump with a signed edge, unless the problem ends; return what was added."""
        edge, sign = abs(signed), -1.0 if signed < 0.0 else 1.0
        right = self._problem.search.right(place)[self._rows.first]
        column = np.where(right, sign, -sign) * self._y[:, number]
        booster = self.boosters[number]
        booster.status = booster.stop_reason(column, edge)
        if booster.status is not None:
            return None
        error = (1.0 - edge / float(booster.u.sum())) / 2.0
        booster.add(column, edge)
        return _AddedStump(number, place, sign, error)

    def _round(self, added: list[_AddedStump]) -> Round:
        self._owners += [addition.number for addition in added]
        learners = [self._problem.search.learner(addition.place) for addition in added]
        new = np.array([self.boosters[addition.number].weights[-1] for addition in added])
        right = np.stack([addition.sign * self._votes[addition.number] for addition in added])
        error = float(np.mean([addition.error for addition in added]))
        objective = float(np.mean([booster.objective for booster in self.boosters]))
        return Round(
            learners,
            left=-right,
            right=right,
            vote=float(new.max()),
            error=error,
            objective=objective,
            weights=self._weights(),
        )

    def _weights(self) -> Array:
        """Return the weights of all stumps in the order in which they were added."""
        owners, weights = np.array(self._owners), np.empty(len(self._owners))
        for number, booster in enumerate(self.boosters):
            weights[owners == number] = booster.weights
        return weights


class BinaryBaseline(Baseline):
    """Base class of the binary methods; the second of two classes is +1: F = (-f, f).

    More than two classes are handled as parallel problems of one class against the rest: F_c = f_c.
    """

    @abstractmethod
    def _booster(self, v: Array) -> BinaryBooster:
        """Return a new binary problem for rows of these weights, which have sum 1."""

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        votes = np.array([[-1.0, 1.0]]) if problem.k == 2 else np.eye(problem.k)
        return ParallelBoosters(problem, votes, self._booster).rounds()


class OneVsAllBoost(Baseline):
    """One-vs-all boosting: k binary problems in parallel.

    In the problem of class c, y_i = +1 for the rows of class c, and F_c = sum_t a_tc h_tc. Without
    a base, every problem is AdaBoost: the weights u_i start at v_i; the stump with the largest edge
    sum_i u_i y_i h(x_i) has error e and vote a = ln((1 - e) / e) / 2; u_i is multiplied by exp(-a
    y_i h(x_i)) and divided by its sum. A problem ends when no stump has an edge, or after a stump
    without error. The objective is the mean of sum_i v_i exp(-y_i F_c) over the classes.

    Source: folklore, see Allwein, Schapire and Singer, JMLR 1, 2000. A round costs O(d m k) and
    adds k stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    base : LPBoost, CGBoost or None, default=None
        The binary method; None is AdaBoost. The `n_rounds` of the base, and those of its parameters
        that are parameters here too, are ignored.
    normalize : bool, default=False
        Divide F_c by the sum of the weights of its stumps.
    learning_rate : float, default=1.0
        Shrinkage factor on the votes of every round, in (0, 1].
        Must be 1.0 with a base.
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import OneVsAllBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OneVsAllBoost(20).fit(X, y)
    >>> bool(clf.score(X, y) > 0.9)
    True
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.normalize, bool | np.bool_):
            raise ValueError(f"normalize={self.normalize!r} is invalid: expected True or False")
        if self.base is None:
            return
        if not isinstance(self.base, BinaryBaseline):
            raise ValueError(f"base={self.base!r} is invalid: expected LPBoost, CGBoost or None")
        if self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} is invalid: expected 1.0 with a base"
            )
        self.base._check_parameters()

    def _odds_factor(self) -> float | None:
        if self.normalize:
            return None
        return 1.0 if self.base is None else self.base._odds_factor()

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        #: Sums of the weights after every round, (k,) each; empty without `normalize`.
        self._totals: list[Array] = []
        rounds = self._binary_rounds(problem)
        return self._record_totals(rounds) if self.normalize else rounds

    def _binary_rounds(self, problem: BoostingProblem) -> Rounds:
        if self.base is None:
            return independent_rounds(problem, problem.targets, self.learning_rate)
        return ParallelBoosters(problem, np.eye(problem.k), self.base._booster).rounds()

    def _record_totals(self, rounds: Rounds) -> Rounds:
        """Yield the rounds, and record the sums of the weights of all stumps by class."""
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

    def _decode(self, F: Array, n_rounds: int) -> Array:
        if not self._totals:
            return F
        totals = self._totals[n_rounds - 1]
        return F / np.where(totals > 0.0, totals, 1.0)
