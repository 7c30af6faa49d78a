"""Data sets that come with the package, as tables."""

from pathlib import Path

import polars as pl

from ..datasets import load
from .reading import INPUT

NAMES = ("digits", "iris", "wine", "breast_cancer")
TARGET = "target"


def is_embedded(data: str) -> bool:
    """Tell whether a word names an embedded set; a file of that name goes first."""
    return data in NAMES and not Path(data).exists()


def refuse_no_file(path: Path) -> None:
    """Refuse the name of a file that is not there."""
    if path != INPUT and not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is no file"
        raise FileNotFoundError(f"{path} {what}; embedded data sets are {', '.join(NAMES)}")


def embedded_frame(name: str) -> pl.DataFrame:
    """Return an embedded set; the classes, as words, are the column "target"."""
    data = load(name)
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    return pl.DataFrame({**columns, TARGET: data.classes[data.y]})
