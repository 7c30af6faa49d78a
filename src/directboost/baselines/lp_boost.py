"""LPBoost: the largest soft margin, by column generation over a linear program."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice, check_number, check_share
from ..history import Status
from .binary_boosters import BinaryBooster, kept
from .binary_problems import BinaryBaseline
from .edge_program import EdgeProgram, Terms


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
