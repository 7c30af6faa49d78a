"""A limit on the bytes of a round: partial pricing reaches the same optimum."""

import numpy as np
import pytest

from directboost.dask import DaskDirectBoostClassifier
from directboost.dask.partial_pricing import TrafficLimitError
from tests.dask.dask_data import assert_overlap, fit_dask, fit_local, in_parts

M, D, K = 600, 120, 3
ENDS = (0, 200, 400, 600)


@pytest.fixture(scope="module")
def wide():
    """Return rows whose class depends on a few of many features."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 20, size=(M, D)).astype(float)
    scores = np.tanh((X[:, :6] - 10.0) / 4.0) @ rng.normal(size=(6, K)) * 2.0
    return X, (scores + rng.gumbel(size=(M, K))).argmax(axis=1)


def most_bytes(model):
    return max(record.bytes_moved for record in model.history_)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("share", [0.4, 0.25])
@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_rounds_keep_the_limit_and_reach_the_optimum(wide, share, penalty):
    choices = {"nu": 0.2, "tol": 1e-4, "penalty": penalty, "ends": ENDS}
    free = fit_dask(*wide, **choices)
    limit = int(share * most_bytes(free))
    limited = fit_dask(*wide, max_round_bytes=limit, **choices)
    assert most_bytes(limited) <= limit < most_bytes(free)
    assert limited.certificate_.converged
    assert len(limited.history_) > len(free.history_)
    near = fit_local(*wide, nu=0.2, tol=1e-4, penalty=penalty)
    assert_overlap(limited, near)
    assert abs(limited.certificate_.primal - near.certificate_.primal) <= 2e-4


@pytest.mark.usefixtures("small_shards")
def test_a_limit_below_one_feature_is_rejected(wide):
    with pytest.raises(ValueError, match=r"max_round_bytes=100 is invalid.*one feature"):
        fit_dask(*wide, max_round_bytes=100, ends=ENDS)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize(("share", "right"), [(0.15, 0.5), (0.1, 0.0)], ids=["later", "at once"])
def test_the_model_is_kept_when_it_exceeds_the_limit(wide, share, right):
    free = fit_dask(*wide, nu=0.02, ends=ENDS)
    limit = int(share * most_bytes(free))
    model = DaskDirectBoostClassifier(nu=0.02, max_round_bytes=limit)
    with pytest.raises(TrafficLimitError, match=f"max_round_bytes={limit}; increase it"):
        model.fit(*(in_parts(rows, ENDS) for rows in wide))
    assert most_bytes(model) <= limit
    assert model.status_ == "out_of_reach"
    assert not model.certificate_.converged
    assert_overlap(model, fit_local(*wide, nu=0.02, tol=1e-6))
    assert (model.n_learners_ > 0) == (right > 0.0)
    assert (model.predict(wide[0]) == wide[1]).mean() > right


@pytest.mark.parametrize("value", [0, -5, 1.5, "much"])
def test_invalid_limits_are_rejected(wide, value):
    with pytest.raises(ValueError, match="max_round_bytes"):
        fit_dask(*wide, max_round_bytes=value, ends=ENDS)
