"""How a fit ended."""

from enum import StrEnum


class Status(StrEnum):
    """The reason why a fit stopped.

    Baselines alone have the last four; they also end as `max_iter`, `no_better_column`, `stopped`
    or `interrupted`.
    """

    OPTIMAL = "optimal"
    MAX_ITER = "max_iter"
    NO_BETTER_COLUMN = "no_better_column"
    BUDGET = "budget"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    CONVERGED = "converged"
    SEPARATED = "separated"
    NO_EDGE = "no_edge"
    WORSE_THAN_HALF = "worse_than_half"
