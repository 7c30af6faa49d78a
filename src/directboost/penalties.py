"""Penalties on the coefficients: the l1 norm and the mixed norms l1,p.

Under a mixed norm the coefficients of a weak classifier form a group: they are zero for all
classes, or several classes share the weak classifier.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .arrays import Array
from .kernels.prox import project_l1_ball, prox_p, row_norms

__all__ = ["L1", "PENALTIES", "GroupNorm", "Penalty"]


class Penalty(ABC):
    """Base class of penalties: Omega(W) = sum_j cost_j N(W_j:) for a norm N of the rows of W >= 0.

    W, V and E are (n, k); `costs` and `step` are (n,) or scalars. The price of a column is the
    dual norm of its edges divided by its cost.

    Attributes
    ----------
    name : str
        Name of the penalty. In the registry `PENALTIES` it is a value of the parameter `penalty`
        of an estimator.
    p : float or None
        The p of an l1,p penalty, which the compiled code supports; None for any other norm.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.penalties import PENALTIES
    >>> W = np.array([[3.0, 4.0], [0.0, 1.0]])
    >>> {name: make().value(W) for name, make in PENALTIES.items()}
    {'l1': 8.0, 'l1,2': 6.0, 'l1,inf': 5.0}
    """

    name: ClassVar[str]
    p: float | None = None

    @abstractmethod
    def norms(self, W: Array) -> Array:
        """Return N(W_j:) for every row of W >= 0, (n,)."""

    @abstractmethod
    def prox(self, V: Array, step: Array | float) -> Array:
        """Return argmin over W >= 0 of sum_j step_j N(W_j:) + ||W - V||^2 / 2, (n, k)."""

    @abstractmethod
    def dual_norm(self, E: Array) -> Array:
        """Return max of <E_j:, w> over w >= 0 with N(w) <= 1, for every row, (n,)."""

    def value(self, W: Array, costs: Array | float = 1.0) -> float:
        """Return sum_j cost_j N(W_j:)."""
        return float(np.sum(costs * self.norms(W)))


class L1(Penalty):
    """The l1 norm: N(w) = sum_r w_r.

    Its dual norm is the largest positive edge.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.penalties import L1
    >>> L1().prox(np.array([[1.0, 0.2, -3.0]]), 0.5)
    array([[0.5, 0. , 0. ]])
    """

    name: ClassVar[str] = "l1"
    p = 1.0

    def norms(self, W: Array) -> Array:
        """Return the row sums of W >= 0."""
        return np.asarray(W.sum(axis=1))

    def prox(self, V: Array, step: Array | float) -> Array:
        """Return max(V - step, 0)."""
        return np.asarray(np.maximum(V - np.reshape(step, (-1, 1)), 0.0))

    def dual_norm(self, E: Array) -> Array:
        """Return max_r of the positive part of E_j:."""
        return np.asarray(np.maximum(E.max(axis=1), 0.0))


class GroupNorm(Penalty):
    """The mixed norm l1,p: N(w) = ||w||_p with 1 < p <= inf.

    Its dual norm is the q-norm of the positive part, with 1/p + 1/q = 1.

    Paper: Eq. 49 (block soft thresholding, p = 2).
    Paper: Eq. 50 (block soft thresholding, p = 2).
    Differs: W stays non-negative, so only the positive part of the edges counts.

    Parameters
    ----------
    p : float
        Exponent of the norm of a row, greater than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.penalties import GroupNorm
    >>> GroupNorm(2.0).prox(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    name: ClassVar[str] = "l1,p"

    def __init__(self, p: float) -> None:
        if not p > 1.0:
            raise ValueError(f"p={p!r} is invalid: expected p > 1; for p = 1 use L1()")
        self.p: float = float(p)
        self.q = 1.0 if np.isinf(p) else p / (p - 1.0)

    def norms(self, W: Array) -> Array:
        """Return ||W_j:||_p."""
        return row_norms(W, self.p)

    def prox(self, V: Array, step: Array | float) -> Array:
        """Return the row-wise prox of max(V, 0)."""
        positive = np.maximum(V, 0.0)
        steps = np.broadcast_to(np.asarray(step, dtype=np.float64), (V.shape[0],))
        if self.p == 2.0:
            norms = row_norms(positive, 2.0)
            shrinkage = np.divide(steps, norms, out=np.ones_like(norms), where=norms > steps)
            return (1.0 - shrinkage)[:, None] * positive
        if np.isinf(self.p):
            return positive - project_l1_ball(positive, steps)
        return prox_p(positive, steps, self.p)

    def dual_norm(self, E: Array) -> Array:
        """Return ||max(E_j:, 0)||_q."""
        return row_norms(np.maximum(E, 0.0), self.q)


#: Penalties by the value of the parameter `penalty`; other values of p have no entry.
PENALTIES: dict[str, Callable[[], Penalty]] = {
    "l1": L1,
    "l1,2": lambda: GroupNorm(2.0),
    "l1,inf": lambda: GroupNorm(math.inf),
}


def resolve_penalty(penalty: Any) -> Penalty:
    """Return the penalty for a name, a number p or a penalty object."""
    if isinstance(penalty, Penalty):
        return penalty
    if isinstance(penalty, str) and penalty in PENALTIES:
        return PENALTIES[penalty]()
    p = _exponent(penalty)
    if p is not None:
        return L1() if p == 1.0 else GroupNorm(p)
    names = ", ".join(repr(name) for name in PENALTIES)
    raise ValueError(
        f"penalty={penalty!r} is invalid: expected {names}, 'l1,p' with p > 1, a number p >= 1, "
        "or a Penalty object"
    )


def _exponent(penalty: Any) -> float | None:
    """Return the p of a number p >= 1 or of a string "l1,p" with p > 1, else None."""
    if isinstance(penalty, Real) and not isinstance(penalty, bool):
        try:
            return float(penalty) if float(penalty) >= 1.0 else None
        except OverflowError:
            return None
    try:
        p = float(penalty.removeprefix("l1,")) if penalty.startswith("l1,") else 0.0
    except (AttributeError, ValueError):
        return None
    return p if p > 1.0 else None


def penalty_name(penalty: Penalty) -> str:
    """Return the name of a penalty for summaries and messages."""
    if penalty.p is not None:
        return {1.0: "l1", math.inf: "l1,inf"}.get(penalty.p, f"l1,{penalty.p:g}")
    name = getattr(penalty, "name", None)
    return name if name in PENALTIES else type(penalty).__name__
