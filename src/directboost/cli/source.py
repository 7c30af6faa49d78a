"""The rows a command is given: a file, standard input, or an embedded set."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from ..tables import (
    INPUT,
    TARGET,
    Reading,
    Roles,
    TrainingTable,
    as_type,
    batches,
    embedded_frame,
    is_embedded,
    read_training,
    refuse_absent,
    refuse_no_file,
    training_table,
)


def reading_of(missing: Sequence[str] | None, separator: str | None) -> Reading:
    """Return how CSV is to be read."""
    return Reading(tuple(missing or ()), separator)


def target_of(data: str, target: str | None) -> str:
    """Return the column of the classes; a file does not say which it is."""
    if target is None and not is_embedded(data):
        raise typer.BadParameter("name the column of the classes: --target COLUMN")
    return target or TARGET


def training_rows(data: str, roles: Roles, reading: Reading) -> TrainingTable:
    """Return all rows of a table, to fit a model to."""
    path = Path(data)
    if not is_embedded(data):
        refuse_no_file(path)
        if path == INPUT:
            raise ValueError("a fit needs a file: standard input is for predict and evaluate")
        return read_training(path, roles, reading)
    frame = embedded_frame(data)
    refuse_absent(path, roles.named, frame.columns)
    return training_table(path, frame, roles)


def row_batches(
    data: str, types: Mapping[str, Any], reading: Reading, keep: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table, some at a time."""
    path = Path(data)
    if not is_embedded(data):
        refuse_no_file(path)
        yield from batches(path, types, reading, keep)
        return
    frame = embedded_frame(data)
    refuse_absent(path, [*types, *keep], frame.columns)
    columns = [as_type(frame, name, kind, path) for name, kind in types.items()]
    yield frame.select(*columns, *(name for name in keep if name not in types))
