"""What `fit` and `cv` share: rows, settings of the estimator, files at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from ..tables import Reading, Roles, TrainingTable
from .judging import judge
from .screen import Screen
from .source import reading_of, target_of, training_rows
from .tally import Tally
from .words import named_numbers, read_costs


@dataclass(frozen=True)
class Rows:
    """Rows to fit to, and others to judge the model by, None where none were kept apart."""

    train: TrainingTable
    apart: TrainingTable | None
    target: str

    def judged(self, model: Any) -> Tally | None:
        """Count right and wrong answers to the rows that were kept apart."""
        if self.apart is None:
            return None
        labels = self.apart.X.with_columns(pl.Series(self.target, self.apart.y))
        return judge(model, [labels], self.target)


def read_rows(data: str, options: Mapping[str, Any]) -> tuple[Rows, Roles, Reading]:
    """Read the table of a fit as the options say; rows kept apart are drawn class by class."""
    target = target_of(data, options["target"])
    reading = reading_of(options["missing"], options["separator"])
    roles = Roles(
        target, options["sample_weight"], options["drop"] or (), options["categorical"] or ()
    )
    table = training_rows(data, roles, reading)
    train, apart = _split(table, options["holdout"], options["random_state"] or 0)
    return Rows(train, apart, target), roles, reading


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


def refuse_no_folder(*paths: Path | None) -> None:
    """Refuse, before the work, files in a folder that is not there."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"the folder of {path} is not there: make it first")


def write_files(
    model: Any, rows: Rows, out: Path | None, report: Path | None, screen: Screen
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
