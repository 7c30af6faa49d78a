"""The rows of a table in batches, with columns of types that hold from the first to the last."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Protocol

import polars as pl

from ...export.atomic_files import atomic_write
from .cells import (
    INPUT,
    TableFormat,
    as_type,
    check_columns_present,
    checked_numbers,
    is_parquet,
    named_errors,
    shown,
)

BLOCK = 8 * 2**20  # bytes that are read at once
_LONGEST = 256 * 2**20  # bytes of a record: beyond, a quotation mark is missing
_ENDS = b"\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Some records of a CSV file.

    Attributes
    ----------
    header : bytes
        The first record of the file, the names.
    records : bytes
        Whole records, with their ends of line.
    """

    header: bytes
    records: bytes

    @property
    def text(self) -> bytes:
        """The block as a CSV file of its own."""
        return self.header + self.records


def csv_blocks(path: Path, size: int = BLOCK) -> Iterator[Block]:
    """Yield the records of a file, or of standard input, in blocks of about `size` bytes.

    There is at least one block; it has no records where the file has a header alone.
    """
    with _opened(path) as stream:
        header, rest = _header(path, stream, size)
        first = True
        for records in _whole_records(path, stream, rest, size):
            first = False
            yield Block(header, records)
        if first:
            yield Block(header, b"")


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == INPUT else path.open("rb")


def _header(path: Path, stream: BinaryIO, size: int) -> tuple[bytes, bytes]:
    """Return the first record that is not blank, and what was read beyond it."""
    text = stream.read(max(size, len(_BYTE_ORDER_MARK))).removeprefix(_BYTE_ORDER_MARK)
    text = text.lstrip(_ENDS)
    while not (end := _first_end(text)) and (more := stream.read(size)):
        text = _grown(path, text, more).lstrip(_ENDS)
    if not text.strip():
        raise ValueError(f"{shown(path)} is empty: its first line has to hold the column names")
    return (text[:end], text[end:]) if end else (text + b"\n", b"")


def _whole_records(path: Path, stream: BinaryIO, rest: bytes, size: int) -> Iterator[bytes]:
    while more := stream.read(size):
        rest = _grown(path, rest, more)
        end = _last_end(rest)
        if end:
            records, rest = _without_blanks(rest, end)
            if records:
                yield records
    if rest.strip():
        yield rest.rstrip(_ENDS) + b"\n"


def _without_blanks(text: bytes, end: int) -> tuple[bytes, bytes]:
    """Return the records up to `end`, and the rest, to which blank lines before it belong.

    So blank lines at the end of the file are no records.
    """
    last = len(text[:end].rstrip(_ENDS))
    after = text.find(b"\n", last) + 1 if last else 0
    return text[:after], text[after:]


def _first_end(text: bytes) -> int:
    """Return where the first record ends; 0 where it goes on beyond the text."""
    place = text.find(b"\n")
    while place >= 0 and text.count(b'"', 0, place) % 2:  # inside quotation marks
        place = text.find(b"\n", place + 1)
    return place + 1


def _last_end(text: bytes) -> int:
    """Return where the last whole record ends; 0 where there is none."""
    marks, stop = text.count(b'"'), len(text)
    place = text.rfind(b"\n")
    while place >= 0:
        marks -= text.count(b'"', place, stop)
        if marks % 2 == 0:
            break
        place, stop = text.rfind(b"\n", 0, place), place
    return place + 1


def _grown(path: Path, text: bytes, more: bytes) -> bytes:
    if len(text) + len(more) > _LONGEST:
        raise ValueError(
            f"a record of {shown(path)} is longer than {_LONGEST // 2**20} MB: probably a "
            "quotation mark is not closed"
        )
    return text + more


_ROWS_TO_LOOK_AT = 1000  # to find columns that are not plain numbers
_ROWS_OF_PARQUET = 65_536


def batches(
    path: Path,
    types: Mapping[str, Any],
    reading: TableFormat,
    keep: Sequence[str] = (),
    size: int = BLOCK,
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a CSV or Parquet file in order, some at a time, never all of them.

    Parameters
    ----------
    path : Path
        "-" is standard input, as CSV.
    types : mapping of str to polars type
        The columns to read: `Float64`, in which true is 1 and false 0, or `String`.
    reading : TableFormat
    keep : sequence of str
        More columns; as they are in a Parquet file, as words in a CSV file.
    size : int
        Bytes of CSV that are read at once.
    """
    more = [name for name in keep if name not in types]
    if is_parquet(path):
        return _of_parquet(path, types, more)
    return _of_csv(path, types, reading, more, size)


def _of_csv(
    path: Path, types: Mapping[str, Any], reading: TableFormat, more: list[str], size: int
) -> Iterator[pl.DataFrame]:
    options = reading.csv_options(path)
    kinds: dict[str, Any] = {}
    rows = 0
    for block in csv_blocks(path, size):
        kinds = kinds or _settled(path, block, types, more, options)
        frame = _read(path, block, kinds, options, rows).select(*types, *more)
        words = [name for name in types if types[name] != frame.schema[name]]
        yield frame.with_columns(checked_numbers(path, frame[name], rows) for name in words)
        rows += frame.height
    check_not_empty(path, rows)


def _settled(
    path: Path, block: Block, types: Mapping[str, Any], more: list[str], options: dict[str, Any]
) -> dict[str, Any]:
    """Return how every column of a CSV file is read; as words where it is not of plain numbers.

    All are read, since polars does not see that a record is too long where it reads some.
    """
    check_header(path, block.header, options["separator"], [*types, *more])
    with named_errors(path):
        first = pl.read_csv(
            block.text, **options, n_rows=_ROWS_TO_LOOK_AT, truncate_ragged_lines=True
        )
    return {
        name: types.get(name, pl.String) if kind.is_numeric() else pl.String
        for name, kind in first.schema.items()
    }


def check_header(path: Path, header: bytes, separator: str, wanted: Sequence[str]) -> None:
    """Refuse a CSV file that has two columns of one name, or lacks one of those wanted."""
    with named_errors(path):
        row = pl.read_csv(header, has_header=False, infer_schema=False, separator=separator).row(0)
    names = [name or "" for name in row]
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise ValueError(f"{shown(path)} has several columns of the name {repeated[0]!r}")
    check_columns_present(path, wanted, names)


def check_not_empty(path: Path, rows: int) -> None:
    """Refuse a table without rows."""
    if rows == 0:
        raise ValueError(f"{shown(path)} has column names but no rows")


def _read(
    path: Path, block: Block, kinds: dict[str, Any], options: dict[str, Any], before: int
) -> pl.DataFrame:
    """Return a block of a CSV file, all as words where some are not of the types they should be."""
    try:
        return pl.read_csv(block.text, schema_overrides=kinds, **options)
    except pl.exceptions.PolarsError:
        words = dict.fromkeys(kinds, pl.String)
    with named_errors(path, f", after row {before}"):
        return pl.read_csv(block.text, schema_overrides=words, **options)


def _of_parquet(path: Path, types: Mapping[str, Any], more: list[str]) -> Iterator[pl.DataFrame]:
    with named_errors(path):
        plan = pl.scan_parquet(path, glob=False)
        names = plan.collect_schema().names()
    check_columns_present(path, [*types, *more], names)
    plan = plan.select([*types, *more])
    start = 0
    while (frame := _slice(path, plan, start)).height:
        start += frame.height
        yield frame.with_columns(as_type(frame, name, kind, path) for name, kind in types.items())
    check_not_empty(path, start)


def _slice(path: Path, plan: pl.LazyFrame, start: int) -> pl.DataFrame:
    with named_errors(path):
        return plan.slice(start, _ROWS_OF_PARQUET).collect()


class Writer(Protocol):
    """Takes the batches of a table."""

    def add(self, frame: pl.DataFrame) -> None:
        """Write some more rows."""


@contextmanager
def table_writer(path: Path) -> Iterator[Writer]:
    """Open a table for writing; the file appears when all is written, and not after an error.

    Parameters
    ----------
    path : Path
        CSV or Parquet by its suffix; "-" is standard output, as CSV.
    """
    if path == INPUT:
        yield CsvWriter(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    parquet = is_parquet(path)
    with atomic_write(path) as draft:
        if parquet:
            with _folder_beside(path) as folder:
                parts = ParquetWriter(folder)
                yield parts
                parts.join(draft)
        else:
            with draft.open("wb") as stream:
                yield CsvWriter(stream)


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}-") as folder:
        yield Path(folder)


class CsvWriter:
    """Writes CSV to a stream, with one header."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._begun = False

    def add(self, frame: pl.DataFrame) -> None:
        """Write some more rows."""
        rest = memoryview(frame.write_csv(include_header=not self._begun).encode())
        self._begun = True
        while rest:  # a stream without a buffer may take a part
            rest = rest[self._stream.write(rest) :]


class ParquetWriter:
    """Writes a Parquet file per batch, and one file of all of them at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Write some more rows."""
        part = self._folder / f"{len(self._parts)}.parquet"
        frame.write_parquet(part)
        self._parts.append(part)

    def join(self, path: Path) -> None:
        """Write all parts to one file, a few at a time."""
        pl.scan_parquet(self._parts).sink_parquet(path)
