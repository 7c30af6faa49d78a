"""Fits on single columns that start in single precision are certified in double precision."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.solvers import ColumnBlockDescent, column_blocks

#: Rows by number of classes: just enough scores for single precision.
SIZES = {2: 2600, 3: 1700, 4: 1300}
LOSSES = ("logistic", "multinomial", "exponential", "squared_hinge")


def mixed(seed, k, d):
    """Return rows of k overlapping classes."""
    rng = np.random.default_rng(seed)
    centres, y = 0.8 * rng.normal(size=(k, d)), rng.integers(0, k, SIZES[k])
    return centres[y] + rng.normal(size=(SIZES[k], d)), y


def apart(seed, k):
    """Return rows of separable classes: at a small nu the loss is almost zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, SIZES[k])
    return 0.15 * rng.normal(size=(SIZES[k], 3)) + y[:, None], y


def fit(X, y, **settings):
    return DirectBoostClassifier(n_jobs=1, **settings).fit(X, y)


def assert_optimal(model, tol):
    """Assert that the model is optimal, and that its history and certificate agree."""
    assert model.status_ == "optimal"
    assert model.certificate_.relative_gap <= tol
    assert model.history_[-1].relative_gap == pytest.approx(
        model.certificate_.relative_gap, rel=0.02, abs=1e-12
    )


@pytest.mark.parametrize(
    ("seed", "tol"), [(20, 0.05625), (31, 0.12989), *((seed, 0.1) for seed in range(4))]
)
def test_a_large_tolerance_is_certified(seed, tol):
    k, loss = 2 + seed % 3, LOSSES[seed % 4]
    X, y = mixed(seed, k, 6)
    assert_optimal(fit(X, y, nu=0.02, loss=loss, columns_per_round=1, tol=tol, max_bins=16), tol)


@pytest.mark.parametrize(
    ("seed", "penalty", "nu", "tol"),
    [
        (15, "l1", 0.207, 1e-8),
        (22, "l1,inf", 0.0497, 1e-8),
        (24, "l1", 0.0424, 1e-9),
        (30, "l1,2", 0.0281, 1e-9),
        (36, "l1", 0.022, 1e-10),
        (56, "l1,inf", 0.24, 1e-7),
    ],
)
def test_a_small_tolerance_is_reached_after_single_precision(seed, penalty, nu, tol):
    X, y = mixed(seed, 2 + seed % 3, 3)
    settings = {"nu": nu, "loss": LOSSES[seed % 4], "penalty": penalty, "tol": tol}
    assert_optimal(fit(X, y, columns_per_round=2, max_bins=8, **settings), tol)


@pytest.mark.parametrize(
    ("seed", "k", "penalty", "nu", "tol"),
    [
        (16, 3, "l1,2", 1.4e-7, 1e-3),
        (24, 2, "l1", 1.7e-6, 1e-4),
        (36, 2, "l1", 1.1e-7, 1e-5),
        (48, 2, "l1", 2.3e-6, 1e-2),
    ],
)
def test_a_small_objective_is_not_lost_to_rounding(seed, k, penalty, nu, tol):
    X, y = apart(seed, k)
    settings = {"nu": nu, "nu_scale": "absolute", "penalty": penalty, "tol": tol}
    assert_optimal(fit(X, y, columns_per_round=2, max_bins=16, **settings), tol)


def test_stages_match_the_history_after_the_change_of_precision():
    X, y = mixed(31, 3, 6)
    model = fit(X, y, nu=0.02, columns_per_round=1, tol=0.05, max_bins=16)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == len(model.history_) - 1
    rounds = [record.round for record in model.history_]
    assert rounds == list(range(len(rounds)))
    np.testing.assert_allclose(staged[-1], model.decision_function(X), atol=1e-12)


def test_a_solver_switches_to_double_once(monkeypatch):
    solver = ColumnBlockDescent()
    assert not solver.switch_to_double()  # it has not started, and does not use single precision
    X, y = mixed(0, 3, 3)
    seen = []
    switch_to_double = ColumnBlockDescent.switch_to_double

    def watched(self):
        seen.append(switch_to_double(self))
        return seen[-1]

    monkeypatch.setattr(ColumnBlockDescent, "switch_to_double", watched)
    fit(X, y, nu=0.05, columns_per_round=1, tol=0.05, max_bins=8)
    assert seen == [True, False]  # after the first stop, and after the second
    monkeypatch.setattr(column_blocks, "_LARGE", 10**9)
    seen.clear()
    fit(X, y, nu=0.05, columns_per_round=1, tol=0.05, max_bins=8)
    assert seen == [False]
