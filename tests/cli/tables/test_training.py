"""Roles and types of the columns of training data."""

import numpy as np
import polars as pl
import pytest

from directboost.cli.tables import (
    ColumnRoles,
    TableFormat,
    TrainingTable,
    read_training_table,
    table_writer,
)


def read(tmp_path, text, **roles):
    (tmp_path / "t.csv").write_text(text)
    return read_training_table(tmp_path / "t.csv", ColumnRoles(target="y", **roles), TableFormat())


def test_text_columns_are_categories(tmp_path):
    table = read(tmp_path, "i,f,w,b,y\n1,1.5,u,true,p\n2,NaN,,false,q\n\n3, 2,v,true,p\n\n")
    assert table.X["i"].to_list() == [1, 2, 3]
    np.testing.assert_array_equal(table.X["f"].to_numpy(), [1.5, np.nan, 2.0])
    assert table.X["w"].to_list() == ["u", None, "v"]
    assert table.X["b"].dtype == pl.Boolean
    assert table.categorical == ("w",)
    assert table.y.tolist() == ["p", "q", "p"]
    assert table.notes == ("Text columns, used as categories: w (2 values)",)


def test_roles(tmp_path):
    roles = {"weight": "s", "drop": ["z"], "categorical": ["i"]}
    table = read(tmp_path, "i,s,z,y\n1,2,9,0\n2,1,9,1\n", **roles)
    assert table.X.columns == ["i"]
    assert table.categorical == ("i",)
    np.testing.assert_array_equal(table.weight, [2.0, 1.0])
    part = table.take(np.array([1]))
    assert (part.X["i"].to_list(), part.y.tolist(), part.weight.tolist()) == ([2], [1], [1.0])


def test_text_among_numbers_is_rejected(tmp_path):
    """Text may mark missing values; --categorical accepts it."""
    text = "a,y\n1,p\n2,q\n?,p\n4.5,q\n"
    with pytest.raises(
        ValueError, match=r"'a' of .* contains '\?' among numbers; add --missing '\?'"
    ):
        read(tmp_path, text)
    assert read(tmp_path, text, categorical=["a"]).categorical == ("a",)


def test_a_note_names_identifier_columns(tmp_path):
    lines = "".join(f"{i},{i % 7},{i / 8},p\n" for i in range(60))
    notes = read(tmp_path, f"id,a,b,y\n{lines}").notes
    assert notes == ("id has a different value in every row; --drop 'id' ignores it",)


@pytest.mark.parametrize(
    ("text", "roles", "reason"),
    [
        ("a,y\n1,\n2,p\n", {}, "The target column 'y' .* has missing values in 1 row;"),
        ("a,y\n1,NaN\n2,1.0\n", {}, "has missing values in 1 row;"),
        ("a,y\n1,2024-01-01\n2,2024-01-02\n", {}, "The target column 'y' .* has type Date"),
        ("a,y\n1,p\n2,q\n", {"drop": ["a"]}, "no columns left"),
        ("a,w,y\n1,x,p\n2,y,q\n", {"weight": "w"}, "The weight column 'w' .* has type String"),
        ("a,w,y\n1,,p\n2,3,q\n", {"weight": "w"}, "The weight column 'w' .* has missing values"),
        ("a,y\n1,2,3\n", {}, "^Line 2 of .* has 3 fields, but the header has 2$"),
        ("a,y\n1,p\n\n2,q\n3\n", {}, "^Line 5 of .* has 1 field, but the header has 2$"),
    ],
)
def test_errors(tmp_path, text, roles, reason):
    with pytest.raises(ValueError, match=reason):
        read(tmp_path, text, **roles)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_failed_write_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    path.write_text("before")
    with pytest.raises(ValueError, match="half"):
        _fail_half_way(path)
    assert path.read_text() == "before"
    with table_writer(path) as writer:
        for part in range(3):
            writer.add(pl.DataFrame({"a": [part], "b": ['x,"']}))
    found = pl.read_csv(path) if suffix == "csv" else pl.read_parquet(path)
    assert found.equals(pl.DataFrame({"a": [0, 1, 2], "b": ['x,"'] * 3}))
    assert list(tmp_path.iterdir()) == [path]


def _fail_half_way(path):
    with table_writer(path) as writer:
        writer.add(pl.DataFrame({"a": [1]}))
        raise ValueError("half of it is there")


def test_a_training_table_needs_no_weights():
    table = TrainingTable(pl.DataFrame({"a": [1, 2]}), np.array([0, 1]))
    assert table.take(np.array([0])).weight is None
