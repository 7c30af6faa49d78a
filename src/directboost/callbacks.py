"""Callbacks: they see the record of every round and may stop the fit."""

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO, TypeVar

from .history import Record, Status

Callback = Callable[[Record], bool | Status | None]


class Progress:
    """Print a line per round that took long enough, with the gap in the unit of `tol`.

    Parameters
    ----------
    every : float, default=0.5
        Least number of seconds between two lines.
    stream : text stream, optional
        Standard error by default.
    """

    def __init__(self, every: float = 0.5, stream: TextIO | None = None) -> None:
        self.every = every
        self.stream = stream
        self._last = -float("inf")
        self._held: Record | None = None

    def __call__(self, record: Record) -> None:
        """Print the record, unless a line was printed a moment ago."""
        if record.round == 0:
            self._last = -float("inf")
            self._print(" round  columns    objective  lower bound      gap   seconds")
        if record.seconds - self._last < self.every:
            self._held = record
            return
        self._last = record.seconds
        self._show(record)

    def finish(self) -> None:
        """Print the last record, if it was held back."""
        if self._held is not None:
            self._show(self._held)

    def _show(self, record: Record) -> None:
        self._held = None
        self._print(
            f"{record.round:6d}  {record.columns:7d}  {record.primal:11.6g}  "
            f"{record.dual:11.6g}  {record.relative_gap:7.2%}  {record.seconds:8.2f}"
        )

    def _print(self, line: str) -> None:
        print(line, file=self.stream or sys.stderr, flush=True)


class TimeLimit:
    """Stop the fit after so many seconds; the best model so far is kept, with its certificate.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.perf_counter()

    def __call__(self, record: Record) -> Status | None:
        """Return the status that stops the fit when the time is over."""
        if record.round == 0:
            self._started = time.perf_counter() - record.seconds
        over = time.perf_counter() - self._started >= self.seconds
        return Status.TIME_LIMIT if over else None


Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "close_fit", "open_fit", "round_callback", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Return the method as it is."""
        return method


def open_fit(estimator: Any, X: Any, y: Any) -> Any:
    """Tell scikit-learn's callbacks that a fit begins; return their context, or None."""
    if not hasattr(estimator, "_init_callback_context"):
        return None
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    return context


def close_fit(estimator: Any, context: Any, X: Any, y: Any) -> None:
    """Tell scikit-learn's callbacks that the fit is over."""
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def round_callback(estimator: Any, context: Any) -> Callable[[Record], Status | None]:
    """Return a callback that makes every round a task of scikit-learn's callbacks."""

    def report(record: Record) -> Status | None:
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator)
        return Status.STOPPED if stop else None

    return report
