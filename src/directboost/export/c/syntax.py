"""C text: names, numbers, strings and arrays."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints, Scores

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PLAIN = set(range(0x20, 0x7F)) - set(b'"\\?')  # what a string may hold as it is
_LONGEST = 1000  # characters of a name; C99 promises 4095 bytes in a string


def check_name(name: Any) -> None:
    """Refuse a prefix that is no name in C."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ValueError(
            f"name={name!r} does not fit: it begins names in C, so it takes a letter, then "
            "letters, digits and underscores"
        )


def name_of(words: str) -> str:
    """Return a name in C that is like some words: "my model-2" becomes my_model_2."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", words).strip("_")
    return name if _NAME.fullmatch(name) else f"model_{name}".rstrip("_")


def string_literal(text: str) -> str:
    r"""Return text as a string of C, in UTF-8, at most 1000 characters of it.

    All but plain ASCII becomes \ooo, always with three digits, so that a digit that follows stays
    one; question marks are escaped, so that there are no trigraphs.
    """
    data = text[:_LONGEST].encode("utf-8", "backslashreplace")
    parts = [chr(byte) if byte in _PLAIN else _escaped(byte) for byte in data]
    return '"' + "".join(parts) + '"'


def _escaped(byte: int) -> str:
    return "\\" + chr(byte) if byte in b'"\\?' else f"\\{byte:03o}"


def string_function(name: str, texts: Sequence[str]) -> str:
    """Return a function that has a text for every number from 0."""
    lines = ",\n".join(f"        {string_literal(text)}" for text in texts)
    return (
        f"static inline const char *{name}(int number)\n{{\n"
        f"    static const char *const names[{len(texts)}] = {{\n{lines}\n    }};\n"
        "    return names[number];\n}"
    )


def number_literal(value: Any) -> str:
    """Return a number of NumPy as C reads it back, to the bit."""
    if isinstance(value, np.float32):
        return f"{value!s}f"
    return str(value)


@dataclass(frozen=True, eq=False)
class CArray:
    """A constant array: `name` behind the prefix, and what it holds, of the type it has in C."""

    name: str
    values: npt.NDArray[Any]

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return int(self.values.nbytes)

    def text(self, prefix: str) -> str:
        """Return the definition; an empty array, which C does not have, gets a 0."""
        kind = c_type(self.values.dtype)
        filled = self.values.ravel() if self.values.size else np.zeros(1, self.values.dtype)
        numbers = ", ".join(map(number_literal, filled))
        lines = textwrap.fill(numbers, 96, initial_indent="    ", subsequent_indent="    ")
        head = f"static const {kind} {prefix}_{self.name}[{filled.size}]"
        return f"{head} = {{\n{lines}\n}};"


def c_type(dtype: npt.DTypeLike) -> str:
    """Return the type in C that holds what NumPy's type holds."""
    name = np.dtype(dtype).name
    return {"float32": "float", "float64": "double"}.get(name, f"{name}_t")


def smallest(values: Ints) -> Ints:
    """Return integers >= 0 in the smallest type that holds them all."""
    top = int(values.max()) if values.size else 0
    return values.astype(np.min_scalar_type(top))


def smallest_signed(values: Ints) -> Ints:
    """Return integers of both signs in int16 if it holds them all, else in int32."""
    return values.astype(np.int16 if np.abs(values).max(initial=0) < 2**15 else np.int32)


_INT16 = 2**15 - 2  # differences of rounded numbers may be one larger than their own rounding
_INT32 = 2**30  # of the steps that a sum may reach


@dataclass(frozen=True)
class Precision:
    """The numbers of an exported model: of features, of table entries and of scores."""

    value: type[Any]
    entry: type[Any]
    score: type[Any]

    @property
    def is_whole(self) -> bool:
        """Whether scores are counted in steps."""
        return issubclass(self.score, np.integer)

    @property
    def roundoff(self) -> float:
        """The largest relative error of one addition."""
        return 0.0 if self.is_whole else float(np.finfo(self.score).eps) / 2.0


PRECISIONS = {
    "float32": Precision(np.float32, np.float32, np.float32),
    "float64": Precision(np.float64, np.float64, np.float64),
    "int16": Precision(np.float32, np.int16, np.int32),
}


def rounded_down(thresholds: Array, kind: type[Any]) -> Scores:
    """Return the largest number of a type that is not above, for each threshold.

    A number x of that type is above the threshold where it is above the result: x > t if and only
    if x > rounded_down(t). -inf is what all numbers are above.
    """
    with np.errstate(over="ignore"):
        near: Scores = thresholds.astype(kind)
    above = near.astype(np.float64) > thresholds
    down = np.where(above, np.nextafter(near, kind(-np.inf)), near)
    return np.asarray(np.minimum(down, np.finfo(kind).max), dtype=kind)


def count_lost(features: Ints, thresholds: Array, kind: type[Any]) -> int:
    """Return how many thresholds become the same as another one of their feature."""
    finite = np.isfinite(thresholds)
    pairs = np.column_stack([features[finite].astype(np.float64), thresholds[finite]])
    rounded = pairs.copy()
    rounded[:, 1] = rounded_down(pairs[:, 1], kind)
    return len(np.unique(pairs, axis=0)) - len(np.unique(rounded, axis=0))


def step_of(precision: Precision, top: float, reach: float) -> float:
    """Return the score of one step: the smallest that lets entries and sums of them fit.

    Parameters
    ----------
    top : float
        The largest entry of a table, of either sign.
    reach : float
        The largest sum of entries.
    """
    if not precision.is_whole:
        return 1.0
    step = max(top / _INT16, reach / _INT32)
    return step if step > 0.0 else 1.0


def in_steps(values: Array, step: float, kind: type[Any]) -> npt.NDArray[np.number]:
    """Return scores as a table holds them: in whole steps, or as they are."""
    if issubclass(kind, np.integer):
        values = np.rint(values / step)
    return np.asarray(values.astype(kind))
