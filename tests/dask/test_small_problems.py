"""Small problems on which block descent stalls: an exact solver on the driver finishes them."""

from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from directboost.dask import ClusterLostError, DaskDirectBoostClassifier, statistics
from directboost.dask.executor import LocalExecutor
from directboost.history import Status
from tests.dask.dask_data import (
    assert_same_bits,
    assert_same_optimum,
    fit_dask,
    fit_local,
    in_parts,
)

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]

#: Problems that block descent on shards leaves at a relative gap between 1e-8 and 1e-6.
STALLING = [
    (122, {"loss": "exponential", "penalty": "l1,inf", "nu": 0.01}),
    (157, {"loss": "squared_hinge", "penalty": "l1,2", "nu": 0.01}),
    (480, {"loss": "logistic", "margin": "one-vs-all", "penalty": "l1", "nu": 0.01}),
    (607, {"loss": "squared_hinge", "penalty": 1.5, "nu": 0.03}),
    (143, {"loss": "logistic", "penalty": 1.5, "nu": 0.03}),  # the fastest of them
]
LONG = (0, 3)


def draw(seed):
    """Draw a few rows of a few classes, and where their partitions end."""
    rng = np.random.default_rng(seed)
    k, m, d = (int(rng.integers(low, high)) for low, high in ((2, 6), (30, 120), (2, 6)))
    y = rng.integers(0, k, m)
    y[:k] = np.arange(k)
    X = (rng.normal(size=(k, d))[y] + rng.normal(size=(m, d))).round(int(rng.integers(1, 3)))
    third = m // 3
    return X, y, (*range(0, m, third), m)


def fit(seed, client=None, **choices):
    X, y, ends = draw(seed)
    return fit_dask(X, y, client=client, ends=ends, **{"tol": 1e-8, **choices})


@cache
def fit_in_process(number):
    """Return a problem of `STALLING` solved without a cluster; tests do not modify it."""
    seed, choices = STALLING[number]
    return fit(seed, **choices)


@cache
def fit_plain(number):
    """Return the local fit of the same problem."""
    seed, choices = STALLING[number]
    return fit_local(*draw(seed)[:2], **{"tol": 1e-8, **choices})


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in range(len(STALLING))],
)
def test_the_tolerance_is_reached(number):
    far, near = fit_in_process(number), fit_plain(number)
    assert far.certificate_.converged
    assert far.status_ == Status.OPTIMAL
    assert_same_optimum(far, near)
    duals = [record.dual for record in far.history_]
    assert min(np.diff(duals)) > -1e-12  # the bounds of block descent are kept


def test_the_model_does_not_depend_on_the_workers(client):
    seed, choices = STALLING[-1]
    assert_same_bits(fit(seed, client, **choices), fit_in_process(len(STALLING) - 1))


def test_means_and_probabilities_of_a_finished_model():
    """Both are computed from the rows on the shards."""
    last = len(STALLING) - 1
    far, near, X = fit_in_process(last), fit_plain(last), draw(STALLING[-1][0])[0]
    np.testing.assert_allclose(far.mean_contributions_, near.mean_contributions_, atol=1e-4)
    np.testing.assert_allclose(far.to_local().predict_proba(X), near.predict_proba(X), atol=1e-4)


def test_a_path_continues_from_a_finished_model():
    seed, choices = STALLING[-1]
    model = fit(seed, **choices, max_learners=30)
    assert 0 < model.n_learners_ <= 30
    assert model.certificate_.converged


@pytest.mark.filterwarnings("ignore:the fit ended with status")
def test_the_model_of_block_descent_is_kept_if_rows_cannot_be_gathered(monkeypatch):
    """The cluster is lost after the descent, when the rows are gathered."""
    run_each = LocalExecutor.run_each

    def lost(self, function, requests, owners=None):
        if len(model_rounds) > 3 and function.__name__ == "take_rows":
            raise ClusterLostError("gone")
        return run_each(self, function, requests, owners)

    model_rounds = []
    seed, choices = STALLING[-1]
    X, y, ends = draw(seed)
    monkeypatch.setattr(LocalExecutor, "run_each", lost)
    model = DaskDirectBoostClassifier(tol=1e-8, callbacks=[model_rounds.append], **choices)
    with pytest.raises(ClusterLostError):
        model.fit(in_parts(X, ends), in_parts(y, ends))
    assert model.status_ == Status.OUT_OF_REACH
    assert 0.0 <= model.certificate_.relative_gap < 1e-5


def test_ctrl_c_while_rows_are_gathered_keeps_the_model(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    seed, choices = STALLING[-1]
    monkeypatch.setattr(statistics, "sample_rows", interrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fit(seed, **choices)
    assert model.status_ == Status.INTERRUPTED
    assert model.n_learners_ > 0
    assert 1e-8 < model.certificate_.relative_gap < 1e-5


def test_rows_are_gathered_once_for_a_path(monkeypatch):
    calls, sample_rows = [], statistics.sample_rows
    monkeypatch.setattr(
        statistics, "sample_rows", lambda *more: calls.append(1) or sample_rows(*more)
    )
    X, y, ends = draw(3)
    model = fit_dask(X, y, ends=ends, loss="hinge", penalty="l1", nu=0.05, max_learners=6)
    assert 0 < model.n_learners_ <= 6
    assert len(calls) == 1
