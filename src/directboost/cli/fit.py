"""`directboost fit`: fit a certified model to a table; `cv` uses the same input and output."""

import csv
import json as json_format
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from sklearn.base import clone

from .. import DirectBoostClassifier, Status
from ..callbacks import TimeLimit
from . import options as o
from .holdout import Evaluation, TrainingData, evaluate_model, read_data, write_page
from .inputs import check_inputs, check_outputs, read_training_data
from .inspect import model_facts
from .tables import TrainingTable
from .terminal import Output, TimeLeft, percent, show_progress

_INTERRUPTED = 130  # the usual exit code of a program that Ctrl-C interrupts
_NO_CHANGE = 5  # default of --n-iter-no-change with --validation


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


@o.training_options(DirectBoostClassifier)
def fit(
    data: o.Data,
    *,
    out: o.ModelOut = None,
    report: o.Report = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    validation: Annotated[
        str | None,
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
    inputs = (data, validation, options["test_data"], options["feature_costs"])
    check_inputs(*inputs)
    check_outputs(inputs, [out, report])
    rows, roles, table_format = read_data(data, options, report, output)
    model = DirectBoostClassifier()
    model.set_params(**estimator_parameters(options, rows.train, model.get_params()))
    validation_rows = {}
    if validation is not None:
        table = read_training_data(validation, roles, table_format)
        validation_rows = {"X_val": table.X, "y_val": table.y, "sample_weight_val": table.weight}
        if model.n_iter_no_change is None:
            model.n_iter_no_change = _NO_CHANGE
    started = time.perf_counter()
    _fit_with_progress(model, rows.train, validation_rows, time_limit, output)
    seconds = time.perf_counter() - started
    gap = percent(model.certificate_.relative_gap)
    output.note(f"Fitted {rows.train.X.height:,} rows in {seconds:.2f} s to a gap of {gap}")
    if out is not None:
        model.save(out)
        output.note(f"Wrote {out}")

    interrupted = model.status_ == Status.INTERRUPTED

    def refit(part: TrainingTable) -> Any | None:
        nonlocal interrupted
        second = clone(model)
        _fit_with_progress(second, part, validation_rows, time_limit, output, "second fit")
        interrupted = second.status_ == Status.INTERRUPTED
        return None if interrupted else second

    evaluation = None
    if rows.split is None or not interrupted:
        evaluation = evaluate_model(rows, model, refit, output)
    if report is not None:
        write_page(report, model, rows, evaluation, output)
    files = {"out": out, "report": report}
    _print_result(model, rows, evaluation, {"seconds": seconds, **files}, output)
    if out is None:
        output.note("The model was not saved; use -o model.json to save it")
    if interrupted:
        raise typer.Exit(_INTERRUPTED)


def _fit_with_progress(
    model: DirectBoostClassifier,
    train: TrainingTable,
    validation: Mapping[str, Any],
    time_limit: float | None,
    output: Output,
    label: str = "fit",
) -> None:
    path = bool(validation) or (model.max_learners and model.columns_per_round == "auto")
    left = TimeLeft(None if path else model.tol, time_limit)
    with show_progress(output.err, left, label) as callback:
        model.callbacks = [callback, *([] if time_limit is None else [TimeLimit(time_limit)])]
        model.fit(train.X, train.y, train.weight, **validation)
    model.callbacks = None


def _print_result(
    model: Any,
    data: TrainingData,
    evaluation: Evaluation | None,
    facts: dict[str, Any],
    output: Output,
) -> None:
    if output.json:
        holdout = None if evaluation is None else evaluation.facts()
        output.facts(
            {"rows": data.train.X.height, **facts, **model_facts(model), "holdout": holdout}
        )
        return
    output.text(model.summary())
    if evaluation is not None:
        evaluation.print(output)
