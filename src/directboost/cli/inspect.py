"""`directboost inspect`: print the rules, the certificate and the rounds of a model."""

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from rich.table import Table

from .. import Record
from ..model.names import class_names, feature_names
from ..model.summary import describe_rule, votes_in_words
from . import options as o
from .inputs import read_model
from .terminal import Output, make_table, percent

_MAX_ROUNDS = 12  # rounds to print


def inspect(
    model: o.Model,
    *,
    rules: Annotated[
        int, o.option("Number of rules to print, strongest first.", min=0, metavar="INTEGER")
    ] = 12,
    json: o.Json = False,
) -> None:
    """Print the rules, the certificate and the rounds of a model."""
    output, fitted = Output(json), read_model(model)
    history = getattr(fitted, "history_", [])
    if json:
        facts = {**model_facts(fitted), "rules": rule_facts(fitted, rules)}
        output.facts({**facts, "history": [asdict(record) for record in history]})
        return
    output.text(_summary(fitted, rules))
    records = [record for record in history if isinstance(record, Record)]
    if records:
        output.text("\nrounds:")
        output.out.print(_rounds_table(records))
        if records[-1].primal != fitted.certificate_.primal:
            output.text(
                "After the last round, the model was reduced within tol; the certificate above is "
                "that of the reduced model."
            )


def model_facts(model: Any) -> dict[str, Any]:
    """Return the size, the penalty and the certificate of a model, if it has them."""
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
    if getattr(model, "learner_choice_", None) is not None:
        facts["learner_choice"] = asdict(model.learner_choice_)
    return facts


def rule_facts(model: Any, most: int) -> list[dict[str, Any]]:
    """Return the strongest rules, at most `most`, with their non-zero votes for the classes."""
    order = np.argsort(-model.weights_.sum(axis=1), kind="stable")[:most]
    classes = class_names(model)
    return [
        {
            "rule": describe_rule(model, model.learners_[j]),
            "votes": {classes[r]: model.weights_[j, r] for r in np.flatnonzero(model.weights_[j])},
        }
        for j in order
    ]


def _summary(model: Any, rules: int) -> str:
    """Return the summary of a model, or the size and the rules of a baseline without one."""
    if hasattr(model, "summary"):
        return str(model.summary(rules))
    size = f"{model.n_learners_} weak classifiers on {model.n_features_used_} features"
    lines = [f"{type(model).__name__}: {size}, status {model.status_}"]
    for rule in rule_facts(model, rules):
        votes = votes_in_words(np.array([*rule["votes"].values()]), [*rule["votes"]])
        lines.append(f"  {rule['rule']}  {votes}")
    return "\n".join(lines)


def _rounds_table(records: list[Record]) -> Table:
    """Return a table of evenly spaced rounds, including the first and the last."""
    table = make_table("round", "learners", "objective", "lower bound", "gap", "seconds")
    table.columns[0].justify = "right"
    shown = np.linspace(0, len(records) - 1, _MAX_ROUNDS).round().astype(int)
    for record in (records[i] for i in np.unique(shown)):
        table.add_row(
            str(record.round),
            "-" if record.learners is None else f"{record.learners:,}",
            f"{record.primal:.6g}",
            f"{record.dual:.6g}",
            percent(record.relative_gap),
            f"{record.seconds:.3g}",
        )
    return table
