"""Writes a table batch by batch: CSV or Parquet, whole or not at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Protocol

import polars as pl

from ..export.atomic_files import whole_file
from .reading import INPUT, is_parquet


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
    with whole_file(path) as draft:
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
