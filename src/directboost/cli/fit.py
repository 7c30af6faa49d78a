"""`directboost fit`: a certified model of a table."""

import time
from collections.abc import Mapping, Sequence
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
from .evaluate import Scores, judge, show
from .inputs import check_folder, reading_of, target_of, training_rows
from .inspect import model_facts
from .options import named_numbers, read_costs
from .tables import ColumnRoles, TableFormat, TrainingTable
from .terminal import Output, TimeLeft, percent, watching


@dataclass(frozen=True)
class FitRows:
    """Rows to fit to, and others to judge the model by, None where none were kept apart."""

    train: TrainingTable
    apart: TrainingTable | None
    target: str

    def judged(self, model: Any) -> Scores | None:
        """Count right and wrong answers to the rows that were kept apart."""
        if self.apart is None:
            return None
        labels = self.apart.X.with_columns(pl.Series(self.target, self.apart.y))
        return judge(model, [labels], self.target)


def read_rows(data: str, options: Mapping[str, Any]) -> tuple[FitRows, ColumnRoles, TableFormat]:
    """Read the table of a fit as the options say; rows kept apart are drawn class by class."""
    target = target_of(data, options["target"])
    reading = reading_of(options["missing"], options["separator"])
    roles = ColumnRoles(
        target, options["sample_weight"], options["drop"] or (), options["categorical"] or ()
    )
    table = training_rows(data, roles, reading)
    train, apart = _split(table, options["holdout"], options["random_state"] or 0)
    return FitRows(train, apart, target), roles, reading


def _split(
    table: TrainingTable, share: float, seed: int
) -> tuple[TrainingTable, TrainingTable | None]:
    if share == 0.0:
        return table, None
    places = np.arange(table.X.height)
    try:
        train, apart = train_test_split(
            places, test_size=share, stratify=table.y, random_state=seed
        )
    except ValueError as error:
        raise ValueError(f"--holdout {share:g} does not fit: {error}") from error
    return table.take(np.sort(train)), table.take(np.sort(apart))


def settings(
    options: Mapping[str, Any], table: TrainingTable, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return parameters of an estimator: the options that have the name of one it knows."""
    chosen = {name: value for name, value in options.items() if name in known}
    chosen["feature_costs"] = _costs(options["feature_costs"], options["feature_cost"] or ())
    chosen["categorical_features"] = list(table.categorical) or None
    return chosen


def _costs(file: Path | None, pairs: Sequence[str]) -> dict[str, float] | None:
    costs = {} if file is None else read_costs(file)
    return {**costs, **named_numbers(pairs, "--feature-cost")} or None


def write_files(
    model: Any, rows: FitRows, out: Path | None, report: Path | None, screen: Output
) -> dict[str, Path | None]:
    """Write the model and the page about it, and say where they are."""
    files = {"out": out, "report": report}
    if out is not None:
        model.save(out)
        screen.note(f"wrote {out}")
    if report is None:
        return files
    judged = rows.apart or rows.train
    model.report(report, judged.X, judged.y)
    hint = "" if rows.apart else " (on the rows of the fit; --holdout 0.25 keeps some apart)"
    screen.note(f"wrote {report}{hint}")
    return files


_INTERRUPTED = 130  # the exit code of programs that Ctrl-C ended
_PATIENCE = 5  # points without a better loss, where there are rows to validate


def fit(
    context: typer.Context,
    data: o.Data,
    target: o.Target = None,
    out: o.Out = None,
    report: o.Report = None,
    nu: Annotated[float, typer.Option(help="Strength of the penalty.")] = 0.003,
    nu_scale: Annotated[str, typer.Option(help="relative (to nu_max), absolute or paper.")] = (
        "relative"
    ),
    loss: o.Loss = "logistic",
    margin: o.Margin = "pairwise",
    penalty: o.Penalty = "l1,2",
    learner: o.Learner = "stump",
    max_bins: o.MaxBins = "255",
    feature_cost: o.FeatureCost = None,
    feature_costs: o.FeatureCosts = None,
    class_weight: o.ClassWeight = None,
    tol: o.Tol = 0.01,
    solver: o.Solver = "auto",
    pricing: o.Pricing = "exact",
    columns_per_round: o.ColumnsPerRound = "auto",
    max_learners: o.MaxLearners = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; the best model so far is kept.", min=0)
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(
            help="Table of rows whose loss says how far down nu should go.", metavar="DATA"
        ),
    ] = None,
    n_iter_no_change: Annotated[
        int | None,
        typer.Option(help="With --validation: points without a better loss; 5 by default."),
    ] = None,
    n_jobs: o.NJobs = None,
    random_state: o.RandomState = None,
    sample_weight: o.SampleWeight = None,
    categorical: o.Categorical = None,
    drop: o.Drop = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    holdout: o.Holdout = 0.0,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit a certified model to a table.

    Ctrl-C ends the fit, not the command: the best model so far is written, and the exit code
    is 130.
    """
    screen = Output(json, quiet)
    check_folder(out, report)
    rows, roles, reading = read_rows(data, context.params)
    screen.notes(rows.train.notes)
    started = time.perf_counter()
    model = _fitted(rows, _validation(context.params, roles, reading), context.params, screen)
    seconds = time.perf_counter() - started
    files = write_files(model, rows, out, report, screen)
    _print(model, rows, {"seconds": seconds, **files}, screen)
    if out is None:
        screen.note("the model was not kept: -o model.json writes it")
    if model.status_ == Status.INTERRUPTED:
        raise typer.Exit(_INTERRUPTED)


def _validation(
    options: Mapping[str, Any], roles: ColumnRoles, reading: TableFormat
) -> dict[str, Any]:
    """Return the arguments of `fit` with the rows that say when to stop."""
    if options["validation"] is None:
        return {}
    table = training_rows(str(options["validation"]), roles, reading)
    return {"X_val": table.X, "y_val": table.y, "sample_weight_val": table.weight}


def _fitted(
    rows: FitRows, validation: dict[str, Any], options: Mapping[str, Any], screen: Output
) -> DirectBoostClassifier:
    """Fit, and show how far it is."""
    model = DirectBoostClassifier()
    model.set_params(**settings(options, rows.train, model.get_params()))
    if validation and model.n_iter_no_change is None:
        model.n_iter_no_change = _PATIENCE
    walks = bool(validation) or (model.max_learners and model.columns_per_round == "auto")
    limit = options["time_limit"]
    left = TimeLeft(None if walks else model.tol, limit)
    with watching(screen.err, left) as watch:
        model.callbacks = [watch, *([] if limit is None else [TimeLimit(limit)])]
        model.fit(rows.train.X, rows.train.y, rows.train.weight, **validation)
    model.callbacks = None
    return model


def _print(model: Any, rows: FitRows, found: dict[str, Any], screen: Output) -> None:
    tally = rows.judged(model)
    if screen.json:
        facts = {"rows": rows.train.X.height, **found, **model_facts(model)}
        screen.facts({**facts, "holdout": None if tally is None else tally.facts()})
        return
    gap = percent(model.certificate_.relative_gap)
    screen.note(
        f"fitted {rows.train.X.height:,} rows in {found['seconds']:.2f} s to a gap of {gap}"
    )
    screen.text(model.summary())
    if tally is not None:
        screen.text("\non the rows kept apart:")
        show(tally, screen.out)
