"""What a run of the boosting loop is given, what it keeps, and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import Scores
from .callbacks import Callback
from .certificate import Certificate
from .history import Record, Status
from .kernels.threads import Team
from .masters.base import Master
from .oracles.base import Oracle
from .problem.columns import Columns
from .problem.objective import Objective


@dataclass(frozen=True)
class Plan:
    """What stays fixed during the loop.

    Attributes
    ----------
    columns_per_round : int or None
        How many proposals enter per round; None leaves it to the column set.
    first_columns : int or None
        How many enter in the first round, where that differs.
    max_columns : int or None
        Stop after so many generated columns (the paper's T).
    max_rounds : int or None
        Stop after so many rounds.
    aim : float
        Share of tol that the rounds should reach; all of it will do where they end before.
    keep_stages : bool
        Whether the weights of every round are kept, for staged predictions.
    keep_dual : bool
        Whether the dual point of the answer stays in double precision, for answers at other nus.
    team : Team or None
        The threads of the call.
    """

    objective: Objective
    oracle: Oracle
    master: Master
    tol: float
    rule: str = "exact"
    columns_per_round: int | None = None
    first_columns: int | None = None
    max_columns: int | None = None
    max_rounds: int | None = None
    aim: float = 1.0
    keep_stages: bool = False
    keep_dual: bool = False
    callbacks: Sequence[Callback] = ()
    team: Team | None = None


@dataclass
class State:
    """What changes: the columns, the best weights W so far, and the dual points.

    W never gets worse: an answer of the master that raises the objective is left aside, though
    its dual point U still prices; there is none while the master works, which may be about to make
    its own arrays of that size. `best_U` is the dual point of the best lower bound, `wish` what a
    callback answered that wants an end.
    """

    columns: Columns
    W: Any
    U: Scores | None
    primal: float
    A: Scores | None = None
    best_dual: float = -np.inf
    best_U: Scores | None = None
    round: int = 0
    seconds_pricing: float = 0.0
    seconds_master: float = 0.0
    best_gap: float = np.inf
    stalled: int = 0
    idle: int = 0
    wish: Status | None = None
    history: list[Record] = field(default_factory=list)
    stages: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """Weights W of columns, where known with their loss and a dual point U, of any nu."""

    columns: Columns
    W: Any
    U: Scores | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The best answer of a run, with its certificate."""

    certificate: Certificate
    status: Status
    state: State
    loss: float

    @property
    def known(self) -> Known:
        """What a run at another nu can start from."""
        return Known(self.state.columns, self.state.W, self.state.U, self.loss)
