"""What a model answers to the rows of a table, some rows at a time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from ..model.names import class_names, has_several_labels
from .tables import (
    INPUT,
    TARGET,
    ColumnRoles,
    TableFormat,
    TrainingTable,
    as_type,
    batches,
    check_columns_present,
    check_file,
    embedded_frame,
    feature_types,
    is_embedded,
    read_training,
    training_table,
)


def check_folder(*paths: Path | None) -> None:
    """Refuse, before the work, files in a folder that is not there."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"the folder of {path} is not there: make it first")


def reading_of(missing: Sequence[str] | None, separator: str | None) -> TableFormat:
    """Return how CSV is to be read."""
    return TableFormat(tuple(missing or ()), separator)


def target_of(data: str, target: str | None) -> str:
    """Return the column of the classes; a file does not say which it is."""
    if target is None and not is_embedded(data):
        raise typer.BadParameter("name the column of the classes: --target COLUMN")
    return target or TARGET


def training_rows(data: str, roles: ColumnRoles, reading: TableFormat) -> TrainingTable:
    """Return all rows of a table, to fit a model to."""
    path = Path(data)
    if not is_embedded(data):
        check_file(path)
        if path == INPUT:
            raise ValueError("a fit needs a file: standard input is for predict and evaluate")
        return read_training(path, roles, reading)
    frame = embedded_frame(data)
    check_columns_present(path, roles.named, frame.columns)
    return training_table(path, frame, roles)


def row_batches(
    data: str, types: Mapping[str, Any], reading: TableFormat, keep: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table, some at a time."""
    path = Path(data)
    if not is_embedded(data):
        check_file(path)
        yield from batches(path, types, reading, keep)
        return
    frame = embedded_frame(data)
    check_columns_present(path, [*types, *keep], frame.columns)
    columns = [as_type(frame, name, kind, path) for name, kind in types.items()]
    yield frame.select(*columns, *(name for name in keep if name not in types))


_NUMBERS = 4_000_000  # that a batch of rows, with its scores, may take


def read_model(path: Path) -> Any:
    """Load a model file."""
    from .. import load

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: directboost fit -o writes a model")
    return load(path)


def one_class_model(path: Path) -> Any:
    """Load a model that gives every row one class."""
    model = read_model(path)
    if has_several_labels(model):
        raise ValueError(
            f"{path} is a model of rows with several labels each, which the command line does not "
            "predict: use directboost.load in Python"
        )
    return model


def small_parts(model: Any, frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield so few rows at a time that their scores take little memory."""
    wide = model.n_features_in_ + 4 * len(model.classes_)
    yield from frame.iter_slices(max(_NUMBERS // wide, 1))


def features_of(model: Any, frame: pl.DataFrame) -> Any:
    """Return the columns the model reads, in its order, as it knows them: with names or without."""
    X = frame.select(list(feature_types(model)))
    return X if hasattr(model, "feature_names_in_") else X.to_numpy()


def answers(
    model: Any, frame: pl.DataFrame, *, proba: bool = False, keep: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the columns `keep`, the predicted class, and on request the probabilities."""
    X = features_of(model, frame)
    columns = [*frame.select(keep), pl.Series("prediction", model.predict(X).tolist())]
    if proba:
        P = model.predict_proba(X)
        names = probability_names(model)
        columns += [pl.Series(name, P[:, r]) for r, name in enumerate(names)]
    return pl.DataFrame(columns)


def probability_names(model: Any) -> list[str]:
    """Return the names of the columns of probabilities."""
    return [f"proba_{name}" for name in class_names(model)]


def check_free_name(model: Any, keep: Sequence[str], proba: bool) -> None:
    """Refuse to carry a column over whose name is that of an answer."""
    own = {"prediction", *(probability_names(model) if proba else ())}
    for name in keep:
        if name in own:
            raise ValueError(
                f"--keep {name!r} does not fit: the answers have a column of that name"
            )
