"""The proof: how far an answer can be from the best one over the whole dictionary.

Nothing here knows how the answer was found. A point U of the dual domain and the exact largest
price give a lower bound of the optimum; the distance of the objective to it is the gap.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .kernels.threads import Team
from .oracles.base import Oracle
from .problem.objective import Objective

_EPS = float(np.finfo(np.float64).eps)
_BLOCK = 4096  # rows that are summed together
_UNIT = 1.0 / 64.0  # losses are scaled to sums of that size, though they may cancel to less


@dataclass(frozen=True)
class Certificate:
    """A proved statement about a fitted model: dual <= best objective <= primal.

    Attributes
    ----------
    primal : float
        Objective of the model.
    dual : float
        Lower bound of the objective of every model over the dictionary.
    gap : float
        primal - dual, never negative.
    relative_gap : float
        The gap over the part of the objective that can be reduced: the unit of `tol`.
    max_price : float
        Largest price of a weak classifier at the dual point; at most nu at an optimum.
    nu : float
        The penalty, absolute.
    dictionary : str
        The set of weak classifiers the statement holds for.
    converged : bool
        Whether the relative gap is at most the tolerance asked for.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    max_price: float
    nu: float
    dictionary: str
    converged: bool

    def __str__(self) -> str:
        reached = "converged" if self.converged else "not converged"
        return (
            f"objective {self.primal:.6g}; no model over {self.dictionary} goes below "
            f"{self.dual:.6g}; gap {self.relative_gap:.3g} of the reducible part ({reached})"
        )


def lower_bound(
    objective: Objective, U: Array, max_price: float, rounding: float, team: Team | None = None
) -> float:
    """Return a lower bound of the optimum over all columns with price <= max_price at U.

    Weak duality: U shrunk by tau = min(1, nu / max_price) has no column above nu, so its dual
    value bounds the optimum from below. The bound is lowered for rounding.

    Paper: Eq. 7 (the constraints of the dual, hinge, l1).
    Differs: only the positive part of the edges counts, since W >= 0.
    """
    return objective.dual_estimate(U, max_price + rounding, team)


def certify(
    objective: Objective, primal: float, dual: float, max_price: float, dictionary: str, tol: float
) -> Certificate:
    """Put an objective value and a lower bound into a certificate.

    The bound gives way by the rounding error of the objective, so that the gap is not negative.
    A bound that lies above the objective by more than that would be no proof.
    """
    if dual > primal + 1e-9 * max(1.0, abs(primal)):
        raise ValueError(
            f"the lower bound {dual:.9g} lies above the objective {primal:.9g}: the loss "
            f"{objective.loss.name!r} breaks its contract (a conjugate or infimum that does not "
            "belong to its value)"
        )
    dual = min(dual - _rounding(objective) * max(abs(primal), _UNIT), primal)
    gap = primal - dual
    relative = objective.relative(gap, primal)
    return Certificate(
        primal, dual, gap, relative, max_price, objective.nu, dictionary, relative <= tol
    )


def _rounding(objective: Objective) -> float:
    """Return a bound of the relative rounding error of a sum over all rows and classes.

    A sum of blocks of rows errs by as many units in the last place as additions follow each other.
    """
    return _EPS * (256.0 + objective.n_rows / _BLOCK + objective.margin.k)


def recertify(
    objective: Objective,
    primal: float,
    duals: list[Array],
    oracle: Oracle,
    tol: float,
    team: Team | None = None,
) -> Certificate:
    """Certify a model anew, in double precision, from its objective and dual points.

    Parameters
    ----------
    primal : float
        Objective of the model.
    duals : list of (m, k) arrays
        Points of the dual domain; the one with the best bound serves.
    """
    best, price_at_best = -np.inf, np.inf
    for U in duals:
        pricing = oracle.reprice(objective.coefficients(U), objective.penalty)
        bound = lower_bound(objective, U, pricing.max_price, pricing.rounding, team)
        if bound > best:
            best, price_at_best = bound, pricing.max_price
    return certify(objective, primal, best, price_at_best, oracle.dictionary, tol)
