"""The summary of a loaded model whose custom loss and penalty are not stored."""

import numpy as np
from sklearn.datasets import load_iris

import directboost
from directboost import DirectBoostClassifier
from directboost.losses import SmoothLoss
from directboost.penalties import GroupNorm


class Doubled(GroupNorm):
    """The l1,2 norm as a custom class."""


def logistic():
    return SmoothLoss(
        lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)), infimum=0.0
    )


def test_the_summary_names_the_types_of_objects_that_are_not_stored(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = DirectBoostClassifier(loss=logistic(), penalty=Doubled(2.0), nu=0.1).fit(X, y)
    text = directboost.load(clf.save(tmp_path / "model.json")).summary()
    assert text.startswith("DirectBoostClassifier: SmoothLoss loss, pairwise margin, Doubled penal")
    assert text.partition("\n")[2] == clf.summary().partition("\n")[2]
