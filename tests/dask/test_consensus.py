"""Consensus ADMM with one block per shard: the same problem and certificate."""

from dataclasses import replace

import numpy as np
import pytest

from directboost.dask import ClusterLostError, DaskDirectBoostClassifier, consensus, loading
from directboost.dask.consensus import UpdateRequest
from directboost.dask.executor import LocalExecutor
from directboost.dask.problem import StumpMatrix
from directboost.losses import Logistic
from directboost.solvers.admm_updates import SmoothUpdate
from tests.dask.dask_data import (
    LABELS,
    M,
    X,
    assert_overlap,
    assert_same_bits,
    fit_dask,
    fit_local,
    in_parts,
)
from tests.dask.shard_data import K, draw_shards


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize(
    "choices",
    [
        {},
        pytest.param({"margin": "one-vs-all"}, marks=pytest.mark.slow),
        pytest.param({"loss": "exponential"}, marks=pytest.mark.slow),
        {"loss": "multinomial", "penalty": "l1"},
        {"loss": "squared_hinge", "margin": "one-vs-all", "penalty": "l1,inf", "nu": 0.2},
    ],
    ids=str,
)
def test_the_gap_is_reached_and_intervals_overlap(choices):
    choices = {"nu": 0.3, **choices}
    far = fit_dask(X, LABELS, solver="consensus", **choices)
    near = fit_local(X, LABELS, tol=1e-6, **choices)
    assert far.certificate_.converged
    assert far.certificate_.relative_gap <= 1e-2
    assert_overlap(far, near)
    assert far.mean_contributions_.shape == (X.shape[1], 4)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_workers_give_the_same_bits_as_this_process(client):
    choices = {"solver": "consensus", "nu": 0.3, "margin": "one-vs-all"}
    assert_same_bits(fit_dask(X, LABELS, client=client, **choices), fit_dask(X, LABELS, **choices))


def test_the_stump_matrix_has_the_responses(rng):
    shard = draw_shards("pairwise").whole
    binned = shard.binned
    names = np.array(
        [
            (feature, int(threshold), sign)
            for feature in range(binned.n_bins.size)
            for threshold in rng.permutation(binned.n_thresholds(feature))[:3]
            for sign in (1, -1)
        ]
    )
    matrix = StumpMatrix(shard, names)
    H = np.column_stack([binned.response(*name) for name in names.tolist()])
    W, A = rng.random((len(names), K)), rng.normal(size=(H.shape[0], K))
    np.testing.assert_allclose(matrix @ W, H @ W, atol=1e-12)
    np.testing.assert_allclose(matrix.T @ A, H.T @ A, atol=1e-12)
    np.testing.assert_array_equal(matrix.some_rows(slice(0, None, 7)), H[::7])


@pytest.mark.usefixtures("small_shards")
def test_the_model_is_kept_if_the_cluster_is_lost(monkeypatch):
    calls, run_each = [], LocalExecutor.run_each

    def lost_later(executor, *more):
        calls.append(1)
        if len(calls) > 60:
            raise ClusterLostError("gone")
        return run_each(executor, *more)

    monkeypatch.setattr(LocalExecutor, "run_each", lost_later)
    model = DaskDirectBoostClassifier(solver="consensus", nu=0.1)
    with pytest.raises(ClusterLostError, match="gone"):
        model.fit(in_parts(X), in_parts(LABELS))
    assert model.status_ == "out_of_reach"
    assert model.n_learners_ > 0
    assert model.predict(X).shape == LABELS.shape


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_a_partition_whose_class_has_no_weight(margin):
    """The weight of a class is not known when the rows of the partitions are counted."""
    order = np.argsort(LABELS, kind="stable")
    first = int((LABELS == 0).sum())
    weight = {0: 0.0, 1: 1.0, 2: 2.0, 3: 1.0}
    choices = {"solver": "consensus", "nu": 0.3, "class_weight": weight, "margin": margin}
    far = fit_dask(X[order], LABELS[order], ends=(0, first, 200, M), **choices)
    assert far.certificate_.converged
    assert_overlap(far, fit_local(X, LABELS, **{**choices, "solver": "auto"}))


def test_a_partition_without_a_relative_weight(monkeypatch):
    """Weights that underflow next to the largest one leave a shard without rows."""
    monkeypatch.setattr(loading, "_SHARD_ROWS", 1)
    weight = np.ones(M)
    weight[:80], weight[80:] = 1e-300, 1e300
    far = fit_dask(X, LABELS, weight, solver="consensus", nu=0.3)
    assert far.certificate_.converged
    assert_overlap(far, fit_local(X[80:], LABELS[80:], nu=0.3))


def one_update(margin="one-vs-all"):
    """Return a shard, a request for the W-update of its first class, and the loss of its rows."""
    shard = draw_shards(margin).whole
    x = np.full(2, 0.1)
    request = UpdateRequest(
        key="first solve", names=np.array([(0, 0, 1), (1, 0, 1)]), loss=Logistic(), part=None,
        classes=slice(0, None, K), first=x, x=x, center=x, sigma=1.0, tolerance=1e-6,
    )  # fmt: skip
    return shard, request, consensus._block_loss(shard, request)


def test_a_transform_that_another_solve_overtakes(monkeypatch):
    """Two threads of a worker share a shard; each gets the transform of its own solve."""
    shard = draw_shards("one-vs-all").whole
    x = np.full(2, 0.1)
    request = UpdateRequest(
        key="first solve", names=np.array([(0, 0, 1), (1, 0, 1)]), loss=Logistic(), part=None,
        classes=slice(0, None, K), first=x, x=x, center=x, sigma=1.0, tolerance=1e-6,
    )  # fmt: skip
    loss = consensus._block_loss(shard, request)
    other = replace(request, key="second solve", first=3.0 + x)
    expected = [SmoothUpdate(loss, one.first).transform(1.0) for one in (request, other)]
    transform, overtaken = SmoothUpdate.transform, []

    def slow(update, sigma):
        found = transform(update, sigma)
        if not overtaken:
            overtaken.append(True)
            consensus._transform(shard, replace(other, sigma=2.0), loss)
        return found

    monkeypatch.setattr(SmoothUpdate, "transform", slow)
    found = [consensus._transform(shard, one, loss) for one in (request, other)]
    for one, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.T, right.T)
    assert not np.array_equal(expected[0].T, expected[1].T)
