"""What is recorded of every round."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The reason why a fit stopped.

    On a cluster a fit may end as `out_of_reach`. Baselines alone have the last four; they also end
    as `max_iter`, `no_better_column`, `stopped` or `interrupted`.
    """

    OPTIMAL = "optimal"
    MAX_ITER = "max_iter"
    NO_BETTER_COLUMN = "no_better_column"
    BUDGET = "budget"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    OUT_OF_REACH = "out_of_reach"
    CONVERGED = "converged"
    SEPARATED = "separated"
    NO_EDGE = "no_edge"
    WORSE_THAN_HALF = "worse_than_half"


class RowsUnavailableError(RuntimeError):
    """The rows cannot be reached any more, so that a fit cannot go on.

    Attributes
    ----------
    state : State or None
        How far the loop got, where it had begun.
    """

    state: Any = None


@dataclass(frozen=True)
class Record:
    """One round of column generation, in plain numbers.

    `primal` is the best objective so far, `dual` the best lower bound so far, and
    `relative_gap` their distance in the unit of the parameter `tol`. Where the weak classifiers
    are searched for, `dual` is the bound over those found until this round. `bytes_moved` are those
    that travelled since the record before, where the rows are on a cluster.
    """

    round: int
    columns: int
    primal: float
    dual: float
    gap: float
    relative_gap: float
    max_price: float
    nu: float
    seconds_pricing: float
    seconds_master: float
    seconds: float
    bytes_moved: int = 0

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields, in order."""
        return tuple(f.name for f in fields(cls))


@dataclass(frozen=True)
class RoundRecord:
    """One round of a baseline, in plain numbers.

    `learners` counts the weak classifiers so far. `vote` is the step of the round, `error` the
    weighted error of what it added and `objective` what the method minimises, after the round; a
    method that has none of one leaves it NaN.
    """

    round: int
    learners: int
    vote: float
    error: float
    objective: float
    seconds: float
