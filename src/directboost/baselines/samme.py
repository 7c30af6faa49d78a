"""SAMME: boosting of multi-class weak classifiers that are better than guessing."""

from typing import ClassVar

from ..history import Status
from .label_boosting import LabelBoosting


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
