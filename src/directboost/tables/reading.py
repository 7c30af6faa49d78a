"""How a table is to be read: what the user says about files of words."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
INPUT = Path("-")  # standard input, or output where something is written


@dataclass(frozen=True)
class Reading:
    """What a CSV file does not say itself.

    Attributes
    ----------
    missing : tuple of str
        Words that stand for a missing value; an empty cell always does.
    separator : str or None
        What stands between two cells; by default a tab in a `.tsv` file, else a comma.
    """

    missing: tuple[str, ...] = ()
    separator: str | None = None

    def csv_options(self, path: Path) -> dict[str, Any]:
        """Return the arguments of `polars.read_csv` that say the same."""
        usual = "\t" if path.suffix.lower() == ".tsv" else ","
        separator = usual if self.separator is None else _character(self.separator)
        return {"null_values": list(self.missing) or None, "separator": separator}


def _character(word: str) -> str:
    """Return the separator that a word stands for, which may be an escape sequence."""
    try:
        separator = codecs.decode(word, "unicode_escape")
    except UnicodeDecodeError:
        separator = ""
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise ValueError(
            f"separator={word!r} does not fit: it is one ASCII character, such as ; or \\t"
        )
    return separator


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file from a CSV file by its name, or refuse a name that tells neither."""
    suffix = path.suffix.lower()
    if path == INPUT or suffix in CSV:
        return False
    if suffix in PARQUET:
        return True
    known = ", ".join((*CSV, *PARQUET))
    raise ValueError(f"{path} is neither CSV nor Parquet by its name, which ends in one of {known}")


@contextmanager
def named_errors(path: Path, place: str = " cannot be read") -> Iterator[None]:
    """Turn what polars says about a file into one line that begins with its name."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise ValueError(f"{shown(path)}{place}: {reason}") from error


def shown(path: Path) -> str:
    """Return what a file is called in messages."""
    return "standard input" if path == INPUT else str(path)
