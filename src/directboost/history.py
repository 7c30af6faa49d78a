"""What is recorded of every round."""

from dataclasses import dataclass, fields


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
