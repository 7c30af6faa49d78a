"""How a fit ended."""

from enum import StrEnum


class Status(StrEnum):
    """The reason why the column generation stopped."""

    OPTIMAL = "optimal"
    MAX_ITER = "max_iter"
    NO_BETTER_COLUMN = "no_better_column"
    BUDGET = "budget"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
