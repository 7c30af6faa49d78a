"""Samples of the rows of all shards: their size, rows and weights."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.dask.executor import LocalExecutor
from directboost.dask.loading import count_rows
from directboost.dask.shard import ShardPlan
from directboost.dask.statistics import sample_rows, sampled_codes
from directboost.data.binning import bin_features
from directboost.margins import Pairwise
from directboost.solvers import quadratic_model as row_sample
from directboost.solvers.quadratic_model import RowSample


def draw_executor(shares, seed, m=400, cuts=(0, 150, 170, 171, 400)):
    """Draw rows with a unique value each; classes have the given shares."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(shares), size=m, p=np.array(shares) / sum(shares)).astype(np.int32)
    X, weight = np.arange(m, dtype=float)[:, None], rng.uniform(0.1, 1.0, m)
    plan = ShardPlan(bin_features(X, weight, None), Pairwise, len(shares), float(weight.sum()))
    shards = [plan.make_shard(X[i:j], labels[i:j], weight[i:j]) for i, j in pairwise(cuts)]
    return LocalExecutor(shards), labels, weight / (weight.sum() * len(shares))


def sampled(executor, size, features=()):
    """Draw about `size` rows, or all if it is None."""
    class_counts = np.stack(
        [counts for counts, _ in executor.run_each(count_rows, [None] * executor.n_shards)]
    )
    return sample_rows(executor, class_counts, size, np.array(features, dtype=np.int32))


def rows_in(executor, taken):
    """Return the drawn rows; the code of a row is its place."""
    return sampled_codes(executor, taken, np.array([0], dtype=np.int32))[0].astype(int)


shares = st.lists(st.integers(1, 20), min_size=2, max_size=5)


@given(shares=shares, seed=st.integers(0, 99), size=st.integers(4, 396))
def test_a_sample(shares, seed, size):
    """Of every class its share or the least number; a row once, with its label and its weight."""
    executor, labels, c = draw_executor(shares, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sample, "_RARE", 10)
        taken = sampled(executor, size)
    rows, has = rows_in(executor, taken), np.bincount(labels, minlength=len(shares))
    assert np.unique(rows).size == rows.size
    np.testing.assert_array_equal(taken.labels, labels[rows])
    np.testing.assert_allclose(taken.c, c[rows], rtol=1e-14)
    wanted = np.minimum(has, np.maximum(np.ceil(size / 400 * has), 10))
    np.testing.assert_array_equal(np.bincount(taken.labels, minlength=len(shares)), wanted)
    assert taken.scale.sum() == pytest.approx(labels.size)
    stands_for = np.bincount(taken.labels, weights=taken.scale, minlength=len(shares))
    np.testing.assert_allclose(stands_for, has)


@given(shares=shares, seed=st.integers(0, 99), size=st.integers(20, 380))
def test_a_local_fit_draws_the_same_rows(shares, seed, size):
    """The rows and their weights are equal."""
    executor, labels, _ = draw_executor(shares, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sample, "_RARE", 0)
        patch.setattr(row_sample, "WHOLE_SHARE", 2.0)
        taken = sampled(executor, size)
        binned = bin_features(np.arange(400.0)[:, None], np.ones(400), None)
        near = RowSample(binned, labels, size)
    np.testing.assert_array_equal(rows_in(executor, taken), near.rows)
    np.testing.assert_allclose(taken.scale, near.scale, rtol=1e-14)


def test_the_same_rows_again(monkeypatch):
    monkeypatch.setattr(row_sample, "_RARE", 0)
    (one, _, _), (other, _, _) = draw_executor([3, 2, 1], 4), draw_executor([3, 2, 1], 4)
    rows = rows_in(one, sampled(one, 200))
    assert rows.size < 210
    np.testing.assert_array_equal(rows, rows_in(other, sampled(other, 200)))


def test_rows_are_drawn_from_all_over_a_shard(monkeypatch):
    monkeypatch.setattr(row_sample, "_RARE", 0)
    executor, _, _ = draw_executor([1, 1], 0, cuts=(0, 400))
    rows = rows_in(executor, sampled(executor, 100))
    assert rows.size == pytest.approx(100, abs=2)
    assert np.histogram(rows, bins=4, range=(0, 400))[0].min() > 10


def test_rare_classes_are_taken_whole():
    executor, labels, _ = draw_executor([40, 1], 2)
    taken = sampled(executor, 320)
    assert (taken.labels == 1).sum() == (labels == 1).sum() > 0
    assert (taken.scale[taken.labels == 1] == 1.0).all()
    assert (taken.labels == 0).sum() < (labels == 0).sum()


def test_the_whole():
    executor, labels, c = draw_executor([2, 1], 3)
    taken = sampled(executor, None)
    np.testing.assert_array_equal(rows_in(executor, taken), np.arange(labels.size))
    np.testing.assert_array_equal(taken.scale, 1.0)
    np.testing.assert_allclose(taken.c, c, rtol=1e-14)


def test_codes_come_with_the_rows_or_later():
    executor, _, _ = draw_executor([2, 1], 3)
    taken = sampled(executor, 100, [1, 0])
    later = sampled_codes(executor, taken, np.array([0], dtype=np.int32))
    np.testing.assert_array_equal(taken.codes[1:], later)
    np.testing.assert_array_equal(taken.codes[0], 1)


def test_traffic_is_counted():
    """Places, labels and weights of the rows, codes, and the requested features."""
    executor, _, _ = draw_executor([2, 1], 3)
    taken, wanted = sampled(executor, None), 4 * 2 * 4
    assert executor.traffic == 400 * (4 + 4 + 8)
    before = executor.traffic
    codes = sampled_codes(executor, taken, np.array([1, 0], dtype=np.int32))
    assert codes.shape == (2, 400)
    assert executor.traffic - before == codes.nbytes + 400 * 4 + wanted
