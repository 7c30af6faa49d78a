"""The certificate of a fit: a proved bound on the distance of a model from the optimum.

This module does not depend on how the model was found. A dual point U and the exact largest price
over the dictionary give a lower bound of the optimum. The gap is the objective of the model minus
this bound.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrays import Array, Scores
from .kernels.threads import Team
from .penalties import Penalty
from .problem.objective import Objective

__all__ = ["Certificate", "PricingOracle", "PricingResult", "certify", "lower_bound", "recertify"]

_EPS = float(np.finfo(np.float64).eps)
_BLOCK = 4096  # rows that are summed together
_UNIT = 1.0 / 64.0  # losses are scaled to sums of this size, although they may cancel to less


class PricingResult(Protocol):
    """Result of pricing a dictionary.

    Attributes
    ----------
    max_price : float
        Largest price over the whole dictionary.
    rounding : float
        Bound on the rounding error of `max_price`.
    """

    @property
    def max_price(self) -> float: ...  # noqa: D102

    @property
    def rounding(self) -> float: ...  # noqa: D102


class PricingOracle(Protocol):
    """The part of an oracle that a certificate needs.

    Attributes
    ----------
    dictionary : str
        The set of weak classifiers that the oracle prices.
    """

    dictionary: str

    def reprice(self, A: Scores, penalty: Penalty) -> PricingResult:
        """Price the dictionary in double precision, for edge coefficients A (m, k)."""
        ...


@dataclass(frozen=True)
class Certificate:
    """A proved statement about a fitted model: dual <= optimal objective <= primal.

    The optimum is over all models that use the weak classifiers of `dictionary`. Printing a
    certificate shows the statement in words.

    Attributes
    ----------
    primal : float
        Objective of the model.
    dual : float
        Lower bound on the objective of every model over the dictionary.
    gap : float
        primal - dual, never negative.
    relative_gap : float
        The gap divided by the reducible part of the objective, the unit of `tol`.
    max_price : float
        Largest price of a weak classifier at the dual point; at most nu at an optimum.
    nu : float
        Absolute strength of the penalty.
    dictionary : str
        The set of weak classifiers for which the statement holds.
    converged : bool
        Whether the relative gap is at most `tol`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> certificate = DirectBoostClassifier(tol=1e-3).fit(X, y).certificate_
    >>> certificate.dual <= certificate.primal
    True
    >>> certificate.dictionary, certificate.converged
    ('all stumps', True)
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

    Weak duality: if U is shrunk by tau = min(1, nu / max_price), no column has a price above nu,
    so the dual objective of the shrunk point is at most the optimum. The bound is lowered by the
    rounding error.

    Paper: Eq. 7 (the constraints of the dual, hinge, l1).
    Differs: only the positive part of the edges counts, since W >= 0.

    Parameters
    ----------
    objective : Objective
        Loss, margin and penalty of the problem, with its rows.
    U : (m, k) array
        Dual weights, a point of the dual domain.
    max_price : float
        Largest price at U.
    rounding : float
        Bound on the rounding error of `max_price`.
    team : Team, optional
        Threads for the kernels.

    Returns
    -------
    bound : float
    """
    return objective.dual_estimate(U, max_price + rounding, team)


def certify(
    objective: Objective, primal: float, dual: float, max_price: float, dictionary: str, tol: float
) -> Certificate:
    """Make a certificate from an objective value and a lower bound.

    The bound is lowered by the rounding error of the objective, so that the gap is never negative.

    Parameters
    ----------
    objective : Objective
        Loss, margin and penalty of the problem, with its rows.
    primal : float
        Objective of the model.
    dual : float
        Lower bound of the optimum, from `lower_bound`.
    max_price : float
        Largest price at the dual point of the bound.
    dictionary : str
        The set of weak classifiers for which the bound holds.
    tol : float
        Relative gap up to which the model counts as converged.

    Returns
    -------
    certificate : Certificate

    Raises
    ------
    ValueError
        If the bound exceeds the objective by more than rounding, which means that the loss
        violates its contract.
    """
    if dual > primal + 1e-9 * max(1.0, abs(primal)):
        raise ValueError(
            f"the lower bound {dual:.9g} exceeds the objective {primal:.9g}: the loss "
            f"{objective.loss.name!r} violates its contract; check that its conjugate and infimum "
            "match its value"
        )
    # The rows are summed in blocks. The relative error, in units of the last place, is at most the
    # number of additions that depend on each other.
    rounding = _EPS * (256.0 + objective.n_rows / _BLOCK + objective.margin.k)
    dual = min(dual - rounding * max(abs(primal), _UNIT), primal)
    gap = primal - dual
    relative = objective.relative(gap, primal)
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=relative,
        max_price=max_price,
        nu=objective.nu,
        dictionary=dictionary,
        converged=relative <= tol,
    )


def recertify(
    objective: Objective,
    primal: float,
    duals: list[Array],
    oracle: PricingOracle,
    tol: float,
    team: Team | None = None,
) -> Certificate:
    """Certify a model in double precision, from its objective and dual points.

    Parameters
    ----------
    objective : Objective
        Loss, margin and penalty of the problem, with its rows.
    primal : float
        Objective of the model.
    duals : list of (m, k) arrays
        Points of the dual domain. The one with the best bound is used.
    oracle : PricingOracle
        Prices the dictionary.
    tol : float
        Relative gap up to which the model counts as converged.
    team : Team, optional
        Threads for the kernels.

    Returns
    -------
    certificate : Certificate
    """
    best, price_at_best = -np.inf, np.inf
    for U in duals:
        pricing = oracle.reprice(objective.coefficients(U), objective.penalty)
        bound = lower_bound(objective, U, pricing.max_price, pricing.rounding, team)
        if bound > best:
            best, price_at_best = bound, pricing.max_price
    return certify(objective, primal, best, price_at_best, oracle.dictionary, tol)
