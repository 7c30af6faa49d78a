"""Samples of rows and means of columns whose rows are on shards, against all rows in memory."""

import numpy as np
import pytest

from directboost.dask import block_descent
from directboost.dask.block_descent import ShardedIterate, ShardedRowSample
from directboost.dask.problem import ShardedColumns
from directboost.dask.statistics import sample_rows
from directboost.solvers import quadratic_model as row_sample
from tests.dask.shard_data import KINDS, K, M, draw_point, draw_shards, loss_of

NONE = np.zeros(0, dtype=np.int32)

every_kind = pytest.mark.parametrize(("name", "margin"), KINDS)


def draw(name, margin):
    """Return rows, the local objective, the statistics, and an iterate."""
    data, loss = draw_shards(margin), loss_of(name)
    point = draw_point(data, np.random.default_rng(2))
    objective = data.objective(loss)
    value = objective.loss_value(data.scores(point.coefficients))
    return (
        data,
        objective,
        data.statistics(loss),
        ShardedIterate([], point, value, 0.0, point, point, point),
    )


@every_kind
def test_a_sample_of_all_rows_has_their_curvature(name, margin):
    data, objective, statistics, point = draw(name, margin)
    sample = ShardedRowSample(objective, statistics, M)
    assert (sample.n, sample.whole) == (M, True)
    F = data.scores(point.F.coefficients)
    np.testing.assert_allclose(sample.scores(point.F), F, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        sample.diagonal_curvature(point), objective.curvature(F), rtol=1e-6, atol=1e-9
    )


@every_kind
def test_a_sample_of_some_rows(name, margin, monkeypatch):
    """Its curvature is that among all rows, times the number of rows each represents."""
    monkeypatch.setattr(row_sample, "_RARE", 0)
    data, objective, statistics, point = draw(name, margin)
    sample = ShardedRowSample(objective, statistics, 40)
    assert not sample.whole
    assert 40 <= sample.n <= 40 + K
    taken = sample_rows(statistics.executor, statistics.class_counts, 40, NONE)
    rows = np.abs(data.c - taken.c[:, None]).argmin(axis=1)  # no two have the same weight
    C = objective.curvature(data.scores(point.F.coefficients))[rows]
    np.testing.assert_allclose(
        sample.diagonal_curvature(point), C * taken.scale[:, None], rtol=1e-6, atol=1e-9
    )
    labels, weights = sample.labels_and_weights()
    np.testing.assert_array_equal(labels, data.labels[rows])
    np.testing.assert_allclose(weights, data.c[rows] * taken.scale, rtol=1e-13)


@pytest.mark.parametrize("limit", [1, 1 << 24])
def test_codes_of_a_sample(limit, monkeypatch):
    """Fetched feature by feature or at once, in any order."""
    monkeypatch.setattr(block_descent, "_CODE_BYTES", limit)
    data, objective, statistics, _ = draw("logistic", "pairwise")
    sample = ShardedRowSample(objective, statistics, M)
    for features in ([3], [0, 3], [2, 1, 0]):
        codes, where = sample.codes(features)
        for f, row in zip(features, where, strict=True):
            np.testing.assert_array_equal(codes[row], data.whole.binned.codes_of(f))


def test_arrays_of_a_sample_are_scaled(monkeypatch):
    monkeypatch.setattr(row_sample, "_RARE", 0)
    _, objective, statistics, _ = draw("logistic", "pairwise")
    sample = ShardedRowSample(objective, statistics, 30)
    taken = sample_rows(statistics.executor, statistics.class_counts, 30, NONE)
    ones = np.ones((sample.n, 2), dtype=np.float32)
    assert sample.take(ones).dtype == np.float32
    np.testing.assert_allclose(sample.take(ones)[:, 0], taken.scale, rtol=1e-6)
    np.testing.assert_allclose(sample.take(ones[:, 0]).sum(), M, rtol=1e-5)


def test_means_of_columns():
    """Weighted mean of the contribution of every feature to the scores."""
    data, _, statistics, point = draw("logistic", "pairwise")
    columns, weights = ShardedColumns(statistics), point.F.coefficients
    columns.features = weights.features.tolist()
    binned = data.whole.binned
    W = weights.to_dense(binned.n_bins, binned.kinds)
    found, variances = columns.moments(W, data.weight)
    mean = data.weight @ data.scores(weights)
    assert found.shape == (5, K)
    np.testing.assert_allclose(found.sum(axis=0), mean / data.weight.sum(), rtol=1e-10)
    np.testing.assert_array_equal(found[3], 0.0)
    for feature in range(5):
        one = weights.to_dense(binned.n_bins, binned.kinds)
        kept = [w if f == feature else 0.0 * w for f, w in zip(columns.features, one, strict=True)]
        F = data.scores(type(weights).from_features(columns.features, kept, K))
        spread = (data.weight @ F**2 - (data.weight @ F) ** 2 / data.weight.sum()).sum()
        np.testing.assert_allclose(variances[feature], spread / data.weight.sum(), atol=1e-10)


@every_kind
def test_sums_of_an_iterate(name, margin):
    """An iterate returns sums of all rows over the bins of the working set."""
    data, objective, statistics, point = draw(name, margin)
    columns = ShardedColumns(statistics)
    columns.features = [2, 0]
    F = data.scores(point.F.coefficients)
    G, D = point.sums(columns)
    A = objective.coefficients(objective.negative_gradient(F))
    np.testing.assert_allclose(G, data.summed([2, 0], A), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(D, data.summed([2, 0], objective.curvature(F)), rtol=1e-6, atol=1e-9)
