"""Tables as text: formats, alignment, missing values."""

import pytest

from directboost.research.bench.report import Column, Table, to_markdown, with_prefix


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (".2f", 1.005, "1.00"),
        (",d", 1234567, "1 234 567"),
        (".2%", 0.0123, "1.23%"),
        ("si", 12345, "12.3k"),
        ("", "word", "word"),
        (".2f", None, "-"),
        (".2f", "word", "word"),
    ],
)
def test_a_value_is_written(form, value, text):
    assert Column("a", "A", form).write({"a": value}) == text


def test_a_value_that_is_not_there():
    assert Column("a", "A", ".2f").write({}) == "-"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (123456, "123k"), (2.5e6, "2.5M"), (7e9, "7G")],
)
def test_prefixes(value, text):
    assert with_prefix(value) == text


def test_markdown():
    columns = (Column("name", "data"), Column("s", "fit s", ".1f"))
    table = Table("t", "Title", columns, [{"name": "iris", "s": 0.25}, {"name": "wine"}], "A note.")
    assert to_markdown(table).splitlines() == [
        "## Title",
        "",
        "A note.",
        "",
        "| data | fit s |",
        "| --- | ---: |",
        "| iris | 0.2 |",
        "| wine | - |",
    ]
