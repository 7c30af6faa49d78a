"""What is said, and where: results on standard output, the rest on standard error."""

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .. import Record


@dataclass(frozen=True)
class Output:
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


_FEWEST = 4  # points that a line is drawn through


class TimeLeft:
    """Guesses the seconds until the gap is at the tolerance.

    Parameters
    ----------
    tol : float or None
        The tolerance; None where no one knows how many problems are to be solved.
    limit : float or None
        Seconds after which the fit ends in any case.
    """

    def __init__(self, tol: float | None, limit: float | None = None) -> None:
        self.tol = tol
        self.limit = limit
        self._points: list[tuple[float, float]] = []
        self._first = math.inf

    def add(self, record: Record) -> None:
        """Take note of a round; the first one of a problem begins anew."""
        if record.round == 0:
            self._points.clear()
            self._first = record.relative_gap
        if 0.0 < record.relative_gap < math.inf:
            self._points.append((record.seconds, math.log(record.relative_gap)))

    @property
    def share(self) -> float | None:
        """The part of the way that is done, by the logarithm of the gap; None where unknown."""
        if not self.tol or not self._points or not self.tol < self._first < math.inf:
            return None
        whole = math.log(self._first / self.tol)
        return min(max((math.log(self._first) - self._points[-1][1]) / whole, 0.0), 1.0)

    @property
    def seconds(self) -> float | None:
        """The seconds left; None where they are unknown."""
        seconds = self._by_gap()
        if self.limit is None or not self._points:
            return seconds
        rest = max(self.limit - self._points[-1][0], 0.0)
        return rest if seconds is None else min(seconds, rest)

    def _by_gap(self) -> float | None:
        recent = self._points[-max(_FEWEST, len(self._points) // 2) :]
        if not self.tol or len(recent) < _FEWEST or recent[-1][0] <= recent[0][0]:
            return None
        times, logs = np.array(recent).T
        slope = float(np.polyfit(times - times[0], logs, 1)[0])
        way = logs[-1] - math.log(self.tol)
        if way <= 0.0:
            return 0.0
        return float(-way / slope) if slope < -1e-12 else None


def in_words(seconds: float | None) -> str:
    """Return how long it will take, as far as one can say."""
    if seconds is None:
        return "time left unknown"
    if seconds >= 36_000:
        return "more than 10 h left"
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"about {seconds / size:.2g} {unit} left"
    return f"about {max(math.ceil(seconds), 1)} s left"


Watch = Callable[[Record], None]

_EVERY = 10.0  # seconds between two lines of a log


@contextmanager
def watching(console: Console, left: TimeLeft, label: str = "fit") -> Iterator[Watch]:
    """Give the callback that shows every round of a fit on a console."""
    if not console.is_terminal:
        yield Log(console, left, label)
        return
    with bar_on(console) as bar:
        yield Bar(bar, left, label)


def bar_on(console: Console) -> Progress:
    """Return the bar, which is gone when the fit is done."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", style="dim"),
        console=console,
        transient=True,
        expand=True,
    )


class Bar:
    """Moves a bar by the logarithm of the gap."""

    def __init__(self, bar: Progress, left: TimeLeft, label: str) -> None:
        self._bar, self._left = bar, left
        self._task = bar.add_task(label, total=None, words="", left="")

    def __call__(self, record: Record) -> None:
        """Show a round."""
        self._left.add(record)
        share = self._left.share
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            words=state(record, self._left.tol),
            left=in_words(self._left.seconds),
        )


class Log:
    """Prints a line when some time has passed since the last."""

    def __init__(self, console: Console, left: TimeLeft, label: str) -> None:
        self._console, self._left, self._label = console, left, label
        self._last = 0.0

    def __call__(self, record: Record) -> None:
        """Print a round, unless a line was printed a moment ago."""
        self._left.add(record)
        if record.seconds - self._last < _EVERY:
            return
        self._last = record.seconds
        words = f"{state(record, self._left.tol)}, {record.seconds:.0f} s"
        line = f"{self._label}: {words}, {in_words(self._left.seconds)}"
        self._console.print(line, soft_wrap=True, markup=False)


def state(record: Record, tol: float | None) -> str:
    """Return gap and columns of a round, and the gap to come to, or nu where there are several."""
    noun = "column" if record.columns == 1 else "columns"
    gap = f"gap {percent(record.relative_gap)}"
    goal = f" (to {percent(tol)})" if tol else f" at nu {record.nu:.2g}"
    return f"{gap}{goal}, {record.columns} {noun}"
