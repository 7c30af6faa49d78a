"""Linear program for the hinge loss, which grows with the columns; solved by HiGHS."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult
from .margin_matrix import (
    MarginMatrix,
    dense_columns,
    drop_negligible,
    feasible_weights,
    identity,
    limit_hinge,
)

_TOLERANCE = 1e-10  # smallest value HiGHS allows; absolute, hence the scale of the objective
_ENOUGH = 1e-9  # relative gap above which the result of a run is not trusted
_COLD_STEPS = 100  # simplex iterations per row and column of the model
_WARM_STEPS = 1  # the same after new columns: few runs need a fifth, and primal simplex may cycle
_WARM = {"solver": "simplex", "simplex_strategy": 4, "presolve": "off"}
_COLD = (
    {"solver": "simplex", "simplex_strategy": 1, "presolve": "choose"},
    {"solver": "ipm", "presolve": "choose"},
)


class LinearProgram(Solver):
    """Hinge loss with the l1 or l1,inf penalty, exact to rounding.

    The model is kept between calls. Columns generated since the last call are added to it; the
    last basis is then still primal feasible, so primal simplex continues from there. A change of
    nu changes only costs.

    Paper: Eq. 3 (primal, hinge, l1).
    Paper: Eq. 6 (dual, hinge, l1).
    Paper: Eq. 24 (primal, hinge, l1,inf).
    Paper: Eq. 27 (dual, hinge, l1,inf).
    Paper: Eq. 63 (primal, one-vs-all).
    Paper: Eq. 64 (dual, one-vs-all).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(solver="lp", loss="hinge", penalty="l1", nu=0.3)
    >>> clf.fit(X, y).certificate_.converged
    True
    """

    name: ClassVar[str] = "lp"

    def __init__(self) -> None:
        self._model: _HighsModel | None = None

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for the hinge with l1 or l1,inf, otherwise the reason."""
        if loss.name != "hinge" or not loss.is_built_in():
            return f"it requires the hinge loss, not {loss.name!r}; try 'prox' for a smooth loss"
        if penalty.p not in (1.0, np.inf):
            return "it requires the penalty 'l1' or 'l1,inf'; 'conic' supports any l1,p penalty"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Solve to rounding from the last basis; return `start` only if HiGHS fails.

        A new model has no basis and is solved by cold runs. Cold runs also follow if warm primal
        simplex cycles or does not reach a small gap.
        """
        if self._model is None or not self._model.matches(problem):
            self._model = _HighsModel(problem)
        model = self._model
        model.update(problem.objective.nu)
        U = problem.objective.negative_gradient(problem.columns.scores(start))
        best, least, iterations = (start, U), np.inf, 0
        for options in (_WARM, *_COLD) if model.has_basis else _COLD:
            iterations += model.run(options)
            if model.has_basis:
                W, U = model.solution()
                W = drop_negligible(problem, W)
                gap = problem.objective.relative(problem.restricted_gap(W, U), problem.value(W))
                if gap < least:
                    best, least = (W, U), gap
            if least <= max(accuracy, _ENOUGH):
                break
        if np.isinf(least):
            self._model = None
        return SolverResult(*best, solved=bool(least <= accuracy), iterations=iterations)


class _HighsModel:
    """One linear program in HiGHS.

    G H_j are the margins of column j, w_j its weights for all classes. With l1,inf and two columns
    (with l1 there are no t, only the rows of the margins, and the cost of w_j is nu cost_j)::

                     xi      w_1     t_1        w_2     t_2
        costs      share      0    nu cost_1     0    nu cost_2    all times scale
        margins  [   S      G H_1     0        G H_2     0     ]  >= 1
        column 1 [   0       -I       1          0       0     ]  >= 0
        column 2 [   0        0       0         -I       1     ]  >= 0

    All variables are >= 0. S assigns one slack xi_i to all margins of a row (pairwise, cost s_i/S)
    or one to each margin (one-vs-all, cost c_i). The scale brings the costs of the slacks to about
    1, because the tolerances of HiGHS are absolute; the duals are divided by it.

    Parameters
    ----------
    problem : RestrictedProblem

    Attributes
    ----------
    n_columns : int
        Number of columns in the model.
    has_basis : bool
        Whether the last run ended at an optimum.
    """

    def __init__(self, problem: RestrictedProblem) -> None:
        import highspy

        self.objective = problem.objective
        self.columns = dense_columns(problem, LinearProgram.name)
        self.generation = self.columns.generation
        rows = problem.objective.rows
        self.margins = MarginMatrix(problem.objective.margin, rows.c.size)
        self.slack = rows.c[self.margins.row] if rows.true_class is None else rows.share
        self.scale = 1.0 / float(self.slack.mean())
        grouped = bool(np.isinf(problem.objective.penalty.p or 1.0))
        # Cost pattern of the variables of one column: every class, or only the bound t.
        self.pattern = np.append(np.zeros(rows.k), 1.0) if grouped else np.ones(rows.k)
        self.n_columns, self.nu = 0, problem.objective.nu
        self.has_basis = False
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        # Not threads = 1: HiGHS rejects it if it has run with more threads in this process.
        self._set({"output_flag": False, "parallel": "off"})
        self._set({f"{kind}_feasibility_tolerance": _TOLERANCE for kind in ("primal", "dual")})
        self._add_slacks()

    def matches(self, problem: RestrictedProblem) -> bool:
        """Return whether the model has these columns and this objective, except for nu."""
        mine, other = self.objective, problem.objective
        return (
            self.columns is problem.columns
            and self.generation == problem.columns.generation
            and mine.margin is other.margin
            and mine.rows is other.rows
            and mine.penalty.p == other.penalty.p
        )

    def update(self, nu: float) -> None:
        """Add the columns that are not in the model yet, and change nu."""
        if nu != self.nu:
            self.nu = nu
            costs = self._costs(slice(0, self.n_columns))
            places = self.slack.size + np.arange(costs.size, dtype=np.int32)
            self.highs.changeColsCost(costs.size, places, costs)
        if len(self.columns) > self.n_columns:
            self._add_columns(slice(self.n_columns, len(self.columns)))
            self.n_columns = len(self.columns)

    def run(self, options: dict[str, Any]) -> int:
        """Run HiGHS; return the number of iterations."""
        import highspy

        warm = options is _WARM
        if not warm:
            self.highs.clearSolver()
        size = self.highs.getNumCol() + self.highs.getNumRow()
        steps = _WARM_STEPS if warm else _COLD_STEPS
        self._set({"simplex_iteration_limit": steps * size, **options})
        self.highs.run()
        self.has_basis = self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        info = self.highs.getInfo()
        counts = (info.simplex_iteration_count, info.ipm_iteration_count)
        return int(sum(max(count, 0) for count in counts))

    def solution(self) -> tuple[Array, Array]:
        """Return W (n, k) >= 0 and U (m, k) in the dual domain."""
        found, rows = self.highs.getSolution(), self.objective.rows
        weights = np.array(found.col_value)[self.slack.size :]
        W = weights.reshape(self.n_columns, self.pattern.size)[:, : rows.k]
        duals = np.array(found.row_dual)[: self.margins.index.size] / self.scale
        U = feasible_weights(self.margins.scatter(duals), self.objective, limit_hinge)
        return np.maximum(W, 0.0), U

    def _set(self, options: dict[str, Any]) -> None:
        for option, value in options.items():
            self.highs.setOptionValue(option, value)

    def _costs(self, which: slice) -> Array:
        costs = self.nu * self.scale * self.columns.costs[which]
        return np.asarray(np.outer(costs, self.pattern).ravel())

    def _add_slacks(self) -> None:
        """Add the rows of the margins without entries, then the slacks."""
        R = self.margins.index.size
        empty = sp.csr_array((R, 0))
        self._add_rows(empty, np.ones(R))
        slack = np.arange(R) if self.objective.rows.true_class is None else self.margins.row
        S = sp.csc_array((np.ones(R), (np.arange(R), slack)), shape=(R, self.slack.size))
        self._add_cols(S, self.scale * self.slack)

    def _add_columns(self, which: slice) -> None:
        """Add new columns in one block and, for l1,inf, the rows t_j >= W_jr."""
        k, width = self.objective.rows.k, self.pattern.size
        H = sp.csr_array(self.columns.H[:, which])
        first = self.highs.getNumCol()
        block = self.margins.G @ sp.kron(H, np.eye(k, width), format="csr")
        self._add_cols(block.tocsc(), self._costs(which))
        if width > k:
            link = np.hstack([-np.eye(k), np.ones((k, 1))])
            links = sp.kron(identity(H.shape[1]), link, format="csr")
            links = sp.hstack([sp.csr_array((links.shape[0], first)), links], format="csr")
            self._add_rows(links, np.zeros(links.shape[0]))

    def _add_cols(self, block: Any, costs: Array) -> None:
        """Append variables >= 0 with the CSC block of their coefficients."""
        n, infinite = costs.size, np.full(costs.size, self.highs.inf)
        start, index = block.indptr[:-1].astype(np.int32), block.indices.astype(np.int32)
        self.highs.addCols(n, costs, np.zeros(n), infinite, block.nnz, start, index, block.data)

    def _add_rows(self, block: Any, lower: Array) -> None:
        """Append rows block x >= lower, the block in CSR form."""
        n, infinite = lower.size, np.full(lower.size, self.highs.inf)
        start, index = block.indptr[:-1].astype(np.int32), block.indices.astype(np.int32)
        self.highs.addRows(n, lower, infinite, block.nnz, start, index, block.data)
