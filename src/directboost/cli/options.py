"""Options that several commands have, each written once."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from .tables import NAMES


def name_or_number(word: Any) -> Any:
    """Return a number where the word is one, else the word."""
    try:
        return float(word)
    except ValueError:
        return word


def count_or_auto(word: Any) -> int | str:
    """Return a whole number, or "auto"."""
    return "auto" if word == "auto" else _count(word, "auto")


def count_or_none(word: Any) -> int | None:
    """Return a whole number, or None for "none"."""
    return None if word in (None, "none") else _count(word, "none")


def _count(word: Any, other: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise typer.BadParameter(f"{word!r} is neither a whole number nor {other!r}") from None


def named_numbers(pairs: Iterable[str], option: str) -> dict[str, float]:
    """Return NAME=NUMBER words as a dictionary; a name may hold "=" itself."""
    numbers = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        try:
            numbers[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise typer.BadParameter(f"{option} takes NAME=NUMBER, not {pair!r}")
    return numbers


def read_costs(path: Path) -> dict[str, float]:
    """Read the costs of features: a JSON object, or CSV with the columns feature and cost."""
    try:
        if path.suffix.lower() == ".json":
            costs = json.loads(path.read_text(encoding="utf-8"))
        else:
            frame = pl.read_csv(path, schema_overrides={"feature": pl.String, "cost": pl.Float64})
            costs = dict(zip(frame["feature"], frame["cost"], strict=True))
        return {str(name): float(cost) for name, cost in costs.items()}
    except (ValueError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
        raise ValueError(
            f"{path} does not hold the costs of features: it takes a JSON object, name to cost, or "
            "CSV with the columns feature and cost"
        ) from error


_SETS = ", ".join(NAMES)


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **more)


Data = Annotated[
    str, typer.Argument(metavar="DATA", help=f"CSV or Parquet file, or an embedded set: {_SETS}.")
]
RowsData = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help=f"CSV or Parquet file, - for CSV on standard input, or {_SETS}."
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")]
Target = Annotated[str | None, _option("Column of the classes; embedded sets need none.")]
Out = Annotated[Path | None, _option("Write the model to this file.", "-o", "--out")]
Report = Annotated[Path | None, _option("Write a page about the model to this HTML file.")]
Json = Annotated[bool, _option("Print one JSON object.", "--json")]
Quiet = Annotated[bool, _option("No progress, no notes.", "--quiet", "-q")]

Missing = Annotated[
    list[str] | None,
    _option("Word that stands for a missing value in CSV, may be repeated.", metavar="WORD"),
]
Separator = Annotated[
    str | None, _option("Character between two cells of CSV; a comma by default.")
]
Drop = Annotated[list[str] | None, _option("Column to leave out, may be repeated.", metavar="NAME")]
Categorical = Annotated[
    list[str] | None,
    _option(
        "Column of numbers that stand for categories, may be repeated; words always do.",
        metavar="NAME",
    ),
]
SampleWeight = Annotated[str | None, _option("Column of the weights of the rows.", metavar="NAME")]
Holdout = Annotated[
    float,
    _option("Share of the rows to keep apart and judge the model by.", min=0, max=0.9),
]

Loss = Annotated[str, _option("hinge, exponential, logistic, multinomial or squared_hinge.")]
Margin = Annotated[str, _option("pairwise or one-vs-all.")]
Penalty = Annotated[
    Any, _option("l1, l1,2, l1,inf, or a number p for l1,p.", metavar="NAME", parser=name_or_number)
]
Learner = Annotated[str, _option("Weak classifiers: stump or tree.")]
MaxBins = Annotated[
    Any,
    _option(
        "Most thresholds per feature plus one; none for all.",
        metavar="NUMBER",
        parser=count_or_none,
    ),
]
FeatureCost = Annotated[
    list[str] | None,
    _option("Cost of a feature, may be repeated; 1 by default.", metavar="NAME=COST"),
]
FeatureCosts = Annotated[
    Path | None,
    _option("Costs: JSON, or CSV with the columns feature and cost.", metavar="FILE"),
]
ClassWeight = Annotated[str | None, _option("balanced: all classes count the same.")]

Tol = Annotated[float, _option("Stop at this certified relative gap.")]
Solver = Annotated[str, _option("auto, blocks, lp, conic, lbfgsb, prox, admm or consensus.")]
Pricing = Annotated[str, _option("exact or paper.")]
ColumnsPerRound = Annotated[
    Any, _option("A number, or auto.", metavar="NUMBER", parser=count_or_auto)
]
MaxLearners = Annotated[int | None, _option("Most weak classifiers.")]
NJobs = Annotated[int | None, _option("Threads; -1 for all.")]
RandomState = Annotated[int | None, _option("Seed, also of --holdout; 0 there by default.")]
