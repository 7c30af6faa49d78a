"""Training data: roles and types of the columns of a whole table, and embedded data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ...arrays import Array, Ints
from ...datasets import load
from ...model.names import some_of
from .cells import (
    STANDARD_STREAM,
    TEXT_TYPES,
    TableFormat,
    check_columns_present,
    first_non_number,
    is_date,
    is_parquet,
    polars_errors,
    shown_name,
    to_days,
    to_numbers,
)
from .records import Block, check_lengths, column_names, csv_blocks, open_csv, read_blocks
from .streaming import check_not_empty

NAMES = ("digits", "iris", "wine", "breast_cancer")  # embedded data sets
TARGET = "target"  # the column of their class labels
_IDENTIFIER_ROWS = 50  # with this many rows, a column of distinct values is noted as an identifier
_MAX_NOTED = 6  # text columns that a note names


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of a table; all other columns are features.

    Attributes
    ----------
    target : str
        Column of the class labels.
    weight : str or None
        Column of the sample weights.
    drop : sequence of str
        Columns to ignore.
    categorical : sequence of str
        Numeric features to treat as categories.
    """

    target: str
    weight: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()

    @property
    def required(self) -> list[str]:
        """Columns that the table must contain."""
        weight = [] if self.weight is None else [self.weight]
        return [self.target, *weight, *self.drop, *self.categorical]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Features, class labels and sample weights.

    Attributes
    ----------
    X : DataFrame (m, d)
    y : (m,) array
    weight : (m,) array or None
    categorical : tuple of str
        The categorical features: text columns, and those chosen by the user.
    notes : tuple of str
        Messages to the user about how the columns were read.
    """

    X: pl.DataFrame
    y: Any
    weight: Array | None = None
    categorical: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def take(self, rows: Ints) -> "TrainingTable":
        """Return the table of the given rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight)


def read_training_table(path: Path, roles: ColumnRoles, table_format: TableFormat) -> TrainingTable:
    """Read a whole CSV or Parquet file."""
    if is_parquet(path):
        with polars_errors(path):
            frame = pl.read_parquet(path, glob=False)
    else:
        frame = _read_csv(path, roles.required, table_format)
    check_not_empty(path, frame.height)
    check_columns_present(path, [*roles.required, *table_format.dates], frame.columns)
    frame = frame.with_columns(to_days(path, frame[name]) for name in table_format.dates)
    return make_training_table(path, frame, roles)


def make_training_table(path: Path, frame: pl.DataFrame, roles: ColumnRoles) -> TrainingTable:
    """Split a frame into features, class labels and weights; error messages name `path`."""
    used = {roles.target, roles.weight, *roles.drop}
    X = frame.select([_feature(path, frame[name]) for name in frame.columns if name not in used])
    if X.width == 0:
        raise ValueError(f"{shown_name(path)} has no columns left to use as features")
    texts = [name for name in X.columns if X.schema[name] in TEXT_TYPES]
    chosen = {*texts, *roles.categorical}
    categorical = tuple(name for name in X.columns if name in chosen)
    weight = None if roles.weight is None else _weights(path, frame[roles.weight])
    y = _labels(path, frame[roles.target])
    for name in texts:
        if name not in roles.categorical:
            _check_not_mixed(path, X[name].cast(pl.String))
    return TrainingTable(
        X=X, y=y, weight=weight, categorical=categorical, notes=tuple(_notes(X, texts))
    )


def _read_csv(path: Path, required: Sequence[str], table_format: TableFormat) -> pl.DataFrame:
    """Read a CSV file; types are inferred from all rows, and blank lines are ignored."""
    options = table_format.csv_options(path)
    source: Path | bytes = path
    with open_csv(path, table_format.encoding) as stream:
        if path == STANDARD_STREAM or not isinstance(stream, BufferedReader):
            source = stream.read()  # compressed, or in another encoding

    def blocks() -> Iterator[Block]:
        return read_blocks(path, BytesIO(source)) if isinstance(source, bytes) else csv_blocks(path)

    header, separator = next(blocks()).header, options["separator"]
    names = column_names(path, header, separator, [*required, *table_format.dates])
    dates = {name: pl.String for name, own in names.items() if own in table_format.dates}
    options |= {"infer_schema_length": None, "try_parse_dates": True, "schema_overrides": dates}
    with polars_errors(path):
        try:
            frame = pl.read_csv(source, glob=False, **options)
            complete = frame.to_series(-1).null_count() == 0  # short records are filled with nulls
        except pl.exceptions.PolarsError:
            for block in blocks():
                check_lengths(path, block, separator, len(names))
            raise
    for block in () if complete else blocks():
        check_lengths(path, block, separator, len(names))
    frame = frame.rename(names)
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _feature(path: Path, column: pl.Series) -> pl.Series:
    """Return a column of numbers or text; raise an error for other types."""
    if column.dtype == pl.String:
        words = column.str.strip_chars().str.to_lowercase()
        if column.count() and words.is_in(["true", "false"]).all():
            return words == "true"
        numbers = to_numbers(column)
        return column if first_non_number(column, numbers) is not None else numbers
    if is_date(column):
        raise ValueError(
            f"Column {column.name!r} of {shown_name(path)} contains dates; read them as days since "
            f"1970-01-01 with --date {column.name!r}, or ignore them with --drop {column.name!r}"
        )
    known = column.dtype.is_numeric() or column.dtype in (*TEXT_TYPES, pl.Boolean, pl.Null)
    if not known:
        raise ValueError(
            f"Column {column.name!r} of {shown_name(path)} has type {column.dtype}, which is "
            "neither numeric nor text; convert it to numbers, or ignore it with --drop "
            f"{column.name!r}"
        )
    return column


def _labels(path: Path, column: pl.Series) -> Any:
    missing = column.null_count()
    if column.dtype.is_float():
        missing += int(column.is_nan().sum())
    if missing:
        noun = "row" if missing == 1 else "rows"
        raise ValueError(
            f"The target column {column.name!r} of {shown_name(path)} has missing values in "
            f"{missing} {noun}; remove them from the file"
        )
    numeric = column.dtype.is_integer() or column.dtype.is_float()
    if not numeric and column.dtype not in (*TEXT_TYPES, pl.Boolean):
        raise ValueError(
            f"The target column {column.name!r} of {shown_name(path)} has type {column.dtype}; "
            "expected text, integers, or true and false"
        )
    return np.array(column.to_list())


def _weights(path: Path, column: pl.Series) -> Array:
    if not column.dtype.is_numeric() or column.null_count():
        fault = "missing values" if column.dtype.is_numeric() else f"type {column.dtype}"
        raise ValueError(
            f"The weight column {column.name!r} of {shown_name(path)} has {fault}; expected a "
            "number in every row"
        )
    return np.asarray(column.cast(pl.Float64).to_numpy())


def _notes(X: pl.DataFrame, texts: list[str]) -> Iterator[str]:
    """Yield notes about text columns, which are categories, and about probable identifiers."""
    if texts:
        noted = [
            f"{name} ({X[name].drop_nulls().n_unique():,} values)" for name in texts[:_MAX_NOTED]
        ]
        rest = len(texts) - _MAX_NOTED
        more = f" and {rest} more" if rest > 0 else ""
        yield f"Text columns, used as categories: {', '.join(noted)}{more}"
    for name in X.columns:
        column = X[name]
        discrete = column.dtype.is_integer() or column.dtype in TEXT_TYPES
        large = column.len() >= _IDENTIFIER_ROWS
        if discrete and large and column.n_unique() == column.len():
            yield f"{name} has a different value in every row; --drop {name!r} ignores it"


def _check_not_mixed(path: Path, column: pl.Series) -> None:
    """Reject text in a mostly numeric column; it usually marks missing values."""
    numbers = to_numbers(column)
    if first_non_number(column, numbers) is None or 2 * numbers.count() <= column.count():
        return
    odd = column.filter(numbers.is_null() & column.is_not_null()).unique(maintain_order=True)
    raise ValueError(
        f"Column {column.name!r} of {shown_name(path)} contains {some_of(odd.to_list(), 3)} among "
        f"numbers; add --missing {odd[0]!r} to read it as a missing value, or --categorical "
        f"{column.name!r} to treat all values as categories"
    )


def is_embedded(data: str) -> bool:
    """Tell whether a name is that of an embedded data set; a file of that name takes precedence."""
    return data in NAMES and not Path(data).exists()


def embedded_frame(name: str) -> pl.DataFrame:
    """Return an embedded data set; the class labels, as text, are in the column "target"."""
    data = load(name)
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    return pl.DataFrame({**columns, TARGET: data.classes[data.y]})
