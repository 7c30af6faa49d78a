"""scikit-learn's own checks of an estimator, with no expected failures."""

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)

ESTIMATORS = [
    DirectBoostClassifier(),
    DirectBoostClassifier(loss="hinge", penalty="l1"),
    DirectBoostClassifier(loss="exponential", margin="one-vs-all", penalty="l1"),
    DirectBoostClassifier(loss="multinomial", penalty="l1,inf"),
    DirectBoostClassifier(columns_per_round=1, pricing="paper", max_learners=20),
    DirectBoostClassifier(learner="tree"),
    DirectBoostClassifier(learner=DecisionTreeClassifier(max_depth=2)),
    DirectBoostClassifierCV(nus=4, nu_min=0.05, cv=2),
    DirectBoostMultiLabelClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    """Every check passes for every configuration."""
    check(estimator)
