"""`directboost predict`: predict the classes of a table of any size."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .inputs import (
    check_kept_columns,
    check_outputs,
    predict_rows,
    read_classifier,
    read_rows,
    split_rows,
)
from .tables import STANDARD_STREAM, TableFormat, feature_types, table_writer
from .terminal import Output, count


def predict(
    model: o.Model,
    data: o.Data,
    *,
    out: Annotated[
        Path,
        o.option(
            "CSV, compressed CSV (.csv.gz) or Parquet file to write, or - for CSV on standard "
            "output.",
            "-o",
            "--out",
            metavar="FILE",
        ),
    ],
    proba: Annotated[
        bool, o.option("Add the class probabilities, as columns proba_CLASS.", "--proba")
    ] = False,
    keep: Annotated[
        list[str] | None,
        o.option(
            "Column of DATA to copy to the output unchanged. May be repeated.", metavar="COLUMN"
        ),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    date: o.Date = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
) -> None:
    """Predict the class of every row of a table.

    The table may be larger than memory. Columns are matched by name, in any order; columns that are
    not features of the model are ignored.
    """
    if json and out == STANDARD_STREAM:
        raise typer.BadParameter(
            "cannot be combined with -o -, because both write to standard output",
            param_hint="'--json'",
        )
    output = Output(json, quiet)
    check_outputs([model, data], [out])
    classifier = read_classifier(model)
    kept = keep or []
    check_kept_columns(classifier, kept, proba)
    table_format = TableFormat(tuple(missing or ()), separator, encoding, tuple(date or ()))
    rows = 0
    with table_writer(out) as writer:
        for batch in read_rows(data, feature_types(classifier), table_format, kept):
            for part in split_rows(classifier, batch):
                writer.add(predict_rows(classifier, part, proba=proba))
                rows += part.X.height
    if json:
        output.facts({"rows": rows, "out": out})
    place = "" if out == STANDARD_STREAM else f" and wrote {out}"
    output.note(f"Predicted {count(rows, 'row')}{place}")
