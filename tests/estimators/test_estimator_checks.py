"""scikit-learn's own checks of an estimator, with no expected failures."""

import pytest
from sklearn.tree import DecisionTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)
from tests.checks import checks_of

#: The first has the defaults. A larger nu gives others smaller models; the optimum of the hinge
#: would then not be unique, as the checks of sample weights need it.
ESTIMATORS = [
    DirectBoostClassifier(),
    DirectBoostClassifier(loss="hinge", penalty="l1"),
    DirectBoostClassifier(loss="exponential", margin="one-vs-all", penalty="l1", nu=0.1),
    DirectBoostClassifier(loss="multinomial", penalty="l1,inf", nu=0.1),
    DirectBoostClassifier(columns_per_round=1, pricing="paper", max_learners=20, nu=0.2),
    DirectBoostClassifier(learner="pair"),
    DirectBoostClassifier(learner="tree", nu=0.2),
    DirectBoostClassifier(learner=DecisionTreeClassifier(max_depth=2), nu=0.2),
    DirectBoostClassifierCV(nus=3, nu_min=0.1, cv=2),
    DirectBoostMultiLabelClassifier(),
    DirectBoostClassifier(learner="auto", nu=0.03),
]


#: Checks that fit large data several times, and the estimators that take their time for them.
LONG_CHECKS = ("check_estimator_sparse", "check_classifiers_train")
LONG_FITS = [ESTIMATORS[1], *ESTIMATORS[5:9]]


def is_slow(estimator, check):
    return estimator in LONG_FITS and check.startswith(LONG_CHECKS)


@pytest.mark.parametrize(("estimator", "check"), checks_of(ESTIMATORS, is_slow))
def test_scikit_learn_check(estimator, check):
    """Every check passes for every configuration."""
    check(estimator)
