"""AdaBoost-SIP: boosting of shared patterns, and the mining of conjunctions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..arrays import Array, Bools, Ints, Scores, column
from ..data.validation import check_choice, check_count
from ..model.learners import CategoryStump, Conjunction, Constant, Learner, Stump
from .base import Baseline, Rounds
from .colouring import Candidate, ColouredPairs, best_colours, boosting_rounds
from .stump_search import NO_EDGE, BoostingProblem, StumpSearch, first_maximum

MAX_CONJUNCTIONS = 2000

_SLACK = 1e-12  # tolerance for rounding, of shares
_MIN_SUPPORT, _MAX_SUPPORT = 0.05, 0.95  # of a pattern, as shares of the weights of the rows
_MINING_BATCH = 1 << 21  # numbers per batch
_POOL_BATCH = 1 << 16  # values that are converted to float at a time: they fit into the cache
_NOISE = 1e-13  # rounding errors of weights with sum 1

Item = Stump | CategoryStump


def frequent_items(problem: BoostingProblem) -> tuple[list[Item], Bools]:
    """Return the items with a support of 5 % to 95 %, and a mask of their rows, (n, m)."""
    found, sides = [], []
    for item in _items(problem):
        side = item.predict(problem.X) > 0.0
        if is_frequent(side @ problem.v):
            found.append(item)
            sides.append(side)
    return found, np.array(sides, dtype=bool).reshape(len(found), problem.v.size)


def _items(problem: BoostingProblem) -> Iterator[Item]:
    """Yield all items, feature by feature."""
    search = problem.search
    by_feature = np.split(np.arange(len(search)), np.flatnonzero(np.diff(search.feature)) + 1)
    for places in by_feature[:-1]:  # the last entry is the constant
        feature, first = int(search.feature[places[0]]), search.learner(int(places[0]))
        if isinstance(first, CategoryStump):
            yield from _levels([search.learner(place) for place in places.tolist()])
        else:
            for q in _thirds(column(problem.X, feature), problem.v):
                yield Stump(feature, q, 1, missing_right=False)
                yield Stump(feature, q, -1, missing_right=True)


def _levels(rules: list[Learner]) -> Iterator[Item]:
    """Yield the stumps of a categorical feature, and their negations."""
    for rule in rules:
        assert not isinstance(rule, Constant)
        yield from (rule, replace(rule, polarity=-rule.polarity))


def _thirds(x: Scores, v: Array) -> list[float]:
    """Return the weighted quantiles 1/3 and 2/3 of the non-missing values x (m,)."""
    present = ~np.isnan(x)
    if not present.any():
        return []
    values, place = np.unique(x[present], return_inverse=True)
    mass = np.cumsum(np.bincount(place, v[present]))
    targets = mass[-1] * np.array([1.0, 2.0]) / 3.0 * (1.0 - _SLACK)
    return [float(q) for q in np.unique(values[np.searchsorted(mass, targets)])]


def is_frequent(share: Any) -> Any:
    """Return whether supports, as shares of the rows, lie between 5 % and 95 %."""
    return (share >= _MIN_SUPPORT - _SLACK) & (share <= _MAX_SUPPORT + _SLACK)


def mine_conjunctions(
    problem: BoostingProblem, max_len: int
) -> tuple[list[tuple[Item, ...]], Bools]:
    """Return the 2000 conjunctions of 2 to `max_len` items with the largest information gain.

    Items are x_f > q and x_f <= q at the weighted quantiles q of 1/3 and 2/3, and single levels of
    categorical features. The support of items and conjunctions is 5 % to 95 % of the rows. A
    conjunction extends an item, or one of the 2000 best conjunctions of one length less, by an
    item; its support is smaller than that of both.

    Returns
    -------
    conjunctions : list of tuples of items, the best first
    holds : (n, m) bool array
        The rows to which the conjunctions apply.
    """
    items, holds = frequent_items(problem)
    last: Ints = np.arange(len(items))[:, None]
    sets, gains = [], []
    for _ in range(1, max_len):
        last, gain = _extended(problem, holds, last)
        sets += [tuple(places) for places in last.tolist()]
        gains.append(gain)
    best = np.argsort(-np.concatenate(gains), kind="stable")[:MAX_CONJUNCTIONS].tolist()
    together = [holds[list(sets[n])].all(axis=0) for n in best]
    conjunctions = [tuple(items[place] for place in sets[n]) for n in best]
    return conjunctions, np.array(together, dtype=bool).reshape(len(best), problem.v.size)


def _extended(problem: BoostingProblem, holds: Bools, sets: Ints) -> tuple[Ints, Array]:
    """Return the best extensions of item sets by one item, and their gains (n,).

    `holds` are the rows of all items, (items, m); `sets` are indices of items, (sets, length - 1).
    The result is (n, length), each row in ascending order.
    """
    length = sets.shape[1] + 1
    prior, of_items = problem.v @ problem.own, holds @ problem.v
    step = max(_MINING_BATCH // max(holds.shape[0] * problem.k, length * problem.v.size), 1)
    found, gains = [np.empty((0, length), dtype=np.intp)], [np.empty(0)]
    for first in range(0, sets.shape[0], step):
        some = sets[first : first + step]
        both = np.logical_and.reduce(holds[some], axis=1)
        masses = _masses(problem, both, holds)
        base, item = np.nonzero(_admissible(masses, both @ problem.v, of_items))
        gain = _gains(masses[base, item], prior)
        # A set is found once for each of its items.
        best = np.argsort(-gain, kind="stable")[: MAX_CONJUNCTIONS * length]
        found.append(np.column_stack([some[base[best]], item[best]]))
        gains.append(gain[best])
    return _best_distinct(np.sort(np.concatenate(found), axis=1), np.concatenate(gains))


def _masses(problem: BoostingProblem, some: Bools, holds: Bools) -> Array:
    """Return the class weights of the rows where a set and an item hold, (sets, items, k)."""
    masses = np.empty((some.shape[0], holds.shape[0], problem.k))
    for c in range(problem.k):
        rows = np.flatnonzero(problem.labels == c)
        masses[:, :, c] = (some[:, rows] * problem.v[rows]) @ holds[:, rows].T.astype(np.float64)
    return masses


def _admissible(masses: Array, some: Array, items: Array) -> Bools:
    """Return a mask of frequent conjunctions with less support than either part, (n, n)."""
    share = masses.sum(axis=2)
    fewer = share < np.minimum(some[:, None], items) - _SLACK
    return np.asarray(is_frequent(share) & fewer)


def _gains(masses: Array, prior: Array) -> Array:
    """Return the information gain of patterns in nats, (n,).

    `masses` (n, k) are the class weights of the rows where a pattern holds, `prior` (k,) those of
    all rows. The result is rounded, so that ties do not depend on rounding errors.
    """
    parts = [_negative_entropy(part) for part in (masses, prior - masses)]
    return np.asarray(np.round(parts[0] + parts[1] - _negative_entropy(prior), 12))


def _negative_entropy(masses: Array) -> Array:
    masses = np.maximum(masses, 0.0)  # differences can be negative by rounding
    total = masses.sum(axis=-1)
    return np.asarray(xlogy(masses, masses).sum(axis=-1) - xlogy(total, total))


def _best_distinct(sets: Ints, gains: Array) -> tuple[Ints, Array]:
    """Return the 2000 best distinct sets, the best first, and their gains."""
    sets, first = np.unique(sets, axis=0, return_index=True)
    best = np.argsort(-gains[first], kind="stable")[:MAX_CONJUNCTIONS]
    return sets[best], gains[first][best]


class PatternPool:
    """Stumps and conjunctions, searched in the same way as stumps.

    Places are numbered; the stumps come first.

    Parameters
    ----------
    search : StumpSearch
    conjunctions : list of Conjunction
    holds : (n, m) bool array
        The rows to which the conjunctions apply.
    """

    def __init__(self, search: StumpSearch, conjunctions: list[Conjunction], holds: Bools) -> None:
        self._search, self._conjunctions, self._holds = search, conjunctions, holds

    def edges(self, G: Array) -> Array:
        """Return the edges sum_i G_i h(x_i) of all patterns for signed weights G (m, q), (n, q)."""
        step = max(_POOL_BATCH // G.shape[0], 1)
        parts = [
            self._holds[first : first + step].astype(np.float64) @ G
            for first in range(0, len(self._conjunctions), step)
        ]
        sums = np.concatenate([np.empty((0, G.shape[1])), *parts])
        return np.concatenate([self._search.edges(G), 2.0 * sums - G.sum(axis=0)])

    def right(self, place: int) -> Bools:
        """Return a mask of the rows with h(x) = +1, (m,)."""
        number = place - len(self._search)
        return self._search.right(place) if number < 0 else self._holds[number]

    def learner(self, place: int) -> Learner | Conjunction:
        """Return a pattern as a weak classifier."""
        number = place - len(self._search)
        return self._search.learner(place) if number < 0 else self._conjunctions[number]


def make_pattern_pool(problem: BoostingProblem, max_len: int) -> PatternPool:
    """Return the stumps of a problem and its best conjunctions of at most `max_len` items."""
    conjunctions, holds = mine_conjunctions(problem, max_len)
    return PatternPool(problem.search, [Conjunction(items) for items in conjunctions], holds)


class AdaBoostSIP(Baseline):
    """AdaBoost-SIP: joint search for a pattern and a colouring of the classes (reconstruction).

    It minimises the objective of `AdaBoostECC`. With the pair weights D of `AdaBoostECC`,
    V_ic = O_ic sum_l D_il - D_ic and the edges G_j = sum_i h_j(x_i) V_i of all patterns, a round
    chooses

    j = argmax sum_c abs(G_jc), mu(c) = sign(G_jc),

    which gives the largest U (1 - 2 e) over all patterns and colourings. Votes and weights are
    those of `AdaBoostECC`: F_l += (a / 2) h_j(x) mu(l), a = ln((1 - e) / e) / 2. The objective of
    the history is sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}) / (k - 1).

    The source states that shareable patterns are mined and boosted by functional gradient descent
    on a margin cost. That this cost is the one of AdaBoost.ECC is an assumption.

    Source: Zhang, Ye, Wang, Xu and Herman, ICCV 2009. A round costs O(d m k), and O(2000 m k) more
    with conjunctions, which are mined once, in O(d^2 m). The fitted attributes are those of
    `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    patterns : {"stumps", "conjunctions"}, default="stumps"
        "conjunctions" adds the 2000 conjunctions with the largest information gain. Their items are
        x_f > q and x_f <= q at the weighted quantiles of 1/3 and 2/3, and levels of categorical
        features. Each conjunction applies to 5 % to 95 % of the rows.
    max_len : int, default=2
        Maximum number of items of a conjunction, at least 2. Conjunctions of 3 and more items
        extend the 2000 best of one item less.
    select : {"l1", "cost"}, default="l1"
        "cost" chooses the pattern with the least Z = 1 - U + 2 U sqrt(e (1 - e)) instead.
    learning_rate : float, default=1.0
        Shrinkage factor on the votes of every round, in (0, 1].
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
    >>> from directboost.baselines import AdaBoostSIP
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostSIP(20).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("patterns", self.patterns, ("stumps", "conjunctions"))
        check_choice("select", self.select, ("l1", "cost"))
        check_count("max_len", self.max_len, 2, "an integer >= 2")

    def _odds_factor(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs, pool = ColouredPairs(problem), self._pool(problem)
        return (
            yield from boosting_rounds(pairs, self.learning_rate, lambda: self._choose(pairs, pool))
        )

    def _pool(self, problem: BoostingProblem) -> StumpSearch | PatternPool:
        if self.patterns == "stumps":
            return problem.search
        return make_pattern_pool(problem, self.max_len)

    def _choose(self, pairs: ColouredPairs, pool: StumpSearch | PatternPool) -> Candidate | None:
        G = pool.edges(pairs.gradient())
        worth = np.abs(G).sum(axis=1)
        if worth.max() < NO_EDGE:
            return None
        if self.select == "cost":
            worth = np.where(worth < NO_EDGE, -np.inf, -_costs(G, worth, pairs.confusion()))
        place = first_maximum(worth)
        problem, right = pairs.binary_problem(best_colours(G[place])), pool.right(place)
        return Candidate(problem, pool.learner(place), right, problem.error(right))


def _costs(G: Array, worth: Array, confusion: Array) -> Array:
    """Return Z = 1 - U + sqrt(U^2 - (U (1 - 2 e))^2) of all patterns, (n,).

    U (1 - 2 e) is half of `worth`; U is that of the best colours of a pattern.
    """
    mu = best_colours(G)
    U = (confusion.sum() - ((mu @ confusion) * mu).sum(axis=1)) / 2.0
    edge = worth / 2.0
    # The square root would amplify rounding errors.
    return np.asarray(1.0 - U + np.sqrt(np.maximum(U - edge - _NOISE, 0.0) * (U + edge)))
