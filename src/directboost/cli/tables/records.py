"""Records of a CSV file in blocks, decompressed and as UTF-8, and the names of its columns."""

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import polars as pl

from .cells import STANDARD_STREAM, check_columns_present, polars_errors, shown_name

BLOCK_SIZE = 8 * 2**20  # bytes of CSV to read at once
_MAX_RECORD = 256 * 2**20  # bytes; a longer record most likely has an unclosed quotation mark
_LINE_ENDS = b"\r\n"
_GZIP = b"\x1f\x8b"  # first bytes of a compressed file
_NOT_CSV = {  # what a file is that starts with these bytes, and the remedy
    b"PAR1": "is a Parquet file; save it with the extension .parquet, and pass the file",
    codecs.BOM_UTF16_LE: "is encoded in UTF-16; add --encoding utf-16",
    codecs.BOM_UTF16_BE: "is encoded in UTF-16; add --encoding utf-16",
}


class Reader(Protocol):
    """Binary stream that can be read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all of them."""


@dataclass(frozen=True)
class Block:
    """Consecutive records of a CSV file.

    Attributes
    ----------
    header : bytes
        First record of the file: the column names.
    records : bytes
        Complete records, with their line ends.
    line : int
        Number of the line in the file on which the records start, counted from 1.
    """

    header: bytes
    records: bytes
    line: int

    @property
    def text(self) -> bytes:
        """The block as a complete CSV file."""
        return self.header + self.records


@contextmanager
def open_csv(path: Path, encoding: str | None = None) -> Iterator[Reader]:
    """Open a CSV file, or standard input, as UTF-8.

    Compressed files are recognised by their first bytes, not by their names.
    """
    stdin = path == STANDARD_STREAM
    with nullcontext(sys.stdin.buffer) if stdin else path.open("rb") as stream:
        reader: Reader = stream
        if cast(Any, stream).peek(len(_GZIP)).startswith(_GZIP):
            reader = gzip.GzipFile(fileobj=stream)
        try:
            yield reader if encoding is None else _Decoded(path, reader, encoding)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{shown_name(path)} cannot be decompressed: {error}; the file is probably "
                "incomplete"
            ) from error


class _Decoded:
    """Stream of text in some encoding, read as UTF-8."""

    def __init__(self, path: Path, stream: Reader, encoding: str) -> None:
        self._path, self._stream, self._encoding = path, stream, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int = -1, /) -> bytes:
        """Return the UTF-8 of at most `size` bytes; it is empty at the end only."""
        while True:
            part = self._stream.read(size)
            end = size < 0 or not part
            try:
                text = self._decoder.decode(part, final=end)
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{shown_name(self._path)} cannot be read with --encoding {self._encoding}: "
                    f"{error.reason}"
                ) from error
            if text or end:
                return text.encode()


def csv_blocks(path: Path, encoding: str | None = None, size: int = BLOCK_SIZE) -> Iterator[Block]:
    """Yield the records of a file, or of standard input, in blocks of about `size` bytes.

    There is at least one block; it has no records if the file has only a header.
    """
    with open_csv(path, encoding) as stream:
        yield from read_blocks(path, stream, size)


def read_blocks(path: Path, stream: Reader, size: int = BLOCK_SIZE) -> Iterator[Block]:
    """Yield the records of an open file in blocks; error messages name `path`."""
    header, rest, line = _read_header(path, stream, size)
    first = True
    for records in _complete_records(path, stream, rest, size):
        first = False
        yield Block(header, records, line)
        line += records.count(b"\n")
    if first:
        yield Block(header, b"", line)


def _read_header(path: Path, stream: Reader, size: int) -> tuple[bytes, bytes, int]:
    """Return the first record that is not blank, the bytes read after it, and their line."""
    text = stream.read(max(size, len(codecs.BOM_UTF8)))
    for mark, fault in _NOT_CSV.items():
        if text.startswith(mark):
            raise ValueError(f"{shown_name(path)} {fault}")
    text = text.removeprefix(codecs.BOM_UTF8)
    while True:
        start = len(text) - len(text.lstrip(_LINE_ENDS))
        end = _end_of_first_record(text, start)
        if end or not (more := stream.read(size)):
            break
        text = _append(path, text, more)
    if not text.strip():
        raise ValueError(
            f"{shown_name(path)} is empty; the first line must contain the column names"
        )
    if not end:
        text += b"\n"
        end = len(text)
    return text[start:end], text[end:], text.count(b"\n", 0, end) + 1


def _complete_records(path: Path, stream: Reader, rest: bytes, size: int) -> Iterator[bytes]:
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


def _end_of_first_record(text: bytes, start: int) -> int:
    """Return the end of the record that starts at `start`, or 0 if it is incomplete."""
    end = text.find(b"\n", start)
    while end >= 0 and text.count(b'"', start, end) % 2:  # inside quotation marks
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


def column_names(
    path: Path, header: bytes, separator: str, required: Sequence[str]
) -> dict[str, str]:
    """Return the names of the columns by the names that polars gives them, in order.

    The names differ for names that contain quotation marks, which polars leaves doubled. Columns
    without a name keep that of polars.

    Raises
    ------
    ValueError
        If two columns have the same name, or one of `required` is missing.
    """
    options: dict[str, Any] = {"infer_schema": False, "separator": separator}
    with polars_errors(path):
        given = pl.read_csv(header, **options).columns
        row = pl.read_csv(header, has_header=False, **options).row(0)
    names = [name or "" for name in row]
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise ValueError(f"{shown_name(path)} has several columns named {repeated[0]!r}")
    check_columns_present(path, required, names)
    return {old: new or old for old, new in zip(given, names, strict=True)}


def check_lengths(path: Path, block: Block, separator: str, expected: int) -> None:
    """Raise an error for the first record whose number of fields is not `expected`.

    Blank lines are not counted.
    """
    text = np.frombuffer(block.records, np.uint8)
    marks = np.cumsum(text == ord('"'), dtype=np.uint8)  # overflow keeps the parity
    outside = marks % 2 == 0
    ends = np.flatnonzero((text == ord("\n")) & outside)
    separators = np.flatnonzero((text == ord(separator)) & outside)
    starts = np.append(0, ends + 1)[:-1]
    fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    blank = (ends == starts) | ((ends == starts + 1) & (text[starts] == ord("\r")))
    wrong = np.flatnonzero((fields != expected) & ~blank)
    if wrong.size:
        line = block.line + int(np.count_nonzero(text[: starts[wrong[0]]] == ord("\n")))
        found = int(fields[wrong[0]])
        raise ValueError(
            f"Line {line} of {shown_name(path)} has {found} {'field' if found == 1 else 'fields'}, "
            f"but the header has {expected}"
        )
