"""What is said, and where: results on standard output, the rest on standard error."""

import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import typer
from rich.console import Console


@dataclass(frozen=True)
class Screen:
    """Where a command speaks.

    Attributes
    ----------
    json : bool
        Standard output gets one JSON object and nothing else.
    quiet : bool
        Standard error gets warnings and errors alone.
    """

    json: bool = False
    quiet: bool = False

    @property
    def out(self) -> Console:
        """Standard output."""
        return Console(highlight=False)

    @property
    def err(self) -> Console:
        """Standard error; it swallows all where it should be quiet."""
        return Console(stderr=True, highlight=False, quiet=self.quiet)

    def note(self, text: str) -> None:
        """Say something on standard error that is no result."""
        self.err.print(text, soft_wrap=True, markup=False)

    def notes(self, texts: Iterable[str]) -> None:
        """Say several things."""
        for text in texts:
            self.note(text)

    def text(self, text: str) -> None:
        """Print plain text to standard output; a terminal gets lines of its width."""
        lines = text.splitlines()
        if self.out.is_terminal:
            lines = [part for line in lines for part in _folded(line, self.out.width)]
        self.out.print("\n".join(lines), soft_wrap=True, markup=False)

    def facts(self, values: Mapping[str, Any]) -> None:
        """Print one JSON object to standard output."""
        typer.echo(json.dumps(plain(values), ensure_ascii=False, allow_nan=False))


def _folded(line: str, width: int) -> list[str]:
    """Return a line in parts of at most that width, the later ones further to the right."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, drop_whitespace=True) or [""]


def plain(value: Any) -> Any:
    """Return a value as JSON has it; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, such as "1 row" and "2,000 rows"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """Return a share in per cent, with three digits; a dash where it is no number."""
    if 0.0 < share < 1e-5:
        return "< 0.001 %"
    return f"{100.0 * share:.3g} %" if math.isfinite(share) else "-"
