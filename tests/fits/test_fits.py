"""Fits of many small problems with the default solver: all converge with a certificate."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.data import binning
from directboost.solvers import Conic
from tests.solvers.problems import COMBINATIONS

PENALTIES = (1.0, 2.0, 3.0, np.inf)


def draw_problem(seed):
    """Draw data, sample weights and parameters; the seed selects loss and penalty."""
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


@pytest.mark.parametrize(
    ("seed", "tol"),
    [
        pytest.param(seed, tol, marks=pytest.mark.slow if (seed + number) % 2 else ())
        for seed in range(8 * len(PENALTIES))
        for number, tol in enumerate((1e-3, 1e-6))
    ],
)
def test_a_fit_is_certified_within_its_tolerance(seed, tol):
    X, y, weight, parameters = draw_problem(seed)
    model = DirectBoostClassifier(tol=tol, **parameters).fit(X, y, sample_weight=weight)
    assert model.certificate_.converged, (model.status_, model.certificate_)
    assert model.certificate_.relative_gap <= tol
    assert model.certificate_.primal >= model.certificate_.dual


@pytest.mark.parametrize("parameters", [{}, {"margin": "one-vs-all", "loss": "logistic"}])
def test_sparse_codes_do_not_change_the_model(parameters, rng, monkeypatch):
    """One-hot columns, one of them with missing values: the optimum is the same without lists."""
    kinds = rng.integers(0, 6, (300, 3))
    X = np.concatenate([np.eye(6)[kind] for kind in kinds.T] + [rng.normal(size=(300, 2))], axis=1)
    X[rng.random(300) < 0.05, 0] = np.nan
    y = (kinds[:, 0] + kinds[:, 1] + (X[:, -1] > 0.0)) % 3
    fitted = DirectBoostClassifier(nu=0.05, tol=1e-5, **parameters).fit(X, y)
    monkeypatch.setattr(binning, "MAX_SPARSE_SHARE", 0.0)
    plain = DirectBoostClassifier(nu=0.05, tol=1e-5, **parameters).fit(X, y)
    assert fitted.certificate_.converged
    assert fitted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-5)
    np.testing.assert_allclose(fitted.decision_function(X), plain.decision_function(X), atol=0.05)


@pytest.mark.parametrize("penalty", ["l1,2", 1.5])
def test_the_conic_solver_only_finishes_after_smoothing(penalty, monkeypatch):
    """From scratch they would take minutes: a few columns per round, each round slower."""
    solved, solve = [], Conic.solve
    monkeypatch.setattr(Conic, "solve", lambda *more: solved.append(1) or solve(*more))
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(90, 5)), rng.normal(size=(5, 3))
    y = (np.sin(2.0 * X) @ W + rng.normal(size=(90, 3))).argmax(axis=1)
    loose = DirectBoostClassifier(loss="hinge", penalty=penalty).fit(X, y)
    assert loose.certificate_.converged
    assert not solved
    tight = DirectBoostClassifier(loss="hinge", penalty=penalty, tol=1e-7).fit(X, y)
    assert tight.certificate_.converged
    assert 0 < len(solved) < 8
    assert tight.certificate_.primal <= loose.certificate_.primal
