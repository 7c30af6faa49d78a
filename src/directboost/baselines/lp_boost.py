"""LPBoost: the largest soft margin, by column generation over a linear program."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice, check_number, check_share
from ..history import Status
from .one_vs_all import BinaryBaseline, BinaryBooster, converged_within

_TOLERANCE = 1e-10  # smallest value that HiGHS accepts; absolute, so variables are scaled
_WARM_OPTIONS = {"solver": "simplex", "simplex_strategy": 1, "presolve": "off"}
_COLD_OPTIONS = {"solver": "choose", "presolve": "choose"}


@dataclass(frozen=True)
class Solution:
    """Weights u (m,) of the rows, weights w (n,) of the columns, beta and the optimal value."""

    u: Array
    w: Array
    beta: float
    value: float


class EdgeProgram:
    """Linear program that bounds the edges of columns, which are added one by one.

        maximise    gain sum_i u_i - cost beta
        subject to  sum_i u_i M_ij <= beta for every column j,  0 <= u <= limit

    beta and the sum of u may be fixed or free. The weights w of the columns are the multipliers of
    their constraints. This is the dual of the problem in w: it has one constraint per column, the
    primal one per row of the data, of which there are more. A new column leaves the last basis dual
    feasible, so the dual simplex method continues from it.

    Variables are divided by the mean of the limits, since the tolerances of HiGHS are absolute.

    Parameters
    ----------
    limit : (m,) array
    gain, cost : float
    bound : float or None
        Value of beta; None if it is a variable.
    total : float or None
        Sum of u; None if it is free.
    """

    def __init__(
        self,
        limit: Array,
        *,
        gain: float,
        cost: float,
        bound: float | None = None,
        total: float | None = None,
    ) -> None:
        import highspy

        self._limit, self._gain, self._cost = limit, gain, cost
        self._scale = float(limit.mean())
        self._m, self._n = int(limit.size), 0
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        # Not threads=1: HiGHS rejects it if other code in the process has used more threads.
        self._set_options({"output_flag": False, "parallel": "off"})
        self._set_options(
            {f"{kind}_feasibility_tolerance": _TOLERANCE for kind in ("primal", "dual")}
        )
        self._add_variables(bound, total)

    def _set_options(self, options: dict[str, Any]) -> None:
        for option, value in options.items():
            self._highs.setOptionValue(option, value)

    def _add_variables(self, bound: float | None, total: float | None) -> None:
        m, infinite = self._m, self._highs.inf
        none, upper = np.zeros(0, dtype=np.int32), self._limit / self._scale
        starts = np.zeros(m, dtype=np.int32)
        self._highs.addCols(
            m, np.full(m, -self._gain), np.zeros(m), upper, 0, starts, none, np.zeros(0)
        )
        low, high = (-infinite, infinite) if bound is None else (bound / self._scale,) * 2
        self._highs.addCol(self._cost, low, high, 0, none, np.zeros(0))
        if total is not None:
            scaled, places = total / self._scale, np.arange(m, dtype=np.int32)
            self._highs.addRow(scaled, scaled, m, places, np.ones(m))

    def add(self, column: Array) -> None:
        """Add a column M_j, (m,)."""
        places = np.arange(self._m + 1, dtype=np.int32)
        row = np.append(column, -1.0)
        self._highs.addRow(-self._highs.inf, 0.0, row.size, places, row)
        self._n += 1

    def solve(self) -> Solution | None:
        """Return the optimum, from the last basis or else from scratch; None if both fail."""
        import highspy

        for options in (_WARM_OPTIONS, _COLD_OPTIONS):
            if options is _COLD_OPTIONS:
                self._highs.clearSolver()
            self._set_options(options)
            self._highs.run()
            if self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                return self._solution()
        return None

    def _solution(self) -> Solution:
        solution = self._highs.getSolution()
        values = np.array(solution.col_value) * self._scale
        u, beta = np.clip(values[:-1], 0.0, self._limit), float(values[-1])
        w = np.maximum(-np.array(solution.row_dual)[-self._n :], 0.0)
        return Solution(u, w, beta, self._gain * float(u.sum()) - self._cost * beta)


class LPBoost(BinaryBaseline):
    """LPBoost: maximises the soft margin over all stumps by column generation.

    Every round solves for the weights of all stumps so far. With M_ij = y_i h_j(x_i) for these
    stumps h_j, y_i = +1 for the larger class label:

    ========  ==================================================  ==========================
    form      problem                                             dual, with edges (M^T u)_j
    ========  ==================================================  ==========================
    "margin"  max rho - sum_i v_i xi_i / nu,  M w + xi >= rho,    min beta, edges <= beta,
              sum w = 1,  w, xi >= 0                              sum u = 1, 0 <= u <= v / nu
    "hinge"   min sum_i v_i max(0, 1 - (M w)_i) + nu sum w,       max sum u, edges <= nu,
              w >= 0                                              0 <= u <= v
    ========  ==================================================  ==========================

    A round adds the stump with the largest edge for the weights u, which start at v, until no stump
    exceeds the bound beta (at first 0) or nu by 1e-6: then w is optimal over all stumps. The
    weights u of a round need not be unique, so there are several possible paths; the path may
    change with the order of features or classes. More than two classes are one problem for each
    class against the rest. The objective of the history is the mean over these problems: it is
    maximised for "margin" and minimised for "hinge".

    Source: Demiriz, Bennett and Shawe-Taylor, Machine Learning 46, 2002. For every problem, a round
    costs O(d m) and, after n rounds, a linear program with n constraints and m variables. The
    fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    nu : float, default=0.1
        "margin": in (0, 1], a bound on the share of rows with a margin below rho; values below the
        smallest v_i give the hard margin. "hinge": positive, the penalty on the weights.
    form : {"margin", "hinge"}, default="margin"
        The problem to solve, see the table above.
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import LPBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LPBoost().fit(X, y)
    >>> str(clf.status_)
    'converged'
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        nu: float = 0.1,
        form: str = "margin",
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.nu = nu
        self.form = form
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("form", self.form, ("margin", "hinge"))
        if self.form == "margin":
            check_share("nu", self.nu)
        else:
            check_number("nu", self.nu, 0.0, strict=True, what="a positive number")

    def _booster(self, v: Array) -> BinaryBooster:
        return SoftMarginBooster(v, self.nu) if self.form == "margin" else HingeBooster(v, self.nu)


class ProgramBooster(BinaryBooster):
    """A binary problem that is a linear program.

    Parameters
    ----------
    v : (m,) array
    program : EdgeProgram
    bound, objective : float
        Bound of the edges and optimal value without stumps.
    """

    def __init__(self, v: Array, program: EdgeProgram, bound: float, objective: float) -> None:
        self._program, self._bound = program, bound
        self.u, self.weights, self.objective = v, np.zeros(0), objective

    def stop_reason(self, column: Array, edge: float) -> Status | None:
        """Return `Status.CONVERGED` if no stump exceeds the bound, else None."""
        del column
        return converged_within(edge, self._bound)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; if no solver finds the optimum, the problem ends."""
        del edge
        self._program.add(column)
        solution = self._program.solve()
        if solution is None:
            self.weights, self.status = np.append(self.weights, 0.0), Status.STOPPED
            return
        self.u, self.weights, self._bound = solution.u, solution.w, solution.beta
        self.objective = self._objective(solution.value)

    def _objective(self, value: float) -> float:
        return value


class SoftMarginBooster(ProgramBooster):
    """max rho - sum_i v_i xi_i / nu, which bounds the edges."""

    def __init__(self, v: Array, nu: float) -> None:
        limit = np.minimum(v / nu, 1.0)  # the sum of u is 1
        program = EdgeProgram(limit, gain=0.0, cost=1.0, total=1.0)
        super().__init__(v, program, bound=0.0, objective=0.0)

    def _objective(self, value: float) -> float:
        return -value


class HingeBooster(ProgramBooster):
    """min sum_i v_i max(0, 1 - (M w)_i) + nu sum w."""

    def __init__(self, v: Array, nu: float) -> None:
        program = EdgeProgram(v, gain=1.0, cost=0.0, bound=nu)
        super().__init__(v, program, bound=nu, objective=1.0)


class SimplexHingeBooster(ProgramBooster):
    """min sum_i v_i max(0, 1 - (M w)_i) with sum w = radius."""

    def __init__(self, v: Array, radius: float) -> None:
        program = EdgeProgram(v, gain=1.0, cost=radius)
        super().__init__(v, program, bound=0.0, objective=1.0)
