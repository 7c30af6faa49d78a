"""Reading and writing of tables in batches, with the same column types in every batch."""

import gzip
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Protocol, cast

import polars as pl

from ...export.atomic_files import atomic_write
from .cells import (
    STANDARD_STREAM,
    TableFormat,
    check_columns_present,
    checked_numbers,
    is_compressed,
    is_parquet,
    polars_errors,
    shown_name,
    to_days,
    to_type,
)
from .records import BLOCK_SIZE, Block, check_lengths, column_names, csv_blocks

_SAMPLE_ROWS = 1000  # rows of CSV that decide which columns are plain numbers
_PARQUET_ROWS = 65_536  # rows of Parquet to read at once


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of a table.

    Attributes
    ----------
    X : DataFrame (m, d)
        Columns of numbers or text.
    kept : DataFrame (m, n)
        Columns as they are in the file: text in CSV, of any type in Parquet.
    """

    X: pl.DataFrame
    kept: pl.DataFrame

    def parts(self, rows: int) -> Iterator["Batch"]:
        """Yield parts with at most that many rows."""
        for start in range(0, self.X.height, rows):
            yield Batch(self.X.slice(start, rows), self.kept.slice(start, rows))


def read_batches(
    path: Path,
    types: Mapping[str, Any],
    table_format: TableFormat,
    keep: Sequence[str] = (),
    size: int = BLOCK_SIZE,
) -> Iterator[Batch]:
    """Yield the rows of a CSV or Parquet file in order, batch by batch.

    Parameters
    ----------
    path : Path
        "-" is standard input, as CSV.
    types : mapping of str to polars type
        The columns to read: `Float64`, in which true is 1 and false is 0, or `String`.
    table_format : TableFormat
    keep : sequence of str
        Columns to keep as they are in the file; some of them may be among `types`.
    size : int
        Bytes of CSV to read at once.
    """
    read = _read_parquet if is_parquet(path) else partial(_read_csv, size=size)
    yield from read(path, types, table_format, list(dict.fromkeys(keep)))


def _read_csv(
    path: Path, types: Mapping[str, Any], table_format: TableFormat, keep: list[str], size: int
) -> Iterator[Batch]:
    options = table_format.csv_options(path)
    names: dict[str, str] = {}
    kinds: dict[str, Any] = {}
    rows = 0
    for block in csv_blocks(path, table_format.encoding, size):
        if not names:
            required = [*types, *keep, *table_format.dates]
            names = column_names(path, block.header, options["separator"], required)
            kinds = _csv_types(path, block, types, names, table_format)
        frame = _parse_block(path, block, kinds, options, rows).rename(names)
        X = [_column(path, frame[name], kind, table_format, rows) for name, kind in types.items()]
        verbatim = not table_format.missing and all(frame.schema[k] == pl.String for k in keep)
        kept = frame.select(keep) if verbatim else _texts(block, keep, names, options)
        yield Batch(pl.DataFrame(X), kept)
        rows += frame.height
    check_not_empty(path, rows)


def _column(
    path: Path, column: pl.Series, kind: Any, table_format: TableFormat, before: int
) -> pl.Series:
    """Return a column of a CSV file with its type; `before` rows precede it."""
    if kind == column.dtype:
        return column
    if column.name in table_format.dates:
        return to_days(path, column, before)
    return checked_numbers(path, column, before)


def _csv_types(
    path: Path,
    block: Block,
    types: Mapping[str, Any],
    names: Mapping[str, str],
    table_format: TableFormat,
) -> dict[str, Any]:
    """Return the type to read each column of a CSV file as: text, unless it is plain numbers.

    All columns are read, because polars does not detect records that are too long otherwise.
    """
    options = table_format.csv_options(path)
    with polars_errors(path):
        sample = pl.read_csv(block.text, **options, n_rows=_SAMPLE_ROWS, truncate_ragged_lines=True)
    plain = {
        name
        for name, kind in sample.schema.items()
        if kind.is_numeric() and names[name] not in table_format.dates
    }
    return {
        name: types.get(own, pl.String) if name in plain else pl.String
        for name, own in names.items()
    }


def _texts(
    block: Block, keep: list[str], names: Mapping[str, str], options: dict[str, Any]
) -> pl.DataFrame:
    """Return columns of a block as the text of their cells."""
    own = [name for name, own in names.items() if own in keep]
    frame = pl.read_csv(block.text, columns=own, infer_schema=False, separator=options["separator"])
    return frame.rename({name: names[name] for name in own}).select(keep)


def check_not_empty(path: Path, rows: int) -> None:
    """Raise an error for a table without rows."""
    if rows == 0:
        raise ValueError(f"{shown_name(path)} has column names but no rows")


def _parse_block(
    path: Path, block: Block, kinds: dict[str, Any], options: dict[str, Any], before: int
) -> pl.DataFrame:
    """Parse a block of a CSV file; if a cell does not match its type, all columns become text.

    polars fills short records with nulls, so that the last column tells whether there are any.
    """
    try:
        frame = pl.read_csv(block.text, schema_overrides=kinds, **options)
    except pl.exceptions.PolarsError:
        check_lengths(path, block, options["separator"], len(kinds))
        as_text = dict.fromkeys(kinds, pl.String)
        with polars_errors(path, f", after row {before}"):
            return pl.read_csv(block.text, schema_overrides=as_text, **options)
    if frame.to_series(-1).null_count():
        check_lengths(path, block, options["separator"], len(kinds))
    return frame


def _read_parquet(
    path: Path, types: Mapping[str, Any], table_format: TableFormat, keep: list[str]
) -> Iterator[Batch]:
    with polars_errors(path):
        plan = pl.scan_parquet(path, glob=False)
        names = plan.collect_schema().names()
    check_columns_present(path, [*types, *keep, *table_format.dates], names)
    plan = plan.select(list(dict.fromkeys([*types, *keep])))
    start = 0
    while True:
        with polars_errors(path):
            frame = plan.slice(start, _PARQUET_ROWS).collect()
        if not frame.height:
            break
        start += frame.height
        X = [to_type(frame, name, kind, path, table_format.dates) for name, kind in types.items()]
        yield Batch(pl.DataFrame(X), frame.select(keep))
    check_not_empty(path, start)


class Writer(Protocol):
    """Writer of a table, batch by batch."""

    def add(self, frame: pl.DataFrame) -> None:
        """Append rows."""


@contextmanager
def table_writer(path: Path) -> Iterator[Writer]:
    """Open a table for writing; the file is created on success only.

    Parameters
    ----------
    path : Path
        CSV, compressed CSV or Parquet by its extension; "-" is standard output, as CSV.
    """
    if path == STANDARD_STREAM:
        yield CsvWriter(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    parquet = is_parquet(path)
    with atomic_write(path) as draft:
        if parquet:
            prefix = f".{path.stem}-"
            with TemporaryDirectory(dir=path.parent, prefix=prefix) as directory:
                parts = ParquetWriter(Path(directory))
                yield parts
                parts.join(draft)
        else:
            with draft.open("wb") as file, ExitStack() as stack:
                stream: BinaryIO = file
                if is_compressed(path):  # without a time: the same table gives the same file
                    compressed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
                    stream = cast(BinaryIO, stack.enter_context(compressed))
                yield CsvWriter(stream)


class CsvWriter:
    """Writer of CSV to a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_header = False

    def add(self, frame: pl.DataFrame) -> None:
        """Append rows."""
        rest = memoryview(frame.write_csv(include_header=not self._has_header).encode())
        self._has_header = True
        while rest:  # an unbuffered stream may write only a part
            rest = rest[self._stream.write(rest) :]


class ParquetWriter:
    """Writer of one Parquet file per batch, which are joined at the end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._parts: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Append rows."""
        part = self._directory / f"{len(self._parts)}.parquet"
        frame.write_parquet(part)
        self._parts.append(part)

    def join(self, path: Path) -> None:
        """Write all parts to one file in streaming mode."""
        pl.scan_parquet(self._parts).sink_parquet(path)
