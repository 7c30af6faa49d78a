"""Column-wise access to frames of pandas, polars and pyarrow, and to arrays."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from directboost.data.frames import count_missing, is_frame, is_missing, make_table

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
DAY = datetime.date(2024, 2, 29)


@pytest.fixture(params=LIBRARIES, name="make")
def _make(request):
    """Return the function that makes a frame of one library from a dictionary of columns."""
    return LIBRARIES[request.param]


def column(make, values):
    """Return a frame with one column of these values."""
    return make_table(make({"x": values}))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([1.5, None, -2.0], [1.5, np.nan, -2.0]),
        ([1, 2, 3], [1.0, 2.0, 3.0]),
        ([1, None, 3], [1.0, np.nan, 3.0]),
        ([True, False, True], [1.0, 0.0, 1.0]),
        ([True, None, False], [1.0, np.nan, 0.0]),
        ([Decimal("1.5"), None, Decimal("-2")], [1.5, np.nan, -2.0]),
        ([None, None, None], [np.nan] * 3),
        (np.array([1, 2, 3], dtype=np.uint8), [1.0, 2.0, 3.0]),
        (np.array([0.1, 2, 3], dtype=np.float32), np.float32([0.1, 2, 3])),
    ],
)
def test_numbers_of_every_kind(make, values, numbers):
    """Nulls become NaN; single precision is kept and reported."""
    table = column(make, values)
    found = table.numbers(0)
    np.testing.assert_array_equal(found, numbers)
    assert table.single[0] == (np.asarray(numbers).dtype == np.float32)
    assert not table.categorical[0]
    assert table.shape == (3, 1)


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([1.0, None, 3.0], dtype="Float64"),
        pd.array([1, None, 3], dtype="int64[pyarrow]"),
        pd.array([Decimal(1), None, Decimal(3)], dtype=pd.ArrowDtype(pa.decimal128(4, 1))),
        pd.Series([1, pd.NA, 3.0], dtype=object),
        pd.Series([np.float32(1), np.nan, Decimal(3)], dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_nullable_and_object_columns_of_pandas(values):
    """Extension types, and objects that are all numbers."""
    np.testing.assert_array_equal(column(pd.DataFrame, values).numbers(0), [1.0, np.nan, 3.0])


def test_nullable_booleans_of_pandas():
    for dtype in ("boolean", "bool[pyarrow]"):
        values = pd.array([True, None, False], dtype=dtype)
        np.testing.assert_array_equal(column(pd.DataFrame, values).numbers(0), [1.0, np.nan, 0.0])


@pytest.mark.parametrize(
    "values",
    [["1", "2", None], [DAY, None, DAY], [datetime.timedelta(3), None, None], [b"1", b"2", b"3"]],
    ids=["strings", "dates", "durations", "bytes"],
)
def test_columns_that_are_not_numeric(make, values):
    """Neither strings nor dates are converted to numbers."""
    table = column(make, values)
    assert table.numbers(0) is None
    assert table.kind(0)


@pytest.mark.parametrize("values", [[1, "a", None], [1j, 2, 3], [[1, 2], [3], []]])
def test_objects_that_are_not_numbers(values):
    assert column(pd.DataFrame, values).numbers(0) is None
    assert make_table(np.array([[v] for v in [1, "a", None]], dtype=object)).numbers(0) is None


CATEGORIES = {
    "pandas": pd.DataFrame({"x": pd.Categorical(["b", None, "a"])}),
    "polars": pl.DataFrame({"x": pl.Series(["b", None, "a"], dtype=pl.Categorical)}),
    "enum": pl.DataFrame({"x": pl.Series(["b", None, "a"], dtype=pl.Enum(["c", "b", "a"]))}),
    "pyarrow": pa.table({"x": pa.array(["b", None, "a"]).dictionary_encode()}),
    "chunks": pa.table({"x": pa.chunked_array([["b", None], ["a"]]).dictionary_encode()}),
    "unlike chunks": pa.table(
        {
            "x": pa.chunked_array(
                [pa.array(c).dictionary_encode() for c in (["b"], [None, "a"])],
                type=pa.dictionary(pa.int32(), pa.string()),
            )
        }
    ),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categorical_types(name):
    """The values are the levels, not the codes of the library; nulls stay null."""
    table = make_table(CATEGORIES[name])
    values = table.values(0)
    assert table.categorical[0]
    assert values[::2] == ["b", "a"]
    assert is_missing(values[1])


@pytest.mark.parametrize("values", [["b", None, "a"], [2, None, 1], [True, None, False]])
def test_values_of_columns_that_are_not_categorical(make, values):
    found = column(make, values).values(0)
    assert [None if is_missing(value) else value for value in found] == values


def test_many_levels_of_a_small_dictionary():
    """The position used for null exceeds the range of the index type."""
    levels = [f"level {i}" for i in range(128)]
    small = pa.DictionaryArray.from_arrays(
        pa.array([*range(128), None], type=pa.int8()), pa.array(levels)
    )
    assert make_table(pa.table({"x": small})).values(0) == [*levels, None]


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_floats_of_one_type_are_read_as_one_array(make, real):
    columns = {"a": np.array([1.5, 2.5], dtype=real), "b": np.array([0.1, np.nan], dtype=real)}
    whole = make_table(make(columns)).whole()
    assert whole.dtype == real
    np.testing.assert_array_equal(whole, np.column_stack(list(columns.values())))


def test_a_frame_of_pandas_is_not_copied():
    X = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    assert np.shares_memory(make_table(X).whole(), X.to_numpy())


def test_mixed_columns_are_not_read_as_one_array(make):
    assert make_table(make({"a": [1.5], "b": [1]})).whole() is None
    assert make_table(make({"a": [1.5], "b": ["1"]})).whole() is None
    assert make_table(np.array([[1, 2]])).whole() is None


def test_is_frame(make):
    frame = make({"a": [1.0]})
    assert is_frame(frame)
    for other in (np.ones((1, 1)), [[1.0]], "a", None, frame["a"]):
        assert not is_frame(other)


@pytest.mark.parametrize("value", [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN")])
def test_missing_values(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", ["", "nan", 0, False, np.array([1.0, np.nan]), np.inf, "None"])
def test_values_that_are_not_missing(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b", None],
        np.array(["a", None, "b", None], dtype=object),
        pd.Series(["a", None, "b", np.nan]),
        pl.Series(["a", None, "b", None]),
        pa.array(["a", None, "b", None]),
        pa.chunked_array([["a", None], ["b", None]]).dictionary_encode(),
    ],
    ids=lambda values: type(values).__name__,
)
def test_missing_values_are_counted(values):
    assert count_missing(values) == 2
    assert count_missing(np.array(["a", "None"])) == 0


def test_none_has_no_missing_values():
    """scikit-learn reports labels that are missing altogether."""
    assert count_missing(None) == 0
