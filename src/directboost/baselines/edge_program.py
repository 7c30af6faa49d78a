"""The linear program over the weights of rows that bounds all edges, solved by HiGHS."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array

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
