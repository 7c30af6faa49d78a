"""AdaBoost.M1: boosting of multi-class weak classifiers that are right for half of the weight."""

from typing import ClassVar

from ..history import Status
from .label_boosting import LabelBoosting


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
