"""C syntax: names, literals and arrays, and rounding to the number types of the device."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints, Scores

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_UNESCAPED = set(range(0x20, 0x7F)) - set(b'"\\?')  # bytes that a string literal can contain
_MAX_LENGTH = 1000  # characters of a name; C99 guarantees 4095 bytes in a string literal
_MAX_ENTRY = 2**15 - 2  # int16; differences of rounded numbers can exceed their rounding by 1
_MAX_SUM = 2**30  # int32, in steps


# --- Names and strings -----------------------------------------------------------------------


def check_name(name: Any) -> None:
    """Reject a prefix that is not an identifier in C."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ValueError(
            f"name={name!r} is invalid: expected a C identifier, that is a letter followed by "
            "letters, digits and underscores"
        )


def make_name(words: str) -> str:
    """Return a C identifier similar to some words: "my model-2" becomes my_model_2."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", words).strip("_")
    return name if _NAME.fullmatch(name) else f"model_{name}".rstrip("_")


def string_literal(text: str) -> str:
    r"""Return text as a string literal in UTF-8, truncated to 1000 characters.

    Bytes other than printable ASCII become \ooo, always with three digits, so that a following
    digit is not part of the escape. Question marks are escaped to avoid trigraphs.
    """
    data = text[:_MAX_LENGTH].encode("utf-8", "backslashreplace")
    parts = [chr(byte) if byte in _UNESCAPED else _escaped(byte) for byte in data]
    return '"' + "".join(parts) + '"'


def _escaped(byte: int) -> str:
    return "\\" + chr(byte) if byte in b'"\\?' else f"\\{byte:03o}"


def string_function(name: str, texts: Sequence[str]) -> str:
    """Return a function that maps the numbers from 0 to texts."""
    lines = ",\n".join(f"        {string_literal(text)}" for text in texts)
    return (
        f"static inline const char *{name}(int number)\n{{\n"
        f"    static const char *const names[{len(texts)}] = {{\n{lines}\n    }};\n"
        "    return names[number];\n}"
    )


# --- Numbers and arrays ----------------------------------------------------------------------


def number_literal(value: Any) -> str:
    """Return a NumPy number as a literal with exactly the same value."""
    if isinstance(value, np.float32):
        return f"{value!s}f"
    return str(value)


def c_type(dtype: npt.DTypeLike) -> str:
    """Return the C type of a NumPy dtype."""
    name = np.dtype(dtype).name
    return {"float32": "float", "float64": "double"}.get(name, f"{name}_t")


@dataclass(frozen=True, eq=False)
class CArray:
    """A constant array: its name without the prefix, and its values in the type used in C."""

    name: str
    values: npt.NDArray[Any]

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return int(self.values.nbytes)

    def text(self, prefix: str) -> str:
        """Return the definition; an empty array, which C does not allow, gets one 0."""
        kind = c_type(self.values.dtype)
        filled = self.values.ravel() if self.values.size else np.zeros(1, self.values.dtype)
        numbers = ", ".join(map(number_literal, filled))
        lines = textwrap.fill(numbers, 96, initial_indent="    ", subsequent_indent="    ")
        head = f"static const {kind} {prefix}_{self.name}[{filled.size}]"
        return f"{head} = {{\n{lines}\n}};"


def smallest_unsigned(values: Ints) -> Ints:
    """Return integers >= 0 in the smallest unsigned type that can hold them."""
    top = int(values.max()) if values.size else 0
    return values.astype(np.min_scalar_type(top))


def smallest_signed(values: Ints) -> Ints:
    """Return integers in int16 if possible, else in int32."""
    return values.astype(np.int16 if np.abs(values).max(initial=0) < 2**15 else np.int32)


# --- Precision -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Precision:
    """Number types of an exported model: of features, of table entries and of scores."""

    value: type[Any]
    entry: type[Any]
    score: type[Any]

    @property
    def is_quantized(self) -> bool:
        """Whether scores are integer multiples of a step."""
        return issubclass(self.score, np.integer)

    @property
    def roundoff(self) -> float:
        """Largest relative error of one addition."""
        return 0.0 if self.is_quantized else float(np.finfo(self.score).eps) / 2.0


PRECISIONS = {
    "float32": Precision(value=np.float32, entry=np.float32, score=np.float32),
    "float64": Precision(value=np.float64, entry=np.float64, score=np.float64),
    "int16": Precision(value=np.float32, entry=np.int16, score=np.int32),
}


def round_down(thresholds: Array, kind: type[Any]) -> Scores:
    """Return for each threshold the largest number of a type that does not exceed it.

    Comparisons do not change: for all numbers x of that type, x > t if and only if
    x > round_down(t). The result is -inf if all finite numbers of the type exceed the threshold.
    """
    with np.errstate(over="ignore"):
        near: Scores = thresholds.astype(kind)
    above = near.astype(np.float64) > thresholds
    down = np.where(above, np.nextafter(near, kind(-np.inf)), near)
    return np.asarray(np.minimum(down, np.finfo(kind).max), dtype=kind)


def count_merged(features: Ints, thresholds: Array, kind: type[Any]) -> int:
    """Return how many thresholds coincide with another one of their feature after rounding."""
    finite = np.isfinite(thresholds)
    pairs = np.column_stack([features[finite].astype(np.float64), thresholds[finite]])
    rounded = pairs.copy()
    rounded[:, 1] = round_down(pairs[:, 1], kind)
    return len(np.unique(pairs, axis=0)) - len(np.unique(rounded, axis=0))


def step_size(precision: Precision, max_entry: float, max_sum: float) -> float:
    """Return the score of one step, the smallest for which entries and their sums fit.

    Parameters
    ----------
    precision : Precision
    max_entry : float
        Largest absolute entry of a table.
    max_sum : float
        Largest absolute sum of entries.
    """
    if not precision.is_quantized:
        return 1.0
    step = max(max_entry / _MAX_ENTRY, max_sum / _MAX_SUM)
    return step if step > 0.0 else 1.0


def quantized(values: Array, step: float, kind: type[Any]) -> npt.NDArray[np.number]:
    """Return scores as table entries: rounded to multiples of the step if `kind` is an integer."""
    if issubclass(kind, np.integer):
        values = np.rint(values / step)
    return np.asarray(values.astype(kind))
