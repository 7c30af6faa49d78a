"""AdaBoost.ECC: output codes that are drawn round by round, with the best step for each."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Bools
from ..data.validation import check_choice, check_count
from .base import Baseline, Rounds
from .colouring import (
    PARTITIONS,
    Choice,
    ColouredPairs,
    boosted,
    colours_of,
    drawn_stump,
    symmetric_vote,
)
from .stump_search import BoostingProblem


class AdaBoostOC(Baseline):
    """Boosting of the pseudo-loss: every round a stump for two colours of the classes.

    Pairs of a row and a wrong class have weights D_il, which start at v_i / (k - 1). A round
    draws colours mu of the classes. With W_i = sum of D_il over mu(l) != mu(y_i), U = sum_i W_i
    and d_i = W_i / U, its stump has the least error e = sum_i d_i [h(x_i) != mu(y_i)]. Then

    p = 1/2 - U (1/2 - e), a = ln((1 - p) / p) / 2, F_l += (a / 2) h(x) mu(l),

    and D_il is multiplied by exp(-(a / 2) h(x_i) (mu(y_i) - mu(l))) and divided by its sum. Where
    U or the edge of the stump is below 1e-12, other colours are drawn, at most 20 times. The
    objective of the history is sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}) / (k - 1).

    Source: Schapire, ICML 1997. Rounds cost O(m k + d m). The fitted attributes are those of
    `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    partition : {"half", "coin", "max_cut"}, default="half"
        "half": floor(k / 2) classes drawn at random have one colour. "coin": every class has
        either. "max_cut": not drawn, but those of largest U: exact up to 13 classes, greedy beyond.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Of the colours.
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

    def _check(self) -> None:
        super()._check()
        check_choice("partition", self.partition, PARTITIONS)

    def _temper(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs = ColouredPairs(problem)

        def choose() -> Choice | None:
            choice = drawn_stump(pairs, self.partition)
            return None if choice is None else replace(choice, error=_pseudo_error(choice))

        return (yield from boosted(pairs, self.learning_rate, choose))


def _pseudo_error(choice: Choice) -> float:
    """Return (1/2) sum_il D_il ([h(x_i) != mu(y_i)] + [h(x_i) = mu(l)])."""
    return 0.5 - choice.task.U * (0.5 - choice.error)


class AdaBoostECC(Baseline):
    """Boosting of error-correcting codes: minimises sum_i v_i sum_{l != y_i} exp(F_l - F_{y_i}).

    Every round has colours mu of the classes and the stump h of least error e for them, as in
    `AdaBoostOC`, and adds F_l += g(x) mu(l) / 2:

    ===========  =======================================================================
    votes        g(x)
    ===========  =======================================================================
    "symmetric"  a h(x), a = ln((1 - e) / e) / 2: the exact line search
    "two_sided"  ln((P + u) / (N + u)) / 2 with P and N the weights d_i of the rows of
                 colour +1 and -1 on the side of x, u = 1 / (2 m), m the sum of the
                 sample weights, at least the number of rows
    ===========  =======================================================================

    The objective of the history is the sum above over k - 1, which starts at 1. Because of m, two
    rows of weight 1/2 are not quite one row of weight 1 with two-sided votes.

    Source: Guruswami and Sahai, COLT 1999; two-sided votes as in Sun, Todorovic and Li, Pattern
    Recognition Letters 28, 2007; repartitioning in Li, ICML 2006. Rounds cost O(m k + d m). The
    fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    partition : {"half", "coin", "max_cut"}, default="half"
        As for `AdaBoostOC`.
    votes : {"symmetric", "two_sided"}, default="symmetric"
    repartition : int, default=0
        So many times a round gives the classes the colours that suit its stump best, as
        `AdaBoostSIP` does, and searches for another stump.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Of the colours.
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

    def _check(self) -> None:
        super()._check()
        check_choice("partition", self.partition, PARTITIONS)
        check_choice("votes", self.votes, ("symmetric", "two_sided"))
        check_count("repartition", self.repartition, 0, "a number of times, at least 0")

    def _temper(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        pairs = ColouredPairs(problem)
        two_sided = partial(_two_sided_vote, smoothing=1.0 / (2.0 * problem.size))
        vote = symmetric_vote if self.votes == "symmetric" else two_sided
        choose = partial(self._choose, pairs)
        return (yield from boosted(pairs, self.learning_rate, choose, vote))

    def _choose(self, pairs: ColouredPairs) -> Choice | None:
        choice = drawn_stump(pairs, self.partition)
        if choice is None:
            return None
        for _ in range(self.repartition):
            choice = _repartitioned(pairs, choice)
        return choice


def _repartitioned(pairs: ColouredPairs, choice: Choice) -> Choice:
    """Return the best stump for the colours that suit a stump best."""
    G = np.where(choice.right, 1.0, -1.0) @ pairs.gradient()
    # U (1 - 2 e) does not fall, so that only rounding can leave no edge.
    return pairs.best_stump(colours_of(G)) or choice


def _two_sided_vote(choice: Choice, smoothing: float) -> tuple[float, float]:
    """Return ln((P + u) / (N + u)) / 2 where a stump answers -1, and where it answers +1."""
    signed = choice.task.signed

    def on(side: Bools) -> float:
        plus, minus = np.maximum(signed, 0.0) @ side, np.maximum(-signed, 0.0) @ side
        return float(np.log((plus + smoothing) / (minus + smoothing)) / 2.0)

    return on(~choice.right), on(choice.right)
