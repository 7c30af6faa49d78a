"""`directboost cv`: nu by cross-validation, within a budget."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table as Grid

from .. import DirectBoostClassifierCV
from ..arrays import Array, Ints
from . import options as o
from .evaluate import show
from .fit import FitRows, read_rows, settings, write_files
from .inputs import check_folder
from .inspect import model_facts
from .terminal import Output, TimeLeft, percent, watching

_POINT, _CHOSEN = "•", "◆"
_LABEL = 7  # characters before the axis
_TICK = 10  # characters between two numbers below the axis, at least


def curve(
    features: Sequence[int], scores: Sequence[float], chosen: int, width: int = 60, height: int = 8
) -> list[str]:
    """Return the lines of a picture: scores upwards, the points of the path to the right.

    Below stand the numbers of features. An empty model is left out, since its score would press
    all others together.

    Parameters
    ----------
    features, scores : sequences of n numbers
    chosen : int
        The point to mark.
    width, height : int
        Characters of the field, without the labels.
    """
    used, y = np.asarray(features), np.asarray(scores, dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(y) & ((used > 0) | (used.max() == 0)))
    if shown.size == 0:
        return []
    used, y = used[shown], y[shown]
    columns = _places(np.arange(shown.size, dtype=np.float64), width)
    marks = np.where(shown == chosen, _CHOSEN, _POINT)
    field = _field(columns, height - 1 - _places(y, height), marks, (height, width))
    labels = [f"{y.max():.3f}", *[""] * (height - 2), f"{y.min():.3f}"]
    lines = [f"{label:>{_LABEL - 1}} │{row}" for label, row in zip(labels, field, strict=True)]
    axis = " " * _LABEL + "└" + "─" * width
    return [*(line.rstrip() for line in lines), axis, _ticks(columns, used, width)]


def _field(columns: Ints, rows: Ints, marks: Any, shape: tuple[int, int]) -> list[str]:
    field = np.full(shape, " ")
    field[rows, columns] = marks
    return ["".join(row) for row in field]


def _ticks(columns: Ints, used: Ints, width: int) -> str:
    """Return the line with the numbers of features, as many as have room."""
    line, free = [" "] * (width + _LABEL + 10), 0
    for column, number in zip(columns.tolist(), used.tolist(), strict=True):
        if column >= free:
            text = str(number)
            line[_LABEL + 1 + column : _LABEL + 1 + column + len(text)] = text
            free = column + _TICK
    return "".join(line).rstrip() + " features"


def _places(values: Array, size: int) -> Ints:
    """Return which of `size` characters every value falls on, from the least to the largest."""
    low, high = values.min(), values.max()
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return (share * (size - 1)).round().astype(np.intp)


def cv(
    context: typer.Context,
    data: o.Data,
    target: o.Target = None,
    out: o.Out = None,
    report: o.Report = None,
    max_features: Annotated[int | None, typer.Option(help="Most features of the model.")] = None,
    max_learners: Annotated[int | None, typer.Option(help="Most weak classifiers.")] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(help="Most that its features may cost."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    nus: Annotated[int, typer.Option(min=1, help="Points of the path.")] = 30,
    nu_min: Annotated[float, typer.Option(help="The last point, a fraction of nu_max.")] = 0.001,
    scoring: Annotated[
        str | None, typer.Option(help="A scorer of scikit-learn; accuracy by default.")
    ] = None,
    best: Annotated[
        bool,
        typer.Option(
            "--best", help="The best score, not the smallest model within a standard error of it."
        ),
    ] = False,
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
    """Choose nu by cross-validation, within a budget.

    Prints the path of nu with the score of every point, and the model that was chosen.
    """
    screen = Output(json, quiet)
    check_folder(out, report)
    rows, _, _ = read_rows(data, context.params)
    screen.notes(rows.train.notes)
    search = DirectBoostClassifierCV(
        cv=folds, max_features_used=max_features, one_standard_error=not best
    )
    search.set_params(**settings(context.params, rows.train, search.get_params()))
    with watching(screen.err, TimeLeft(None), "cv") as watch:
        search.callbacks = watch
        search.fit(rows.train.X, rows.train.y, rows.train.weight)
    model = search.path_[search.chosen_index_]
    model.callbacks = None
    files = write_files(model, rows, out, report, screen)
    _print(search, model, rows, files, screen)


def _print(search: Any, model: Any, rows: FitRows, files: dict[str, Any], screen: Output) -> None:
    tally = rows.judged(model)
    if screen.json:
        facts: dict[str, Any] = {
            **files,
            "path": path_facts(search),
            "chosen": search.chosen_index_,
        }
        facts |= {"best": search.best_index_, "model": model_facts(model)}
        screen.facts({**facts, "holdout": None if tally is None else tally.facts()})
        return
    screen.out.print(_path_table(search))
    used = search.path_.n_features_used.tolist()
    width = min(screen.out.width - 20, 72)
    screen.text(
        "\n" + "\n".join(curve(used, search.mean_scores_.tolist(), search.chosen_index_, width))
    )
    screen.text("\n" + model.summary())
    if tally is not None:
        screen.text("\non the rows kept apart:")
        show(tally, screen.out)


def path_facts(search: Any) -> list[dict[str, Any]]:
    """Return every point of the path in plain numbers."""
    points = zip(search.path_, search.mean_scores_, search.standard_errors_, strict=True)
    return [
        {
            "nu": model.nu,
            "n_features_used": model.n_features_used_,
            "n_learners": model.n_learners_,
            "cost": model.cost_,
            "score": score,
            "standard_error": error,
            "relative_gap": model.certificate_.relative_gap,
        }
        for model, score, error in points
    ]


def _path_table(search: Any) -> Grid:
    """Return the path, a line per point; the best and the chosen one are marked."""
    points = path_facts(search)
    costs = search.feature_costs is not None
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("nu / nu_max", "features", "rules", *["cost"] * costs, "score", "± error", "gap"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    for i, point in enumerate(points):
        size = [str(point["n_features_used"]), str(point["n_learners"])]
        size += [f"{point['cost']:.4g}"] * costs
        score = [
            "-" if np.isnan(point[key]) else f"{point[key]:.4f}"
            for key in ("score", "standard_error")
        ]
        marks = ["best"] * (i == search.best_index_) + ["chosen"] * (i == search.chosen_index_)
        style = "bold" if i == search.chosen_index_ else None
        grid.add_row(
            f"{point['nu']:.4g}",
            *size,
            *score,
            percent(point["relative_gap"]),
            ", ".join(marks),
            style=style,
        )
    return grid
