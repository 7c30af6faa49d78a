"""Samples of rows and means of columns whose rows are on shards, against all rows in memory."""

import numpy as np
import pytest

from directboost.dask import block_descent as far_rows
from directboost.dask.block_descent import ShardedIterate, ShardedRowSample
from directboost.dask.problem import ShardedColumns
from directboost.dask.statistics import sample_rows
from directboost.solvers import quadratic_model as row_sample
from tests.dask.shard_data import KINDS, K, M, draw_place, draw_shards, loss_of

NONE = np.zeros(0, dtype=np.int32)

every_kind = pytest.mark.parametrize(("name", "margin"), KINDS)


def draw(name, margin):
    """Return rows, the plain objective, the field, and a point with weights."""
    data, loss = draw_shards(margin), loss_of(name)
    place = draw_place(data, np.random.default_rng(2))
    objective = data.objective(loss)
    value = objective.loss_value(data.scores(place.weights))
    return (
        data,
        objective,
        data.field(loss),
        ShardedIterate([], place, value, 0.0, place, place, place),
    )


@every_kind
def test_a_sample_of_all_rows_bends_as_they_do(name, margin):
    data, objective, field, point = draw(name, margin)
    sample = ShardedRowSample(objective, field, M)
    assert (sample.n, sample.whole) == (M, True)
    F = data.scores(point.F.weights)
    np.testing.assert_allclose(sample.scores(point.F), F, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        sample.diagonal_curvature(point), objective.curvature(F), rtol=1e-6, atol=1e-9
    )


@every_kind
def test_a_sample_of_some_rows(name, margin, monkeypatch):
    """Its curvature is that among all rows, times how many each stands for."""
    monkeypatch.setattr(row_sample, "_RARE", 0)
    data, objective, field, point = draw(name, margin)
    sample = ShardedRowSample(objective, field, 40)
    assert not sample.whole
    assert 40 <= sample.n <= 40 + K
    taken = sample_rows(field.crew, field.class_counts, 40, NONE)
    rows = np.abs(data.c - taken.c[:, None]).argmin(axis=1)  # no two have the same weight
    C = objective.curvature(data.scores(point.F.weights))[rows]
    np.testing.assert_allclose(
        sample.diagonal_curvature(point), C * taken.scale[:, None], rtol=1e-6, atol=1e-9
    )
    labels, weights = sample.labels_and_weights()
    np.testing.assert_array_equal(labels, data.labels[rows])
    np.testing.assert_allclose(weights, data.c[rows] * taken.scale, rtol=1e-13)


@pytest.mark.parametrize("room", [1, 1 << 24])
def test_codes_of_a_sample(room, monkeypatch):
    """Fetched feature by feature or at once, in whatever order they are asked for."""
    monkeypatch.setattr(far_rows, "_CODE_BYTES", room)
    data, objective, field, _ = draw("logistic", "pairwise")
    sample = ShardedRowSample(objective, field, M)
    for features in ([3], [0, 3], [2, 1, 0]):
        codes, where = sample.codes(features)
        for f, row in zip(features, where, strict=True):
            np.testing.assert_array_equal(codes[row], data.whole.binned.codes_of(f))


def test_arrays_of_a_sample_are_scaled(monkeypatch):
    monkeypatch.setattr(row_sample, "_RARE", 0)
    _, objective, field, _ = draw("logistic", "pairwise")
    sample = ShardedRowSample(objective, field, 30)
    taken = sample_rows(field.crew, field.class_counts, 30, NONE)
    ones = np.ones((sample.n, 2), dtype=np.float32)
    assert sample.take(ones).dtype == np.float32
    np.testing.assert_allclose(sample.take(ones)[:, 0], taken.scale, rtol=1e-6)
    np.testing.assert_allclose(sample.take(ones[:, 0]).sum(), M, rtol=1e-5)


def test_means_of_columns():
    """What every feature adds to the scores, on average by weight."""
    data, _, field, point = draw("logistic", "pairwise")
    columns, weights = ShardedColumns(field), point.F.weights
    columns.features = weights.features.tolist()
    binned = data.whole.binned
    W = weights.spread(binned.n_bins, binned.kinds)
    found, mean = columns.means(W, data.weight), data.weight @ data.scores(weights)
    assert found.shape == (5, K)
    np.testing.assert_allclose(found.sum(axis=0), mean / data.weight.sum(), rtol=1e-10)
    np.testing.assert_array_equal(found[3], 0.0)


@every_kind
def test_points(name, margin):
    """A point knows the loss of all rows, and sums over the bins of the working set."""
    data, objective, field, point = draw(name, margin)
    columns = ShardedColumns(field)
    columns.features = [2, 0]
    F = data.scores(point.F.weights)
    G, D = point.sums(columns)
    A = objective.coefficients(objective.negative_gradient(F))
    np.testing.assert_allclose(G, data.summed([2, 0], A), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(D, data.summed([2, 0], objective.curvature(F)), rtol=1e-6, atol=1e-9)
