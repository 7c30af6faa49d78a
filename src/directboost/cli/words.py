"""From the words of the command line to values of parameters."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import typer


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
