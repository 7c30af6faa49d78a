"""How a table is to be read: what the user says about files of words."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from ...model.names import feature_names, some_of

CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
INPUT = Path("-")  # standard input, or output where something is written


@dataclass(frozen=True)
class TableFormat:
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


_ROUNDED = 2.0**53  # from which on float64 does not hold every whole number


def as_numbers(words: pl.Series) -> pl.Series:
    """Return words as numbers, null where one is none; true is 1 and false 0."""
    bare = words.str.strip_chars()
    truths = bare.str.to_lowercase().replace_strict(
        {"true": 1.0, "false": 0.0}, default=None, return_dtype=pl.Float64
    )
    return bare.cast(pl.Float64, strict=False).zip_with(truths.is_null(), truths)


def exact_numbers(words: pl.Series) -> list[Any]:
    """Return words as numbers, None where one is none; large ones as they are written."""
    return [
        number if number is None or abs(number) < _ROUNDED else Decimal(word.strip())
        for word, number in zip(words.to_list(), as_numbers(words).to_list(), strict=True)
    ]


def first_word(words: pl.Series, numbers: pl.Series) -> int | None:
    """Return the place of the first word that is no number, None where there is none."""
    wrong = (words.is_not_null() & numbers.is_null()).arg_true()
    return int(wrong[0]) if wrong.len() else None


def checked_numbers(path: Path, words: pl.Series, before: int) -> pl.Series:
    """Return words as numbers, or refuse the first that is none.

    Parameters
    ----------
    path : Path
        The file, for the message.
    words : Series
    before : int
        Number of rows of the file that come before.
    """
    numbers = as_numbers(words)
    place = first_word(words, numbers)
    if place is None:
        return numbers
    word: Any = words[place]
    raise ValueError(
        f"column {words.name!r} of {shown(path)} holds {word!r} in row {before + place + 1} (the "
        "header not counted), which is not a number; where it stands for a missing value, add "
        f"--missing {word!r}"
    )


#: Types of columns that words and numbers may have in a Parquet file.
WORDS = (pl.String, pl.Categorical, pl.Enum)


def feature_types(model: Any) -> dict[str, Any]:
    """Return the columns a fitted model reads, in order: numbers or words."""
    levels = getattr(model, "categories_", [None] * model.n_features_in_)
    return {
        name: pl.Float64 if values is None or values.dtype.kind in "biuf" else pl.String
        for name, values in zip(feature_names(model), levels, strict=True)
    }


def check_columns_present(path: Path, wanted: Iterable[str], present: Sequence[str]) -> None:
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
