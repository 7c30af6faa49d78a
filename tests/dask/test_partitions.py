"""Partitions of Dask collections: the same rows as in the collections, in the same order."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask.delayed import Delayed

from directboost.dask.partitions import (
    partition_labels,
    partition_rows,
    partition_weights,
    read_partitions,
)

ROWS = np.arange(40.0).reshape(10, 4)
LABELS = np.array(list("abcabcabca"))
WEIGHTS = np.arange(10.0)
FRAME = pd.DataFrame(ROWS, columns=list("pqrs")).assign(label=LABELS, weight=WEIGHTS)


def array(values, *rows):
    """Return a Dask array with blocks of those numbers of rows."""
    return da.from_array(values, chunks=(rows, *((size,) for size in values.shape[1:])))


def unknown(values, *rows):
    """Return the same with numbers of rows that Dask does not know."""
    return array(values, *rows)[array(np.full(len(values), True), *rows)]


def frame(*ends):
    return dd.from_pandas(FRAME, npartitions=1).repartition(divisions=(0, *ends, 9))


def computed(found):
    """Return the blocks of rows, labels and weights of every partition."""
    blocks = [(part.X, part.y, part.weight) for part in found.parts]
    return dask.compute(blocks, scheduler="synchronous")[0]


def check(found, *rows):
    """Check that the partitions hold those numbers of rows, each with its label and weight."""
    blocks = computed(found)
    assert [len(X) for X, _, _ in blocks] == list(rows)
    for X, y, weight in blocks:
        places = np.asarray(X)[:, 0].astype(int) // 4
        np.testing.assert_array_equal(partition_labels(y), LABELS[places])
        expected = np.ones(len(X)) if weight is None else WEIGHTS[places]
        np.testing.assert_array_equal(partition_weights(weight, len(X)), expected)
    np.testing.assert_array_equal(np.vstack([partition_rows(X) for X, _, _ in blocks]), ROWS)


X = array(ROWS, 4, 3, 3)
CUT_ALIKE = {
    "array": array(LABELS, 4, 3, 3),
    "column": array(LABELS[:, None], 4, 3, 3),
    "cut otherwise": array(LABELS, 1, 8, 1),
    "unknown": unknown(LABELS, 4, 3, 3),
    "series": frame(4, 7)["label"],
    "frame": frame(4, 7)[["label"]],
    "plain": LABELS,
    "plain column": LABELS[:, None],
    "plain series": pd.Series(LABELS, index=range(10, 0, -1)),
    "plain frame": pd.DataFrame({"label": LABELS}, index=range(10, 0, -1)),
    "list": LABELS.tolist(),
}


@pytest.mark.parametrize("form", CUT_ALIKE)
def test_labels_of_every_form_match_the_rows(form):
    found = read_partitions(X, CUT_ALIKE[form])
    check(found, 4, 3, 3)
    assert (found.n_features, found.names) == (4, None)
    assert all(part.weight is None for part in found.parts)


@pytest.mark.parametrize(
    "weight",
    [WEIGHTS, WEIGHTS.tolist(), array(WEIGHTS, 10), frame(4, 7)["weight"], frame(4, 7)[["weight"]]],
    ids=["plain", "list", "array", "series", "frame"],
)
def test_weights_of_every_form_match_the_rows(weight):
    check(read_partitions(X, LABELS, weight), 4, 3, 3)


def test_nothing_is_computed():
    def refuse(block):
        raise AssertionError("computed")

    rows = X.map_blocks(refuse, meta=np.empty((0, 0)))
    labels = CUT_ALIKE["array"].map_blocks(refuse, meta=LABELS[:0])
    lazy = frame(4, 7).map_partitions(refuse, meta=FRAME.iloc[:0])
    for found in (
        read_partitions(rows, labels, labels),
        read_partitions(lazy[list("pqrs")], lazy["label"], lazy["weight"]),
    ):
        part = found.parts[0]
        assert all(isinstance(block, Delayed) for block in (part.X, part.y, part.weight))
        with pytest.raises(AssertionError, match="computed"):
            part.X.compute(scheduler="synchronous")


def test_blocks_of_columns_are_joined():
    rows = da.from_array(ROWS, chunks=((4, 6), (1, 3)))
    check(read_partitions(rows, LABELS), 4, 6)
    hidden = rows[array(np.full(10, True), 4, 6)]
    check(read_partitions(hidden, unknown(LABELS, 4, 6), unknown(WEIGHTS, 4, 6)), 4, 6)


def test_unknown_lengths_and_empty_partitions():
    kept = da.from_array(np.arange(10) > 4, chunks=5)
    found = read_partitions(array(ROWS, 5, 5)[kept], array(LABELS, 5, 5)[kept])
    (none, no_label, _), (rows, labels, _) = computed(found)
    assert none.shape == (0, 4)
    assert no_label.shape == (0,)
    np.testing.assert_array_equal(rows, ROWS[5:])
    np.testing.assert_array_equal(labels, LABELS[5:])


def test_frames():
    whole = frame(4, 7)
    found = read_partitions(whole[list("pqrs")], whole["label"], whole["weight"])
    check(found, 4, 3, 3)
    assert (found.n_features, found.names) == (4, list("pqrs"))
    check(read_partitions(whole[list("pqrs")], array(LABELS, 4, 3, 3)), 4, 3, 3)


def test_frames_of_known_divisions_are_repartitioned():
    rows = frame(4, 7)[list("pqrs")]
    check(read_partitions(rows, frame(2)["label"], frame(1, 2, 3)["weight"]), 4, 3, 3)
    check(read_partitions(rows, frame(2, 5)["label"]), 4, 3, 3)


def test_names_that_are_no_strings():
    numbered = dd.from_pandas(pd.DataFrame(ROWS), npartitions=2)
    found = read_partitions(numbered, array(LABELS, 5, 5))
    assert (found.n_features, found.names) == (4, None)
    mixed = dd.from_pandas(pd.DataFrame(ROWS, columns=["a", 1, 2, 3]), npartitions=2)
    with pytest.raises(TypeError, match="string"):
        read_partitions(mixed, array(LABELS, 5, 5))


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (unknown(ROWS, 4, 3, 3), unknown(LABELS, 5, 5)),
        (X, unknown(LABELS, 5, 5)),
        (X, frame(4)["label"]),
        (frame(4, 7)[list("pqrs")], array(LABELS, 5, 5)),
        (frame(4, 7)[list("pqrs")], frame(4).reset_index()["label"]),
    ],
)
def test_partitions_that_cannot_be_matched(rows, labels):
    with pytest.raises(ValueError, match="X has 3 partitions, but y has 2") as error:
        read_partitions(rows, labels)
    assert "compute_chunk_sizes" in str(error.value)
    with pytest.raises(ValueError, match="X has 3 partitions, but sample_weight has 2"):
        read_partitions(X, LABELS, unknown(WEIGHTS, 5, 5))


@pytest.mark.parametrize("rows", [unknown(ROWS, 4, 6), frame(4)[list("pqrs")]])
def test_plain_labels_need_known_lengths(rows):
    with pytest.raises(ValueError, match=r"y is a numpy ndarray.*compute_chunk_sizes"):
        read_partitions(rows, LABELS)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (ROWS, TypeError, r"X is a numpy ndarray.*from_array.*DirectBoostClassifier"),
        (FRAME, TypeError, r"X is a pandas DataFrame.*from_pandas"),
        (frame(4)["p"], TypeError, r"X is a dask Series"),
        (X[:, 0], ValueError, r"X has the shape \(10,\)"),
        (X[:, X[0] > 3], ValueError, r"X has the shape \(10, nan\).*compute_chunk_sizes"),
    ],
)
def test_invalid_rows(rows, error, message):
    with pytest.raises(error, match=message):
        read_partitions(rows, LABELS)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (array(ROWS[:, :2], 4, 3, 3), ValueError, r"y has the shape \(10, 2\)"),
        (ROWS[:, :2], ValueError, r"y has the shape \(10, 2\)"),
        (1.0, ValueError, r"y has the shape \(\)"),
        (frame(4, 7)[["p", "q"]], ValueError, "y is a frame of 2 columns"),
        (frame(4, 7).index, TypeError, "y is a dask Index"),
        (dask.delayed(LABELS), TypeError, "y is a dask Delayed"),
        (LABELS[:9], ValueError, "X has 10 rows, but y has 9 values"),
        (array(LABELS[:9], 4, 3, 2), ValueError, "X has 10 rows, but y has 9 values"),
    ],
)
def test_invalid_labels(labels, error, message):
    with pytest.raises(error, match=message):
        read_partitions(X, labels)


def test_invalid_blocks():
    with pytest.raises(TypeError, match=r"X has sparse blocks.*toarray"):
        partition_rows(scipy.sparse.csr_array(ROWS))
    with pytest.raises(ValueError, match=r"the shape \(10,\)"):
        partition_rows(WEIGHTS)
    with pytest.raises(ValueError, match=r"shape \(10, 4\)"):
        partition_labels(ROWS)


def test_frames_stay_frames():
    assert partition_rows(FRAME) is FRAME
    assert partition_weights(pd.DataFrame({"weight": [1, 2]}), 2).dtype == np.float64
