"""The contract of a master: it solves the problem over the generated columns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Scores
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem


@dataclass(frozen=True)
class SolverResult:
    """What a master hands back.

    Attributes
    ----------
    W : (n, k) array, >= 0
        Or what the column set takes as weights.
    U : (m, k) array
        A point of the dual domain: the weights at W, or the duals of the solver.
    solved : bool
        Whether the accuracy that was asked for has been reached.
    iterations : int
    value : float or None
        The objective at W where the master knows it.
    A : (m, k) array or None
        The coefficients of the edges at U where the master knows them.
    """

    W: Any
    U: Scores
    solved: bool
    iterations: int
    value: float | None = None
    A: Scores | None = None


class Solver(ABC):
    """Solves min over W >= 0 of P(W) on the columns of a RestrictedProblem.

    The answer may be inexact: the certificate never depends on it.
    """

    name: ClassVar[str]
    #: Precision of the weights U the master hands out.
    precision: "np.dtype[np.floating]" = np.dtype(np.float64)

    @abstractmethod
    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None where the master can solve the combination, else the reason it cannot."""

    @abstractmethod
    def solve(self, problem: RestrictedProblem, start: Any, accuracy: float) -> SolverResult:
        """Solve to a gap of about `accuracy` relative to P - P_const, from W = `start` (n, k).

        `start` has weights for every column, zero for new ones, and is not changed.
        """

    def observe_max_price(self, max_price: float) -> None:  # noqa: B027
        """Learn the largest price of a column at the U of the last answer."""

    def switch_to_double(self) -> bool:
        """Go on in double precision, where that has not been so; tell whether this is new."""
        return False

    def free(self) -> None:  # noqa: B027
        """Let go of what is kept between solves: there will be no more of them."""
