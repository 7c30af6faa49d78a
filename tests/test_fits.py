"""Fits of many small problems with the default solver: every one ends with its proof."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from tests.masters.problems import COMBINATIONS

PENALTIES = (1.0, 2.0, 3.0, np.inf)


def draw_problem(seed):
    """Draw data, sample weights and parameters; the seed walks through losses and penalties."""
    rng = np.random.default_rng(seed)
    loss, margin = COMBINATIONS[seed % len(COMBINATIONS)]
    k, d = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    m = int(rng.integers(20, 90))
    y = np.concatenate([np.arange(k), rng.integers(0, k, m - k)])
    X = rng.uniform(0.3, 1.0) * rng.normal(size=(k, d))[y] + rng.normal(size=(m, d))
    X[:, 0] = np.round(X[:, 0], 1)
    if rng.random() < 0.5:
        X[rng.random((m, d)) < 0.15] = np.nan
    weight = rng.uniform(0.2, 5.0, m) if rng.random() < 0.5 else None
    costs = rng.uniform(0.5, 3.0, d) if rng.random() < 0.5 else None
    parameters = {
        "loss": loss,
        "margin": margin,
        "penalty": PENALTIES[seed // len(COMBINATIONS) % 4],
        "nu": float(rng.choice([0.1, 0.03])),
        "feature_costs": costs,
        "max_bins": [255, None, 8][int(rng.integers(3))],
    }
    return X, y, weight, parameters


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(8 * len(PENALTIES)))
def test_a_fit_is_certified_at_its_tolerance(seed, tol):
    X, y, weight, parameters = draw_problem(seed)
    model = DirectBoostClassifier(tol=tol, **parameters).fit(X, y, sample_weight=weight)
    assert model.certificate_.converged, (model.status_, model.certificate_)
    assert model.certificate_.relative_gap <= tol
    assert model.certificate_.primal >= model.certificate_.dual
