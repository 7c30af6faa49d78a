"""File formats, column types and the conversion of cells: shared by all ways to read a table."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from ...model.names import feature_names, some_of

CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
STANDARD_STREAM = Path("-")  # standard input, or standard output for writing
TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)  # types of text columns in a Parquet file
_EXACT = 2.0**53  # float64 represents every smaller integer exactly


@dataclass(frozen=True)
class TableFormat:
    """Format of a CSV file.

    Attributes
    ----------
    missing : tuple of str
        Texts that mark a missing value, in addition to the empty cell.
    separator : str or None
        Separator of the columns, possibly as an escape sequence; by default a tab in a `.tsv`
        file, else a comma.
    """

    missing: tuple[str, ...] = ()
    separator: str | None = None

    def csv_options(self, path: Path) -> dict[str, Any]:
        """Return the corresponding arguments of `polars.read_csv`."""
        default = "\t" if path.suffix.lower() == ".tsv" else ","
        separator = default if self.separator is None else _parse_separator(self.separator)
        return {"null_values": list(self.missing) or None, "separator": separator}


def _parse_separator(text: str) -> str:
    try:
        separator = codecs.decode(text, "unicode_escape")
    except UnicodeDecodeError:
        separator = ""
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise ValueError(
            f"separator={text!r} is invalid: expected one ASCII character, such as ; or \\t"
        )
    return separator


def is_parquet(path: Path) -> bool:
    """Tell Parquet from CSV by the file extension; raise an error for other extensions."""
    suffix = path.suffix.lower()
    if path == STANDARD_STREAM or suffix in CSV:
        return False
    if suffix in PARQUET:
        return True
    known = ", ".join((*CSV, *PARQUET))
    raise ValueError(f"{path} is neither CSV nor Parquet: expected one of the extensions {known}")


def shown_name(path: Path) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == STANDARD_STREAM else str(path)


@contextmanager
def polars_errors(path: Path, place: str = " cannot be read") -> Iterator[None]:
    """Convert errors of polars to one-line messages that start with the name of the file."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise ValueError(f"{shown_name(path)}{place}: {reason}") from error


def check_columns_present(path: Path, required: Iterable[str], present: Sequence[str]) -> None:
    """Raise an error that names the missing columns of a table."""
    absent = [name for name in required if name not in present]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        one_csv_column = len(present) == 1 and not is_parquet(path)
        hint = "; check the separator" if one_csv_column else ""
        raise ValueError(
            f"{shown_name(path)} has no {noun} {some_of(absent, 5)}; it has {some_of(present, 8)}"
            f"{hint}"
        )


def feature_types(model: Any) -> dict[str, Any]:
    """Return the features of a fitted model, in order, with the type `Float64` or `String`."""
    levels = getattr(model, "categories_", [None] * model.n_features_in_)
    return {
        name: pl.Float64 if values is None or values.dtype.kind in "biuf" else pl.String
        for name, values in zip(feature_names(model), levels, strict=True)
    }


def to_type(frame: pl.DataFrame, name: str, kind: Any, path: Path) -> pl.Series:
    """Return a column as `Float64` or `String`; raise an error if its type differs in kind."""
    column = frame[name]
    numeric = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
    matches = numeric if kind == pl.Float64 else column.dtype in (*TEXT_TYPES, pl.Null)
    if not matches:
        expected = "numbers" if kind == pl.Float64 else "text"
        raise ValueError(
            f"Column {name!r} of {shown_name(path)} has type {column.dtype}, but the model was "
            f"fitted to {expected}"
        )
    return column.cast(kind)


def to_numbers(texts: pl.Series) -> pl.Series:
    """Parse texts as numbers; true is 1, false is 0, and anything else is null."""
    stripped = texts.str.strip_chars()
    booleans = stripped.str.to_lowercase().replace_strict(
        {"true": 1.0, "false": 0.0}, default=None, return_dtype=pl.Float64
    )
    return stripped.cast(pl.Float64, strict=False).zip_with(booleans.is_null(), booleans)


def exact_numbers(texts: pl.Series) -> list[Any]:
    """Parse texts as numbers, None if that fails; numbers that float64 might round are exact."""
    return [
        number if number is None or abs(number) < _EXACT else Decimal(text.strip())
        for text, number in zip(texts.to_list(), to_numbers(texts).to_list(), strict=True)
    ]


def first_non_number(texts: pl.Series, numbers: pl.Series) -> int | None:
    """Return the index of the first text that is not a number, or None."""
    wrong = (texts.is_not_null() & numbers.is_null()).arg_true()
    return int(wrong[0]) if wrong.len() else None


def checked_numbers(path: Path, texts: pl.Series, before: int) -> pl.Series:
    """Parse texts as numbers; raise an error for the first one that is not a number.

    Parameters
    ----------
    path : Path
        The file, for the error message.
    texts : Series
    before : int
        Number of rows of the file before these, for the error message.
    """
    numbers = to_numbers(texts)
    index = first_non_number(texts, numbers)
    if index is None:
        return numbers
    text: Any = texts[index]
    raise ValueError(
        f"Column {texts.name!r} of {shown_name(path)} contains {text!r} in row "
        f"{before + index + 1} (not counting the header), which is not a number; if it marks a "
        f"missing value, add --missing {text!r}"
    )
