"""Words that are to be numbers."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from .reading import shown

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
