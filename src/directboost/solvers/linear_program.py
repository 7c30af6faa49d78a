"""Linear program for the hinge loss, which grows with the columns; solved by HiGHS."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, Bools, Ints
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
    limit_hinge,
)
from .monitor import Monitor

_TOLERANCE = 1e-10  # smallest value HiGHS allows; absolute, hence the scale of the objective
_ENOUGH = 1e-9  # relative gap above which the result of a run is not trusted
_COLD_STEPS = 100  # simplex iterations per row and column of the model
_WARM_STEPS = 1  # the same from the last basis: few runs need a fifth, and primal simplex may cycle
_WARM = {"solver": "simplex", "simplex_strategy": 4, "presolve": "off"}  # after new weights
_NEW_MARGINS = {"solver": "simplex", "simplex_strategy": 1, "presolve": "off"}
_COLD = (
    {"solver": "simplex", "simplex_strategy": 1, "presolve": "choose"},
    {"solver": "ipm", "presolve": "choose"},
)
_WHOLE = 2_000  # margins up to which a model has all margins and weights
_NEAR = 0.05  # distance to 1 up to which a margin above 1 is in a larger model from the start
_VIOLATED = 1e-9  # violation from which a margin or weight enters: relative to 1, and to nu
_ENTERING, _ENTERING_SHARE = 200, 0.2  # weights that enter at a time, at least and by share


class LinearProgram(Solver):
    """Hinge loss with the l1 or l1,inf penalty, exact to rounding.

    The model is kept between calls. Columns generated since the last call are added to it; the
    last basis is then still primal feasible, so primal simplex continues from there. A change of
    nu changes only costs.

    At an optimum, few margins are at or below 1 and few weights are positive. With more than 2000
    margins, the model therefore starts with those of the initial weights. Margins and weights
    outside of it that its solution violates enter, until there are none.

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
        """Solve to rounding from the last basis; return `start` only if no run of HiGHS succeeds.

        A new model has no basis and is solved by cold runs. Cold runs also follow if warm primal
        simplex cycles or does not reach a small gap.
        """
        if self._model is None or not self._model.matches(problem):
            self._model = _HighsModel(problem, start)
        model = self._model
        monitor = model.monitor = Monitor(self.report)
        model.update(problem.objective.nu)
        U = problem.objective.negative_gradient(problem.columns.scores(start))
        best, least, iterations = (start, U), np.inf, 0
        enough = max(accuracy, _ENOUGH)
        for first in (_WARM, *_COLD) if model.has_basis else _COLD:
            options: dict[str, Any] | None = first
            while options is not None:
                iterations += model.run(options)
                options = None
                if model.has_basis:
                    W, U = model.solution()
                    W = drop_negligible(problem, W)
                    gap = problem.objective.relative(problem.restricted_gap(W, U), problem.value(W))
                    if gap < least:
                        best, least = (W, U), gap
                    if least > enough:
                        options = model.enter_violated(W, U)
            if least <= enough or monitor.stopped:
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

    The model has all margins and weights, or those that the start or a solution asked for.

    Parameters
    ----------
    problem : RestrictedProblem
    start : (n, k) array
        Weights near the solution.

    Attributes
    ----------
    monitor : Monitor
        Watches the runs.
    n_columns : int
        Number of columns that the model knows; a larger model need not have weights for all.
    has_basis : bool
        Whether the last run ended at an optimum.
    """

    def __init__(self, problem: RestrictedProblem, start: Array) -> None:
        import highspy

        self.objective, self.monitor = problem.objective, Monitor()
        self.columns = dense_columns(problem, LinearProgram.name)
        self.generation = self.columns.generation
        rows = problem.objective.rows
        self.margins = MarginMatrix(problem.objective.margin, rows.c.size)
        one_each = rows.true_class is None
        self.slack = rows.c[self.margins.row] if one_each else rows.share
        self.slack_of = np.arange(self.margins.index.size) if one_each else self.margins.row
        self.scale = 1.0 / float(self.slack.mean())
        self.grouped = bool(np.isinf(problem.objective.penalty.p or 1.0))
        # Factor of the score of every class in every margin; that of class k, the bound t, is 0.
        self.factors = np.zeros((self.margins.index.size, rows.k + 1))
        G = self.margins.G.tocoo()
        self.factors[G.row, G.col % rows.k] = G.data
        self.whole = self.margins.index.size <= _WHOLE
        self.n_columns, self.nu = 0, problem.objective.nu
        self.has_basis = False
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        # Not threads = 1: HiGHS rejects it if it has run with more threads in this process.
        self._set({"output_flag": False, "parallel": "off"})
        self._set({f"{kind}_feasibility_tolerance": _TOLERANCE for kind in ("primal", "dual")})
        self.highs.cbSimplexInterrupt += self._watch
        self.highs.cbIpmInterrupt += self._watch
        # Column and class of every variable after the slacks; margins in the model, and their rows.
        self.column: Ints = np.zeros(0, dtype=np.int64)
        self.label: Ints = np.zeros(0, dtype=np.int64)
        self.kept: Ints = np.zeros(0, dtype=np.int64)
        self.row: Ints = np.zeros(0, dtype=np.int64)
        near = self._values(start) < 1.0 + _NEAR
        self._add_slacks(np.flatnonzero(near | self.whole))
        if not self.whole:
            self.n_columns = len(self.columns)
            self._add_weights(start > 0.0)

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
            costs = self._costs(self.column, self.label)
            places = self.slack.size + np.arange(costs.size, dtype=np.int32)
            self.highs.changeColsCost(costs.size, places, costs)
        if len(self.columns) > self.n_columns:
            new = np.arange(len(self.columns)) >= self.n_columns
            self.n_columns = len(self.columns)
            if self.whole:
                self._add_weights(np.repeat(new[:, None], self.objective.rows.k, axis=1))
            elif self.has_basis:
                self._enter_weights(self.solution()[1])

    def enter_violated(self, W: Array, U: Array) -> dict[str, Any] | None:
        """Add margins that W violates, else weights that U violates; return how to continue.

        Returns None if there are none.
        """
        if self.whole:
            return None
        rho, slack = self._values(W), np.zeros(self.slack.size)
        np.maximum.at(slack, self.slack_of[self.kept], 1.0 - rho[self.kept])
        short = 1.0 - slack[self.slack_of] - rho
        short[self.kept] = 0.0
        new = np.flatnonzero(short > _VIOLATED)
        if new.size:
            self._add_margins(new)
            return _NEW_MARGINS
        return _WARM if self._enter_weights(U) else None

    def _enter_weights(self, U: Array) -> bool:
        """Add the weights with the highest prices; return whether there are any."""
        edges = self.columns.edges(self.objective.coefficients(U))
        prices = np.maximum(edges, 0.0)
        if self.grouped:
            prices[:] = prices.sum(axis=1, keepdims=True)
        limit = self.nu * self.columns.costs[:, None]
        violated = (prices > (1.0 + _VIOLATED) * limit) & (edges > 0.0) & ~self._present()[:, :-1]
        excess = np.sort((prices - limit)[violated])
        if not excess.size:
            return False
        most = max(_ENTERING, int(_ENTERING_SHARE * self.column.size))
        self._add_weights(violated & (prices - limit >= excess[-min(most, excess.size)]))
        return True

    def run(self, options: dict[str, Any]) -> int:
        """Run HiGHS; return the number of iterations."""
        import highspy

        warm = all(options is not cold for cold in _COLD)
        if not warm:
            self.highs.clearSolver()
        size = self.highs.getNumCol() + self.highs.getNumRow()
        steps = _WARM_STEPS if warm else _COLD_STEPS
        self._set({"simplex_iteration_limit": steps * size, **options})
        self.highs.run()
        self.monitor.raise_error()
        self.has_basis = self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        info = self.highs.getInfo()
        counts = (info.simplex_iteration_count, info.ipm_iteration_count)
        return int(sum(max(count, 0) for count in counts))

    def solution(self) -> tuple[Array, Array]:
        """Return W (n, k) >= 0 and U (m, k) in the dual domain."""
        found, k = self.highs.getSolution(), self.objective.rows.k
        W = np.zeros((self.n_columns, k + 1))
        W[self.column, self.label] = np.array(found.col_value)[self.slack.size :]
        duals = np.zeros(self.margins.index.size)
        duals[self.kept] = np.array(found.row_dual)[self.row] / self.scale
        U = feasible_weights(self.margins.scatter(duals), self.objective, limit_hinge)
        return np.maximum(W[:, :k], 0.0), U

    def _watch(self, event: Any) -> None:
        """Report the progress of a run; end it if it shall."""
        counts = (event.data_out.simplex_iteration_count, event.data_out.ipm_iteration_count)
        event.data_in.user_interrupt = self.monitor.stops(max(counts))

    def _values(self, W: Array) -> Array:
        """Return the margins at W, (R,)."""
        return np.asarray(self.margins.G @ (self.columns.H @ W).ravel())

    def _set(self, options: dict[str, Any]) -> None:
        for option, value in options.items():
            self.highs.setOptionValue(option, value)

    def _costs(self, column: Ints, label: Ints) -> Array:
        costs = self.nu * self.scale * self.columns.costs[column]
        return np.asarray(costs * (label == self.objective.rows.k) if self.grouped else costs)

    def _entries(self, margins: Ints, column: Ints, label: Ints) -> Array:
        """Return the coefficients of variables in margins."""
        responses = self.columns.H[self.margins.row[margins]][:, column]
        return np.asarray(responses * self.factors[margins][:, label])

    def _add_slacks(self, margins: Ints) -> None:
        """Add the rows of the margins without entries, then the slacks."""
        self.kept, self.row = margins, np.arange(margins.size)
        self._add_rows(sp.csr_array((margins.size, 0)), np.ones(margins.size))
        self._add_cols(self._slack_entries(margins).tocsc(), self.scale * self.slack)

    def _slack_entries(self, margins: Ints) -> Any:
        count, shape = np.arange(margins.size), (margins.size, self.slack.size)
        return sp.csr_array((np.ones(count.size), (count, self.slack_of[margins])), shape=shape)

    def _add_margins(self, margins: Ints) -> None:
        """Add the rows of margins to a model that has the slacks."""
        weights = sp.csr_array(self._entries(margins, self.column, self.label))
        self.row = np.append(self.row, self.highs.getNumRow() + np.arange(margins.size))
        self.kept = np.append(self.kept, margins)
        block = sp.hstack([self._slack_entries(margins), weights], format="csr")
        self._add_rows(block, np.ones(margins.size))

    def _add_weights(self, which: Bools) -> None:
        """Add weights (n, k); for l1,inf also the bounds t_j they need and the rows t_j >= W_jr."""
        k = self.objective.rows.k
        if not which.any():
            return
        bound = which.any(axis=1) & ~self._present()[:, k] & self.grouped
        column, label = np.nonzero(np.column_stack([which, bound]))
        self._add_cols(
            sp.csc_array(self._entries(self.kept, column, label)), self._costs(column, label)
        )
        added = self.column.size + np.flatnonzero(label < k)
        self.column, self.label = np.append(self.column, column), np.append(self.label, label)
        if self.grouped:
            bounds = np.flatnonzero(self.label == k)
            place = np.zeros(self.n_columns, dtype=np.int64)
            place[self.column[bounds]] = bounds
            row = np.arange(added.size)
            entries = (
                np.repeat([-1.0, 1.0], added.size),
                (np.tile(row, 2), np.append(added, place[self.column[added]])),
            )
            links = sp.csr_array(entries, shape=(added.size, self.column.size))
            empty = sp.csr_array((added.size, self.slack.size))
            self._add_rows(sp.hstack([empty, links], format="csr"), np.zeros(added.size))

    def _present(self) -> Bools:
        """Return which weights the model has and, in the last column, which t, (n, k + 1)."""
        present = np.zeros((self.n_columns, self.objective.rows.k + 1), dtype=bool)
        present[self.column, self.label] = True
        return present

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
