"""Reading and writing of tables in batches, with the same column types in every batch."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Protocol

import polars as pl

from ...export.atomic_files import atomic_write
from .cells import (
    STANDARD_STREAM,
    TableFormat,
    check_columns_present,
    checked_numbers,
    is_parquet,
    polars_errors,
    shown_name,
    to_type,
)

_BLOCK_SIZE = 8 * 2**20  # bytes of CSV to read at once
_MAX_RECORD = 256 * 2**20  # bytes; a longer record most likely has an unclosed quotation mark
_SAMPLE_ROWS = 1000  # rows of CSV that decide which columns are plain numbers
_PARQUET_ROWS = 65_536  # rows of Parquet to read at once
_LINE_ENDS = b"\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Consecutive records of a CSV file.

    Attributes
    ----------
    header : bytes
        First record of the file: the column names.
    records : bytes
        Complete records, with their line ends.
    """

    header: bytes
    records: bytes

    @property
    def text(self) -> bytes:
        """The block as a complete CSV file."""
        return self.header + self.records


def read_batches(
    path: Path,
    types: Mapping[str, Any],
    table_format: TableFormat,
    keep: Sequence[str] = (),
    size: int = _BLOCK_SIZE,
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a CSV or Parquet file in order, batch by batch.

    Parameters
    ----------
    path : Path
        "-" is standard input, as CSV.
    types : mapping of str to polars type
        The columns to read: `Float64`, in which true is 1 and false is 0, or `String`.
    table_format : TableFormat
    keep : sequence of str
        Additional columns; text in a CSV file, of unchanged type in a Parquet file.
    size : int
        Bytes of CSV to read at once.
    """
    more = [name for name in keep if name not in types]
    if is_parquet(path):
        return _read_parquet(path, types, more)
    return _read_csv(path, types, table_format, more, size)


def _read_csv(
    path: Path, types: Mapping[str, Any], table_format: TableFormat, more: list[str], size: int
) -> Iterator[pl.DataFrame]:
    options = table_format.csv_options(path)
    kinds: dict[str, Any] = {}
    rows = 0
    for block in csv_blocks(path, size):
        kinds = kinds or _csv_types(path, block, types, more, options)
        frame = _parse_block(path, block, kinds, options, rows).select(*types, *more)
        unparsed = [name for name in types if types[name] != frame.schema[name]]
        yield frame.with_columns(checked_numbers(path, frame[name], rows) for name in unparsed)
        rows += frame.height
    check_not_empty(path, rows)


def _csv_types(
    path: Path, block: Block, types: Mapping[str, Any], more: list[str], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the type to read each column of a CSV file as: text, unless it is plain numbers.

    All columns are read, because polars does not detect records that are too long otherwise.
    """
    check_header(path, block.header, options["separator"], [*types, *more])
    with polars_errors(path):
        sample = pl.read_csv(block.text, **options, n_rows=_SAMPLE_ROWS, truncate_ragged_lines=True)
    return {
        name: types.get(name, pl.String) if kind.is_numeric() else pl.String
        for name, kind in sample.schema.items()
    }


def check_header(path: Path, header: bytes, separator: str, required: Sequence[str]) -> None:
    """Raise an error for duplicate or missing columns of a CSV file."""
    with polars_errors(path):
        row = pl.read_csv(header, has_header=False, infer_schema=False, separator=separator).row(0)
    names = [name or "" for name in row]
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise ValueError(f"{shown_name(path)} has several columns named {repeated[0]!r}")
    check_columns_present(path, required, names)


def check_not_empty(path: Path, rows: int) -> None:
    """Raise an error for a table without rows."""
    if rows == 0:
        raise ValueError(f"{shown_name(path)} has column names but no rows")


def _parse_block(
    path: Path, block: Block, kinds: dict[str, Any], options: dict[str, Any], before: int
) -> pl.DataFrame:
    """Parse a block of a CSV file; if a cell does not match its type, all columns become text."""
    try:
        return pl.read_csv(block.text, schema_overrides=kinds, **options)
    except pl.exceptions.PolarsError:
        as_text = dict.fromkeys(kinds, pl.String)
    with polars_errors(path, f", after row {before}"):
        return pl.read_csv(block.text, schema_overrides=as_text, **options)


def _read_parquet(path: Path, types: Mapping[str, Any], more: list[str]) -> Iterator[pl.DataFrame]:
    with polars_errors(path):
        plan = pl.scan_parquet(path, glob=False)
        names = plan.collect_schema().names()
    check_columns_present(path, [*types, *more], names)
    plan = plan.select([*types, *more])
    start = 0
    while True:
        with polars_errors(path):
            frame = plan.slice(start, _PARQUET_ROWS).collect()
        if not frame.height:
            break
        start += frame.height
        yield frame.with_columns(to_type(frame, name, kind, path) for name, kind in types.items())
    check_not_empty(path, start)


def csv_blocks(path: Path, size: int = _BLOCK_SIZE) -> Iterator[Block]:
    """Yield the records of a file, or of standard input, in blocks of about `size` bytes.

    There is at least one block; it has no records if the file has only a header.
    """
    stdin = path == STANDARD_STREAM
    with nullcontext(sys.stdin.buffer) if stdin else path.open("rb") as stream:
        header, rest = _read_header(path, stream, size)
        first = True
        for records in _complete_records(path, stream, rest, size):
            first = False
            yield Block(header, records)
        if first:
            yield Block(header, b"")


def _read_header(path: Path, stream: BinaryIO, size: int) -> tuple[bytes, bytes]:
    """Return the first record that is not blank, and the bytes read after it."""
    text = stream.read(max(size, len(_BYTE_ORDER_MARK))).removeprefix(_BYTE_ORDER_MARK)
    text = text.lstrip(_LINE_ENDS)
    while not (end := _end_of_first_record(text)) and (more := stream.read(size)):
        text = _append(path, text, more).lstrip(_LINE_ENDS)
    if not text.strip():
        raise ValueError(
            f"{shown_name(path)} is empty; the first line must contain the column names"
        )
    return (text[:end], text[end:]) if end else (text + b"\n", b"")


def _complete_records(path: Path, stream: BinaryIO, rest: bytes, size: int) -> Iterator[bytes]:
    while more := stream.read(size):
        rest = _append(path, rest, more)
        end = _end_of_last_record(rest)
        if end:
            records, rest = _split_records(rest, end)
            if records:
                yield records
    if rest.strip():
        yield rest.rstrip(_LINE_ENDS) + b"\n"


def _split_records(text: bytes, end: int) -> tuple[bytes, bytes]:
    """Split a text at the end of a record, but leave trailing blank lines to the second part.

    Blank lines at the end of the file are thereby not read as records.
    """
    last = len(text[:end].rstrip(_LINE_ENDS))
    after = text.find(b"\n", last) + 1 if last else 0
    return text[:after], text[after:]


def _end_of_first_record(text: bytes) -> int:
    """Return the end of the first record, or 0 if it is incomplete."""
    end = text.find(b"\n")
    while end >= 0 and text.count(b'"', 0, end) % 2:  # inside quotation marks
        end = text.find(b"\n", end + 1)
    return end + 1


def _end_of_last_record(text: bytes) -> int:
    """Return the end of the last complete record, or 0 if there is none."""
    quotes, stop = text.count(b'"'), len(text)
    end = text.rfind(b"\n")
    while end >= 0:
        quotes -= text.count(b'"', end, stop)
        if quotes % 2 == 0:
            break
        end, stop = text.rfind(b"\n", 0, end), end
    return end + 1


def _append(path: Path, text: bytes, more: bytes) -> bytes:
    if len(text) + len(more) > _MAX_RECORD:
        raise ValueError(
            f"A record of {shown_name(path)} is longer than {_MAX_RECORD // 2**20} MB; a quotation "
            "mark is probably not closed"
        )
    return text + more


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
        CSV or Parquet by its extension; "-" is standard output, as CSV.
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
            with draft.open("wb") as stream:
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
