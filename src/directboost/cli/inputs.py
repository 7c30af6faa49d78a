"""Inputs of the commands: model files, tables or embedded data sets, and predictions for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from ..export.atomic_files import check_not_read_only
from ..model.names import class_names, has_several_labels
from .tables import (
    NAMES,
    STANDARD_STREAM,
    TARGET,
    Batch,
    ColumnRoles,
    TableFormat,
    TrainingTable,
    check_columns_present,
    embedded_frame,
    feature_types,
    is_embedded,
    make_training_table,
    read_batches,
    read_training_table,
    to_type,
)

_BATCH_NUMBERS = 4_000_000  # features and scores of the rows that are predicted at once


def check_outputs(inputs: Iterable[str | Path | None], outputs: Sequence[Path | None]) -> None:
    """Raise an error, before any work is done, if an output cannot or must not be written.

    Parameters
    ----------
    inputs : iterable of str, Path or None
        Files that the command reads, which no output may replace; embedded data sets are ignored.
    outputs : sequence of Path or None
    """
    read = [Path(name) for name in inputs if name is not None]
    written: list[Path] = []
    for path in outputs:
        if path is None or path == STANDARD_STREAM:
            continue
        if not path.parent.is_dir():
            raise FileNotFoundError(f"The directory of {path} does not exist; create it first")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a directory; name a file in it")
        check_not_read_only(path)
        for others, use in ((read, "an input"), (written, "another output")):
            if any(_is_same_file(path, other) for other in others):
                raise ValueError(
                    f"The output {path} is also {use} of the command; choose another name for it"
                )
        written.append(path)


def _is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one regular file, or to one that does not exist yet."""
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)
    return one.resolve() == other.resolve()


def check_inputs(*names: str | Path | None) -> None:
    """Raise an error if standard input is to be read twice."""
    if [str(name) for name in names].count(str(STANDARD_STREAM)) > 1:
        raise ValueError("Standard input can be read only once; use a file for the other input")


def check_file(path: Path) -> None:
    """Raise an error if a data file does not exist."""
    if path != STANDARD_STREAM and not path.is_file():
        fault = "is a directory, not a file" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"{path} {fault}; embedded data sets are {', '.join(NAMES)}")


def target_column(data: str, target: str | None) -> str:
    """Return the column with the class labels; for files it has to be given."""
    if target is None and not is_embedded(data):
        raise typer.BadParameter(
            "it is required unless DATA is an embedded data set", param_hint="'--target'"
        )
    return target or TARGET


def read_training_data(data: str, roles: ColumnRoles, table_format: TableFormat) -> TrainingTable:
    """Read a whole table to fit a model to."""
    path = Path(data)
    if not is_embedded(data):
        check_file(path)
        return read_training_table(path, roles, table_format)
    frame = embedded_frame(data)
    check_columns_present(path, roles.required, frame.columns)
    return make_training_table(path, frame, roles)


def read_rows(
    data: str, types: Mapping[str, Any], table_format: TableFormat, keep: Sequence[str] = ()
) -> Iterator[Batch]:
    """Yield the rows of a table in batches."""
    path = Path(data)
    if not is_embedded(data):
        check_file(path)
        yield from read_batches(path, types, table_format, keep)
        return
    frame = embedded_frame(data)
    check_columns_present(path, [*types, *keep, *table_format.dates], frame.columns)
    X = [to_type(frame, name, kind, path) for name, kind in types.items()]
    yield Batch(pl.DataFrame(X), frame.select(keep))


def read_model(path: Path) -> Any:
    """Load a model file."""
    from .. import load

    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; directboost fit -o writes a model file")
    return load(path)


def read_classifier(path: Path) -> Any:
    """Load a model that predicts one class per row."""
    model = read_model(path)
    if has_several_labels(model):
        raise ValueError(
            f"{path} is a multi-label model, which predict and evaluate do not support; use "
            "directboost.load in Python"
        )
    return model


def split_rows(model: Any, batch: Batch) -> Iterator[Batch]:
    """Yield parts of a batch that are small enough to predict with little memory."""
    numbers_per_row = model.n_features_in_ + 4 * len(model.classes_)
    yield from batch.parts(max(_BATCH_NUMBERS // numbers_per_row, 1))


def model_features(model: Any, frame: pl.DataFrame) -> Any:
    """Return the features in the order of the model: a frame if the model has feature names."""
    X = frame.select(list(feature_types(model)))
    return X if hasattr(model, "feature_names_in_") else X.to_numpy()


def predict_rows(model: Any, batch: Batch, *, proba: bool = False) -> pl.DataFrame:
    """Return the kept columns, the predicted classes and optionally the probabilities."""
    X = model_features(model, batch.X)
    columns = [*batch.kept, pl.Series("prediction", model.predict(X).tolist())]
    if proba:
        P = model.predict_proba(X)
        names = probability_columns(model)
        columns += [pl.Series(name, P[:, r]) for r, name in enumerate(names)]
    return pl.DataFrame(columns)


def probability_columns(model: Any) -> list[str]:
    """Return the names of the probability columns."""
    return [f"proba_{name}" for name in class_names(model)]


def check_kept_columns(model: Any, keep: Sequence[str], proba: bool) -> None:
    """Raise an error if a column to copy has the name of a prediction column."""
    own = {"prediction", *(probability_columns(model) if proba else ())}
    for name in keep:
        if name in own:
            raise ValueError(
                f"--keep {name!r} is invalid: the predictions have a column of the same name; "
                "rename it in the data"
            )
