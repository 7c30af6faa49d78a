"""Consensus ADMM with one block per shard: the same problem and certificate."""

import numpy as np
import pytest

from directboost.dask import ClusterLostError, DaskDirectBoostClassifier
from directboost.dask.executor import LocalExecutor
from directboost.dask.problem import StumpMatrix
from tests.dask.dask_data import (
    LABELS,
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
    choices = {"solver": "consensus", "nu": 0.2, "margin": "one-vs-all"}
    assert_same_bits(fit_dask(X, LABELS, client=client, **choices), fit_dask(X, LABELS, **choices))


def test_the_stump_matrix_has_the_responses(rng):
    shard = draw_shards("pairwise").whole
    binned = shard.binned
    names = np.array(
        [
            (feature, int(jump), sign)
            for feature in range(binned.n_bins.size)
            for jump in rng.permutation(binned.n_jumps(feature))[:3]
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
