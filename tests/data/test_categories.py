"""Categorical columns: their declaration, their levels, and their encoding as numbers."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from directboost import DirectBoostClassifier
from directboost.data.categories import learn_encoder, numeric_encoder

NAMES = ["size", "city", "grade"]
CITIES = ["Rome", "Oslo", None, "Rome", "Bern"]
FRAMES = {
    "pandas": pd.DataFrame(
        {"size": [1.5, None, 3, 4, 5], "city": pd.Categorical(CITIES), "grade": [3, 1, 1, 2, 3]}
    ),
    "polars": pl.DataFrame(
        {"size": [1.5, None, 3, 4, 5], "city": CITIES, "grade": [3, 1, 1, 2, 3]}, strict=False
    ).with_columns(pl.col("city").cast(pl.Categorical)),
    "pyarrow": pa.table(
        {
            "size": [1.5, None, 3, 4, 5],
            "city": pa.array(CITIES).dictionary_encode(),
            "grade": [3, 1, 1, 2, 3],
        }
    ),
}
OBJECTS = np.array(
    [[1.5, "Rome", 3], [None, "Oslo", 1], [3, None, 1], [4, "Rome", 2], [5, "Bern", 3]],
    dtype=object,
)


@pytest.fixture(params=FRAMES, name="frame")
def _frame(request):
    return FRAMES[request.param]


def test_levels_from_column_types(frame):
    """By default the types decide; levels are the sorted distinct values without null."""
    for asked in (None, "from_dtype"):
        encoder = learn_encoder(frame, asked, NAMES)
        assert encoder.categorical.tolist() == [False, True, False]
        assert encoder.n_levels.tolist() == [0, 3, 0]
        assert encoder.categories[1].tolist() == ["Bern", "Oslo", "Rome"]
        expected = [[1.5, 2, 3], [np.nan, 1, 1], [3, np.nan, 1], [4, 2, 2], [5, 0, 3]]
        np.testing.assert_array_equal(encoder.encode(frame), expected)


@pytest.mark.parametrize(
    "asked",
    [
        [False, True, True],
        np.array([False, True, True]),
        pd.Series([False, True, True]),
        pl.Series([False, True, True]),
        [1, 2],
        (2, 1, 1),
        np.array([1, 2], dtype=np.uint8),
        ["grade", "city"],
        np.array(["grade", "city"]),
        pd.Index(["city", "grade"]),
    ],
    ids=lambda asked: f"{type(asked).__name__} of {np.asarray(asked).dtype.kind}",
)
def test_masks_indices_and_names(frame, asked):
    """All forms are equivalent, for frames and for arrays of objects."""
    for X in (frame, OBJECTS):
        encoder = learn_encoder(X, asked, NAMES)
        assert encoder.n_levels.tolist() == [0, 3, 3]
        assert encoder.categories[2].tolist() == [1, 2, 3]
        np.testing.assert_array_equal(encoder.encode(X)[:, 2], [2, 0, 0, 1, 2])
        np.testing.assert_array_equal(encoder.encode(X)[:, 1], [2, 1, np.nan, 2, 0])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["city", "town"], r"names features that X does not have: \['town'\]"),
        ([3], "holds the index 3, but X has 3 features: indices range from 0 to 2"),
        ([0, -1], "holds the index -1"),
        ([True, False], "a mask of 2 values, but X has 3 features"),
        ("city", r"categorical_features='city' is invalid.*'from_dtype'"),
        (1, "categorical_features=1 is invalid.*a mask"),
        (True, "categorical_features=True is invalid"),
        ([1.0], r"categorical_features=\[1\.0\] is invalid.*indices"),
        ([0, "city"], "is invalid.*names"),
        ([0, True], "is invalid.*a mask"),
        ([[0, 1]], "is invalid"),
        ([None], "is invalid"),
        ({"city"}, "is invalid"),
    ],
)
def test_invalid_forms(frame, asked, message):
    """The message names the argument, its value and the expected forms."""
    for X in (frame, OBJECTS):
        with pytest.raises(ValueError, match=f"categorical_features.*{message}|{message}"):
            learn_encoder(X, asked, NAMES)


def test_an_empty_list_means_no_category():
    assert not learn_encoder(np.ones((2, 3)), [], NAMES).categorical.any()


def test_unknown_levels_are_missing(frame):
    encoder = learn_encoder(frame, None, NAMES)
    other = pd.DataFrame({"size": [1.0] * 4, "city": ["Oslo", "Paris", None, 7], "grade": [1] * 4})
    np.testing.assert_array_equal(encoder.encode(other)[:, 1], [1, np.nan, np.nan, np.nan])


def test_levels_do_not_depend_on_the_order_of_categories():
    """Categories of another frame, in another order, are the same cities."""
    encoder = learn_encoder(FRAMES["pandas"], None, NAMES)
    cities = pd.Categorical(["Rome", "Bern"], categories=["Rome", "Wien", "Bern"], ordered=True)
    other = pd.DataFrame({"size": [1.0, 2.0], "city": cities, "grade": [1, 1]})
    np.testing.assert_array_equal(encoder.encode(other)[:, 1], [2, 0])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[7.0, 1], [np.nan, 2], [-3, 3], [7, 4]]),
        np.array([[7, 1], [None, 2], [-3, 3], [7, 4]], dtype=object),
        pd.DataFrame({"a": pd.array([7, None, -3, 7], dtype="Int64"), "b": [1, 2, 3, 4]}),
        pl.DataFrame({"a": [7, None, -3, 7], "b": [1, 2, 3, 4]}),
        pa.table({"a": [7, None, -3, 7], "b": [1, 2, 3, 4]}),
    ],
    ids=lambda X: type(X).__module__.split(".")[0],
)
def test_numeric_levels(X):
    """Distinct values, ascending; integers match equal floats."""
    encoder = learn_encoder(X, [0], ["a", "b"])
    assert encoder.categories[0].tolist() == [-3, 7]
    np.testing.assert_array_equal(encoder.encode(X), [[1, 1], [np.nan, 2], [0, 3], [1, 4]])
    other = np.array([[7.0, 0.0], [6.5, 0.0], [np.nan, 0.0], [99.0, 0.0], [-99.0, 0.0]])
    np.testing.assert_array_equal(encoder.encode(other)[:, 0], [1] + [np.nan] * 4)


def test_levels_of_other_types():
    days = [datetime.date(2024, 1, day) for day in (3, 1, 3)]
    encoder = learn_encoder(pl.DataFrame({"a": days, "b": [True, None, False]}), [0, 1], ["a", "b"])
    assert encoder.categories[0].tolist() == [days[1], days[0]]
    assert encoder.categories[1].dtype == bool
    assert encoder.level_name(0, 1) == "2024-01-03"
    assert encoder.level_name(1, 0) == "False"


def test_numeric_columns_have_no_level_names():
    with pytest.raises(ValueError, match="'a' is numeric"):
        numeric_encoder(["a"]).level_name(0, 0)


@pytest.mark.parametrize("values", [[1, "a"], [[1], [2]]])
def test_levels_that_cannot_be_sorted(values):
    with pytest.raises(ValueError, match=r"column 'a' of X .* no order: convert them all to str"):
        learn_encoder(pd.DataFrame({"a": pd.Series(values, dtype=object)}), ["a"], ["a"])


def test_a_column_without_any_level():
    """A column of missing values has no levels and is encoded as NaN."""
    for X in (pl.DataFrame({"a": [None, None]}), np.full((2, 1), np.nan)):
        encoder = learn_encoder(X, [0], ["a"])
        assert encoder.n_levels.tolist() == [0]
        assert encoder.categorical.tolist() == [True]
        assert np.isnan(encoder.encode(np.array([[1.0], [np.nan]]))).all()


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1.0], "b": ["1"]}),
        pl.DataFrame({"a": [1.0], "b": ["1"]}),
        pa.table({"a": [1.0], "b": ["1"]}),
        pl.DataFrame({"a": [1.0], "b": [datetime.date(2024, 1, 1)]}),
        pd.DataFrame({"a": [1.0], "b": pd.Categorical([1])}),
        np.array([[1.0, "1"]], dtype=object),
        np.array([["1.0", "1"]]),
    ],
)
def test_columns_that_are_neither_numeric_nor_declared(X):
    """The message names the column and the remedy, for undeclared categorical types too."""
    chosen = [0] if isinstance(X, np.ndarray) else []
    with pytest.raises(ValueError, match=r"column 'b' of X holds .*, not numbers: .*with cat"):
        learn_encoder(X, chosen, ["a", "b"]).encode(X)


def test_all_columns_of_text_are_named_at_once():
    """With the remedy for all of them, and the columns that are categorical already."""
    frame = pd.DataFrame({
        "city": ["Ulm", "Jena"] * 2, "age": [1.0, 2.0, 3.0, 4.0], "day": ["Mo", "Tu"] * 2,
        "soil": pd.Categorical(["clay", "sand"] * 2),
    })  # fmt: skip
    y = [0, 1, 1, 0]
    with pytest.raises(ValueError, match="columns 'city', 'day' of X hold String, not") as raised:
        DirectBoostClassifier().fit(frame, y)
    message = str(raised.value)
    assert "astype('category')" in message
    assert message.endswith("categorical_features=['city', 'day', 'soil']")
    model = DirectBoostClassifier(categorical_features=["city", "day", "soil"]).fit(frame, y)
    text = frame.astype({"city": "category", "day": "category"})
    assert DirectBoostClassifier().fit(text, y).certificate_ == model.certificate_


def test_all_columns_of_text_of_an_array_are_named_at_once():
    rows = np.array([["Ulm", 1.0, "Mo"], ["Jena", 2.0, "Tu"]] * 2, dtype=object)
    message = (
        r"X holds 'Ulm' in row 0 of column 0 .* columns 0, 2 hold text: .*"
        r"categorical_features=\[0, 2\]$"
    )
    with pytest.raises(ValueError, match=message):
        DirectBoostClassifier().fit(rows, [0, 1, 1, 0])
    DirectBoostClassifier(categorical_features=[0, 2]).fit(rows, [0, 1, 1, 0])


def test_single_precision_is_kept():
    """Levels next to single precision are single; any other numeric type requires double."""
    single = pl.DataFrame({"a": np.float32([0.1, 0.2]), "b": ["u", "v"]})
    assert learn_encoder(single, ["b"], ["a", "b"]).encode(single).dtype == np.float32
    double = single.with_columns(c=pl.Series([1, 2]))
    assert learn_encoder(double, ["b"], list("abc")).encode(double).dtype == np.float64
    both = np.float32([[0.1, 1], [0.2, 0]])
    assert learn_encoder(both, [1], ["a", "b"]).encode(both).dtype == np.float32


def test_unused_levels_are_dropped(frame):
    """The remaining levels are renumbered in the result; X itself is not changed."""
    encoder = learn_encoder(frame, [1, 2], NAMES)
    X = encoder.encode(frame)
    before = X.copy()
    part, smaller = encoder.restricted(X[[0, 2, 3]])
    assert smaller.categories[1].tolist() == ["Rome"]
    assert smaller.categories[2].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(part[:, 1], [0, np.nan, 0])
    np.testing.assert_array_equal(smaller.encode(frame)[:, 1], [0, np.nan, np.nan, 0, np.nan])
    same, whole = encoder.restricted(X)
    assert same is X
    assert whole is encoder
    np.testing.assert_array_equal(X, before)


def test_pickling(frame):
    encoder = learn_encoder(frame, [1, 2], NAMES)
    again = pickle.loads(pickle.dumps(encoder))
    assert again.names == tuple(NAMES)
    np.testing.assert_array_equal(again.encode(frame), encoder.encode(frame))
