"""Weak classifiers that name a class: stumps with a label on each side, and foreign ones."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..arrays import Array, Ints
from ..history import Status
from ..model.learners import ClassAnswer, FittedClasses, WeakClassifier
from ..oracles.classifier import features_read, fresh, stepped
from .base import Baseline, Rounds
from .stump_search import NO_EDGE, BoostingProblem, Round, first_best, first_bests, log_odds

_ROUNDING = 1e-12  # share by which a weight that was a whole number may be off


@dataclass(frozen=True)
class Rule:
    """A weak classifier g of several classes.

    Attributes
    ----------
    labels : (m,) int array
        g(x_i), the classes it names.
    learners : sequence of WeakClassifier
    left, right : (n, k) arrays
        The unit vector of g(x) is the sum of right[n] where learners[n] answers +1 and left[n]
        where not.
    """

    labels: Ints
    learners: Sequence[WeakClassifier]
    left: Array
    right: Array


def best_stump(problem: BoostingProblem, D: Array) -> Rule:
    """Return the stump and the labels of its two sides with the least weighted error.

    With P_c and N_c the weights D (m,) of class c on the right and on the left of it, its accuracy
    is max_c P_c + max_c N_c, and the labels are where these maxima are.
    """
    right = problem.search.edges(D[:, None] * problem.own)
    total = np.bincount(problem.labels, D, problem.k)
    accuracy = (total - right).max(axis=1)
    right += total
    accuracy += right.max(axis=1)
    place = first_best(accuracy)
    side = problem.search.right(place).astype(np.intp)
    # Weights of rows themselves: in differences a light side would drown in rounding.
    masses = np.bincount(problem.labels * 2 + side, D, 2 * problem.k).reshape(-1, 2)
    names = first_bests(masses.astype(np.float64))
    units = np.eye(problem.k)[names]
    return Rule(names[side], [problem.search.learner(place)], units[:1], units[1:])


def fitted_rule(problem: BoostingProblem, D: Array, classifier: Any, seeded: bool) -> Rule:
    """Return a copy of a scikit-learn classifier, fitted to the rows with weights D (m,)."""
    copy = fresh(classifier, problem.random if seeded else None)
    copy.fit(problem.X, problem.labels, sample_weight=stepped(D, _given(problem), 1.0))
    source = FittedClasses(copy, features_read(copy, problem.X.shape[1]), problem.k)
    learners = [ClassAnswer(source, number) for number in range(problem.k)]
    none = np.zeros((problem.k, problem.k))
    return Rule(source.apply(problem.X), learners, none, np.eye(problem.k))


def _given(problem: BoostingProblem) -> Array:
    """Return the weights of the rows as they were given, whole numbers without rounding, (m,)."""
    given = problem.v * problem.size
    whole = np.rint(given)
    return np.where(np.abs(given - whole) < _ROUNDING * given, whole, given)


def check_rule(classifier: Any) -> None:
    """Refuse what is no unfitted scikit-learn classifier of weighted rows."""
    known = hasattr(classifier, "__sklearn_tags__") and not isinstance(classifier, type)
    if not (known and is_classifier(classifier) and has_fit_parameter(classifier, "sample_weight")):
        raise ValueError(
            f"weak_learner={classifier!r} does not fit: it takes None for stumps, or a "
            "scikit-learn classifier whose fit takes sample_weight, such as "
            "DecisionTreeClassifier(max_depth=2)"
        )


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
            check_rule(self.weak_learner)

    def _temper(self) -> float | None:
        return 1.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
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

    def _rule(self, problem: BoostingProblem, D: Array) -> Rule:
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


class AdaBoostM1(LabelBoosting):
    """The first multi-class AdaBoost: every weak classifier must be right for half of the weight.

    D_i starts at v_i. A round takes the weak classifier g with the least error
    e = sum_i D_i [g(x_i) != y_i], adds a = ln((1 - e) / e) to the score of the class g(x), then
    multiplies D_i by exp(a [g(x_i) != y_i]) and divides D by its sum. With e >= 1/2 the fit ends,
    status "worse_than_half", which stumps for many classes may reach before the first round; with
    e = 0 it ends after the round, "separated". The stumps have a class on each side.

    The objective is sum_i v_i exp(sum_c F_c / 2 - F_{y_i}): without shrinkage the product of
    2 sqrt(e (1 - e)), which bounds the training error.

    Source: Freund and Schapire, Journal of Computer and System Sciences 55, 1997. Rounds cost
    O(d m k) with stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    weak_learner : scikit-learn classifier or None, default=None
        Whose `fit` takes `sample_weight`, such as `DecisionTreeClassifier(max_depth=5)`. It is
        cloned for every round and gets weights with sum about 1. None: stumps.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Gives every clone of `weak_learner` a seed; None leaves it the one it has.
    """

    _worse: ClassVar[Status] = Status.WORSE_THAN_HALF

    def _limit(self, k: int) -> float:
        del k
        return 0.5


class SAMME(LabelBoosting):
    """Stage-wise boosting of the multi-class exponential loss: weak means better than guessing.

    As `AdaBoostM1`, with a = ln((1 - e) / e) + ln(k - 1), positive for e < 1 - 1/k. From there on
    the fit ends, status "no_edge"; with e = 0 it ends after the round, "separated". For two classes
    this is `AdaBoostM1`, and with the same trees as `weak_learner` it is scikit-learn's
    `AdaBoostClassifier`.

    The objective is sum_i v_i exp(sum_c F_c / k - F_{y_i}).

    Source: Zhu, Zou, Rosset and Hastie, Statistics and Its Interface 2, 2009. Rounds cost O(d m k)
    with stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    weak_learner : scikit-learn classifier or None, default=None
        Whose `fit` takes `sample_weight`, such as `DecisionTreeClassifier(max_depth=2)`. It is
        cloned for every round and gets weights with sum about 1. None: stumps with a class on each
        side.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Gives every clone of `weak_learner` a seed; None leaves it the one it has.
    """

    _worse: ClassVar[Status] = Status.NO_EDGE

    def _limit(self, k: int) -> float:
        return 1.0 - 1.0 / k
