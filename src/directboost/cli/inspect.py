"""`directboost inspect`: a model file in words."""

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table as Grid

from .. import Record
from ..model.names import class_names, feature_names
from ..model.summary import describe_rule
from . import options as o
from .inputs import read_model
from .terminal import Output, percent


def model_facts(model: Any) -> dict[str, Any]:
    """Return size, penalty and certificate of a model, as far as its kind has them."""
    names = feature_names(model)
    facts = {
        "kind": type(model).__name__,
        "classes": model.classes_,
        "n_features_in": model.n_features_in_,
        "features_used": [names[feature] for feature in model.features_used_],
        "n_learners": model.n_learners_,
        "status": model.status_,
        "rounds": model.n_iter_,
    }
    for name in ("nu_", "nu_max_", "cost_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if hasattr(model, "certificate_"):
        facts["certificate"] = asdict(model.certificate_)
    return facts


def rule_facts(model: Any, most: int) -> list[dict[str, Any]]:
    """Return the strongest rules: the words, and the vote for each class it serves."""
    order = np.argsort(-model.coef_.sum(axis=1), kind="stable")[:most]
    classes = class_names(model)
    return [
        {
            "rule": describe_rule(model, model.learners_[j]),
            "votes": {classes[r]: model.coef_[j, r] for r in np.flatnonzero(model.coef_[j])},
        }
        for j in order
    ]


_ROUNDS = 12  # that are shown


def inspect(
    model: o.Model,
    rules: Annotated[int, typer.Option(min=0, help="How many of the strongest rules.")] = 12,
    json: o.Json = False,
) -> None:
    """Print a model in words: rules, certificate, rounds."""
    screen, fitted = Output(json), read_model(model)
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
