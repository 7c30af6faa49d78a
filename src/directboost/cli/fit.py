"""`directboost fit`: a certified model of a table."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import DirectBoostClassifier, Status
from ..callbacks import TimeLimit
from ..tables import Reading, Roles
from . import options as o
from .facts import model_facts
from .judging import show
from .learning import Rows, read_rows, refuse_no_folder, settings, write_files
from .progress import watching
from .screen import Screen, percent
from .source import training_rows
from .time_left import TimeLeft

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
    screen = Screen(json, quiet)
    refuse_no_folder(out, report)
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


def _validation(options: Mapping[str, Any], roles: Roles, reading: Reading) -> dict[str, Any]:
    """Return the arguments of `fit` with the rows that say when to stop."""
    if options["validation"] is None:
        return {}
    table = training_rows(str(options["validation"]), roles, reading)
    return {"X_val": table.X, "y_val": table.y, "sample_weight_val": table.weight}


def _fitted(
    rows: Rows, validation: dict[str, Any], options: Mapping[str, Any], screen: Screen
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


def _print(model: Any, rows: Rows, found: dict[str, Any], screen: Screen) -> None:
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
