"""Callbacks: functions that receive the record of every round and may stop a fit.

A callback returns a true value to stop. If it has a method `during_solve`, this method receives the
last record repeatedly while a linear or conic program is being solved, with the current time and
number of iterations, and may return a true value to end the solve. The other functions pass the
rounds of a fit on to the callbacks of scikit-learn, in versions that have them.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from .history import FoldRecord, Record, Status

try:
    # The aliases re-export both names without making them public.
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin  # noqa: PLC0414
    from sklearn.callback import with_callbacks as with_callbacks  # noqa: PLC0414
except ImportError:
    _Method = TypeVar("_Method", bound=Callable[..., Any])

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Placeholder for versions of scikit-learn without callbacks."""

    def with_callbacks(method: _Method) -> _Method:
        """Return the method unchanged."""
        return method


__all__ = ["Callback", "Progress", "TimeLimit"]

#: A true value stops the fit: a `Status` becomes the status of the fit, any other `STOPPED`.
Callback = Callable[[Record], bool | Status | None]


class Progress:
    """Print lines with objective, lower bound, relative gap and time during a fit.

    There is a line for the last round of every nu, and others in between if the fit takes long. The
    relative gap is in the unit of `tol`, and nu is absolute. During a long solve of a linear or
    conic program, the line of the round is repeated with the number of iterations of the solve. The
    folds of a cross-validation print a line per point, with nu as a fraction of nu_max.

    Parameters
    ----------
    every : float, default=0.5
        Minimum number of seconds between two lines.
    stream : text stream, optional
        Where to print. By default standard error.

    Examples
    --------
    >>> import io
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.callbacks import Progress
    >>> X, y = load_iris(return_X_y=True)
    >>> log = io.StringIO()
    >>> model = DirectBoostClassifier(callbacks=Progress(stream=log)).fit(X, y)
    >>> log.getvalue().splitlines()[0]
    '       nu  round  learners    objective  lower bound      gap   seconds'
    """

    def __init__(self, every: float = 0.5, stream: TextIO | None = None) -> None:
        self.every = every
        self.stream = stream
        self._last: float | None = None
        self._pending: Record | None = None

    def __call__(self, record: Record) -> None:
        """Print the record, unless the previous line is less than `every` seconds old.

        If it is the first one of another nu, the last one of the nu before is printed first.
        """
        if self._pending is not None and self._pending.nu != record.nu:
            self._show(self._pending)
        if self._last is None:
            self._print("       nu  round  learners    objective  lower bound      gap   seconds")
        if self._last is None or record.seconds - self._last >= self.every:
            self._last = record.seconds
            self._show(record)
        else:
            self._pending = record

    def on_folds(self, record: FoldRecord) -> None:
        """Print the scores of one point of a cross-validation."""
        if record.point == 1:
            self._print(" point  of  nu/nu_max   mean score  std. error   best score")
        self._print(
            f"{record.point:6d}  {record.points:2d}  {record.nu:9.3g}  {record.mean_score:11.6g}  "
            f"{record.standard_error:10.2g}  {record.best_score:11.6g}"
        )

    def during_solve(self, record: Record) -> None:
        """Print the record and the number of iterations of the solve that lasts."""
        if self._last is None or record.seconds - self._last >= self.every:
            self._last = record.seconds
            self._show(record, f"  {record.iterations} iterations")

    def tell(self, message: str) -> None:
        """Print a message."""
        self._print(message)

    def finish(self) -> None:
        """Print the last record, if it has not been printed yet; the next fit is another one."""
        if self._pending is not None:
            self._show(self._pending)
        self._last = None

    def _show(self, record: Record, remark: str = "") -> None:
        self._pending = None
        self._print(
            f"{record.nu:9.3g}  {record.round:5d}  {record.learners or 0:8d}  "
            f"{record.primal:11.6g}  {record.dual:11.6g}  {record.relative_gap:7.2%}  "
            f"{record.seconds:8.2f}{remark}"
        )

    def _print(self, line: str) -> None:
        print(line, file=self.stream or sys.stderr, flush=True)


class TimeLimit:
    """Stop a fit after a number of seconds.

    The best model so far is kept, with its certificate.

    Parameters
    ----------
    seconds : float
        Time limit, measured from the start of the fit. The limit is checked after every round,
        and during solves of linear and conic programs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.callbacks import TimeLimit
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DirectBoostClassifier(callbacks=TimeLimit(60.0)).fit(X, y)
    >>> model.status_
    <Status.OPTIMAL: 'optimal'>
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.perf_counter()

    def __call__(self, record: Record) -> Status | None:
        """Return the status that stops the fit once the time limit is reached, else None."""
        if record.round == 0:
            self._started = time.perf_counter() - record.seconds
        return self.during_solve(record)

    def during_solve(self, record: Record) -> Status | None:
        """Return the same during a solve; the next round then asks to stop too."""
        over = time.perf_counter() - self._started >= self.seconds
        return Status.TIME_LIMIT if over else None

    def restart(self) -> None:
        """Start the clock."""
        self._started = time.perf_counter()

    def on_folds(self, record: FoldRecord) -> bool:
        """Return whether the folds of a cross-validation have to end."""
        return time.perf_counter() - self._started >= self.seconds


@contextmanager
def sklearn_fit(estimator: Any, X: Any, y: Any) -> Iterator[list[Callback]]:
    """Notify scikit-learn's callbacks that a fit begins, and, unless it fails, that it has ended.

    The value of the context is a list of one callback, which reports every round to scikit-learn's
    callbacks as a task; the list is empty in versions without callbacks.
    """
    if not hasattr(estimator, "_init_callback_context"):
        yield []
        return
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def report(record: Record) -> Status | None:
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=estimator)
        stop = task.call_on_fit_task_end(estimator=estimator)
        return Status.STOPPED if stop else None

    yield [report]
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
