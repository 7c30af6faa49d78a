"""Small fitted models of every kind that a model file supports, with rows to predict."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_iris

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)
from directboost.baselines import AdaBoostMO, AdaBoostSIP, GradBoost, JointBoost, OneVsAllBoost
from directboost.oracles import PairOracle, PoolOracle, TreeOracle
from tests.frame_data import FRAMES, LABELS

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y]
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
POOL = np.tanh(X - X.mean(axis=0))
FRAME = FRAMES["pandas"]
MARKS = np.column_stack([Y == 0, Y > 0, X[:, 0] > 6.0]).astype(int)
NAMED = pd.DataFrame(MARKS, columns=["small", "large", "long"])
TREES = TreeOracle(max_leaves=4)
PAIRS = PairOracle(pair_bins=8)

#: name: estimator, X, y
CASES = {
    "stumps": (DirectBoostClassifier(nu=0.05), X, Y),
    "two classes": (DirectBoostClassifier(nu=0.05, loss="hinge"), X[50:], WORDS[50:]),
    "gaps": (DirectBoostClassifier(nu=0.02, loss="exponential", penalty="l1"), GAPS, Y > 0),
    "categories": (DirectBoostClassifier(nu=0.02, margin="one-vs-all"), FRAME, LABELS),
    "trees": (DirectBoostClassifier(nu=0.05, learner=TREES), GAPS, WORDS.astype(object)),
    "trees on categories": (DirectBoostClassifier(nu=0.05, learner="tree"), FRAME, LABELS),
    "pairs": (DirectBoostClassifier(nu=0.03, learner=PAIRS), GAPS, WORDS),
    "pairs on categories": (DirectBoostClassifier(nu=0.05, learner="pair"), FRAME, LABELS),
    "automatic": (DirectBoostClassifier(nu=0.1, learner="auto"), X, Y),
    "pool": (DirectBoostClassifier(nu=0.05, learner=PoolOracle()), POOL, Y.astype(np.int8)),
    "empty": (DirectBoostClassifier(nu=1.0, columns_per_round=1), X, Y.astype(float)),
    "choice": (DirectBoostClassifierCV(nus=6, cv=2, nu_min=0.02), X, Y),
    "labels": (DirectBoostMultiLabelClassifier(nu=0.05, loss="squared_hinge"), X, NAMED),
    "one label": (DirectBoostMultiLabelClassifier(nu=0.05), X, MARKS[:, [2]]),
    "classes as labels": (DirectBoostMultiLabelClassifier(nu=0.05), X, WORDS),
    "code": (AdaBoostMO(3, code="exhaustive", decoding="loss"), X, Y),
    "normalised": (OneVsAllBoost(4, normalize=True), X, Y),
    "conjunctions": (AdaBoostSIP(4, patterns="conjunctions", max_len=3), FRAME, LABELS),
    "groups": (GradBoost(4), X, Y),
    "background": (JointBoost(4, background="virginica"), X, WORDS),
}


@cache
def fitted(name):
    """Return the fitted model of a case."""
    estimator, rows, y = CASES[name]
    return clone(estimator).fit(rows, y)


def rows_of(name):
    """Return rows to predict."""
    return CASES[name][1]
