"""Interface of the solvers of the restricted master problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable
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
    """Solution of a restricted master problem.

    Attributes
    ----------
    W : (n, k) array, >= 0
        Weights of the columns, or the representation of them that the column set uses.
    U : (m, k) array
        A point of the dual domain: the dual weights at W, or the duals found by the solver.
    solved : bool
        Whether the requested accuracy was reached.
    iterations : int
        Number of iterations; what counts as one depends on the solver.
    value : float or None
        Objective at W, if the solver has computed it.
    A : (m, k) array or None
        Coefficients of the edges at U, if the solver has computed them.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.solvers import SolverResult
    >>> W, U = np.zeros((0, 3)), np.full((2, 3), 1 / 6)
    >>> result = SolverResult(W, U, solved=True, iterations=0)
    >>> result.solved, result.value
    (True, None)
    """

    W: Any
    U: Scores
    solved: bool
    iterations: int
    value: float | None = None
    A: Scores | None = None


class Solver(ABC):
    """Base class of all solvers: minimise P(W) over W >= 0 on the columns of a problem.

    A solution may be inexact: the certificate is computed by other code and never relies on the
    solver. A solver may keep a model of the problem between two calls of `solve`.

    Attributes
    ----------
    name : str
        Name in the registry `SOLVERS` and in messages.
    precision : numpy dtype
        Precision of the dual weights U that the solver returns.
    report : callable or None
        A function that a long solve should call with the number of its iterations. If it returns
        True, the solve should end with the best point so far.

    Examples
    --------
    Projected gradient descent for the l1 penalty:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.solvers import Solver, SolverResult
    >>> class ProjectedGradient(Solver):
    ...     name = "projected gradient"
    ...
    ...     def supports(self, loss, margin, penalty):
    ...         if loss.smooth and penalty.p == 1.0:
    ...             return None
    ...         return "it requires a smooth loss and the penalty 'l1'"
    ...
    ...     def solve(self, problem, start, accuracy):
    ...         W, slopes = start, problem.objective.nu * problem.columns.costs[:, None]
    ...         for _ in range(50):
    ...             W = np.maximum(W - problem.loss_and_gradient(W)[1] - slopes, 0.0)
    ...         U = problem.objective.negative_gradient(problem.columns.scores(W))
    ...         return SolverResult(W, U, solved=False, iterations=50)
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(
    ...     solver=ProjectedGradient(), penalty="l1", columns_per_round=1, nu=0.3, tol=0.05
    ... )
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str]
    precision: "np.dtype[np.floating]" = np.dtype(np.float64)
    report: Callable[[int], bool] | None = None

    @abstractmethod
    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None if the solver supports the combination, otherwise the reason.

        The reason completes the message "solver='lp' does not support ...: ".
        """

    @abstractmethod
    def solve(self, problem: RestrictedProblem, start: Any, accuracy: float) -> SolverResult:
        """Minimise the objective of a restricted problem.

        Parameters
        ----------
        problem : RestrictedProblem
        start : (n, k) array
            Initial W, with a row for every column (zero for new columns). It is not modified.
        accuracy : float
            Requested duality gap over the columns, relative to P - P_const.

        Returns
        -------
        SolverResult
        """

    def observe_max_price(self, max_price: float) -> None:  # noqa: B027
        """Receive the largest price over all columns at the U of the last solution."""

    def switch_to_double(self) -> bool:
        """Continue in double precision; return whether this changes the precision."""
        return False

    def free(self) -> None:  # noqa: B027
        """Release what is kept between calls of `solve`; there are no further calls."""


def margin_objection(loss: Loss, margin: type[Margin]) -> str | None:
    """Return None if the loss is defined for the margin, otherwise the reason."""
    if margin.name in loss.margins:
        return None
    return f"the loss {loss.name!r} is defined for {loss.margins[0]} margins, not {margin.name}"
