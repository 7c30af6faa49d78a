"""AdaBoost.OC: output codes that are drawn round by round."""

from dataclasses import replace
from typing import Any

from ..data.validation import check_choice
from .base import Baseline, Rounds
from .coloured_pairs import Choice, ColouredPairs
from .coloured_rounds import boosted
from .colourings import PARTITIONS, drawn_stump
from .rounds import Problem


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

    def _rounds(self, problem: Problem) -> Rounds:
        pairs = ColouredPairs(problem)

        def choose() -> Choice | None:
            choice = drawn_stump(pairs, self.partition)
            return None if choice is None else replace(choice, error=_pseudo_error(choice))

        return (yield from boosted(pairs, self.learning_rate, choose))


def _pseudo_error(choice: Choice) -> float:
    """Return (1/2) sum_il D_il ([h(x_i) != mu(y_i)] + [h(x_i) = mu(l)])."""
    return 0.5 - choice.task.U * (0.5 - choice.error)
