"""How long a fit will take yet: the logarithm of the gap falls about evenly."""

import math

import numpy as np

from .. import Record

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
