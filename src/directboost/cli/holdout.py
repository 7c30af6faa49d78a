"""Rows on which a fitted model is evaluated: held out, from a file, or for the report only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer
from sklearn.model_selection import train_test_split

from ..export.report import Sources, write_report
from ..export.report import evaluate as evaluate_rows
from .evaluate import Scores, class_codes, compute_scores, print_scores
from .inputs import read_rows, read_training_data, target_column
from .tables import TEXT_TYPES, Batch, ColumnRoles, TableFormat, TrainingTable
from .terminal import Output

_REPORT_SHARE = 0.2  # of the rows, on which the quality in a report is measured
_HELD_OUT = ("held-out row", "held-out rows")
_TEST = ("test row", "test rows")
_TRAINING = ("training row", "training rows")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows to fit a model to, and rows to evaluate it on.

    Attributes
    ----------
    train : TrainingTable
    target : str
        Column of the class labels.
    test : Batch or None
        Rows that the model is evaluated on, with the target as the kept column.
    test_file : str or None
        The file of these rows; None if they are held out.
    split : tuple of TrainingTable and Batch, or None
        A part of the rows of `train` and the others, to fit and evaluate a second model for the
        report.
    """

    train: TrainingTable
    target: str
    test: Batch | None = None
    test_file: str | None = None
    split: tuple[TrainingTable, Batch] | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of a model on rows that it was not fitted to.

    Attributes
    ----------
    scores : Scores
    rows : Batch
        The rows, with the target as the kept column.
    model : estimator
        The model that predicts them: the saved one, or a second one for the report.
    fitted_rows : int
        Number of rows to which this model was fitted.
    noun : tuple of str
        What the rows are called, singular and plural.
    note : str
        What the rows and the model have to do with each other.
    """

    scores: Scores
    rows: Batch
    model: Any
    fitted_rows: int
    noun: tuple[str, str]
    note: str

    def facts(self) -> dict[str, Any]:
        """Return all scores, for JSON."""
        return {**self.scores.facts(), "fitted_rows": self.fitted_rows}

    def print(self, output: Output) -> None:
        """Print the scores under a heading."""
        output.text(f"\n{self.noun[1]}:\n{self.note}")
        print_scores(self.scores, output.out)


def read_data(
    data: str, options: Mapping[str, Any], report: Path | None, output: Output
) -> tuple[TrainingData, ColumnRoles, TableFormat]:
    """Read the training data and the rows to evaluate the model on.

    Held-out rows are stratified by class.
    """
    share, test_file = options["holdout"], options["test_data"]
    if share and test_file is not None:
        raise typer.BadParameter("cannot be combined with --test-data", param_hint="'--holdout'")
    target = target_column(data, options["target"])
    table_format = TableFormat(
        tuple(options["missing"] or ()),
        options["separator"],
        options["encoding"],
        tuple(options["date"] or ()),
    )
    roles = ColumnRoles(
        target=target,
        weight=options["sample_weight"],
        drop=options["drop"] or (),
        categorical=options["categorical"] or (),
    )
    table = read_training_data(data, roles, table_format)
    whole = TrainingData(table, target)
    seed = options["random_state"] or 0
    if test_file is not None:
        test = _read_test_rows(test_file, table, target, table_format)
        whole = TrainingData(table, target, test, test_file)
    elif share:
        try:
            train, test = _split(table, target, share, seed)
        except ValueError as error:
            raise ValueError(f"--holdout {share:g} is invalid: {error}") from error
        whole = TrainingData(train, target, test)
    elif share is None and report is not None:
        try:
            whole = TrainingData(table, target, split=_split(table, target, _REPORT_SHARE, seed))
        except ValueError as error:
            output.note(f"No rows can be held out for the report: {error}")
    output.notes(table.notes)
    return whole, roles, table_format


def _split(
    table: TrainingTable, target: str, share: float, seed: int
) -> tuple[TrainingTable, Batch]:
    """Split off a share of the rows, stratified by class."""
    train, test = train_test_split(
        np.arange(table.X.height), test_size=share, stratify=table.y, random_state=seed
    )
    held_out = table.take(np.sort(test))
    return table.take(np.sort(train)), Batch(held_out.X, pl.DataFrame({target: held_out.y}))


def _read_test_rows(
    data: str, table: TrainingTable, target: str, table_format: TableFormat
) -> Batch:
    """Read the columns of a training table, with the same types, and the target."""
    types = {
        name: pl.String if kind in TEXT_TYPES else pl.Float64
        for name, kind in table.X.schema.items()
    }
    batches = list(read_rows(data, types, table_format, [target]))
    return Batch(pl.concat([b.X for b in batches]), pl.concat([b.kept for b in batches]))


def evaluate_model(
    data: TrainingData,
    model: Any,
    refit: Callable[[TrainingTable], Any | None],
    output: Output,
) -> Evaluation | None:
    """Evaluate a model on the held-out or test rows, or a second one on a part of the rows.

    Parameters
    ----------
    data : TrainingData
    model : estimator
        Fitted to `data.train`.
    refit : callable
        Fits a second model in the same way; returns None if it was interrupted.
    output : Output
        Gets a note if a part of the rows is too small to fit a second model to.
    """
    if data.test is not None:
        noun, note = _HELD_OUT, "The model was not fitted to them."
        if data.test_file is not None:
            noun, note = _TEST, f"They are those of {data.test_file}."
        fitted, rows = data.train.X.height, data.test
    elif data.split is not None:
        part, rows = data.split
        fitted, noun = part.X.height, _HELD_OUT
        try:
            model = refit(part)
        except ValueError as error:  # such as more folds than rows of a class
            output.note(f"No rows can be held out for the report: {error}")
            return None
        if model is None:
            return None
        note = (
            f"They are predicted by a second model, fitted in the same way to the other {fitted:,} "
            f"rows; the model itself is fitted to all {data.train.X.height:,}."
        )
    else:
        return None
    scores = compute_scores(model, [rows], data.target)
    return Evaluation(scores, rows, model, fitted, noun, note)


def write_page(
    path: Path, model: Any, data: TrainingData, evaluation: Evaluation | None, output: Output
) -> None:
    """Write the report about a model, with its quality on rows that it was not fitted to."""
    X, y = data.train.X, data.train.y
    sources = Sources(
        rows=_TRAINING,
        tested=_TRAINING,
        note="The model was fitted to these rows; its error on new rows is probably higher.",
    )
    if evaluation is not None:
        labels = evaluation.rows.kept[data.target]
        actual = model.classes_[class_codes(labels, model.classes_, 0)]
        if evaluation.model is model:
            X, y = evaluation.rows.X, actual
            sources = Sources(rows=evaluation.noun, tested=evaluation.noun, note=evaluation.note)
        else:
            tested = evaluate_rows(evaluation.model, evaluation.rows.X, actual)
            sources = Sources(
                rows=_TRAINING, tested=evaluation.noun, note=evaluation.note, evaluated=tested
            )
    title = f"Model report: quality on {sources.tested[1]}"
    write_report(model, path, X, y, title=title, sources=sources)
    hint = "" if evaluation else " (its error is that on the training rows)"
    output.note(f"Wrote {path}{hint}")
