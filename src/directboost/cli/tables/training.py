"""A whole table to fit a model to: which columns are features, and what each holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ...arrays import Array, Ints
from ...datasets import load
from ...model.names import some_of
from .cells import (
    INPUT,
    WORDS,
    TableFormat,
    as_numbers,
    check_columns_present,
    first_word,
    is_parquet,
    named_errors,
    shown,
)
from .streaming import check_header, check_not_empty, csv_blocks

_MANY_ROWS = 50  # from which on a column without any value twice says that it numbers them


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns of a table are for.

    Attributes
    ----------
    target : str
        The column of the classes.
    weight : str or None
        The column of the sample weights.
    drop : sequence of str
        Columns that are for nothing.
    categorical : sequence of str
        Features of numbers that stand for categories.
    """

    target: str
    weight: str | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()

    @property
    def named(self) -> list[str]:
        """All columns that have to be there."""
        weight = [] if self.weight is None else [self.weight]
        return [self.target, *weight, *self.drop, *self.categorical]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Rows with classes.

    Attributes
    ----------
    X : DataFrame (m, d)
    y : (m,) array
    weight : (m,) array or None
    categorical : list of str
        The features that hold categories: words, and those that were named.
    notes : list of str
        What a user should know about how the columns were read.
    """

    X: pl.DataFrame
    y: Any
    weight: Array | None = None
    categorical: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def take(self, rows: Ints) -> "TrainingTable":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight)


def read_training(path: Path, roles: ColumnRoles, reading: TableFormat) -> TrainingTable:
    """Read a CSV or Parquet file as a whole."""
    if is_parquet(path):
        with named_errors(path):
            frame = pl.read_parquet(path, glob=False)
    else:
        frame = _read_csv(path, roles.named, reading)
    check_not_empty(path, frame.height)
    check_columns_present(path, roles.named, frame.columns)
    return training_table(path, frame, roles)


def training_table(path: Path, frame: pl.DataFrame, roles: ColumnRoles) -> TrainingTable:
    """Tell features, classes and weights of a frame apart; `path` is what messages name."""
    used = {roles.target, roles.weight, *roles.drop}
    X = frame.select([_feature(path, frame[name]) for name in frame.columns if name not in used])
    if X.width == 0:
        raise ValueError(f"{shown(path)} has no column left to learn from")
    words = [name for name in X.columns if X.schema[name] in WORDS]
    chosen = {*words, *roles.categorical}
    categorical = tuple(name for name in X.columns if name in chosen)
    weight = None if roles.weight is None else _weights(path, frame[roles.weight])
    y = _classes(path, frame[roles.target])
    for name in set(words) - set(roles.categorical):
        _refuse_mixed(path, X[name].cast(pl.String))
    return TrainingTable(X, y, weight, categorical, tuple(_notes(X, words)))


def _read_csv(path: Path, wanted: Sequence[str], reading: TableFormat) -> pl.DataFrame:
    """Return a CSV file; every type is found from all rows. Blank lines are no rows."""
    options = reading.csv_options(path)
    check_header(path, next(csv_blocks(path)).header, options["separator"], wanted)
    with named_errors(path):
        frame = pl.read_csv(
            path, infer_schema_length=None, try_parse_dates=True, glob=False, **options
        )
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _feature(path: Path, column: pl.Series) -> pl.Series:
    """Return numbers or words, or refuse the column by its name."""
    if column.dtype == pl.String:
        numbers = as_numbers(column)
        return column if first_word(column, numbers) is not None else numbers
    known = column.dtype.is_numeric() or column.dtype in (*WORDS, pl.Boolean, pl.Null)
    if not known:
        raise ValueError(
            f"column {column.name!r} of {shown(path)} holds {column.dtype}, neither numbers nor "
            f"words: turn it into numbers, or leave it out with --drop {column.name!r}"
        )
    return column


def _classes(path: Path, column: pl.Series) -> Any:
    missing = column.null_count() + _count_nan(column)
    if missing:
        noun = "row" if missing == 1 else "rows"
        raise ValueError(
            f"the target {column.name!r} of {shown(path)} is missing in {missing} {noun}: leave "
            "them out of the file"
        )
    plain = column.dtype.is_integer() or column.dtype.is_float()
    if not plain and column.dtype not in (*WORDS, pl.Boolean):
        raise ValueError(
            f"the target {column.name!r} of {shown(path)} holds {column.dtype}: it has to hold "
            "words, whole numbers, or true and false"
        )
    return np.array(column.to_list())


def _count_nan(column: pl.Series) -> int:
    return int(column.is_nan().sum()) if column.dtype.is_float() else 0


def _weights(path: Path, column: pl.Series) -> Array:
    if not column.dtype.is_numeric() or column.null_count():
        held = "missing values" if column.dtype.is_numeric() else str(column.dtype)
        raise ValueError(
            f"the weights {column.name!r} of {shown(path)} hold {held}: each has to be a number"
        )
    return np.asarray(column.cast(pl.Float64).to_numpy())


def _notes(X: pl.DataFrame, words: list[str]) -> Iterator[str]:
    """Say which columns are categories for their words, and which number the rows."""
    if words:
        levels = [f"{name} ({X[name].drop_nulls().n_unique():,} values)" for name in words[:6]]
        more = f" and {len(words) - 6} more" if len(words) > 6 else ""
        yield f"read as categories, since they hold words: {', '.join(levels)}{more}"
    for name in X.columns:
        if _numbers_rows(X[name]):
            yield f"{name} has another value in every row: --drop {name!r} leaves it out"


def _numbers_rows(column: pl.Series) -> bool:
    """Tell whether a column of whole numbers or words only tells the rows apart."""
    plain = column.dtype.is_integer() or column.dtype in WORDS
    return plain and column.len() >= _MANY_ROWS and column.n_unique() == column.len()


def _refuse_mixed(path: Path, column: pl.Series) -> None:
    """Refuse words among numbers: most often they stand for missing values."""
    numbers = as_numbers(column)
    if first_word(column, numbers) is None or 2 * numbers.count() <= column.count():
        return
    odd = column.filter(numbers.is_null() & column.is_not_null()).unique(maintain_order=True)
    raise ValueError(
        f"column {column.name!r} of {shown(path)} holds {some_of(odd.to_list(), 3)} among "
        f"numbers: add --missing {odd[0]!r} to read it as a missing value, or --categorical "
        f"{column.name!r} to take all values as categories"
    )


NAMES = ("digits", "iris", "wine", "breast_cancer")
TARGET = "target"


def is_embedded(data: str) -> bool:
    """Tell whether a word names an embedded set; a file of that name goes first."""
    return data in NAMES and not Path(data).exists()


def check_file(path: Path) -> None:
    """Refuse the name of a file that is not there."""
    if path != INPUT and not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is no file"
        raise FileNotFoundError(f"{path} {what}; embedded data sets are {', '.join(NAMES)}")


def embedded_frame(name: str) -> pl.DataFrame:
    """Return an embedded set; the classes, as words, are the column "target"."""
    data = load(name)
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    return pl.DataFrame({**columns, TARGET: data.classes[data.y]})
