"""Probabilities: the odds that a loss models, and no more certainty than that."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from directboost.baselines import (
    SAMME,
    AdaBoostECC,
    AdaBoostM1,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostOC,
    AdaBoostSIP,
    CGBoost,
    GradBoost,
    JointBoost,
    LPBoost,
    MultiBoostCW,
    OneVsAllBoost,
)
from directboost.model.ensemble import class_probabilities, fit_temperature
from tests.baselines.rows import split

#: Rows of classes 0, 1 and 2 where the only feature is 0, and where it is 1.
COUNTS = np.array([[30, 10, 5], [12, 40, 20]])

ALWAYS = [
    AdaBoostECC(400, random_state=0),
    AdaBoostOC(2000, random_state=0),
    AdaBoostSIP(400),
    MultiBoostCW(400),
    MultiBoostCW(100, mode="corrective", random_state=0),
    GradBoost(2000, lam=1e-7),
]
BETWEEN_TWO = [
    *ALWAYS,
    AdaBoostMH(400, votes="classwise"),
    AdaBoostMH(400, votes="discrete"),
    AdaBoostMH(400, votes="per_class"),
    AdaBoostMO(400),
    AdaBoostM1(400),
    SAMME(400),
    OneVsAllBoost(400),
    OneVsAllBoost(400, base=CGBoost(loss="logistic", nu=1e-8)),
    JointBoost(400),
    JointBoost(400, background=0),
    GradBoost(2000, lam=1e-7, loss="multitask"),
    CGBoost(nu=1e-8),
    CGBoost(nu=1e-8, loss="logistic"),
]


def counted(counts):
    """Return rows with one feature, their classes, and the shares of the classes by its value."""
    x, y = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return x[:, None].astype(float), y, counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("estimator", BETWEEN_TWO, ids=str)
def test_two_classes_have_their_frequencies(estimator):
    X, y, share = counted(COUNTS[:, :2])
    model = clone(estimator).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), share, atol=1e-4)


@pytest.mark.parametrize("estimator", ALWAYS, ids=str)
def test_losses_of_pairs_have_the_frequencies_of_all_classes(estimator):
    X, y, share = counted(COUNTS)
    model = clone(estimator).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), share, atol=1e-4)


@pytest.mark.parametrize(
    ("estimator", "at_most"),
    [
        (AdaBoostMH(100), 0.2),
        (OneVsAllBoost(100), 0.17),
        (GradBoost(100), 0.2),
        (GradBoost(100, loss="multitask"), 0.23),
        (CGBoost(30), 0.24),
        (CGBoost(30, loss="logistic"), 0.23),
        (AdaBoostECC(100, random_state=0), 0.3),
        (AdaBoostSIP(100), 0.24),
        (MultiBoostCW(100), 0.34),
    ],
    ids=str,
)
def test_rows_that_are_separated_do_not_make_certain(estimator, at_most):
    """A factor that is fitted to rows without errors has no end."""
    X, X_test, y, y_test = split("digits")
    model = clone(estimator).fit(X, y)
    fitted = fit_temperature(model.decision_function(X), y, np.ones(y.size))
    certain = class_probabilities(model.decision_function(X_test), fitted)
    loss = log_loss(y_test, model.predict_proba(X_test))
    assert loss < at_most
    assert loss < log_loss(y_test, np.clip(certain, 1e-15, 1.0))


@pytest.mark.parametrize(
    "estimator",
    [
        LPBoost(20),
        CGBoost(20, loss="hinge", nu=0.01),
        AdaBoostMO(20, decoding="linear"),
        AdaBoostMO(20, decoding="hamming"),
        OneVsAllBoost(20, normalize=True),
        OneVsAllBoost(20, base=LPBoost()),
    ],
    ids=str,
)
def test_other_scores_are_fitted(estimator):
    X, _, y, _ = split("iris")
    model = clone(estimator).fit(X, y)
    F = model.decision_function(X)
    expected = class_probabilities(F, fit_temperature(F, y, np.ones(y.size)))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6)
