"""LPBoost: the largest soft margin, by column generation over a linear program."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice, check_number, check_share
from ..history import Status
from .one_vs_all import BinaryBaseline, BinaryBooster, kept

_TOLERANCE = 1e-10  # the least HiGHS allows; absolute, hence the scale of the variables
_HOT = {"solver": "simplex", "simplex_strategy": 1, "presolve": "off"}
_COLD = {"solver": "choose", "presolve": "choose"}


@dataclass(frozen=True)
class Terms:
    """The numbers of an `EdgeProgram`.

    Attributes
    ----------
    limit : (m,) array
    gain, cost : float
    bound : float or None
        The value of beta; None: it is a variable.
    total : float or None
        The sum of u; None: it is free.
    """

    limit: Array
    gain: float
    cost: float
    bound: float | None
    total: float | None


@dataclass(frozen=True)
class Answer:
    """Weights u (m,) of the rows, weights w (n,) of the columns, beta and the value."""

    u: Array
    w: Array
    beta: float
    value: float


class EdgeProgram:
    """Bounds the edges of columns that come one by one.

        maximise    gain sum_i u_i - cost beta
        subject to  sum_i u_i M_ij <= beta for every column j,  0 <= u <= limit

    with beta or the sum of u given or not. The weights w of the columns are the multipliers of
    their rows. It is the dual of the problem in w, which has a row for every row of the data; here
    there is one for every column, of which there are fewer. A new column leaves the last basis
    dual feasible, so that dual simplex goes on from there.

    Variables are divided by the mean of the limits, since the tolerances of HiGHS are absolute.

    Parameters
    ----------
    terms : Terms
    """

    def __init__(self, terms: Terms) -> None:
        import highspy

        self._terms, self._scale = terms, float(terms.limit.mean())
        self._m, self._n = int(terms.limit.size), 0
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        # Not threads = 1: HiGHS refuses it once anyone in the process ran it with more threads.
        self._set({"output_flag": False, "parallel": "off"})
        self._set({f"{kind}_feasibility_tolerance": _TOLERANCE for kind in ("primal", "dual")})
        self._add_variables()

    def _set(self, options: dict[str, Any]) -> None:
        for option, value in options.items():
            self._highs.setOptionValue(option, value)

    def _add_variables(self) -> None:
        terms, m, infinite = self._terms, self._m, self._highs.inf
        none, upper = np.zeros(0, dtype=np.int32), terms.limit / self._scale
        starts = np.zeros(m, dtype=np.int32)
        self._highs.addCols(
            m, np.full(m, -terms.gain), np.zeros(m), upper, 0, starts, none, np.zeros(0)
        )
        given = terms.bound
        low, high = (-infinite, infinite) if given is None else (given / self._scale,) * 2
        self._highs.addCol(terms.cost, low, high, 0, none, np.zeros(0))
        if terms.total is not None:
            total, places = terms.total / self._scale, np.arange(m, dtype=np.int32)
            self._highs.addRow(total, total, m, places, np.ones(m))

    def add(self, column: Array) -> None:
        """Add a column M_j, (m,)."""
        places = np.arange(self._m + 1, dtype=np.int32)
        row = np.append(column, -1.0)
        self._highs.addRow(-self._highs.inf, 0.0, row.size, places, row)
        self._n += 1

    def solve(self) -> Answer | None:
        """Return the optimum, from the last basis or else from nothing; None: there is none."""
        import highspy

        for options in (_HOT, _COLD):
            if options is _COLD:
                self._highs.clearSolver()
            self._set(options)
            self._highs.run()
            if self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                return self._answer()
        return None

    def _answer(self) -> Answer:
        solution, terms = self._highs.getSolution(), self._terms
        values = np.array(solution.col_value) * self._scale
        u, beta = np.clip(values[:-1], 0.0, terms.limit), float(values[-1])
        w = np.maximum(-np.array(solution.row_dual)[-self._n :], 0.0)
        return Answer(u, w, beta, terms.gain * float(u.sum()) - terms.cost * beta)


class LPBoost(BinaryBaseline):
    """Boosting of the soft margin; every round solves for the weights of all stumps again.

    With M_ij = y_i h_j(x_i) for the stumps h_j so far, y_i = +1 for the larger class:

    ========  ==================================================  ==========================
    form      problem                                             dual, with edges (M^T u)_j
    ========  ==================================================  ==========================
    "margin"  max rho - sum_i v_i xi_i / nu,  M w + xi >= rho,    min beta, edges <= beta,
              sum w = 1,  w, xi >= 0                              sum u = 1, 0 <= u <= v / nu
    "hinge"   min sum_i v_i max(0, 1 - (M w)_i) + nu sum w,       max sum u, edges <= nu,
              w >= 0                                              0 <= u <= v
    ========  ==================================================  ==========================

    A round adds the stump of the largest edge for the weights u, which start at v, until no stump
    exceeds the bound beta (at first 0) or nu by 1e-6: then w is optimal over all stumps. The
    weights u of a round need not be unique: the path is one of several, and may be another one when
    features or classes change places. More than two classes are one problem for each against the
    rest, whose mean is the objective of the history: the one that is maximised for "margin",
    minimised for "hinge".

    Source: Demiriz, Bennett and Shawe-Taylor, Machine Learning 46, 2002. Rounds cost O(d m) and a
    linear program with n rows and m variables after n rounds, for every problem. The fitted
    attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    nu : float, default=0.1
        "margin": in (0, 1], a bound on the share of rows with a margin below rho; below the
        smallest v_i it is the hard margin. "hinge": positive, the price of a weight.
    form : {"margin", "hinge"}, default="margin"
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
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

    def _check(self) -> None:
        super()._check()
        check_choice("form", self.form, ("margin", "hinge"))
        if self.form == "margin":
            check_share("nu", self.nu)
        else:
            check_number("nu", self.nu, 0.0, strict=True, what="a positive number")

    def _booster(self, v: Array) -> BinaryBooster:
        return SoftMargin(v, self.nu) if self.form == "margin" else Hinge(v, self.nu)


class ProgramBooster(BinaryBooster):
    """A binary problem that is a linear program.

    Parameters
    ----------
    v : (m,) array
    terms : Terms
    bound, objective : float
        Of the edges, and the value, without stumps.
    """

    def __init__(self, v: Array, terms: Terms, bound: float, objective: float) -> None:
        self._program, self._bound = EdgeProgram(terms), bound
        self.u, self.weights, self.objective = v, np.zeros(0), objective

    def refusal(self, column: Array, edge: float) -> Status | None:
        """Return that no stump exceeds the bound, or None."""
        del column
        return kept(edge, self._bound)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; where no solver finds the optimum the problem ends."""
        del edge
        self._program.add(column)
        answer = self._program.solve()
        if answer is None:
            self.weights, self.status = np.append(self.weights, 0.0), Status.STOPPED
            return
        self.u, self.weights, self._bound = answer.u, answer.w, answer.beta
        self.objective = self._objective(answer.value)

    def _objective(self, value: float) -> float:
        return value


class SoftMargin(ProgramBooster):
    """max rho - sum_i v_i xi_i / nu: the edges are at most that."""

    def __init__(self, v: Array, nu: float) -> None:
        limit = np.minimum(v / nu, 1.0)  # no more is left of a sum of 1
        super().__init__(v, Terms(limit, gain=0.0, cost=1.0, bound=None, total=1.0), 0.0, 0.0)

    def _objective(self, value: float) -> float:
        return -value


class Hinge(ProgramBooster):
    """min sum_i v_i max(0, 1 - (M w)_i) + nu sum w."""

    def __init__(self, v: Array, nu: float) -> None:
        super().__init__(v, Terms(v, gain=1.0, cost=0.0, bound=nu, total=None), nu, 1.0)


class HingeOnSimplex(ProgramBooster):
    """min sum_i v_i max(0, 1 - (M w)_i) with sum w = radius."""

    def __init__(self, v: Array, radius: float) -> None:
        super().__init__(v, Terms(v, gain=1.0, cost=radius, bound=None, total=None), 0.0, 1.0)
