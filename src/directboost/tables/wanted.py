"""Which columns of a table a fitted model reads, and what they hold."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..model.names import feature_names, some_of
from .reading import is_parquet, shown

#: Types of columns that words and numbers may have in a Parquet file.
WORDS = (pl.String, pl.Categorical, pl.Enum)


def feature_types(model: Any) -> dict[str, Any]:
    """Return the columns a fitted model reads, in order: numbers or words."""
    levels = getattr(model, "categories_", [None] * model.n_features_in_)
    return {
        name: pl.Float64 if values is None or values.dtype.kind in "biuf" else pl.String
        for name, values in zip(feature_names(model), levels, strict=True)
    }


def refuse_absent(path: Path, wanted: Iterable[str], present: Sequence[str]) -> None:
    """Refuse a table without columns that are needed, by their names."""
    absent = [name for name in wanted if name not in present]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        alone = len(present) == 1 and not is_parquet(path)
        hint = ": is the separator right?" if alone else ""
        raise ValueError(
            f"{shown(path)} has no {noun} {some_of(absent, 5)}; it has {some_of(present, 8)}{hint}"
        )


def as_type(frame: pl.DataFrame, name: str, kind: Any, path: Path) -> pl.Series:
    """Return a column as numbers or words; refuse by name one that holds something else."""
    column = frame[name]
    plain = column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)
    fits = plain if kind == pl.Float64 else column.dtype in (*WORDS, pl.Null)
    if not fits:
        needed = "numbers" if kind == pl.Float64 else "words"
        raise ValueError(
            f"column {name!r} of {shown(path)} holds {column.dtype}, but the model was fitted to "
            f"{needed} there"
        )
    return column.cast(kind)
