"""How a fit ended."""

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


class OutOfReach(RuntimeError):  # noqa: N818 - those that derive from it are called errors
    """The rows cannot be reached any more, so that a fit cannot go on.

    Attributes
    ----------
    state : State or None
        How far the loop got, where it had begun.
    """

    state: Any = None
