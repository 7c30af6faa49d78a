"""The hinge loss as a linear program that grows with the columns, solved by HiGHS."""

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
    feasible_weights,
    identity,
    limit_hinge,
    without_dust,
)

_TOLERANCE = 1e-10  # the least HiGHS allows; absolute, hence the scale of the objective
_ENOUGH = 1e-9  # relative gap above which an answer of the simplex method is not believed
_STEPS = 100  # of the simplex method per row and column
_HOT_STEPS = 1  # the same after new columns: few take a fifth, and primal simplex may cycle
_HOT = {"solver": "simplex", "simplex_strategy": 4, "presolve": "off"}
_COLD = (
    {"solver": "simplex", "simplex_strategy": 1, "presolve": "choose"},
    {"solver": "ipm", "presolve": "choose"},
)


class LinearProgram(Solver):
    """Hinge loss with the l1 or the l1,inf penalty, exact to rounding.

    The model stays in the solver. Columns that have come since the last call are added to it;
    the last basis is then still primal feasible, so primal simplex goes on from there. A change
    of nu changes only costs.

    Paper: Eq. 3 (primal, hinge, l1).
    Paper: Eq. 6 (dual, hinge, l1).
    Paper: Eq. 24 (primal, hinge, l1,inf).
    Paper: Eq. 27 (dual, hinge, l1,inf).
    Paper: Eq. 63 (primal, one-vs-all).
    Paper: Eq. 64 (dual, one-vs-all).

    Attributes
    ----------
    builds : int
        How many times a model was built from nothing.
    """

    name: ClassVar[str] = "lp"

    def __init__(self) -> None:
        self.builds = 0
        self._model: _Model | None = None

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for the hinge with l1 or l1,inf, else the reason."""
        if loss.name != "hinge" or not loss.is_built_in():
            return f"it needs the hinge loss, not {loss.name!r}, which 'prox' would take"
        if penalty.p not in (1.0, np.inf):
            return "it needs the penalty l1 or l1,inf; 'conic' takes the hinge with any l1,p"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Solve to rounding, from the last basis; `start` comes back only if the solver fails.

        A new model is solved cold. Where hot primal simplex cycles or does not come to a small
        gap, cold solves follow too.
        """
        model = self._living_model(problem)
        weights = problem.objective.negative_gradient(problem.columns.scores(start))
        best, least, iterations = (start, weights), np.inf, 0
        for options in (_HOT, *_COLD) if model.has_basis else _COLD:
            iterations += model.run(options)
            if model.has_basis:
                W, U = model.answer()
                W = without_dust(problem, W)
                gap = problem.objective.relative(problem.restricted_gap(W, U), problem.value(W))
                if gap < least:
                    best, least = (W, U), gap
            if least <= max(accuracy, _ENOUGH):
                break
        if np.isinf(least):
            self._model = None
        return SolverResult(*best, solved=bool(least <= accuracy), iterations=iterations)

    def _living_model(self, problem: RestrictedProblem) -> "_Model":
        """Return the model of the last call, brought up to date, or a new one."""
        if self._model is None or not self._model.serves(problem):
            self._model = _Model(problem)
            self.builds += 1
        self._model.update(problem.objective.nu)
        return self._model


class _Model:
    """One program in HiGHS; G H_j are the margins of column j, w_j its weights for all classes.

    With l1,inf, for two columns (with l1 there are no t and only the rows of the margins, and
    nu cost_j stands above w_j)::

                     xi      w_1     t_1        w_2     t_2
        costs      share      0    nu cost_1     0    nu cost_2    all times scale
        margins  [   S      G H_1     0        G H_2     0     ]  >= 1
        column 1 [   0       -I       1          0       0     ]  >= 0
        column 2 [   0        0       0         -I       1     ]  >= 0

    All variables are >= 0. S puts one slack xi_i on all margins of a row (pairwise, cost s_i/S)
    or one on each margin (one-vs-all, cost c_i). The scale makes the costs of the slacks about
    1, since the tolerances of HiGHS are absolute; the duals are divided by it.
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
        # Costs of the variables of one column: every class, or only the bound t of all classes.
        self.pattern = np.append(np.zeros(rows.k), 1.0) if grouped else np.ones(rows.k)
        self.known, self.nu = 0, problem.objective.nu
        self.has_basis = False  # whether the last run ended at an optimum
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        # Not threads = 1: HiGHS refuses it once anyone in the process ran it with more threads.
        self._set({"output_flag": False, "parallel": "off"})
        self._set({f"{kind}_feasibility_tolerance": _TOLERANCE for kind in ("primal", "dual")})
        self._add_slacks()

    def serves(self, problem: RestrictedProblem) -> bool:
        """Tell whether the model is of these columns and of this objective, up to nu."""
        mine, other = self.objective, problem.objective
        return (
            self.columns is problem.columns
            and self.generation == problem.columns.generation
            and mine.margin is other.margin
            and mine.rows is other.rows
            and mine.penalty.p == other.penalty.p
        )

    def update(self, nu: float) -> None:
        """Add the columns that are not in the model yet, and set nu."""
        if nu != self.nu:
            self.nu = nu
            costs = self._costs(slice(0, self.known))
            places = self.slack.size + np.arange(costs.size, dtype=np.int32)
            self.highs.changeColsCost(costs.size, places, costs)
        if len(self.columns) > self.known:
            self._add_columns(slice(self.known, len(self.columns)))
            self.known = len(self.columns)

    def run(self, options: dict[str, Any]) -> int:
        """Solve the model; return the number of iterations."""
        import highspy

        hot = options is _HOT
        if not hot:
            self.highs.clearSolver()
        size = self.highs.getNumCol() + self.highs.getNumRow()
        self._set({"simplex_iteration_limit": (_HOT_STEPS if hot else _STEPS) * size, **options})
        self.highs.run()
        self.has_basis = self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        info = self.highs.getInfo()
        counts = (info.simplex_iteration_count, info.ipm_iteration_count)
        return int(sum(max(count, 0) for count in counts))

    def answer(self) -> tuple[Array, Array]:
        """Return W (n, k) >= 0 and U (m, k) in the dual domain."""
        solution, rows = self.highs.getSolution(), self.objective.rows
        weights = np.array(solution.col_value)[self.slack.size :]
        W = weights.reshape(self.known, self.pattern.size)[:, : rows.k]
        duals = np.array(solution.row_dual)[: self.margins.index.size] / self.scale
        U = feasible_weights(self.margins.scatter(duals), self.objective, limit_hinge)
        return np.maximum(W, 0.0), U

    def _set(self, options: dict[str, Any]) -> None:
        for option, value in options.items():
            self.highs.setOptionValue(option, value)

    def _costs(self, which: slice) -> Array:
        costs = self.nu * self.scale * self.columns.costs[which]
        return np.asarray(np.outer(costs, self.pattern).ravel())

    def _add_slacks(self) -> None:
        """Add the margin rows, empty, then the slacks."""
        R = self.margins.index.size
        empty = sp.csr_array((R, 0))
        self._add_rows(empty, np.ones(R))
        place = np.arange(R) if self.objective.rows.true_class is None else self.margins.row
        S = sp.csc_array((np.ones(R), (np.arange(R), place)), shape=(R, self.slack.size))
        self._add_cols(S, self.scale * self.slack)

    def _add_columns(self, which: slice) -> None:
        """Add all new columns in one block and, for l1,inf, the rows t_j >= W_jr."""
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
