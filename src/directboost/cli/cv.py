"""`directboost cv`: choose nu by cross-validation, and plot the scores as text."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from rich.table import Table
from sklearn.base import clone

from .. import DirectBoostClassifierCV
from ..arrays import Array, Ints
from ..losses import LOSSES
from . import options as o
from .fit import estimator_parameters
from .holdout import Evaluation, evaluate_model, read_data, write_page
from .inputs import check_inputs, check_outputs
from .inspect import model_facts
from .tables import TrainingTable
from .terminal import Output, TimeLeft, make_table, percent, show_progress

_POINT, _CHOSEN = "•", "◆"
_LABEL_WIDTH = 7  # characters to the left of the axis
_TICK_DISTANCE = 10  # minimum number of characters between two tick labels


@o.training_options(DirectBoostClassifierCV)
def cv(
    data: o.Data,
    *,
    out: o.ModelOut = None,
    report: o.Report = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
    max_features: Annotated[
        int | None,
        o.option("Maximum number of features of the model.", heading=o.SEARCH, metavar="INTEGER"),
    ] = None,
    folds: Annotated[
        int, o.option("Number of folds.", heading=o.SEARCH, min=2, metavar="INTEGER")
    ] = 5,
    one_standard_error: Annotated[
        bool,
        o.option(
            "Choose the largest nu within one standard error of the best score, which gives a "
            "smaller model.",
            "--one-standard-error",
            heading=o.SEARCH,
        ),
    ] = False,
    n_jobs: Annotated[
        int,
        o.option(
            "Number of folds to fit in parallel. -1 uses all cores.",
            heading=o.SOLVER,
            metavar="INTEGER",
        ),
    ] = -1,
    **options: Any,
) -> None:
    """Choose nu by cross-validation, within a budget.

    Prints the score of every point on the path of nu, and the chosen model.
    """
    output = Output(json, quiet)
    inputs = (data, options["test_data"], options["feature_costs"])
    check_inputs(*inputs)
    check_outputs(inputs, [out, report])
    rows, _, _ = read_data(data, options, report, output)
    search = DirectBoostClassifierCV(
        cv=folds,
        max_features_used=max_features,
        one_standard_error=one_standard_error,
        n_jobs=n_jobs,
    )
    search.set_params(**estimator_parameters(options, rows.train, search.get_params()))
    model = _search_with_progress(search, rows.train, output, "cv")
    if out is not None:
        model.save(out)
        output.note(f"Wrote {out}")

    def refit(part: TrainingTable) -> Any:
        return _search_with_progress(clone(search), part, output, "second cv")

    evaluation = evaluate_model(rows, model, refit, output)
    if report is not None:
        write_page(report, model, rows, evaluation, output)
    _print_result(search, model, evaluation, {"out": out, "report": report}, output)


def _search_with_progress(search: Any, table: TrainingTable, output: Output, label: str) -> Any:
    """Choose a model by cross-validation; return it."""
    with show_progress(output.err, TimeLeft(None), label) as callback:
        search.callbacks = callback
        search.fit(table.X, table.y, table.weight)
    search.callbacks = None
    model = search.path_[search.chosen_index_]
    model.callbacks = None
    return model


def _print_result(
    search: Any, model: Any, evaluation: Evaluation | None, files: dict[str, Any], output: Output
) -> None:
    if output.json:
        output.facts(
            {
                **files,
                "path": path_facts(search),
                "chosen": search.chosen_index_,
                "best": search.best_index_,
                "model": model_facts(model),
                "holdout": None if evaluation is None else evaluation.facts(),
            }
        )
        return
    output.out.print(_path_table(search))
    if search.scoring is None:
        score = "share of right predictions"
        if LOSSES[search.loss]().probability_scale is not None:
            score = "mean log-likelihood of the true classes, minus the log loss,"
        output.text(f"\nscore: {score} on the held-out rows of the folds")
    used = search.path_.n_features_used.tolist()
    width = min(output.out.width - 20, 72)
    lines = plot_scores(used, search.mean_scores_.tolist(), search.chosen_index_, width)
    output.text("\n" + "\n".join(lines))
    output.text("\n" + model.summary())
    if evaluation is not None:
        evaluation.print(output)


def path_facts(search: Any) -> list[dict[str, Any]]:
    """Return the figures of every point of the path."""
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


def _path_table(search: Any) -> Table:
    """Return a table of the path that marks the best and the chosen point."""
    costs = search.feature_costs is not None
    names = ("features", "rules", *["cost"] * costs, "score", "s.e.", "gap", "")
    table = make_table("nu / nu_max", *names)
    table.columns[0].justify = "right"
    table.columns[-1].justify = "left"
    for i, point in enumerate(path_facts(search)):
        chosen = i == search.chosen_index_
        cost = [f"{point['cost']:.4g}"] * costs
        scores = [
            "-" if np.isnan(point[key]) else f"{point[key]:.4f}"
            for key in ("score", "standard_error")
        ]
        table.add_row(
            f"{point['nu']:.4g}",
            str(point["n_features_used"]),
            str(point["n_learners"]),
            *cost,
            *scores,
            percent(point["relative_gap"]),
            "chosen" if chosen else "best" if i == search.best_index_ else "",
            style="bold" if chosen else None,
        )
    return table


def plot_scores(
    features: Sequence[int], scores: Sequence[float], chosen: int, width: int = 60, height: int = 8
) -> list[str]:
    """Return a text plot of the scores along the path, as a list of lines.

    The tick labels are the numbers of features. Empty models are omitted, because their low score
    would compress the scale.

    Parameters
    ----------
    features, scores : sequences of n numbers
    chosen : int
        Index of the point to mark.
    width, height : int
        Size of the plot in characters, without the labels.
    """
    used, y = np.asarray(features), np.asarray(scores, dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(y) & ((used > 0) | (used.max() == 0)))
    if shown.size == 0:
        return []
    used, y = used[shown], y[shown]
    columns = _positions(np.arange(shown.size, dtype=np.float64), width)
    canvas = np.full((height, width), " ")
    canvas[height - 1 - _positions(y, height), columns] = np.where(shown == chosen, _CHOSEN, _POINT)
    labels = [f"{y.max():.3f}", *[""] * (height - 2), f"{y.min():.3f}"]
    lines = [
        f"{label:>{_LABEL_WIDTH - 1}} │{''.join(row)}"
        for label, row in zip(labels, canvas, strict=True)
    ]
    axis = " " * _LABEL_WIDTH + "└" + "─" * width
    return [*(line.rstrip() for line in lines), axis, _ticks(columns, used, width)]


def _ticks(columns: Ints, used: Ints, width: int) -> str:
    """Return the line of tick labels: the numbers of features, as many as fit."""
    line, free = [" "] * (width + _LABEL_WIDTH + 10), 0
    for column, number in zip(columns.tolist(), used.tolist(), strict=True):
        if column >= free:
            text = str(number)
            line[_LABEL_WIDTH + 1 + column : _LABEL_WIDTH + 1 + column + len(text)] = text
            free = column + _TICK_DISTANCE
    return "".join(line).rstrip() + " features"


def _positions(values: Array, size: int) -> Ints:
    """Scale values linearly to the integers from 0 to size - 1."""
    low, high = values.min(), values.max()
    share = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return (share * (size - 1)).round().astype(np.intp)
