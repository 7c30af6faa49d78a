"""AdaBoost-SIP: shareable patterns, each with the colours of the classes that suit it best."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice, check_count
from .base import Baseline, Rounds
from .coloured_pairs import Choice, ColouredPairs, colours_of
from .coloured_rounds import boosted
from .patterns import PatternPool, with_conjunctions
from .rounds import NO_EDGE, Problem
from .search import StumpSearch, first_best

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

    def _rounds(self, problem: Problem) -> Rounds:
        pairs, pool = ColouredPairs(problem), self._pool(problem)
        return (yield from boosted(pairs, self.learning_rate, lambda: self._choose(pairs, pool)))

    def _pool(self, problem: Problem) -> StumpSearch | PatternPool:
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
