"""File formats, column types and the conversion of cells: shared by all ways to read a table."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from ...model.names import feature_names, nearest_name, some_of

CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
STANDARD_STREAM = Path("-")  # standard input, or standard output for writing
_COMPRESSED = ".gz"  # of a CSV file, after its own extension
TEXT_TYPES = (pl.String, pl.Categorical, pl.Enum)  # types of text columns in a Parquet file
_EXACT = 2.0**53  # float64 represents every smaller integer exactly
_DATE_TYPES = (pl.Date, pl.Datetime)
_DAY = 86_400e6  # microseconds
#: Dates and times in ISO 8601, with a blank in place of the T.
_DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S%.f")
_ZONED_FORMATS = ("%Y-%m-%d %H:%M%#z", "%Y-%m-%d %H:%M:%S%.f%#z")


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
    encoding : str or None
        Encoding of the text, UTF-8 by default.
    dates : tuple of str
        Columns of dates to read as numbers; Parquet files may have them, too.
    """

    missing: tuple[str, ...] = ()
    separator: str | None = None
    encoding: str | None = None
    dates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the encoding."""
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError as error:
            raise ValueError(
                f"encoding={self.encoding!r} is invalid: expected an encoding that Python knows, "
                "such as latin-1, cp1252 or utf-16"
            ) from error

    def csv_options(self, path: Path) -> dict[str, Any]:
        """Return the corresponding arguments of `polars.read_csv`."""
        default = "\t" if _extension(path) == ".tsv" else ","
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
    extension = _extension(path)
    if path == STANDARD_STREAM or extension in CSV:
        return False
    if extension in PARQUET and not is_compressed(path):
        return True
    known = ", ".join((*CSV, f"{CSV[0]}{_COMPRESSED}", *PARQUET))
    raise ValueError(f"{path} is neither CSV nor Parquet: expected one of the extensions {known}")


def is_compressed(path: Path) -> bool:
    """Tell whether the name of a file is that of a compressed one."""
    return path.suffix.lower() == _COMPRESSED


def _extension(path: Path) -> str:
    """Return the extension of a file, without that of the compression."""
    return (path.with_suffix("") if is_compressed(path) else path).suffix.lower()


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
        if "utf-8" in reason.lower():
            reason += "; if the file is not UTF-8, name its encoding, such as --encoding latin-1"
        raise ValueError(f"{shown_name(path)}{place}: {reason}") from error


def check_columns_present(path: Path, required: Iterable[str], present: Sequence[str]) -> None:
    """Raise an error that names the missing columns of a table."""
    absent = [name for name in required if name not in present]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        meant = nearest_name(absent[0], present)
        one_csv_column = len(present) == 1 and not is_parquet(path)
        hint = "; check the separator" if one_csv_column else ""
        raise ValueError(
            f"{shown_name(path)} has no {noun} {some_of(absent, 5)}{meant}; it has "
            f"{some_of(present, 8)}{hint}"
        )


def feature_types(model: Any) -> dict[str, Any]:
    """Return the features of a fitted model, in order, with the type `Float64` or `String`."""
    levels = getattr(model, "categories_", [None] * model.n_features_in_)
    return {
        name: pl.Float64 if values is None or values.dtype.kind in "biuf" else pl.String
        for name, values in zip(feature_names(model), levels, strict=True)
    }


def to_type(
    frame: pl.DataFrame, name: str, kind: Any, path: Path, dates: Sequence[str] = ()
) -> pl.Series:
    """Return a column as `Float64` or `String`; raise an error if its type differs in kind."""
    column = frame[name]
    if name in dates and kind == pl.Float64:
        return to_days(path, column)
    numeric = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
    matches = numeric if kind == pl.Float64 else column.dtype in (*TEXT_TYPES, pl.Null)
    if not matches:
        expected = "numbers" if kind == pl.Float64 else "text"
        if is_date(column) and kind == pl.Float64:
            expected += f"; if these were dates in fit, add --date {name!r}"
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
    remedy = f"if it marks a missing value, add --missing {text!r}"
    if _parse_dates(texts[index : index + 1])[0] is not None:
        remedy = f"if the column had dates in fit, add --date {texts.name!r}"
    raise ValueError(
        f"Column {texts.name!r} of {shown_name(path)} contains {text!r} in row "
        f"{before + index + 1} (not counting the header), which is not a number; {remedy}"
    )


def is_date(column: pl.Series) -> bool:
    """Tell whether the type of a column is that of dates, with or without a time."""
    return column.dtype in _DATE_TYPES


def to_days(path: Path, column: pl.Series, before: int = 0) -> pl.Series:
    """Return dates as days since 1970-01-01; raise an error for the first text that is no date.

    Parameters
    ----------
    path : Path
        The file, for the error message.
    column : Series
        Dates, times, or text in ISO 8601.
    before : int
        Number of rows of the file before these, for the error message.
    """
    if column.dtype == pl.Null:
        return column.cast(pl.Float64)
    if column.dtype == pl.String:
        moments = _parse_dates(column)
        index = first_non_number(column, moments)
        if index is not None:
            raise ValueError(
                f"Column {column.name!r} of {shown_name(path)} contains {column[index]!r} in row "
                f"{before + index + 1} (not counting the header), which is not a date: expected "
                "year-month-day, such as 2024-02-29"
            )
    elif is_date(column):
        moments = column.cast(pl.Datetime("us")) if column.dtype == pl.Date else column
    else:
        raise ValueError(
            f"Column {column.name!r} of {shown_name(path)} has type {column.dtype}, but --date "
            "expects dates, or text such as 2024-02-29"
        )
    return moments.dt.epoch("us").cast(pl.Float64) / _DAY


def _parse_dates(texts: pl.Series) -> pl.Series:
    """Parse dates in ISO 8601, with or without a time and a time zone; anything else is null."""
    plain = texts.str.strip_chars().str.replace(r"^(\d{4}-\d\d-\d\d)[Tt]", "${1} ")
    zoned = plain.str.replace(r"[Zz]$", "+00:00")
    naive = [plain.str.to_datetime(form, time_unit="us", strict=False) for form in _DATE_FORMATS]
    aware = [zoned.str.to_datetime(form, time_unit="us", strict=False) for form in _ZONED_FORMATS]
    utc = [column.dt.convert_time_zone("UTC").dt.replace_time_zone(None) for column in aware]
    found, *others = naive + utc
    for column in others:
        found = found.zip_with(found.is_not_null(), column)
    return found
