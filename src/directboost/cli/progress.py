"""Shows how far a fit is: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .. import Record
from .screen import percent
from .time_left import TimeLeft, in_words

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
