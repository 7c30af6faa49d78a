"""C text: names, numbers, strings and arrays."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Ints

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
