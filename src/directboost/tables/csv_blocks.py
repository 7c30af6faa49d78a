"""A CSV file in blocks of whole records, so that its size does not matter."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .reading import INPUT, shown

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
