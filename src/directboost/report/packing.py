"""Numbers and names as the script of the page reads them."""

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array

_LONGEST = 200  # characters of a name
#: Characters that a number of a sparse matrix takes: place and value in base 64.
SPARSE_ENTRY = 16


def packed(numbers: Any, kind: str) -> str:
    """Return numbers in base 64: 8-byte floats ("f8") or 4-byte integers ("u4")."""
    return base64.b64encode(np.asarray(numbers, dtype=f"<{kind}").tobytes()).decode("ascii")


def sparse(matrix: Array) -> dict[str, Any]:
    """Return the places of the numbers of a matrix that are not zero, row by row, and them."""
    flat = matrix.ravel()
    at = np.flatnonzero(flat)
    return {"width": matrix.shape[1], "at": packed(at, "u4"), "by": packed(flat[at], "f8")}


def finite(number: float) -> float | None:
    """Return a number, or None where it is not finite: JSON has no other word for that."""
    return float(number) if np.isfinite(number) else None


def short_names(names: Iterable[Any]) -> list[str]:
    """Return names as text, with the ends of very long ones cut off."""
    return [short_name(name) for name in names]


def short_name(name: Any) -> str:
    """Return a name as text, with the end of a very long one cut off."""
    text = str(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
