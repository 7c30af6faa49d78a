"""How a table is to be read: what the user says about files of words."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        separator = codecs.decode(self.separator or "", "unicode_escape")
        if self.separator is not None and len(separator) != 1:
            raise ValueError(f"separator={self.separator!r} does not fit: it is one character")
        usual = "\t" if path.suffix.lower() == ".tsv" else ","
        return {"null_values": list(self.missing) or None, "separator": separator or usual}


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file from a CSV file by its name, or refuse a name that tells neither."""
    suffix = path.suffix.lower()
    if path == INPUT or suffix in CSV:
        return False
    if suffix in PARQUET:
        return True
    known = ", ".join((*CSV, *PARQUET))
    raise ValueError(f"{path} is neither CSV nor Parquet by its name, which ends in one of {known}")


def shown(path: Path) -> str:
    """Return what a file is called in messages."""
    return "standard input" if path == INPUT else str(path)
