"""Batches contain the rows of the file, with the same column types in every batch."""

import csv
import gzip
import io
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.cli.tables import (
    ColumnRoles,
    TableFormat,
    read_batches,
    read_training_table,
    streaming,
)
from directboost.cli.tables.records import Block, check_lengths

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
    found = pl.concat(batch.X for batch in read_batches(path, types, TableFormat(), size=size))
    assert found.equals(frame.select("n", "w"))


def test_parquet_is_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_PARQUET_ROWS", 7)
    frame = pl.DataFrame({"i": range(40), "b": [True, None] * 20, "s": ["u", "v"] * 20})
    frame.with_columns(pl.col("s").cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    types = {"b": pl.Float64, "s": pl.String}
    parts = list(read_batches(tmp_path / "t.parquet", types, TableFormat(), ["i", "b"]))
    assert [part.X.height for part in parts] == [7] * 5 + [5]
    found = pl.concat(part.X for part in parts)
    assert pl.concat(part.kept for part in parts).equals(frame.select("i", "b"))
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
    batches = read_batches(tmp_path / "t.csv", {"n": pl.Float64}, table_format, size=64)
    found = pl.concat(batch.X for batch in batches)["n"]
    assert found.equals(pl.Series("n", [7.0] * before + numbers, pl.Float64))


@pytest.mark.parametrize(("name", "separator"), [("t.tsv", None), ("t.csv", "\\t"), ("t.csv", ";")])
def test_separators(tmp_path, name, separator):
    between = ";" if separator == ";" else "\t"
    (tmp_path / name).write_text(f"a{between}b\n1{between}2\n")
    types = {"b": pl.Float64}
    (found,) = read_batches(tmp_path / name, types, TableFormat(separator=separator))
    assert found.X["b"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "has column names but no rows"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("b\n1\n", "has no column 'a'"),
        ("a,b\n1,2\n3,4,5\n", r"^Line 3 of .*t.csv has 3 fields, but the header has 2$"),
        ('a,b\n"1\n",2\n\n3\n', r"^Line 5 of .*t.csv has 1 field, but the header has 2$"),
        (
            "\na,b\r\n\r\n1,2\r\nx,2,3\r\n",
            r"^Line 5 of .*t.csv has 3 fields, but the header has 2$",
        ),
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


def test_kept_columns_are_the_text_of_the_cells(tmp_path):
    """Also if they are features, or if a marker of missing values is in them."""
    text = 'n,b,w\n3000,False,NA\n3e3,true, x \n,,\n01.50,NA,"""q"""\n'
    (tmp_path / "t.csv").write_text(text)
    types = {"b": pl.Float64, "n": pl.Float64}
    for keep in (["w", "n", "b"], ["n"], ["w"]):
        for size in (10, 1000):
            table_format = TableFormat(missing=("NA",))
            batches = list(read_batches(tmp_path / "t.csv", types, table_format, keep, size))
            X = pl.concat(batch.X for batch in batches)
            assert X["n"].to_list() == [3000.0, 3000.0, None, 1.5]
            assert X["b"].to_list() == [0.0, 1.0, None, None]
            kept = pl.concat(batch.kept for batch in batches)
            cells = {
                "w": ["NA", " x ", None, '"q"'],
                "n": ["3000", "3e3", None, "01.50"],
                "b": ["False", "true", None, "NA"],
            }
            assert kept.to_dict(as_series=False) == {name: cells[name] for name in keep}


@pytest.mark.parametrize("size", [16, 10_000])
def test_compressed_and_encoded_files(tmp_path, size):
    """The name of a compressed file need not tell it."""
    text = "größe,w\n" + "".join(f"{i},é{i}\n" for i in range(50))
    types = {"größe": pl.Float64, "w": pl.String}
    for name, content, encoding in (
        ("t.csv.gz", gzip.compress(text.encode()), None),
        ("t.csv", gzip.compress(text.encode()), None),
        ("t.tsv.gz", gzip.compress(text.replace(",", "\t").encode("latin-1")), "latin-1"),
        ("l.csv", text.encode("latin-1"), "latin-1"),
        ("u.csv", text.encode("utf-16"), "utf-16"),
        ("b.csv", text.encode("utf-8-sig"), "utf-8"),
    ):
        (tmp_path / name).write_bytes(content)
        table_format = TableFormat(encoding=encoding)
        batches = list(read_batches(tmp_path / name, types, table_format, size=size))
        X = pl.concat(batch.X for batch in batches)
        assert X["größe"].to_list() == list(range(50))
        assert X["w"].to_list() == [f"é{i}" for i in range(50)]
        table = read_training_table(tmp_path / name, ColumnRoles(target="w"), table_format)
        assert table.X["größe"].to_list() == list(range(50))
        assert table.y.tolist() == X["w"].to_list()


@pytest.mark.parametrize(
    ("name", "content", "encoding", "reason"),
    [
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], None, "cannot be decompressed"),
        ("t.csv", "a,b\n1,é".encode("latin-1"), None, "not UTF-8.*such as --encoding latin-1"),
        ("t.csv", "é,b\n1,2".encode("latin-1"), None, "not UTF-8.*such as --encoding latin-1"),
        ("t.csv", "a,b\n1,2".encode("utf-16"), None, "is encoded in UTF-16; add --encoding utf-16"),
        ("t.csv", b"a,b\n1,\xff", "ascii", "cannot be read with --encoding ascii: ordinal"),
        ("t.csv", b"PAR1abc", None, "is a Parquet file; save it with the extension"),
    ],
)
def test_errors_about_the_encoding(tmp_path, name, content, encoding, reason):
    (tmp_path / name).write_bytes(content)
    table_format = TableFormat(encoding=encoding)
    with pytest.raises(ValueError, match=reason):
        list(read_batches(tmp_path / name, {"a": pl.Float64}, table_format))
    with pytest.raises(ValueError, match=reason):
        read_training_table(tmp_path / name, ColumnRoles(target="b"), table_format)


@pytest.mark.parametrize("encoding", ["latin-99", "rot13"])
def test_an_unknown_encoding(encoding):
    with pytest.raises(ValueError, match=f"encoding='{encoding}' is invalid: expected an encoding"):
        TableFormat(encoding=encoding)


_DATES = {
    "1970-01-02": 1.0,
    " 1969-12-31 ": -1.0,
    "2024-02-29": 19782.0,
    "1970-01-01T12:00": 0.5,
    "1970-01-01 18:00:00": 0.75,
    "1970-01-01T00:01:24.375": 2.0**-10,
    "1970-01-01T06:00:00Z": 0.25,
    "1970-01-02 01:00+01:00": 1.0,
    "": None,
}


@pytest.mark.parametrize("size", [30, 10_000])
def test_dates_are_days(tmp_path, size):
    (tmp_path / "t.csv").write_text("d,y\n" + "".join(f"{text},y\n" for text in _DATES))
    table_format = TableFormat(dates=("d",))
    batches = read_batches(tmp_path / "t.csv", {"d": pl.Float64}, table_format, size=size)
    found = pl.concat(batch.X for batch in batches)["d"]
    assert found.to_list() == list(_DATES.values())
    table = read_training_table(tmp_path / "t.csv", ColumnRoles(target="y"), table_format)
    assert table.X["d"].equals(found)


def test_dates_of_a_parquet_file_are_days(tmp_path):
    days = [date(1970, 1, 3), None, date(1969, 12, 31)]
    frame = pl.DataFrame({"d": days, "y": ["a", "b", "a"]})
    for kind in (pl.Date, pl.Datetime("ms"), pl.Datetime("ns", "UTC"), pl.String):
        frame.with_columns(pl.col("d").cast(kind)).write_parquet(tmp_path / "t.parquet")
        types, table_format = {"d": pl.Float64}, TableFormat(dates=("d",))
        (batch,) = read_batches(tmp_path / "t.parquet", types, table_format)
        assert batch.X["d"].to_list() == [2.0, None, -1.0]


def test_errors_about_dates_have_a_remedy(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("d,n,y\n2024-01-31,1,a\n13/02/2024,2,b\n")
    types = {"d": pl.Float64}
    with pytest.raises(ValueError, match=r"'2024-01-31' in row 1 .* in fit, add --date 'd'"):
        list(read_batches(path, types, TableFormat()))
    reason = r"contains '13/02/2024' in row 2 .* not a date: expected year-month-day"
    with pytest.raises(ValueError, match=reason):
        list(read_batches(path, types, TableFormat(dates=("d",))))
    with pytest.raises(ValueError, match=reason):
        read_training_table(path, ColumnRoles(target="y"), TableFormat(dates=("d",)))
    pl.DataFrame({"d": [date(2024, 1, 1)], "n": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="fitted to numbers; if these were dates"):
        list(read_batches(tmp_path / "t.parquet", types, TableFormat()))
    with pytest.raises(ValueError, match=r"'n' .* has type Int64, but --date expects dates"):
        list(read_batches(tmp_path / "t.parquet", {"n": pl.Float64}, TableFormat(dates=("n",))))


def test_names_with_quotation_marks(tmp_path):
    """Columns without a name do not disturb."""
    (tmp_path / "t.csv").write_text('"say ""hi""","a,b",,y\n1,2,3,p\n4,5,6,q\n')
    types = {'say "hi"': pl.Float64, "a,b": pl.Float64}
    (batch,) = read_batches(tmp_path / "t.csv", types, TableFormat(), ['say "hi"'])
    assert batch.X.columns == list(types)
    assert batch.kept.to_dict(as_series=False) == {'say "hi"': ["1", "4"]}
    table = read_training_table(tmp_path / "t.csv", ColumnRoles(target="y"), TableFormat())
    assert table.X.columns[:2] == list(types)


def test_a_missing_column_suggests_the_nearest_name(tmp_path):
    (tmp_path / "t.csv").write_text("height,town,y\n1,a,p\n")
    pl.DataFrame({"height": [1], "town": ["a"]}).write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(ValueError, match=r"no column 'heigth' \(did you mean 'height'\?\); it"):
            list(read_batches(tmp_path / name, {"heigth": pl.Float64}, TableFormat()))
    roles = ColumnRoles(target="y", drop=["twn"])
    with pytest.raises(ValueError, match=r"no column 'twn' \(did you mean 'town'\?\)"):
        read_training_table(tmp_path / "t.csv", roles, TableFormat())


@given(
    rows=st.lists(st.lists(st.text('ab",\n', max_size=3), min_size=1, max_size=4), max_size=12),
)
def test_the_length_of_records(rows):
    """The first record whose length differs is found, on its line."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    lines = np.cumsum([1, *(1 + sum(cell.count("\n") for cell in row) for row in rows)])
    wrong = [i for i, row in enumerate(rows) if len(row) != 2]
    block = Block(b"x,y\n", text.getvalue().encode(), 2)
    if not wrong:
        check_lengths(Path("t.csv"), block, ",", 2)
        return
    reason = f"^Line {lines[wrong[0]] + 1} of t.csv has {len(rows[wrong[0]])} field"
    with pytest.raises(ValueError, match=reason):
        check_lengths(Path("t.csv"), block, ",", 2)
