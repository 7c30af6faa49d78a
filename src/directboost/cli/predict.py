"""`directboost predict`: the classes of the rows of a table of any size."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .inputs import (
    answers,
    check_folder,
    check_free_name,
    one_class_model,
    reading_of,
    row_batches,
    small_parts,
)
from .tables import INPUT, feature_types, table_writer
from .terminal import Output, counted


def predict(
    model: o.Model,
    data: o.RowsData,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="CSV or Parquet by its name; - for standard output."),
    ],
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column proba_CLASS for every class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column to carry over, may be repeated.", metavar="NAME"),
    ] = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Predict the class of every row of a table.

    The table may be larger than the memory. Columns are found by their names, whatever their order;
    others are ignored.
    """
    if json and out == INPUT:
        raise typer.BadParameter("--json and -o - would both print to standard output")
    screen = Output(json, quiet)
    kept, fitted = keep or [], one_class_model(model)
    check_free_name(fitted, kept, proba)
    check_folder(out)
    reading = reading_of(missing, separator)
    rows = 0
    with table_writer(out) as writer:
        for frame in row_batches(data, feature_types(fitted), reading, kept):
            for part in small_parts(fitted, frame):
                writer.add(answers(fitted, part, proba=proba, keep=kept))
                rows += part.height
    if json:
        screen.facts({"rows": rows, "out": out})
    screen.note(f"predicted {counted(rows, 'row')}" + ("" if out == INPUT else f": {out}"))
