"""AdaBoost.M1 and SAMME: boosting of weak classifiers that predict a class."""

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
from .stump_search import NO_EDGE, BoostingProblem, Round, first_maxima, first_maximum, log_odds

_ROUNDING = 1e-12  # relative rounding error of a weight that was an integer


@dataclass(frozen=True)
class LabelRule:
    """A multi-class weak classifier g.

    Attributes
    ----------
    labels : (m,) int array
        Predicted classes g(x_i).
    learners : sequence of WeakClassifier
    left, right : (n, k) arrays
        The unit vector of g(x) is the sum of right[n] for learners[n](x) = +1 and of left[n] for
        learners[n](x) = -1.
    """

    labels: Ints
    learners: Sequence[WeakClassifier]
    left: Array
    right: Array


def best_stump(problem: BoostingProblem, D: Array) -> LabelRule:
    """Return the stump, and the classes on its two sides, with the least weighted error.

    With P_c and N_c the weights D (m,) of class c on its right and on its left, the accuracy is
    max_c P_c + max_c N_c; the classes are where these maxima are attained.
    """
    right = problem.search.edges(D[:, None] * problem.own)
    total = np.bincount(problem.labels, D, problem.k)
    accuracy = (total - right).max(axis=1)
    right += total
    accuracy += right.max(axis=1)
    place = first_maximum(accuracy)
    side = problem.search.right(place).astype(np.intp)
    # Summed directly: as a difference, the weight of a light side would be lost in rounding.
    masses = np.bincount(problem.labels * 2 + side, D, 2 * problem.k).reshape(-1, 2)
    names = first_maxima(masses.astype(np.float64))
    units = np.eye(problem.k)[names]
    return LabelRule(names[side], [problem.search.learner(place)], units[:1], units[1:])


def fit_rule(problem: BoostingProblem, D: Array, classifier: Any, seeded: bool) -> LabelRule:
    """Return a clone of a scikit-learn classifier, fitted to the rows with weights D (m,)."""
    copy = fresh(classifier, problem.random if seeded else None)
    copy.fit(problem.X, problem.labels, sample_weight=stepped(D, _whole_weights(problem), 1.0))
    source = FittedClasses(copy, features_read(copy, problem.X.shape[1]), problem.k)
    learners = [ClassAnswer(source, number) for number in range(problem.k)]
    none = np.zeros((problem.k, problem.k))
    return LabelRule(source.apply(problem.X), learners, none, np.eye(problem.k))


def _whole_weights(problem: BoostingProblem) -> Array:
    """Return the sample weights, (m,); integer weights are restored without rounding errors."""
    given = problem.v * problem.size
    whole = np.rint(given)
    return np.where(np.abs(given - whole) < _ROUNDING * given, whole, given)


def check_weak_learner(classifier: Any) -> None:
    """Reject anything but an unfitted scikit-learn classifier that accepts sample weights."""
    valid = hasattr(classifier, "__sklearn_tags__") and not isinstance(classifier, type)
    if not (valid and is_classifier(classifier) and has_fit_parameter(classifier, "sample_weight")):
        raise ValueError(
            f"weak_learner={classifier!r} is invalid: expected None for stumps, or an unfitted "
            "scikit-learn classifier whose fit accepts sample_weight, such as "
            "DecisionTreeClassifier(max_depth=2)"
        )


class LabelBoosting(Baseline):
    """Boosting of multi-class weak classifiers g with an error below a limit.

    D_i starts at v_i. A round with the error e = sum_i D_i [g(x_i) != y_i] < limit adds
    a = ln((1 - e) / e) + ln(limit / (1 - limit)) to the score of the class g(x), multiplies D_i by
    exp(a [g(x_i) != y_i]) and divides D by its sum. This is stage-wise minimisation of
    sum_i v_i exp((1 - limit) sum_c F_c - F_{y_i}).
    """

    _end_status: ClassVar[Status]

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
    def _error_limit(self, k: int) -> float:
        """Return the error at which a weak classifier is useless."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weak_learner is not None:
            check_weak_learner(self.weak_learner)

    def _odds_factor(self) -> float | None:
        return 1.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        self._entries_per_learner = 1 if self.weak_learner is None else problem.k
        limit, D, objective = self._error_limit(problem.k), problem.v.copy(), 1.0
        while True:
            rule = self._rule(problem, D)
            wrong = rule.labels != problem.labels
            error = float(D[wrong].sum())
            if error >= limit - NO_EDGE:
                return self._end_status
            a = self.learning_rate * (log_odds(error) - log_odds(limit))
            D[wrong] *= np.exp(a)
            total = float(D.sum())
            D /= total
            objective *= total * float(np.exp(-a * limit))
            yield Round(rule.learners, a * rule.left, a * rule.right, a, error, objective)
            if error == 0.0:
                return Status.SEPARATED

    def _rule(self, problem: BoostingProblem, D: Array) -> LabelRule:
        if self.weak_learner is None:
            return best_stump(problem, D)
        return fit_rule(problem, D, self.weak_learner, self.random_state is not None)

    def __sklearn_tags__(self) -> Any:
        """Declare the kinds of X that stumps or the weak learner support."""
        tags = super().__sklearn_tags__()
        if self.weak_learner is not None:
            own = get_tags(self.weak_learner).input_tags
            tags.input_tags.allow_nan, tags.input_tags.sparse = own.allow_nan, own.sparse
        return tags


class AdaBoostM1(LabelBoosting):
    """AdaBoost.M1: multi-class AdaBoost with weak classifiers of error below one half.

    D_i starts at v_i. A round chooses the weak classifier g with the least error
    e = sum_i D_i [g(x_i) != y_i], adds a = ln((1 - e) / e) to the score of the class g(x), then
    multiplies D_i by exp(a [g(x_i) != y_i]) and divides D by its sum. The fit ends with status
    "worse_than_half" if e >= 1/2, which stumps can reach before the first round if there are many
    classes, and with status "separated" after a round with e = 0. Stumps have a class on each side.

    The objective is sum_i v_i exp(sum_c F_c / 2 - F_{y_i}). Without shrinkage it is the product of
    2 sqrt(e (1 - e)), which bounds the training error.

    Source: Freund and Schapire, Journal of Computer and System Sciences 55, 1997. A round costs
    O(d m k) with stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    weak_learner : scikit-learn classifier or None, default=None
        A classifier whose `fit` accepts `sample_weight`, such as
        `DecisionTreeClassifier(max_depth=5)`. It is cloned for every round and fitted with weights
        of sum about 1. None uses stumps with a class on each side.
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
        Seed of the clones of `weak_learner`; None keeps the seed that it has.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import AdaBoostM1
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostM1(20).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    _end_status: ClassVar[Status] = Status.WORSE_THAN_HALF

    def _error_limit(self, k: int) -> float:
        del k
        return 0.5


class SAMME(LabelBoosting):
    """SAMME: stage-wise boosting of the multi-class exponential loss.

    It is `AdaBoostM1` with a = ln((1 - e) / e) + ln(k - 1), which is positive for e < 1 - 1/k: weak
    classifiers need only be better than guessing. The fit ends with status "no_edge" if e >= 1 -
    1/k, and with status "separated" after a round with e = 0. For two classes it is `AdaBoostM1`,
    and with the same trees as `weak_learner` it is scikit-learn's `AdaBoostClassifier`.

    The objective is sum_i v_i exp(sum_c F_c / k - F_{y_i}).

    Source: Zhu, Zou, Rosset and Hastie, Statistics and Its Interface 2, 2009. A round costs O(d m
    k) with stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    weak_learner : scikit-learn classifier or None, default=None
        A classifier whose `fit` accepts `sample_weight`, such as
        `DecisionTreeClassifier(max_depth=2)`. It is cloned for every round and fitted with weights
        of sum about 1. None uses stumps with a class on each side.
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
        Seed of the clones of `weak_learner`; None keeps the seed that it has.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import SAMME
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SAMME(20).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    _end_status: ClassVar[Status] = Status.NO_EDGE

    def _error_limit(self, k: int) -> float:
        return 1.0 - 1.0 / k
