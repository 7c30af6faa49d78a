"""Terminal output of the commands: results, notes, tables, and the progress of a fit.

Results go to standard output, everything else to standard error.
"""

import json
import math
import re
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .. import FoldRecord, Record

_MIN_POINTS = 4  # rounds needed to estimate the time left
_LOG_INTERVAL = 10.0  # seconds between two lines of the log


#: Control characters except line feeds, and marks that change the direction of text. A terminal
#: obeys them, and they come from names in files.
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    r"""Return a text with control characters as escape sequences, such as \x1b."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


class SafeConsole(Console):
    """Console that prints control characters in a text as escape sequences."""

    def render_str(self, text: str, *args: Any, **options: Any) -> Text:
        """Convert a string to styled text; all strings that are printed pass here."""
        return super().render_str(escape_controls(text), *args, **options)


@dataclass(frozen=True)
class Output:
    """Standard output and standard error of a command.

    Attributes
    ----------
    json : bool
        Whether standard output gets a single JSON object and nothing else.
    quiet : bool
        Whether standard error gets only warnings and errors.
    """

    json: bool = False
    quiet: bool = False

    @property
    def out(self) -> Console:
        """Standard output."""
        return SafeConsole(highlight=False, emoji=False)

    @property
    def err(self) -> Console:
        """Standard error; prints nothing if `quiet` is set."""
        return SafeConsole(stderr=True, highlight=False, emoji=False, quiet=self.quiet)

    def note(self, text: str) -> None:
        """Print a note to standard error."""
        self.err.print(text, soft_wrap=True, markup=False)

    def notes(self, texts: Iterable[str]) -> None:
        """Print several notes, one per line."""
        for text in texts:
            self.note(text)

    def text(self, text: str) -> None:
        """Print text to standard output; on a terminal, long lines are wrapped and indented."""
        lines = escape_controls(text).split("\n")
        if self.out.is_terminal:
            lines = [part for line in lines for part in _wrap(line, self.out.width)]
        self.out.print("\n".join(lines), soft_wrap=True, markup=False)

    def facts(self, values: Mapping[str, Any]) -> None:
        """Print one JSON object to standard output."""
        text = json.dumps(to_json(values), ensure_ascii=False, allow_nan=False)
        typer.echo(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _wrap(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, width, subsequent_indent=indent, drop_whitespace=True) or [""]


def to_json(value: Any) -> Any:
    """Convert a value to types that JSON has; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | None) else str(value)


def cell(name: Any) -> str:
    """Return a name as the text of a table cell: in one line, and without markup."""
    return escape(str(name)).replace("\n", "\\n")


def make_table(first: str, *others: str) -> Table:
    """Return a table with these column headers; all columns but the first are right-aligned."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def count(number: int, noun: str) -> str:
    """Return a number and its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """Return a fraction as a percentage with three digits, or a dash if it is not finite."""
    if 0.0 < share < 1e-5:
        return "< 0.001 %"
    return f"{100.0 * share:.3g} %" if math.isfinite(share) else "-"


class TimeLeft:
    """Estimate of the seconds until the gap reaches the tolerance.

    The logarithm of the gap is extrapolated linearly from the recent rounds.

    Parameters
    ----------
    tol : float or None
        The tolerance, or None if the number of problems to solve is unknown, as on a path of nu.
    limit : float or None
        Seconds after which the fit stops in any case.
    """

    def __init__(self, tol: float | None, limit: float | None = None) -> None:
        self.tol = tol
        self.limit = limit
        self._points: list[tuple[float, float]] = []
        self._first = math.inf

    def add(self, record: Record) -> None:
        """Add a round; round 0 starts a new problem."""
        if record.round == 0:
            self._points.clear()
            self._first = record.relative_gap
        if 0.0 < record.relative_gap < math.inf:
            self._points.append((record.seconds, math.log(record.relative_gap)))

    @property
    def share(self) -> float | None:
        """Fraction of the work done, on the logarithmic scale of the gap; None if unknown."""
        if not self.tol or not self._points or not self.tol < self._first < math.inf:
            return None
        whole = math.log(self._first / self.tol)
        return min(max((math.log(self._first) - self._points[-1][1]) / whole, 0.0), 1.0)

    @property
    def seconds(self) -> float | None:
        """Estimated seconds left; None if unknown."""
        seconds = self._extrapolate()
        if self.limit is None or not self._points:
            return seconds
        rest = max(self.limit - self._points[-1][0], 0.0)
        return rest if seconds is None else min(seconds, rest)

    def _extrapolate(self) -> float | None:
        recent = self._points[-max(_MIN_POINTS, len(self._points) // 2) :]
        if not self.tol or len(recent) < _MIN_POINTS or recent[-1][0] <= recent[0][0]:
            return None
        times, logs = np.array(recent).T
        slope = float(np.polyfit(times - times[0], logs, 1)[0])
        distance = logs[-1] - math.log(self.tol)
        if distance <= 0.0:
            return 0.0
        return float(-distance / slope) if slope < -1e-12 else None


def format_time_left(seconds: float | None) -> str:
    """Return the estimated time left as text."""
    if seconds is None:
        return "time left unknown"
    if seconds >= 36_000:
        return "more than 10 h left"
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"about {seconds / size:.2g} {unit} left"
    return f"about {max(math.ceil(seconds), 1)} s left"


def format_round(record: Record, tol: float | None) -> str:
    """Return the gap, the tolerance (or nu, on a path) and the number of learners of a round."""
    goal = f"(tol {percent(tol)})" if tol else f"at nu {record.nu:.2g}"
    size = count(record.learners or 0, "learner")
    return f"gap {percent(record.relative_gap)} {goal}, {size}"


def format_folds(record: FoldRecord) -> str:
    """Return the point of a cross-validation, its mean score, and the best one so far."""
    return (
        f"folds, point {record.point} of {record.points} (nu {record.nu:.2g}): "
        f"score {record.mean_score:.4g}, best {record.best_score:.4g}"
    )


@contextmanager
def show_progress(
    console: Console, left: TimeLeft, label: str = "fit"
) -> Iterator[Callable[[Record], None]]:
    """Yield a callback that shows the rounds of a fit: a bar on a terminal, a log elsewhere."""
    if not console.is_terminal:
        yield ProgressLog(console, left, label)
        return
    with make_bar(console) as bar:
        yield ProgressBar(bar, left, label)


def make_bar(console: Console) -> Progress:
    """Return a progress bar that disappears when the fit ends."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", style="dim"),
        console=console,
        transient=True,
        expand=True,
    )


class ProgressBar:
    """Callback that updates a progress bar; its length follows the logarithm of the gap."""

    def __init__(self, bar: Progress, left: TimeLeft, label: str) -> None:
        self._bar, self._left = bar, left
        self._task = bar.add_task(label, total=None, state="", left="")
        self._folds_began = 0.0

    def __call__(self, record: Record) -> None:
        """Show a round."""
        self._left.add(record)
        share = self._left.share
        self._bar.update(
            self._task,
            total=None if share is None else 1.0,
            completed=share or 0.0,
            state=format_round(record, self._left.tol),
            left=format_time_left(self._left.seconds),
        )

    def on_folds(self, record: FoldRecord) -> None:
        """Show the scores of one point of a cross-validation."""
        if record.point == 1:
            self._folds_began = time.perf_counter()
        passed = time.perf_counter() - self._folds_began
        left = passed / max(record.point - 1, 1) * (record.points - record.point)
        self._bar.update(
            self._task,
            total=record.points,
            completed=record.point,
            state=format_folds(record),
            left=format_time_left(left if record.point > _MIN_POINTS else None),
        )


class ProgressLog:
    """Callback that prints a line every ten seconds."""

    def __init__(self, console: Console, left: TimeLeft, label: str) -> None:
        self._console, self._left, self._label = console, left, label
        self._last = 0.0

    def __call__(self, record: Record) -> None:
        """Print a round, unless the last line is less than ten seconds old."""
        self._left.add(record)
        if record.seconds - self._last < _LOG_INTERVAL:
            return
        self._last = record.seconds
        state = f"{format_round(record, self._left.tol)}, {record.seconds:.0f} s"
        line = f"{self._label}: {state}, {format_time_left(self._left.seconds)}"
        self._console.print(line, soft_wrap=True, markup=False)

    def on_folds(self, record: FoldRecord) -> None:
        """Print the scores of a point, unless the last line is less than ten seconds old."""
        now = time.perf_counter()
        if record.point == 1:
            self._last = now
        elif now - self._last >= _LOG_INTERVAL:
            self._last = now
            line = f"{self._label}: {format_folds(record)}"
            self._console.print(line, soft_wrap=True, markup=False)
