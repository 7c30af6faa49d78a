"""`directboost inspect`: a model file in words."""

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table as Grid

from .. import Record
from . import options as o
from .answering import read_model
from .facts import model_facts, rule_facts
from .screen import Screen, percent

_ROUNDS = 12  # that are shown


def inspect(
    model: o.Model,
    rules: Annotated[int, typer.Option(min=0, help="How many of the strongest rules.")] = 12,
    json: o.Json = False,
) -> None:
    """Print a model in words: rules, certificate, rounds."""
    screen, fitted = Screen(json), read_model(model)
    if json:
        rounds = [asdict(record) for record in getattr(fitted, "history_", [])]
        facts = {**model_facts(fitted), "rules": rule_facts(fitted, rules), "history": rounds}
        screen.facts(facts)
        return
    screen.text(_words(fitted, rules))
    records = [record for record in getattr(fitted, "history_", []) if isinstance(record, Record)]
    if records:
        screen.text("\nrounds of the fit")
        screen.out.print(_rounds(records))
        if records[-1].primal != fitted.certificate_.primal:
            screen.text(
                "after the last round the model was made smaller within tol; the certificate above "
                "is that of the result"
            )


def _words(model: Any, rules: int) -> str:
    """Return the summary, or for a model without one its size and its rules."""
    if hasattr(model, "summary"):
        return str(model.summary(rules))
    size = f"{model.n_learners_} weak classifiers on {model.n_features_used_} features"
    lines = [f"{type(model).__name__}: {size}, status {model.status_}"]
    for rule in rule_facts(model, rules):
        votes = ", ".join(f"{name}: {vote:.3g}" for name, vote in rule["votes"].items())
        lines.append(f"  {rule['rule']}  {votes}")
    return "\n".join(lines)


def _rounds(records: list[Record]) -> Grid:
    """Return some of the rounds, evenly, with the first and the last."""
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("round", "columns", "objective", "lower bound", "gap", "seconds"):
        grid.add_column(name, justify="right", no_wrap=True)
    for place in np.unique(np.linspace(0, len(records) - 1, _ROUNDS).round().astype(int)):
        r = records[place]
        numbers = (f"{r.primal:.6g}", f"{r.dual:.6g}", percent(r.relative_gap), f"{r.seconds:.3g}")
        grid.add_row(str(r.round), f"{r.columns:,}", *numbers)
    return grid
