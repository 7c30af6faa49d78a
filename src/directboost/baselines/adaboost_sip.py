"""AdaBoost-SIP: shareable patterns, each with the colours of the classes that suit it best."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..arrays import Array, Bools, Ints, Scores, column
from ..data.validation import check_choice, check_count
from ..model.learners import CategoryStump, Conjunction, Constant, Learner, Stump
from .base import Baseline, Rounds
from .colouring import Choice, ColouredPairs, boosted, colours_of
from .stump_search import NO_EDGE, BoostingProblem, StumpSearch, first_best

SLACK = 1e-12  # of shares, for rounding
_LOW, _HIGH = 0.05, 0.95  # shares of the rows, by weight, to which a pattern may apply

Item = Stump | CategoryStump


def usual_items(problem: BoostingProblem) -> tuple[list[Item], Bools]:
    """Return items that are neither rare nor the rule, and the rows (n, m) they apply to."""
    found, sides = [], []
    for item in _items(problem):
        side = item.predict(problem.X) > 0.0
        if is_usual(side @ problem.v):
            found.append(item)
            sides.append(side)
    return found, np.array(sides, dtype=bool).reshape(len(found), problem.v.size)


def _items(problem: BoostingProblem) -> Iterator[Item]:
    """Yield all items, feature by feature."""
    search = problem.search
    by_feature = np.split(np.arange(len(search)), np.flatnonzero(np.diff(search.feature)) + 1)
    for places in by_feature[:-1]:  # the last one is the constant
        feature, first = int(search.feature[places[0]]), search.learner(int(places[0]))
        if isinstance(first, CategoryStump):
            yield from _levels([search.learner(place) for place in places.tolist()])
        else:
            for q in _thirds(column(problem.X, feature), problem.v):
                yield Stump(feature, q, 1, missing_right=False)
                yield Stump(feature, q, -1, missing_right=True)


def _levels(rules: list[Learner]) -> Iterator[Item]:
    """Yield the rules of a category, and their opposites."""
    for rule in rules:
        assert not isinstance(rule, Constant)
        yield from (rule, replace(rule, polarity=-rule.polarity))


def _thirds(x: Scores, v: Array) -> list[float]:
    """Return the weighted quantiles of 1/3 and 2/3 of the values x (m,) that are there."""
    present = ~np.isnan(x)
    if not present.any():
        return []
    values, place = np.unique(x[present], return_inverse=True)
    mass = np.cumsum(np.bincount(place, v[present]))
    targets = mass[-1] * np.array([1.0, 2.0]) / 3.0 * (1.0 - SLACK)
    return [float(q) for q in np.unique(values[np.searchsorted(mass, targets)])]


def is_usual(share: Any) -> Any:
    """Tell whether shares of the rows are neither rare nor the rule."""
    return (share >= _LOW - SLACK) & (share <= _HIGH + SLACK)


MOST = 2000  # conjunctions that are kept
_TOGETHER = 1 << 21  # numbers that are worked on at a time


@dataclass(frozen=True)
class Mined:
    """Conjunctions as tuples of items, the best first, and the rows (n, m) they apply to."""

    items: list[tuple[Item, ...]]
    holds: Bools


def mined(problem: BoostingProblem, max_len: int) -> Mined:
    """Return the 2000 conjunctions of 2 to `max_len` items that tell most about the class.

    Items are x_f > q and x_f <= q at the weighted quantiles q of 1/3 and 2/3, and single levels
    of categories. Items and conjunctions apply to 5 % to 95 % of the rows, and a conjunction to
    fewer than what it is made of: an item, and an item or one of the 2000 best of a length.
    """
    items, holds = usual_items(problem)
    last: Ints = np.arange(len(items))[:, None]
    sets, gains = [], []
    for _ in range(1, max_len):
        last, gain = _extended(problem, holds, last)
        sets += [tuple(places) for places in last.tolist()]
        gains.append(gain)
    best = np.argsort(-np.concatenate(gains), kind="stable")[:MOST].tolist()
    together = [holds[list(sets[n])].all(axis=0) for n in best]
    return Mined(
        [tuple(items[place] for place in sets[n]) for n in best],
        np.array(together, dtype=bool).reshape(len(best), problem.v.size),
    )


def _extended(problem: BoostingProblem, holds: Bools, sets: Ints) -> tuple[Ints, Array]:
    """Return the best sets with one item more, (n, length), ascending each, and their gains (n,).

    `holds` are the rows of all items, (items, m); `sets` are places in it, (sets, length - 1).
    """
    length = sets.shape[1] + 1
    prior, of_items = problem.v @ problem.own, holds @ problem.v
    step = max(_TOGETHER // max(holds.shape[0] * problem.k, length * problem.v.size), 1)
    found, gains = [np.empty((0, length), dtype=np.intp)], [np.empty(0)]
    for first in range(0, sets.shape[0], step):
        some = sets[first : first + step]
        both = np.logical_and.reduce(holds[some], axis=1)
        masses = _masses(problem, both, holds)
        base, item = np.nonzero(_is_new(masses, both @ problem.v, of_items))
        gain = _gains(masses[base, item], prior)
        # A set comes up once for each of its items.
        best = np.argsort(-gain, kind="stable")[: MOST * length]
        found.append(np.column_stack([some[base[best]], item[best]]))
        gains.append(gain[best])
    return _each_once(np.sort(np.concatenate(found), axis=1), np.concatenate(gains))


def _masses(problem: BoostingProblem, some: Bools, holds: Bools) -> Array:
    """Return the weights by class of the rows to which one of some and an item apply, (n, n, k)."""
    masses = np.empty((some.shape[0], holds.shape[0], problem.k))
    for c in range(problem.k):
        rows = np.flatnonzero(problem.labels == c)
        masses[:, :, c] = (some[:, rows] * problem.v[rows]) @ holds[:, rows].T.astype(np.float64)
    return masses


def _is_new(masses: Array, some: Array, items: Array) -> Bools:
    """Return which conjunctions are usual, and apply to fewer rows than either part, (n, n)."""
    share = masses.sum(axis=2)
    fewer = share < np.minimum(some[:, None], items) - SLACK
    return np.asarray(is_usual(share) & fewer)


def _gains(masses: Array, prior: Array) -> Array:
    """Return the information in nats that a pattern gives about the class, (n,).

    `masses` (n, k) are the weights of the classes where it applies, `prior` (k,) all of them. The
    last digits are dropped: rounding must not decide between equals.
    """
    parts = [_negative_entropy(part) for part in (masses, prior - masses)]
    return np.asarray(np.round(parts[0] + parts[1] - _negative_entropy(prior), 12))


def _negative_entropy(masses: Array) -> Array:
    masses = np.maximum(masses, 0.0)  # a difference may be below zero by rounding
    total = masses.sum(axis=-1)
    return np.asarray(xlogy(masses, masses).sum(axis=-1) - xlogy(total, total))


def _each_once(sets: Ints, gains: Array) -> tuple[Ints, Array]:
    """Return the 2000 best sets, each once, the best first, and their gains."""
    sets, first = np.unique(sets, axis=0, return_index=True)
    best = np.argsort(-gains[first], kind="stable")[:MOST]
    return sets[best], gains[first][best]


_PATTERNS_TOGETHER = (
    1 << 16
)  # answers that are made numbers at a time, so that they stay in the cache


class PatternPool:
    """Stumps and conjunctions by place, the stumps first, to be searched as stumps are.

    Parameters
    ----------
    search : StumpSearch
    conjunctions : list of Conjunction
    holds : (n, m) bool array
        Which rows they answer +1.
    """

    def __init__(self, search: StumpSearch, conjunctions: list[Conjunction], holds: Bools) -> None:
        self._search, self._conjunctions, self._holds = search, conjunctions, holds

    def edges(self, G: Array) -> Array:
        """Return sum_i G_i h(x_i) of every pattern for signed weights G (m, q), (n, q)."""
        step = max(_PATTERNS_TOGETHER // G.shape[0], 1)
        parts = [
            self._holds[first : first + step].astype(np.float64) @ G
            for first in range(0, len(self._conjunctions), step)
        ]
        sums = np.concatenate([np.empty((0, G.shape[1])), *parts])
        return np.concatenate([self._search.edges(G), 2.0 * sums - G.sum(axis=0)])

    def right(self, place: int) -> Bools:
        """Return the rows that a pattern answers +1, (m,)."""
        number = place - len(self._search)
        return self._search.right(place) if number < 0 else self._holds[number]

    def learner(self, place: int) -> Learner | Conjunction:
        """Return a pattern as a weak classifier."""
        number = place - len(self._search)
        return self._search.learner(place) if number < 0 else self._conjunctions[number]


def with_conjunctions(problem: BoostingProblem, max_len: int) -> PatternPool:
    """Return the stumps of a problem and its best conjunctions of at most `max_len` items."""
    found = mined(problem, max_len)
    conjunctions = [Conjunction(items) for items in found.items]
    return PatternPool(problem.search, conjunctions, found.holds)


_NOISE = 1e-13  # of weights with sum 1


class AdaBoostSIP(Baseline):
    """Boosting of patterns and colours together (reconstruction): minimises what ECC does.

    With the pair weights D of `AdaBoostECC`, V_ic = O_ic sum_l D_il - D_ic and the edges
    G_j = sum_i h_j(x_i) V_i of all patterns, a round takes

    j = argmax sum_c abs(G_jc), mu(c) = sign(G_jc),

    which is the largest U (1 - 2 e) over all patterns and colours. Votes and weights follow as in
    `AdaBoostECC`: F_l += (a / 2) h_j(x) mu(l), a = ln((1 - e) / e) / 2. So does the objective of
    the history, sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}) / (k - 1).

    The source tells that shareable patterns are mined and boosted by functional gradient descent
    on a margin cost; that this cost is the one of ECC is an assumption.

    Source: Zhang, Ye, Wang, Xu and Herman, ICCV 2009. Rounds cost O(d m k), and O(2000 m k) more
    with conjunctions, which are found once, in O(d^2 m). The fitted attributes are those of
    `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    patterns : {"stumps", "conjunctions"}, default="stumps"
        "conjunctions" adds the 2000 conjunctions that tell most about the class. Their items are
        x_f > q and x_f <= q at the weighted quantiles of 1/3 and 2/3, and levels of categories;
        they apply to 5 % to 95 % of the rows.
    max_len : int, default=2
        Most items of a conjunction. Those of 3 and more extend the 2000 best that are shorter by
        one.
    select : {"l1", "cost"}, default="l1"
        "cost": the pattern with the least Z = 1 - U + 2 U sqrt(e (1 - e)) instead.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        patterns: str = "stumps",
        max_len: int = 2,
        select: str = "l1",
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.patterns = patterns
        self.max_len = max_len
        self.select = select
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        check_choice("patterns", self.patterns, ("stumps", "conjunctions"))
        check_choice("select", self.select, ("l1", "cost"))
        check_count("max_len", self.max_len, 2, "a number of items, at least 2")

    def _temper(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs, pool = ColouredPairs(problem), self._pool(problem)
        return (yield from boosted(pairs, self.learning_rate, lambda: self._choose(pairs, pool)))

    def _pool(self, problem: BoostingProblem) -> StumpSearch | PatternPool:
        if self.patterns == "stumps":
            return problem.search
        return with_conjunctions(problem, self.max_len)

    def _choose(self, pairs: ColouredPairs, pool: StumpSearch | PatternPool) -> Choice | None:
        G = pool.edges(pairs.gradient())
        worth = np.abs(G).sum(axis=1)
        if worth.max() < NO_EDGE:
            return None
        if self.select == "cost":
            worth = np.where(worth < NO_EDGE, -np.inf, -_costs(G, worth, pairs.confusion()))
        place = first_best(worth)
        task, right = pairs.task(colours_of(G[place])), pool.right(place)
        return Choice(task, pool.learner(place), right, task.error(right))


def _costs(G: Array, worth: Array, confusion: Array) -> Array:
    """Return Z = 1 - U + sqrt(U^2 - (U (1 - 2 e))^2) of all patterns, (n,).

    U (1 - 2 e) is half of `worth`. U is that of the best colours of a pattern.
    """
    mu = colours_of(G)
    U = (confusion.sum() - ((mu @ confusion) * mu).sum(axis=1)) / 2.0
    edge = worth / 2.0
    # A root makes much more of what is left of rounding.
    return np.asarray(1.0 - U + np.sqrt(np.maximum(U - edge - _NOISE, 0.0) * (U + edge)))
