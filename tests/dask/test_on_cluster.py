"""The same model on a real cluster as in this process, to the bit, for any number of workers."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

from directboost.dask import DaskDirectBoostClassifier, loading
from directboost.losses import SmoothLoss
from tests.dask.dask_data import (
    FRAME,
    GAPS,
    LABELS,
    WEIGHTS,
    WORDS,
    M,
    assert_same_bits,
    assert_same_optimum,
    fit_dask,
    fit_local,
    frame_parts,
    in_parts,
)

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]

NU = 0.1  # on a cluster a round takes long
SMOOTH = SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)))
CHOICES = [
    pytest.param({"loss": SMOOTH, "penalty": 1.5, "max_bins": 16}, id="smooth"),
    pytest.param({"loss": "multinomial", "penalty": "l1,inf"}, marks=pytest.mark.slow),
    pytest.param({"class_weight": "balanced"}, marks=pytest.mark.slow),
    pytest.param(
        {"loss": "squared_hinge", "margin": "one-vs-all", "nu": 0.1}, marks=pytest.mark.slow
    ),
]


@pytest.fixture(scope="module")
def there(client):
    """Return a model fitted on the cluster; no task remains there."""
    before = tasks_of(client)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_SHARD_ROWS", 1)
        model = fit_dask(GAPS, WORDS, WEIGHTS, client=client, nu=NU)
    until = time.monotonic() + 60.0
    while tasks_of(client) - before and time.monotonic() < until:
        time.sleep(0.1)
    assert not tasks_of(client) - before
    return model


def tasks_of(client):
    """Return the keys of all tasks the scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.tasks))


def test_the_model_of_this_process(there):
    assert_same_bits(there, fit_dask(GAPS, WORDS, WEIGHTS, nu=NU))
    assert all(record.bytes_moved > 0 for record in there.history_)


def test_the_local_model_has_no_client(there):
    local = pickle.loads(pickle.dumps(there.to_local()))
    np.testing.assert_array_equal(local.predict(GAPS), there.predict(GAPS))


def test_the_current_client_is_the_default(there, client):
    with client.as_current():
        current = fit_dask(GAPS, WORDS, WEIGHTS, nu=NU)
        predicted = current.predict(in_parts(GAPS)).compute()
    assert current.client is None
    assert_same_bits(current, there)
    np.testing.assert_array_equal(predicted, there.to_local().predict(GAPS))


def test_rows_that_are_on_the_workers(there, client):
    X, y, weight = client.persist([in_parts(GAPS), in_parts(WORDS), in_parts(WEIGHTS)])
    model = DaskDirectBoostClassifier(client=client, nu=NU).fit(X, y, weight)
    assert_same_bits(model, there)
    local = model.to_local()
    np.testing.assert_array_equal(client.compute(model.predict(X)).result(), local.predict(GAPS))
    assert model.score(X, y) == pytest.approx(local.score(GAPS, WORDS))


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_choices(client, choices):
    far = fit_dask(GAPS, WORDS, WEIGHTS, client=client, **{"nu": 0.1, **choices})
    assert_same_bits(far, fit_dask(GAPS, WORDS, WEIGHTS, **{"nu": 0.1, **choices}))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_optimum_of_the_local_fit(client, loss):
    choices = {"loss": loss, "nu": 0.2, "tol": 1e-8}
    far = fit_dask(GAPS, LABELS, WEIGHTS, client=client, **choices)
    assert_same_optimum(far, fit_local(GAPS, LABELS, WEIGHTS, **choices))


def fit_many_parts(client=None):
    """Fit a loss that couples all rows, whose sums go through a tree of two levels."""
    ends = (*range(0, M, 30), M)
    return fit_dask(GAPS, LABELS, client=client, ends=ends, loss="exponential", nu=0.1)


@pytest.mark.filterwarnings("ignore:Port 8787 is already in use")
@pytest.mark.parametrize("n", [1, 3])
def test_any_number_of_workers(n):
    with (
        LocalCluster(
            n_workers=n, threads_per_worker=1, processes=False, dashboard_address=None
        ) as few,
        Client(few, set_as_default=False) as client,
    ):
        assert_same_bits(fit_many_parts(client), fit_many_parts())


def test_many_partitions_on_two_processes(client):
    assert_same_bits(fit_many_parts(client), fit_many_parts())


def test_frames(client):
    rows = frame_parts(FRAME), frame_parts(pd.DataFrame({"fruit": WORDS}, index=FRAME.index))
    far = DaskDirectBoostClassifier(client=client, nu=0.1).fit(*rows)
    assert_same_bits(far, DaskDirectBoostClassifier(nu=0.1).fit(*rows))


def test_errors_on_a_worker_are_raised_on_the_driver(client):
    rows = np.where(np.arange(M)[:, None] == M - 1, np.inf, GAPS)
    with pytest.raises(ValueError, match="X in partition 4, counted from 0"):
        fit_dask(rows, LABELS, client=client)


def test_clones_share_the_client(client):
    model = DaskDirectBoostClassifier(client=client, nu=0.03)
    twin = clone(model)
    assert twin.client is client
    assert twin.get_params() == model.get_params()
