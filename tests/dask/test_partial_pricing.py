"""A bound on the bytes of a round: features priced in turns, the same optimum."""

import numpy as np
import pytest

from directboost.dask import DaskDirectBoostClassifier
from directboost.dask.partial_pricing import TrafficLimitError
from tests.dask.dask_data import assert_overlap, fit_far, fit_near, in_parts

M, D, K = 600, 120, 3
ENDS = (0, 200, 400, 600)


@pytest.fixture(scope="module")
def wide():
    """Return rows of which a few of many features tell the class."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 20, size=(M, D)).astype(float)
    scores = np.tanh((X[:, :6] - 10.0) / 4.0) @ rng.normal(size=(6, K)) * 2.0
    return X, (scores + rng.gumbel(size=(M, K))).argmax(axis=1)


def most_bytes(model):
    return max(record.bytes_moved for record in model.history_)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("share", [0.4, 0.25])
@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_no_round_moves_more_and_the_optimum_is_the_same(wide, share, penalty):
    choices = {"nu": 0.2, "tol": 1e-4, "penalty": penalty, "ends": ENDS}
    free = fit_far(*wide, **choices)
    bound = int(share * most_bytes(free))
    bounded = fit_far(*wide, max_round_bytes=bound, **choices)
    assert most_bytes(bounded) <= bound < most_bytes(free)
    assert bounded.certificate_.converged
    assert len(bounded.history_) > len(free.history_)
    near = fit_near(*wide, nu=0.2, tol=1e-4, penalty=penalty)
    assert_overlap(bounded, near)
    assert abs(bounded.certificate_.primal - near.certificate_.primal) <= 2e-4


@pytest.mark.usefixtures("small_shards")
def test_a_bound_that_one_feature_breaks_is_refused(wide):
    with pytest.raises(ValueError, match=r"max_round_bytes=100 does not fit.*one feature"):
        fit_far(*wide, max_round_bytes=100, ends=ENDS)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize(("share", "right"), [(0.15, 0.5), (0.1, 0.0)], ids=["later", "at once"])
def test_a_model_that_outgrows_the_bound_is_kept(wide, share, right):
    free = fit_far(*wide, nu=0.02, ends=ENDS)
    bound = int(share * most_bytes(free))
    model = DaskDirectBoostClassifier(nu=0.02, max_round_bytes=bound)
    with pytest.raises(TrafficLimitError, match=f"max_round_bytes={bound}: raise it"):
        model.fit(*(in_parts(rows, ENDS) for rows in wide))
    assert most_bytes(model) <= bound
    assert model.status_ == "out_of_reach"
    assert not model.certificate_.converged
    assert (model.n_learners_ > 0) == (right > 0.0)
    assert (model.predict(wide[0]) == wide[1]).mean() > right


@pytest.mark.parametrize("value", [0, -5, 1.5, "much"])
def test_other_bounds_are_refused(wide, value):
    with pytest.raises(ValueError, match="max_round_bytes"):
        fit_far(*wide, max_round_bytes=value, ends=ENDS)
