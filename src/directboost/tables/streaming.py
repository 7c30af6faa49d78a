"""The rows of a table in batches, with columns of types that hold from the first to the last."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from .csv_blocks import BLOCK, Block, csv_blocks
from .numbers import checked_numbers
from .reading import Reading, is_parquet, named_errors, shown
from .wanted import as_type, refuse_absent

_ROWS_TO_LOOK_AT = 1000  # to find columns that are not plain numbers
_ROWS_OF_PARQUET = 65_536


def batches(
    path: Path,
    types: Mapping[str, Any],
    reading: Reading,
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
    reading : Reading
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
    path: Path, types: Mapping[str, Any], reading: Reading, more: list[str], size: int
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
    refuse_empty(path, rows)


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
    refuse_absent(path, wanted, names)


def refuse_empty(path: Path, rows: int) -> None:
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
    refuse_absent(path, [*types, *more], names)
    plan = plan.select([*types, *more])
    start = 0
    while (frame := _slice(path, plan, start)).height:
        start += frame.height
        yield frame.with_columns(as_type(frame, name, kind, path) for name, kind in types.items())
    refuse_empty(path, start)


def _slice(path: Path, plan: pl.LazyFrame, start: int) -> pl.DataFrame:
    with named_errors(path):
        return plan.slice(start, _ROWS_OF_PARQUET).collect()
