"""A table once, shown in three ways: terminal, Markdown, CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column: the key of its values, its heading, and how a value is written.

    `form` is a format specification such as ".3f", or "si" for three digits with k, M or G;
    texts stand as they are, None is a dash.
    """

    key: str
    title: str
    form: str = ""

    def write(self, row: Row) -> str:
        """Return the value of a row as text."""
        value = row.get(self.key)
        if value is None:
            return "-"
        if isinstance(value, str):
            return value
        if self.form == "si":
            return with_prefix(value)
        return format(value, self.form).replace(",", " ")  # thousands


def with_prefix(value: float) -> str:
    """Write a number with three digits and a prefix: 1.23M."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{float(f'{value / factor:.3g}'):g}{prefix}"
    return f"{value:.3g}"


@dataclass
class Table:
    """Rows under columns, with a title and a note that says how to read them."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: list[Row]
    note: str = ""

    def cells(self) -> list[list[str]]:
        """Return the rows as texts."""
        return [[column.write(row) for column in self.columns] for row in self.rows]

    def has(self, key: str) -> bool:
        """Tell whether there is a column of this key."""
        return any(column.key == key for column in self.columns)

    def is_text(self, place: int) -> bool:
        """Tell whether a column holds words, which are set left; numbers are set right."""
        return not self.columns[place].form


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, with its title and note."""
    heads = [column.title for column in table.columns]
    rules = ["---" if table.is_text(i) else "---:" for i in range(len(heads))]
    lines = [_line(cells) for cells in (heads, rules, *table.cells())]
    note = [table.note, ""] if table.note else []
    return "\n".join([f"## {table.title}", "", *note, *lines, ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
