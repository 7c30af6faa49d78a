"""What AdaBoost.M1 and SAMME share: boosting of weak classifiers that name a class."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import get_tags

from ..arrays import Array
from ..history import Status
from .base import Baseline, Rounds
from .leaf_labels import Rule, best_stump, fitted_rule, refuse_unfit
from .rounds import NO_EDGE, Problem, Round, log_odds


class LabelBoosting(Baseline):
    """Boosting of weak classifiers g of several classes, each better than an error `limit`.

    D_i starts at v_i. A round with the error e = sum_i D_i [g(x_i) != y_i] < limit adds
    a = ln((1 - e) / e) + ln(limit / (1 - limit)) to the score of the class g(x), multiplies D_i by
    exp(a [g(x_i) != y_i]) and divides D by its sum. It minimises
    sum_i v_i exp((1 - limit) sum_c F_c - F_{y_i}) stage by stage.
    """

    _worse: ClassVar[Status]

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        weak_learner: Any = None,
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.weak_learner = weak_learner
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _limit(self, k: int) -> float:
        """Return the error of a round that is as good as none."""

    def _check(self) -> None:
        super()._check()
        if self.weak_learner is not None:
            refuse_unfit(self.weak_learner)

    def _temper(self) -> float | None:
        return 1.0

    def _rounds(self, problem: Problem) -> Rounds:
        self._shares = 1 if self.weak_learner is None else problem.k
        limit, D, objective = self._limit(problem.k), problem.v.copy(), 1.0
        while True:
            rule = self._rule(problem, D)
            wrong = rule.labels != problem.labels
            error = float(D[wrong].sum())
            if error >= limit - NO_EDGE:
                return self._worse
            a = self.learning_rate * (log_odds(error) - log_odds(limit))
            D[wrong] *= np.exp(a)
            total = float(D.sum())
            D /= total
            objective *= total * float(np.exp(-a * limit))
            yield Round(rule.learners, a * rule.left, a * rule.right, a, error, objective)
            if error == 0.0:
                return Status.SEPARATED

    def _rule(self, problem: Problem, D: Array) -> Rule:
        if self.weak_learner is None:
            return best_stump(problem, D)
        return fitted_rule(problem, D, self.weak_learner, self.random_state is not None)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what X may be, which a foreign weak learner has a say in."""
        tags = super().__sklearn_tags__()
        if self.weak_learner is not None:
            own = get_tags(self.weak_learner).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = own.allow_nan, own.sparse
        return tags
