"""Summaries of partitions, merged, equal those of all rows in a local fit."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from directboost import DirectBoostClassifier
from directboost.dask.partitions import read_partitions
from directboost.dask.survey import (
    make_row_encoding,
    merge_summaries,
    prepare_rows,
    summarize,
)
from directboost.model.names import default_names

RNG = np.random.default_rng(8)
M = 60
NUMBERS = RNG.normal(size=(M, 3)).round(1)
NUMBERS[::7, 1] = np.nan
LABELS = RNG.choice(["low", "mid", "high"], size=M)
LABELS[:50][LABELS[:50] == "mid"] = "low"  # one class in the last partition only
WEIGHTS = RNG.integers(0, 4, size=M) / 3
COUNTS = RNG.integers(-2, 3, size=M)
TOWNS = RNG.choice(["Ulm", "Bonn", None, "Kiel"], size=M)
TOWNS[20:25] = "Jena"  # a level of rows without weight only
WEIGHTS[20:25] = 0.0
TOWNS[55:] = "Aachen"
FRAME = pd.DataFrame(
    {
        "a": NUMBERS[:, 0],
        "town": pd.Categorical(TOWNS),
        "count": COUNTS,
        "size": pd.Categorical(np.where(COUNTS > 1, np.nan, COUNTS)),
        "flag": COUNTS > 0,
        "word": pd.Series(TOWNS, dtype=object),
    }
)
FRAME["label"], FRAME["weight"] = LABELS, WEIGHTS
COLUMNS = list(FRAME)[:6]
ENDS = (10, 20, 25, 50)


def parts_of(values, ends=ENDS):
    """Split an array or a frame before those rows."""
    if isinstance(values, pd.DataFrame | pd.Series):
        return [values.iloc[a:b] for a, b in zip((0, *ends), (*ends, len(values)), strict=True)]
    return np.split(np.asarray(values), ends)


def surveyed(X, y, weight, categorical=None, ends=ENDS):
    """Return the blocks of all partitions, and their summaries."""
    weights = [None] * (len(ends) + 1) if weight is None else parts_of(weight, ends)
    blocks = list(zip(parts_of(X, ends), parts_of(y, ends), weights, strict=True))
    names = list(X.columns) if isinstance(X, pd.DataFrame) else default_names(X.shape[1])
    return blocks, [summarize(*block, categorical, names, q) for q, block in enumerate(blocks)]


def check_rows(blocks, coding, model, whole):
    """Check that the rows of all partitions are those of a local fit."""
    rows, encoder = model._read_training_set(*whole)
    X, codes, weight = (
        np.concatenate(found)
        for found in zip(*(prepare_rows(*block, coding) for block in blocks), strict=True)
    )
    np.testing.assert_array_equal(X, rows.X)
    np.testing.assert_array_equal(codes, rows.codes)
    np.testing.assert_array_equal(weight, rows.weight)
    assert (X.dtype, codes.dtype, weight.dtype) == (rows.X.dtype, np.int32, np.float64)
    np.testing.assert_array_equal(coding.classes, rows.classes)
    assert coding.classes.dtype == rows.classes.dtype
    assert coding.encoder.names == encoder.names
    for ours, theirs in zip(coding.encoder.categories, encoder.categories, strict=True):
        np.testing.assert_equal(ours, theirs)
        assert ours is None or ours.dtype == theirs.dtype


def check(X, y, weight, categorical=None, class_weight=None, ends=ENDS):
    blocks, found = surveyed(X, y, weight, categorical, ends)
    coding = make_row_encoding(merge_summaries(found), class_weight)
    model = DirectBoostClassifier(categorical_features=categorical, class_weight=class_weight)
    check_rows(blocks, coding, model, (X, y, weight))


CLASS_WEIGHTS = [None, "balanced", {"low": 2.0, "mid": 0.5, "high": 0.3}]
CHOSEN = {
    "by type": (FRAME[COLUMNS[:5]], None),
    "by name": (FRAME[COLUMNS], ["town", "word", "size", "count"]),
    "numbers": (FRAME[["a", "count", "flag"]], None),
    "array": (NUMBERS, None),
    "single": (NUMBERS.astype(np.float32), None),
    "integers": (np.column_stack([COUNTS, COUNTS[::-1]]), None),
    "levels": (np.column_stack([NUMBERS, COUNTS]), [3]),
    "single levels": (np.column_stack([NUMBERS, COUNTS / 3]).astype(np.float32), [3]),
    "objects": (FRAME[["a", "word"]].to_numpy(dtype=object), [1]),
}


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["alike", "weights"])
@pytest.mark.parametrize("form", CHOSEN)
def test_the_rows_are_those_of_a_local_fit(form, weight, class_weight):
    X, categorical = CHOSEN[form]
    check(X, LABELS, weight, categorical, class_weight)


@pytest.mark.parametrize("form", ["by type", "by name", "array"])
def test_classes_of_weight_zero_are_left_out(form):
    """So are levels that only their rows have: Aachen occurs in one class only."""
    X, categorical = CHOSEN[form]
    labels = np.where(TOWNS == "Aachen", "mid", LABELS)
    check(X, labels, WEIGHTS, categorical, {"mid": 0.0, "low": 3.0, "high": 1.0})


@pytest.mark.parametrize(
    "labels",
    [
        FRAME["label"],
        FRAME["label"].astype("category"),
        FRAME["label"].astype("string"),
        FRAME["label"].astype(object),
        FRAME["label"] == "low",
        pd.Series(COUNTS, dtype="Int64"),
        COUNTS.astype(float),
        COUNTS.astype(np.int8),
        LABELS.astype(object),
    ],
    ids=["str", "category", "string", "object", "bool", "Int64", "float", "int8", "objects"],
)
def test_labels_of_all_types(labels):
    check(NUMBERS, labels, WEIGHTS)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("labels", [FRAME[["label"]], LABELS[:, None]], ids=["frame", "column"])
def test_labels_in_a_column(labels):
    check(NUMBERS, labels, WEIGHTS)


def test_empty_partitions():
    for X in (FRAME[COLUMNS[:5]], NUMBERS):
        check(X, LABELS, WEIGHTS, ends=(0, 0, 30, 30, 60))
        check(X, FRAME["label"], None, ends=(0, 30, 30))


def test_an_empty_partition_of_another_type():
    _, found = surveyed(NUMBERS, LABELS, WEIGHTS)
    nothing = np.empty((0, 3)), np.empty(0), None
    coding = make_row_encoding(
        merge_summaries([summarize(*nothing, None, default_names(3), 0), *found]), "balanced"
    )
    X, codes, weight = prepare_rows(*nothing, coding)
    assert (X.shape, codes.shape, weight.shape) == ((0, 3), (0,), (0,))
    assert (codes.dtype, coding.classes.tolist()) == (np.int32, ["high", "low", "mid"])


def test_a_partition_without_weight():
    weight = WEIGHTS.copy()
    weight[10:20] = 0.0
    check(FRAME[COLUMNS[:5]], LABELS, weight)


def test_labels_of_rows_without_weight_count_in_balanced_weights():
    weight = np.where(LABELS == "high", 0.0, WEIGHTS)
    check(NUMBERS, LABELS, weight, class_weight="balanced")
    _, found = surveyed(NUMBERS, LABELS, weight)
    whole = merge_summaries(found)
    by_row = compute_sample_weight("balanced", LABELS)
    expected = [by_row[label == LABELS][0] for label in ("low", "mid")]
    np.testing.assert_array_equal(make_row_encoding(whole, "balanced").class_weight, expected)


def test_weights_of_very_different_sizes():
    """Weights that are negligible compared with the largest one are dropped."""
    weight = np.where(LABELS == "mid", 1e-200, 1.0)
    weight[20:25] = 1e-295
    for class_weight in (None, {"mid": 1e-95, "low": 1.0, "high": 2.0}, "balanced"):
        check(FRAME[COLUMNS[:5]], LABELS, weight, None, class_weight)
    check(FRAME[COLUMNS[:5]], LABELS, weight * 1e-100, None, None)


def brute_force(X, y, weight):
    """Count with plain loops: classes, all rows, rows with weight, sums, largest, and levels."""
    classes = sorted(set(y))
    own = [[w for w, label in zip(weight, y, strict=True) if label == c] for c in classes]
    positive = [[w for w in ws if w > 0] for ws in own]
    levels = sorted({v for v, w in zip(X, weight, strict=True) if w > 0 and v == v})  # noqa: PLR0124
    heaviest = [max(ws) for ws in own]
    return classes, list(map(len, own)), list(map(len, positive)), own, heaviest, levels


ROW = st.tuples(
    st.sampled_from([0.0, 1.0, 2.5, np.nan]),
    st.sampled_from("abc"),
    st.sampled_from([0, 0.5, 1, 3]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=20), st.lists(st.integers(0, 20), max_size=4))
def test_a_summary_equals_counting(rows, cuts):
    values, labels, weight = (np.array(column) for column in zip(*rows, strict=True))
    ends = sorted(min(cut, len(rows)) for cut in cuts)
    _, found = surveyed(values[:, None], labels, weight, [0], tuple(ends))
    whole = merge_summaries(found)
    classes, totals, counts, own, heaviest, levels = brute_force(*zip(*rows, strict=True))
    assert whole.classes.tolist() == classes
    assert whole.totals.tolist() == totals
    assert whole.counts.tolist() == counts
    assert (whole.counts.sum(), whole.max_weights.max()) == (sum(counts), max(heaviest))
    np.testing.assert_allclose(whole.weights, [sum(ws) for ws in own])
    assert whole.max_weights.tolist() == heaviest
    assert whole.encoder.categories[0].tolist() == levels
    for level, peaks in zip(levels, whole.level_weights[0], strict=True):
        expected = [
            max([w for v, y, w in rows if (v, y) == (level, c)], default=0) for c in classes
        ]
        assert peaks.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(
    st.lists(ROW, min_size=2, max_size=20),
    st.lists(st.integers(0, 20), max_size=4),
    st.sampled_from([None, "balanced", {"a": 2.0, "b": 0.0, "c": 0.1}]),
)
def test_rows_do_not_depend_on_the_partitions(rows, cuts, class_weight):
    values, labels, weight = (np.array(column) for column in zip(*rows, strict=True))
    kept = {y for _, y, w in rows if w > 0}
    if isinstance(class_weight, dict):
        kept = {y for y in kept if class_weight[y] > 0}
        class_weight = {y: class_weight[y] for y in set(labels.tolist())}
    ends = tuple(sorted(min(cut, len(rows)) for cut in cuts))
    if len(kept) > 1:
        check(values[:, None], labels, weight, [0], class_weight, ends)
        return
    _, found = surveyed(values[:, None], labels, weight, [0], ends)
    with pytest.raises(ValueError, match="one class only" if kept else "zero for every row"):
        make_row_encoding(merge_summaries(found), class_weight)


def test_merges_in_any_order_agree():
    _, found = surveyed(FRAME[COLUMNS[:5]], LABELS, WEIGHTS, ends=(0, 10, 20, 25, 50))
    whole = merge_summaries(found)
    halves = merge_summaries([merge_summaries(found[:1]), merge_summaries(found[1:3]), *found[3:]])
    np.testing.assert_array_equal(halves.classes, whole.classes)
    np.testing.assert_array_equal(halves.totals, whole.totals)
    np.testing.assert_allclose(halves.weights, whole.weights)
    np.testing.assert_equal(halves.encoder.categories, whole.encoder.categories)
    np.testing.assert_equal(halves.level_weights, whole.level_weights)


def test_summaries_can_be_pickled():
    _, found = surveyed(FRAME[COLUMNS[:5]], LABELS, WEIGHTS)
    whole = merge_summaries(pickle.loads(pickle.dumps(found)))
    coding = pickle.loads(pickle.dumps(make_row_encoding(whole, None)))
    assert coding.encoder.categories[1].tolist() == ["Aachen", "Bonn", "Kiel", "Ulm"]
    assert whole.counts.sum() == np.count_nonzero(WEIGHTS)


def through_dask(X, y, weight, names, whole, model):
    """Summarize and prepare the partitions of collections as a scheduler does."""
    found = read_partitions(X, y, weight)
    assert found.names == names
    names = names or default_names(found.n_features)
    blocks = [(part.X, part.y, part.weight) for part in found.parts]
    asked = model.categorical_features
    tasks = [dask.delayed(summarize)(*block, asked, names, q) for q, block in enumerate(blocks)]
    (surveys,) = dask.compute(tasks, scheduler="synchronous")
    coding = make_row_encoding(merge_summaries(surveys), model.class_weight)
    (computed,) = dask.compute(blocks, scheduler="synchronous")
    check_rows(computed, coding, model, whole)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
def test_frames_of_dask(class_weight):
    """Dask converts the words to pyarrow strings."""
    whole = dd.from_pandas(FRAME, npartitions=4)
    model = DirectBoostClassifier(
        categorical_features=["town", "size", "word"], class_weight=class_weight
    )
    plain = FRAME[COLUMNS], FRAME["label"], FRAME["weight"]
    through_dask(whole[COLUMNS], whole["label"], whole["weight"], COLUMNS, plain, model)
    few = whole[whole["a"] > 1.0]
    plain = FRAME[FRAME["a"] > 1.0]
    plain = plain[COLUMNS], plain["label"], plain["weight"]
    through_dask(few[COLUMNS], few[["label"]], few["weight"], COLUMNS, plain, model)


def test_arrays_of_dask_with_unknown_lengths():
    X, y, weight = (da.from_array(a, chunks=(10, *a.shape[1:])) for a in (NUMBERS, LABELS, WEIGHTS))
    rows = np.r_[np.zeros(10, bool), np.ones(20, bool), np.zeros(10, bool), np.ones(20, bool)]
    kept = da.from_array(rows, chunks=10)
    plain = NUMBERS[rows], LABELS[rows], WEIGHTS[rows]
    through_dask(X[kept], y[kept], weight[kept], None, plain, DirectBoostClassifier())


def bad(argument, value, at=3):
    """Return valid rows, labels and weights, except for one value."""
    block = {"X": NUMBERS[:9].copy(), "y": LABELS[:9].astype(object), "weight": np.ones(9)}
    block[argument][at] = value
    return block


GOOD = bad("weight", 1.0)


@pytest.mark.parametrize(
    ("block", "error", "message"),
    [
        (bad("weight", -2.0), ValueError, r"sample_weight in partition 7.*negative.* -2\.0"),
        (bad("weight", np.inf), ValueError, "sample_weight in partition 7.*infinity"),
        (bad("weight", np.nan), ValueError, "sample_weight in partition 7.*NaN"),
        (GOOD | {"weight": np.ones(8)}, ValueError, "sample_weight in partition 7.*8.* 9 rows"),
        (GOOD | {"y": LABELS[:8]}, ValueError, r"X in partition 7.*\(9, 3\).* 8 labels"),
        (GOOD | {"X": NUMBERS[:9, :2]}, ValueError, r"X in partition 7.*\(9, 2\).* 3 features"),
        (bad("X", np.inf), ValueError, "X in partition 7.*infinity"),
        (bad("X", -np.inf), ValueError, "X in partition 7.*infinity"),
        (GOOD | {"X": np.full((9, 3), "word")}, ValueError, "X in partition 7.* 'word' in row 0"),
        (bad("y", None), ValueError, "y in partition 7.* 1 missing label"),
        (bad("y", np.nan), ValueError, "y in partition 7.* 1 missing label"),
        (bad("y", 3), ValueError, "y in partition 7.*all strings or all numbers"),
        (GOOD | {"y": NUMBERS[:9, 0]}, ValueError, "y in partition 7.*continuous"),
        (GOOD | {"y": np.full(9, np.inf)}, ValueError, "y in partition 7.*infinity"),
        (GOOD | {"y": NUMBERS[:9, ::2]}, ValueError, r"y in partition 7.*\(9, 2\)"),
    ],
)
def test_invalid_rows(block, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        summarize(*block.values(), None, default_names(3), 7)


def test_invalid_frames():
    with pytest.raises(ValueError, match=r"X in partition 0.*'word' of X holds .*not numbers"):
        summarize(FRAME[["a", "word"]], LABELS, None, None, ["a", "word"], 0)
    many = pd.DataFrame({"id": pd.Categorical(np.arange(300))})
    with pytest.raises(ValueError, match=r"X in partition 2.*'id' of X has 300 levels"):
        summarize(many, np.arange(300) % 2, None, None, ["id"], 2)
    weight = np.arange(300) < 100
    assert summarize(many, np.arange(300) % 2, weight, None, ["id"], 2).encoder.n_levels == [100]


def test_many_classes_give_no_warning():
    found = summarize(np.ones((30, 1)), np.arange(30), None, None, ["a"], 0)
    assert found.classes.size == 30


@pytest.mark.parametrize("second", [np.arange(10), np.arange(10.0), np.arange(10) > 4])
@pytest.mark.parametrize("first", [LABELS[:10], LABELS[:10].astype(object)])
def test_words_and_numbers_cannot_be_mixed_as_labels(first, second):
    parts = [summarize(NUMBERS[:10], y, None, None, default_names(3), 0) for y in (first, second)]
    with pytest.raises(ValueError, match="y has labels of several types"):
        merge_summaries(parts)


def test_columns_of_several_types():
    def of(levels):
        X = pd.DataFrame({"a": levels})
        return summarize(X, [0, 1], None, None, ["a"], 0)

    words, numbers = of(pd.Categorical(["u", "v"])), of(pd.Categorical([1, 2]))
    with pytest.raises(ValueError, match="column 'a' of X holds values of several types"):
        merge_summaries([words, numbers])
    with pytest.raises(ValueError, match="'a' of X is categorical in some partitions"):
        merge_summaries([words, of([1.0, 2.0])])
    nothing = of(pd.Categorical([None, None], categories=["u"]))
    assert merge_summaries([nothing, words]).encoder.categories[0].tolist() == ["u", "v"]
    assert merge_summaries([nothing, nothing]).encoder.n_levels == [0]


def test_too_few_rows():
    def of(count, weight, class_weight=None):
        y = np.arange(10)[:count] > 4
        found = summarize(NUMBERS[:count], y, weight[:count], None, default_names(3), 0)
        return make_row_encoding(merge_summaries([found]), class_weight)

    with pytest.raises(ValueError, match="every partition is empty"):
        of(0, np.ones(10))
    with pytest.raises(ValueError, match=r"one class only \(False\)"):
        of(5, np.ones(10))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        of(10, np.zeros(10))
    with pytest.raises(ValueError, match="sample_weight times class_weight is zero"):
        of(10, np.zeros(10), "balanced")
    for class_weight in ({0: -1.0, 1: 1.0}, {0: np.inf, 1: 1.0}):
        with pytest.raises(ValueError, match=r"class_weight=.* is invalid"):
            of(10, np.ones(10), class_weight)
