"""Tests of scikit-learn's feature selection with directboost's estimators."""

import numpy as np
import pytest
from sklearn.feature_selection import RFE, RFECV, SelectFromModel

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)

INFORMATIVE = [1, 4, 6]
ESTIMATORS = {
    "stumps": DirectBoostClassifier(nu=0.03),
    "mixed norm": DirectBoostClassifier(nu=0.1, penalty="l1,2"),
    "pairs": DirectBoostClassifier(nu=0.05, learner="pair"),
    "cross-validation": DirectBoostClassifierCV(nus=[0.3, 0.03], cv=3),
    "several labels": DirectBoostMultiLabelClassifier(nu=0.05),
}


@pytest.fixture(scope="module")
def data():
    """Eight columns, of which three determine the class, not the last ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.digitize(X[:, 1] + X[:, 4] - X[:, 6] + 0.2 * rng.normal(size=300), [-0.8, 0.8])
    return X, y


def labels(estimator, y):
    several = isinstance(estimator, DirectBoostMultiLabelClassifier)
    return np.column_stack([y > 0, y > 1]).astype(int) if several else y


@pytest.mark.parametrize("name", ESTIMATORS)
def test_informative_columns_are_kept(data, name):
    X, y = data
    y = labels(ESTIMATORS[name], y)
    kept = SelectFromModel(ESTIMATORS[name], threshold="mean").fit(X, y)
    assert kept.get_support(indices=True).tolist() == INFORMATIVE
    kept = RFE(ESTIMATORS[name], n_features_to_select=3, step=3).fit(X, y)
    assert kept.get_support(indices=True).tolist() == INFORMATIVE


def test_recursive_elimination_with_cross_validation(data):
    kept = RFECV(ESTIMATORS["stumps"], cv=3, step=2).fit(*data)
    assert set(INFORMATIVE) <= set(kept.get_support(indices=True))
    assert kept.score(*data) > 0.8


def test_largest_importances(data):
    X, y = data
    kept = SelectFromModel(ESTIMATORS["stumps"], max_features=2, threshold=-np.inf).fit(X, y)
    order = np.argsort(-kept.estimator_.feature_importances_)
    assert kept.get_support(indices=True).tolist() == sorted(order[:2].tolist())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_are_no_coefficients(data, name):
    X, y = data
    model = ESTIMATORS[name].fit(X, labels(ESTIMATORS[name], y))
    assert model.weights_.shape[0] == model.n_learners_
    assert not hasattr(model, "coef_")
