"""When column generation ends: at the tolerance, on request, at a limit, or without progress."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from ..callbacks import Callback
from ..history import Record, Status

ENDED_BY_USER = (Status.TIME_LIMIT, Status.STOPPED, Status.INTERRUPTED)

_PROGRESS = 1e-3  # relative decrease of the gap that counts as progress
_STALL_ROUNDS = 60  # rounds without progress before block descent gives up
_IDLE_ROUNDS = 3  # solves without a new column or progress before single columns give up


def stop_request(callbacks: Sequence[Callback], record: Record) -> Status | None:
    """Call every callback with the record; return the status of the first that asks to stop."""
    requests = [request for request in [callback(record) for callback in callbacks] if request]
    if not requests:
        return None
    return requests[0] if isinstance(requests[0], Status) else Status.STOPPED


@dataclass
class StoppingRule:
    """Limits of one run of column generation, and the counters that they are compared with.

    Attributes
    ----------
    tol : float
        Certified relative gap at which the run is optimal.
    aim : float
        Share of `tol` that the rounds try to reach; a gap of `tol` is enough if they end before.
    max_rounds : int or None
    max_columns : int or None
        Largest number of generated columns (T in the paper).
    callbacks : sequence of callables
        Called with the record of every round; a true result asks to stop.
    request : Status or None
        The last stop request of a callback.
    idle : int
        Solves in a row that followed neither a new column nor progress.
    """

    tol: float
    aim: float = 1.0
    max_rounds: int | None = None
    max_columns: int | None = None
    callbacks: Sequence[Callback] = ()
    request: Status | None = field(default=None, init=False)
    idle: int = field(default=0, init=False)
    _best_gap: float = field(default=inf, init=False)
    _stalled: int = field(default=0, init=False)

    def status_after(self, record: Record, whole_features: bool) -> Status | None:
        """Return why the run ends after this record, or None if it goes on.

        With `whole_features`, the columns are whole features, as in block descent.
        """
        request = stop_request(self.callbacks, record)
        self.request = request or self.request
        within = record.relative_gap <= self.tol
        # A warm start within the tolerance is enough. A run that solves aims below tol while it
        # makes progress.
        if within and (record.round == 0 or record.relative_gap <= self.aim * self.tol):
            return Status.OPTIMAL
        if request is not None:
            status: Status | None = request
        elif self.max_rounds is not None and record.round >= self.max_rounds:
            status = Status.MAX_ITER
        elif self.max_columns is not None and record.columns >= self.max_columns:
            status = Status.BUDGET
        else:
            progress = record.relative_gap < (1.0 - _PROGRESS) * self._best_gap
            self._stalled = 0 if progress else self._stalled + 1
            if progress:
                self._best_gap = record.relative_gap
            idle = self._stalled >= _STALL_ROUNDS if whole_features else self.idle >= _IDLE_ROUNDS
            status = Status.MAX_ITER if idle else None
        return Status.OPTIMAL if within and (status is not None or self._stalled) else status

    def count_solve(self, record: Record, primal: float, added: int) -> None:
        """Note a solve: the objective after it, and the number of columns added before it."""
        progress = record.primal - primal > _PROGRESS * record.gap
        self.idle = 0 if added or progress else self.idle + 1

    def forget_best_gap(self) -> None:
        """Compare later gaps only with each other: earlier ones were rounded."""
        self._best_gap = inf
