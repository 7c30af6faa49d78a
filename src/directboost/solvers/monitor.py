"""Progress of a long solve in foreign code, and the request to end it."""

from collections.abc import Callable


class Monitor:
    """Passes the progress of a solve on, and remembers that it shall end.

    Foreign code calls `stops` and must not see its exceptions: the first one ends the solve, and
    `raise_error` raises it afterwards. Ctrl-C is such an exception.

    Parameters
    ----------
    report : callable or None
        Receives the number of iterations; returns whether the solve shall end.

    Attributes
    ----------
    stopped : bool
        Whether the solve shall end, or has ended for this reason.
    """

    def __init__(self, report: Callable[[int], bool] | None = None) -> None:
        self._report = report
        self._error: BaseException | None = None
        self.stopped = False

    def stops(self, iterations: int) -> bool:
        """Report the number of iterations; return whether the solve shall end."""
        try:
            if self._report is not None:
                self.stopped = self.stopped or self._report(iterations)
        except BaseException as error:
            self._error, self.stopped = error, True
        return self.stopped

    def raise_error(self) -> None:
        """Raise the exception of a report, if there was one."""
        if self._error is not None:
            raise self._error
