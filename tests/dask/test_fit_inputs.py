"""Partitions of all kinds: empty, of unknown length, frames, labels of all types."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from directboost.dask import DaskDirectBoostClassifier, loading
from directboost.dask.loading import group_partitions
from tests.dask.dask_data import (
    ENDS,
    FRAME,
    GAPS,
    LABELS,
    WEIGHTS,
    WORDS,
    M,
    X,
    assert_same_bits,
    assert_same_optimum,
    fit_dask,
    fit_local,
    frame_parts,
    in_parts,
)

pytestmark = [pytest.mark.timeout(60), pytest.mark.usefixtures("small_shards")]


def model(**choices):
    """Return an estimator that is not fitted."""
    return DaskDirectBoostClassifier(**{"nu": 0.03, **choices})


def test_empty_partitions_change_nothing():
    """They are left out: the shards are the same, to the bit."""
    without = tuple(sorted(set(ENDS)))
    one, other = fit_dask(GAPS, WORDS, ends=ENDS), fit_dask(GAPS, WORDS, ends=without)
    assert_same_bits(one, other)


def test_a_class_in_one_partition_only():
    order = np.argsort(LABELS, kind="stable")
    rows, y = GAPS[order], WORDS[order]
    ends = (0, *np.flatnonzero(np.diff(LABELS[order])) + 1, M)
    far = fit_dask(rows, y, ends=ends, tol=1e-8)
    assert_same_optimum(far, fit_local(rows, y, tol=1e-8))
    assert far.classes_.tolist() == sorted(set(WORDS))


def test_a_level_in_one_partition_only():
    frame = FRAME.assign(town=np.where(np.arange(M) >= ENDS[-2] + 9, "Jena", "Ulm"))
    frame["town"] = frame["town"].astype("category")
    far = model(tol=1e-8).fit(frame_parts(frame), in_parts(LABELS))
    assert_same_optimum(far, fit_local(frame, LABELS, tol=1e-8))


def test_unknown_lengths():
    frames = dd.from_dask_array(in_parts(GAPS)), dd.from_dask_array(in_parts(LABELS))
    rows, y = (frame.to_dask_array() for frame in frames)
    assert np.isnan(rows.shape[0])
    assert_same_bits(model().fit(rows, y), fit_dask(GAPS, LABELS))


def test_columns_cut_apart():
    rows = da.from_array(GAPS, chunks=(100, 3))
    whole = da.from_array(GAPS, chunks=(100, -1))
    y = da.from_array(LABELS, chunks=100)
    assert_same_bits(model().fit(rows, y), model().fit(whole, y))


@pytest.mark.parametrize("labels", ["array", "column", "series", "frame"])
def test_labels_of_frames(labels):
    y = pd.Series(WORDS, index=FRAME.index, name="fruit")
    given = {
        "array": in_parts(WORDS),
        "column": in_parts(WORDS[:, None]),
        "series": frame_parts(y),
        "frame": frame_parts(y.to_frame()),
    }[labels]
    far = model(tol=1e-8, nu=0.1).fit(frame_parts(FRAME), given)
    assert_same_optimum(far, fit_local(FRAME, WORDS, tol=1e-8, nu=0.1))
    assert set(far.to_local().predict(FRAME)) <= set(WORDS)


@pytest.mark.parametrize(
    "labels",
    [WORDS, WORDS.astype(object), LABELS.astype(float), LABELS.astype(np.int8), LABELS > 1],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_all_types(labels):
    far, near = fit_dask(X, labels, tol=1e-8), fit_local(X, labels, tol=1e-8)
    assert_same_optimum(far, near)
    np.testing.assert_array_equal(far.classes_, near.classes_)
    np.testing.assert_array_equal(far.to_local().predict(X), near.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
def test_rows_of_other_types(dtype):
    rows = (3 * X).round().astype(dtype)
    far, near = fit_dask(rows, LABELS, tol=1e-8), fit_local(rows, LABELS, tol=1e-8)
    assert_same_optimum(far, near)


def test_labels_and_weights_in_memory():
    far = model().fit(in_parts(GAPS), pd.Series(WORDS, index=np.arange(M)[::-1]), WEIGHTS.tolist())
    assert_same_bits(far, fit_dask(GAPS, WORDS, WEIGHTS))


def test_weights_count_as_copies():
    """A row of weight 2 equals two rows; a row of weight 0 is left out."""
    counts = np.arange(M) % 3
    weighted = fit_dask(GAPS, LABELS, counts.astype(float), tol=1e-8)
    copies = fit_dask(
        np.repeat(GAPS, counts, axis=0), np.repeat(LABELS, counts), ends=(0, 50, M), tol=1e-8
    )
    assert weighted.certificate_.primal == pytest.approx(copies.certificate_.primal, abs=1e-7)


def test_classes_without_weight_are_left_out():
    weight = np.where(LABELS == 2, 0.0, 1.0)
    far, near = fit_dask(GAPS, LABELS, weight, tol=1e-8), fit_local(GAPS, LABELS, weight, tol=1e-8)
    assert_same_optimum(far, near)
    assert far.classes_.tolist() == [0, 1, 3]


def test_neighbours_with_few_rows_share_a_shard(monkeypatch):
    monkeypatch.setattr(loading, "_SHARD_ROWS", 10)
    assert group_partitions([3, 0, 4, 3, 1, 20, 2, 8, 0, 5]) == [[0, 2, 3], [4], [5], [6, 7], [9]]
    assert group_partitions([0, 1]) == [[1]]


def test_shards_of_several_partitions(monkeypatch):
    """Partitions in one shard are fitted like one partition, to the bit."""
    monkeypatch.setattr(loading, "_SHARD_ROWS", 10_000)
    assert_same_bits(fit_dask(GAPS, WORDS, WEIGHTS), fit_dask(GAPS, WORDS, WEIGHTS, ends=(0, M)))
