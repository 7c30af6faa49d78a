"""`directboost fit`: fit a certified model to a table; `cv` uses the same input and output."""

import csv
import json as json_format
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from sklearn.model_selection import train_test_split

from .. import DirectBoostClassifier, Status
from ..callbacks import TimeLimit
from . import options as o
from .evaluate import Scores, compute_scores, print_scores
from .inputs import check_directory, read_training_data, target_column
from .inspect import model_facts
from .tables import ColumnRoles, TableFormat, TrainingTable
from .terminal import Output, TimeLeft, percent, show_progress

_INTERRUPTED = 130  # the usual exit code of a program that Ctrl-C interrupts
_NO_CHANGE = 5  # default of --n-iter-no-change with --validation


@dataclass(frozen=True)
class TrainingData:
    """Training rows, and the held-out rows if there are any."""

    train: TrainingTable
    holdout: TrainingTable | None
    target: str

    def holdout_scores(self, model: Any) -> Scores | None:
        """Evaluate a model on the held-out rows."""
        if self.holdout is None:
            return None
        labelled = self.holdout.X.with_columns(pl.Series(self.target, self.holdout.y))
        return compute_scores(model, [labelled], self.target)


def read_data(
    data: str, options: Mapping[str, Any]
) -> tuple[TrainingData, ColumnRoles, TableFormat]:
    """Read the training data and split off the held-out rows, stratified by class."""
    target = target_column(data, options["target"])
    table_format = TableFormat(tuple(options["missing"] or ()), options["separator"])
    roles = ColumnRoles(
        target=target,
        weight=options["sample_weight"],
        drop=options["drop"] or (),
        categorical=options["categorical"] or (),
    )
    table = read_training_data(data, roles, table_format)
    share = options["holdout"]
    if not share:
        return TrainingData(table, None, target), roles, table_format
    try:
        train, holdout = train_test_split(
            np.arange(table.X.height),
            test_size=share,
            stratify=table.y,
            random_state=options["random_state"] or 0,
        )
    except ValueError as error:
        raise ValueError(f"--holdout {share:g} is invalid: {error}") from error
    split = TrainingData(table.take(np.sort(train)), table.take(np.sort(holdout)), target)
    return split, roles, table_format


def estimator_parameters(
    options: Mapping[str, Any], table: TrainingTable, supported: Iterable[str]
) -> dict[str, Any]:
    """Return the options that are parameters of an estimator."""
    chosen = {name: options[name] for name in supported if name in options}
    file = options["feature_costs"]
    costs = {} if file is None else read_costs(file)
    chosen["feature_costs"] = {**costs, **parse_costs(options["feature_cost"] or ())} or None
    chosen["interactions"] = parse_interactions(options["interactions"])
    chosen["categorical_features"] = list(table.categorical) or None
    return chosen


def parse_interactions(texts: Sequence[str] | None) -> int | list[tuple[str, ...]] | None:
    """Parse the values of --interactions: one number of features, or names separated by commas.

    A name that contains a comma is quoted, as in a line of CSV.
    """
    if not texts:
        return None
    if len(texts) == 1 and texts[0].strip().lstrip("+-").isdecimal():
        return int(texts[0])
    groups = []
    for text in texts:
        row = next(csv.reader([text], skipinitialspace=True), [])
        groups.append(tuple(name.strip() for name in row))
        if len(row) < 2:
            raise typer.BadParameter(
                f"{text!r} is neither a single number of features nor names of features separated "
                "by a comma, such as age,income",
                param_hint="'--interactions'",
            )
    return groups


def parse_costs(pairs: Iterable[str]) -> dict[str, float]:
    """Parse the values of --feature-cost, each NAME=COST; a name may contain "="."""
    costs = {}
    for pair in pairs:
        name, _, cost = pair.rpartition("=")
        try:
            costs[name] = float(cost)
        except ValueError:
            name = ""
        if not name:
            raise typer.BadParameter(
                f"{pair!r} is not of the form NAME=COST", param_hint="'--feature-cost'"
            )
    return costs


def read_costs(path: Path) -> dict[str, float]:
    """Read feature costs from a JSON object, or from CSV with the columns feature and cost."""
    try:
        if path.suffix.lower() == ".json":
            costs = json_format.loads(path.read_text(encoding="utf-8"))
        else:
            frame = pl.read_csv(path, schema_overrides={"feature": pl.String, "cost": pl.Float64})
            costs = dict(zip(frame["feature"], frame["cost"], strict=True))
        return {str(name): float(cost) for name, cost in costs.items()}
    except (ValueError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
        raise ValueError(
            f"{path} does not contain feature costs: expected a JSON object that maps names to "
            "costs, or CSV with the columns feature and cost"
        ) from error


def write_files(
    model: Any, data: TrainingData, out: Path | None, report: Path | None, output: Output
) -> dict[str, Path | None]:
    """Write the model and the report to the given files; return the paths."""
    if out is not None:
        model.save(out)
        output.note(f"Wrote {out}")
    if report is not None:
        shown = data.holdout or data.train
        model.report(report, shown.X, shown.y)
        hint = "" if data.holdout else " (on the training rows; --holdout 0.25 holds some out)"
        output.note(f"Wrote {report}{hint}")
    return {"out": out, "report": report}


@o.training_options(DirectBoostClassifier)
def fit(
    data: o.Data,
    *,
    out: o.ModelOut = None,
    report: o.Report = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    validation: Annotated[
        Path | None,
        o.option(
            "Early stopping: decrease nu until the loss on these rows stops improving.",
            heading=o.DATA,
            metavar="DATA",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        o.option(
            "Time after which to stop and keep the best model so far.",
            heading=o.SOLVER,
            min=0,
            metavar="SECONDS",
        ),
    ] = None,
    **options: Any,
) -> None:
    """Fit a certified model to a table.

    Ctrl-C stops the fit, but not the command: the best model so far is written, and the exit code
    is 130.
    """
    output = Output(json, quiet)
    check_directory(out, report)
    rows, roles, table_format = read_data(data, options)
    output.notes(rows.train.notes)
    model = DirectBoostClassifier()
    model.set_params(**estimator_parameters(options, rows.train, model.get_params()))
    validation_rows = {}
    if validation is not None:
        table = read_training_data(str(validation), roles, table_format)
        validation_rows = {"X_val": table.X, "y_val": table.y, "sample_weight_val": table.weight}
        if model.n_iter_no_change is None:
            model.n_iter_no_change = _NO_CHANGE
    started = time.perf_counter()
    _fit_with_progress(model, rows.train, validation_rows, time_limit, output)
    seconds = time.perf_counter() - started
    files = write_files(model, rows, out, report, output)
    _print_result(model, rows, {"seconds": seconds, **files}, output)
    if out is None:
        output.note("The model was not saved; use -o model.json to save it")
    if model.status_ == Status.INTERRUPTED:
        raise typer.Exit(_INTERRUPTED)


def _fit_with_progress(
    model: DirectBoostClassifier,
    train: TrainingTable,
    validation: Mapping[str, Any],
    time_limit: float | None,
    output: Output,
) -> None:
    path = bool(validation) or (model.max_learners and model.columns_per_round == "auto")
    left = TimeLeft(None if path else model.tol, time_limit)
    with show_progress(output.err, left) as callback:
        model.callbacks = [callback, *([] if time_limit is None else [TimeLimit(time_limit)])]
        model.fit(train.X, train.y, train.weight, **validation)
    model.callbacks = None


def _print_result(model: Any, data: TrainingData, facts: dict[str, Any], output: Output) -> None:
    scores = data.holdout_scores(model)
    rows = data.train.X.height
    if output.json:
        holdout = None if scores is None else scores.facts()
        output.facts({"rows": rows, **facts, **model_facts(model), "holdout": holdout})
        return
    gap = percent(model.certificate_.relative_gap)
    output.note(f"Fitted {rows:,} rows in {facts['seconds']:.2f} s to a gap of {gap}")
    output.text(model.summary())
    if scores is not None:
        output.text("\nheld-out rows:")
        print_scores(scores, output.out)
