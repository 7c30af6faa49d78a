"""With two classes most methods are AdaBoost: the same decisions, margins equal up to a scale."""

import numpy as np
import pytest

from directboost.baselines import (
    SAMME,
    AdaBoostECC,
    AdaBoostM1,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostOC,
    AdaBoostSIP,
    MultiBoostCW,
    OneVsAllBoost,
)
from tests.baselines.brute_force import all_stumps, first_largest, with_sign
from tests.baselines.rows import split

ROUNDS = 100
SAME = [
    AdaBoostM1(ROUNDS, max_bins=None),
    SAMME(ROUNDS, max_bins=None),
    AdaBoostMH(ROUNDS, votes="discrete", max_bins=None),
    AdaBoostMO(ROUNDS, max_bins=None),
    AdaBoostOC(ROUNDS, max_bins=None, random_state=0),
    AdaBoostOC(ROUNDS, max_bins=None, partition="coin", random_state=0),
    AdaBoostOC(ROUNDS, max_bins=None, partition="max_cut"),
    AdaBoostECC(ROUNDS, max_bins=None, random_state=0),
    AdaBoostECC(ROUNDS, max_bins=None, partition="max_cut"),
    AdaBoostECC(ROUNDS, max_bins=None, repartition=1, random_state=0),
    AdaBoostSIP(ROUNDS, max_bins=None),
    AdaBoostSIP(ROUNDS, max_bins=None, select="cost"),
    OneVsAllBoost(ROUNDS, max_bins=None),
    MultiBoostCW(ROUNDS, max_bins=None),
]


@pytest.fixture(scope="module")
def rows():
    return split("breast_cancer")


@pytest.fixture(scope="module")
def adaboost(rows):
    """The margins of AdaBoost after every round, on all rows, (rounds, rows)."""
    X, X_test, y, _ = rows
    stumps, sign = all_stumps(X), np.where(y == 1, 1.0, -1.0)
    everything = np.concatenate([X, X_test])
    D, f, stages = np.full(y.size, 1.0 / y.size), np.zeros(len(everything)), []
    for _ in range(ROUNDS):
        edges = stumps.H @ (D * sign)
        place = first_largest(np.abs(edges))
        polarity = float(with_sign(edges[place]))
        error = (1.0 - abs(edges[place])) / 2.0
        vote = polarity * np.log((1.0 - error) / error) / 2.0
        D *= np.exp(-vote * sign * stumps.H[place])
        D /= D.sum()
        feature, threshold = stumps.feature[place], stumps.threshold[place]
        right = everything[:, feature] > threshold if feature >= 0 else np.ones(len(everything))
        f = f + vote * np.where(right, 1.0, -1.0)
        stages.append(f)
    return np.array(stages)


@pytest.mark.parametrize("estimator", SAME, ids=str)
def test_every_round_decides_as_adaboost_does(estimator, rows, adaboost):
    X, X_test, y, _ = rows
    everything = np.concatenate([X, X_test])
    model = estimator.fit(X, y)
    stages = np.array(list(model.staged_decision_function(everything)))
    assert stages.shape == adaboost.shape
    scale = (stages[0] @ adaboost[0]) / (adaboost[0] @ adaboost[0])
    np.testing.assert_allclose(stages, scale * adaboost, rtol=1e-8, atol=1e-8 * scale)
    predicted = np.array(list(model.staged_predict(everything)))
    clear = np.abs(adaboost) > 1e-8
    np.testing.assert_array_equal(predicted[clear] == 1, (adaboost > 0.0)[clear])
    assert clear.mean() > 0.99
