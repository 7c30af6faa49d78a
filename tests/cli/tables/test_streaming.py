"""Batches contain the rows of the file, with the same column types in every batch."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.cli.tables import TableFormat, read_batches, streaming

NUMBERS = st.none() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, width=64)
WORDS = st.none() | st.text(alphabet='xy", é\n', min_size=1, max_size=5)


@given(
    rows=st.lists(st.tuples(NUMBERS, WORDS), min_size=1, max_size=30),
    size=st.integers(5, 100),
)
def test_the_batches_make_up_the_table(tmp_path_factory, rows, size):
    """Numbers are equal to the bit; text and nulls are unchanged."""
    numbers = [None if n is None else float(n) for n, _ in rows]
    frame = pl.DataFrame(
        {"w": [w for _, w in rows], "n": numbers, "other": [1] * len(rows)},
        schema={"w": pl.String, "n": pl.Float64, "other": pl.Int64},
    )
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame.with_columns(n=pl.Series([None if n is None else repr(n) for n, _ in rows])).write_csv(
        path
    )
    types = {"n": pl.Float64, "w": pl.String}
    found = pl.concat(read_batches(path, types, TableFormat(), size=size))
    assert found.equals(frame.select("n", "w"))


def test_parquet_is_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PARQUET_ROWS", 7)
    frame = pl.DataFrame({"i": range(40), "b": [True, None] * 20, "s": ["u", "v"] * 20})
    frame.with_columns(pl.col("s").cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    types = {"b": pl.Float64, "s": pl.String}
    parts = list(read_batches(tmp_path / "t.parquet", types, TableFormat(), ["i"]))
    assert [part.height for part in parts] == [7] * 5 + [5]
    found = pl.concat(parts)
    assert found["i"].equals(frame["i"])
    assert found["b"].to_list() == [1.0, None] * 20
    assert found["s"].to_list() == ["u", "v"] * 20


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", " 2 ", "+3", "1e2", "-0.5"], [1.0, 2.0, 3.0, 100.0, -0.5]),
        (["true", "False", "TRUE", ""], [1.0, 0.0, 1.0, None]),
        (["1", "NaN", "inf"], [1.0, np.nan, np.inf]),
        (["?", "3", "?"], [None, 3.0, None]),
    ],
)
@pytest.mark.parametrize("before", [0, 1500])
def test_spellings_of_a_number(tmp_path, cells, numbers, before):
    """They are read alike at the start of the file and after plain numbers."""
    lines = ["7,a"] * before + [f"{cell},a" for cell in cells]
    (tmp_path / "t.csv").write_text("n,other\n" + "\n".join(lines))
    table_format = TableFormat(missing=("?",))
    found = pl.concat(read_batches(tmp_path / "t.csv", {"n": pl.Float64}, table_format, size=64))[
        "n"
    ]
    assert found.equals(pl.Series("n", [7.0] * before + numbers, pl.Float64))


@pytest.mark.parametrize(("name", "separator"), [("t.tsv", None), ("t.csv", "\\t"), ("t.csv", ";")])
def test_separators(tmp_path, name, separator):
    between = ";" if separator == ";" else "\t"
    (tmp_path / name).write_text(f"a{between}b\n1{between}2\n")
    types = {"b": pl.Float64}
    (found,) = read_batches(tmp_path / name, types, TableFormat(separator=separator))
    assert found["b"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "has column names but no rows"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("b\n1\n", "has no column 'a'"),
        ("a,b\n1,2\n3,4,5\n", "after row 0: found more fields"),
        ("a,b\n1,2\nx,3\n", r"contains 'x' in row 2 \(not counting the header\)"),
    ],
)
def test_errors(tmp_path, text, reason):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=reason):
        list(read_batches(tmp_path / "t.csv", {"a": pl.Float64}, TableFormat()))


@pytest.mark.parametrize("separator", ["ab", "", "\\x", "\\xe9", "é", '"', "\\n"])
def test_a_separator_is_one_character(tmp_path, separator):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"separator=.* is invalid: expected one ASCII"):
        list(read_batches(tmp_path / "t.csv", {"a": pl.Float64}, TableFormat(separator=separator)))


def test_a_single_column_suggests_a_wrong_separator(tmp_path):
    """Parquet files have no separator."""
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    pl.DataFrame({"a;b": [1]}).write_parquet(tmp_path / "t.parquet")
    for name, end in (("t.csv", "'a;b'; check the separator$"), ("t.parquet", "'a;b'$")):
        with pytest.raises(ValueError, match=end):
            list(read_batches(tmp_path / name, {"a": pl.Float64}, TableFormat()))
