"""AdaBoost.OC and AdaBoost.ECC: output codes drawn round by round."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Bools
from ..data.validation import check_choice, check_count
from .base import Baseline, Rounds
from .colouring import (
    PARTITIONS,
    Candidate,
    ColouredPairs,
    best_colours,
    boosting_rounds,
    choose_stump,
    symmetric_vote,
)
from .stump_search import BoostingProblem


class AdaBoostOC(Baseline):
    """AdaBoost.OC: boosting of the pseudo-loss with a random colouring of the classes per round.

    Pairs of a row and a wrong class have weights D_il, which start at v_i / (k - 1). A round draws
    colours mu of the classes. With W_i = sum of D_il over mu(l) != mu(y_i), U = sum_i W_i and
    d_i = W_i / U, it adds the stump with the least error e = sum_i d_i [h(x_i) != mu(y_i)]:

    p = 1/2 - U (1/2 - e), a = ln((1 - p) / p) / 2, F_l += (a / 2) h(x) mu(l).

    D_il is then multiplied by exp(-(a / 2) h(x_i) (mu(y_i) - mu(l))) and divided by its sum. If U
    or the edge of the stump is below 1e-12, other colours are drawn, at most 20 times. The
    objective of the history is sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}) / (k - 1).

    Source: Schapire, ICML 1997. A round costs O(m k + d m). The fitted attributes are those of
    `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    partition : {"half", "coin", "max_cut"}, default="half"
        How the classes are coloured in every round. "half": floor(k / 2) classes, drawn at random,
        have one colour. "coin": every class draws its colour. "max_cut": the colouring with the
        largest U instead of a random one, exact for up to 13 classes and greedy beyond.
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
    random_state : int, RandomState or None, default=None
        Seed of the random colourings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import AdaBoostOC
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostOC(20, random_state=0).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        partition: str = "half",
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.partition = partition
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("partition", self.partition, PARTITIONS)

    def _odds_factor(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs = ColouredPairs(problem)

        def choose() -> Candidate | None:
            candidate = choose_stump(pairs, self.partition)
            return None if candidate is None else replace(candidate, error=_pseudo_error(candidate))

        return (yield from boosting_rounds(pairs, self.learning_rate, choose))


def _pseudo_error(candidate: Candidate) -> float:
    """Return (1/2) sum_il D_il ([h(x_i) != mu(y_i)] + [h(x_i) = mu(l)])."""
    return 0.5 - candidate.problem.U * (0.5 - candidate.error)


class AdaBoostECC(Baseline):
    """AdaBoost.ECC: boosting with an error-correcting code built round by round.

    It minimises sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}). Every round has colours mu of the
    classes and the stump h of least error e for them, as in `AdaBoostOC`, and adds
    F_l += g(x) mu(l) / 2:

    ===========  =======================================================================
    votes        g(x)
    ===========  =======================================================================
    "symmetric"  a h(x), a = ln((1 - e) / e) / 2: the exact line search
    "two_sided"  ln((P + u) / (N + u)) / 2 with P and N the weights d_i of the rows of
                 colour +1 and -1 on the side of x, u = 1 / (2 m), m the sum of the
                 sample weights, at least the number of rows
    ===========  =======================================================================

    The objective of the history is the sum above divided by k - 1; it starts at 1. Since m is at
    least the number of rows, two rows of weight 1/2 are not exactly equivalent to one row of weight
    1 with two-sided votes.

    Source: Guruswami and Sahai, COLT 1999; two-sided votes as in Sun, Todorovic and Li, Pattern
    Recognition Letters 28, 2007; repartitioning in Li, ICML 2006. A round costs O(m k + d m). The
    fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    partition : {"half", "coin", "max_cut"}, default="half"
        How the classes are coloured in every round. "half": floor(k / 2) classes, drawn at random,
        have one colour. "coin": every class draws its colour. "max_cut": the colouring with the
        largest U instead of a random one, exact for up to 13 classes and greedy beyond.
    votes : {"symmetric", "two_sided"}, default="symmetric"
        Votes on both sides of a stump, see the table above.
    repartition : int, default=0
        Number of repetitions in every round: each recolours the classes in the best way for the
        stump, as `AdaBoostSIP` does, and searches for another stump.
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
    random_state : int, RandomState or None, default=None
        Seed of the random colourings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import AdaBoostECC
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostECC(20, random_state=0).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        partition: str = "half",
        votes: str = "symmetric",
        repartition: int = 0,
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.partition = partition
        self.votes = votes
        self.repartition = repartition
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("partition", self.partition, PARTITIONS)
        check_choice("votes", self.votes, ("symmetric", "two_sided"))
        check_count("repartition", self.repartition, 0, "an integer >= 0")

    def _odds_factor(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs = ColouredPairs(problem)
        two_sided = partial(_two_sided_vote, smoothing=1.0 / (2.0 * problem.size))
        vote = symmetric_vote if self.votes == "symmetric" else two_sided
        choose = partial(self._choose, pairs)
        return (yield from boosting_rounds(pairs, self.learning_rate, choose, vote))

    def _choose(self, pairs: ColouredPairs) -> Candidate | None:
        candidate = choose_stump(pairs, self.partition)
        if candidate is None:
            return None
        for _ in range(self.repartition):
            candidate = _repartitioned(pairs, candidate)
        return candidate


def _repartitioned(pairs: ColouredPairs, candidate: Candidate) -> Candidate:
    """Return the best stump for the best colours of a stump."""
    G = np.where(candidate.right, 1.0, -1.0) @ pairs.gradient()
    # U (1 - 2 e) does not decrease, so the edge can only vanish by rounding.
    return pairs.best_stump(best_colours(G)) or candidate


def _two_sided_vote(candidate: Candidate, smoothing: float) -> tuple[float, float]:
    """Return ln((P + u) / (N + u)) / 2 for h(x) = -1 and for h(x) = +1."""
    signed = candidate.problem.signed

    def on(side: Bools) -> float:
        plus, minus = np.maximum(signed, 0.0) @ side, np.maximum(-signed, 0.0) @ side
        return float(np.log((plus + smoothing) / (minus + smoothing)) / 2.0)

    return on(~candidate.right), on(candidate.right)
