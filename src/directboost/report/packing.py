"""Numbers and names as the script of the page reads them."""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array

_LONGEST = 200  # characters of a name
_SHORTEST = 20  # to which names may be cut to make room
#: What must not stand in a script element as it is, or not in UTF-8: halves of pairs.
_UNSAFE = {c: f"\\u{c:04x}" for c in (*map(ord, "<>&\u2028\u2029"), *range(0xD800, 0xE000))}


@dataclass(frozen=True)
class Room:
    """How much of everything a page may hold, as a share of what it holds at most."""

    share: float = 1.0

    def of(self, most: int, least: int = 1) -> int:
        """Return how many things there is room for, of so many at most."""
        return max(int(self.share * most), least)


#: The room of a page that is not too long.
WHOLE = Room()


def safe_json(data: Any) -> str:
    """Return data as JSON that can stand in a script element, whatever names it holds."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def written_bytes(data: Any) -> int:
    """Return how many bytes of a page some data take."""
    return len(safe_json(data).encode("utf-8"))


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


def short_names(names: Iterable[Any], room: Room = WHOLE) -> list[str]:
    """Return names as text, with the ends of very long ones cut off."""
    return [short_name(name, room) for name in names]


def short_name(name: Any, room: Room = WHOLE) -> str:
    """Return a name as text, with the end of a very long one cut off."""
    text, longest = str(name), room.of(_LONGEST, _SHORTEST)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def level_name(level: Any) -> str:
    """Return a level as text, in quotes where it is empty or has blanks at its edges."""
    text = str(level)
    return text if text and text == text.strip() else f'"{text}"'
