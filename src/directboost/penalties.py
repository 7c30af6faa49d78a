"""Mixed norms l1,p: the classes of a weak classifier enter and leave together."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .arrays import Array
from .kernels.prox import project_l1_ball, prox_p, row_norms


def _exponent(name: str) -> float:
    """Read the p of 'l1,p'; 0 where there is none."""
    try:
        return float(name.removeprefix("l1,")) if name.startswith("l1,") else 0.0
    except ValueError:
        return 0.0


class Penalty(ABC):
    """Omega(W) = sum_j cost_j N(W_j:) for a norm N of the rows of W >= 0.

    Conventions: W, V and E are (n, k); `costs` and `step` are (n,) or scalars. The dual norm of
    a row of edges, divided by the cost of its column, is the price of that column.
    """

    name: ClassVar[str]
    #: The p of an l1,p penalty, or None for a norm outside that family.
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


class GroupNorm(Penalty):
    """N(w) = ||w||_p with 1 < p <= inf; the dual norm is the q-norm of the positive part.

    Parameters
    ----------
    p : float
        The inner norm; 1/p + 1/q = 1.

    Paper: Eq. 49 (block soft thresholding, p = 2).
    Paper: Eq. 50 (block soft thresholding, p = 2).
    Differs: W stays non-negative, so only the positive part of the edges counts.
    """

    name: ClassVar[str] = "l1,p"

    def __init__(self, p: float) -> None:
        if not p > 1.0:
            raise ValueError(f"p={p!r} does not fit a group norm: it takes p > 1 (l1 for p = 1)")
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
            keep = np.divide(steps, norms, out=np.ones_like(norms), where=norms > steps)
            return (1.0 - keep)[:, None] * positive
        if np.isinf(self.p):
            return positive - project_l1_ball(positive, steps)
        return prox_p(positive, steps, self.p)

    def dual_norm(self, E: Array) -> Array:
        """Return ||max(E_j:, 0)||_q."""
        return row_norms(np.maximum(E, 0.0), self.q)


class L1(Penalty):
    """N(w) = sum_r w_r; its dual norm is the largest positive edge."""

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


PENALTIES: dict[str, Callable[[], Penalty]] = {
    "l1": L1,
    "l1,2": lambda: GroupNorm(2.0),
    "l1,inf": lambda: GroupNorm(math.inf),
}

__all__ = ["L1", "PENALTIES", "GroupNorm", "Penalty"]


def resolve_penalty(penalty: Any) -> Penalty:
    """Return the penalty of a name, of a number p >= 1, or the object itself."""
    if isinstance(penalty, Penalty):
        return penalty
    if isinstance(penalty, Real) and not isinstance(penalty, bool) and float(penalty) >= 1.0:
        return L1() if float(penalty) == 1.0 else GroupNorm(float(penalty))
    if isinstance(penalty, str) and penalty in PENALTIES:
        return PENALTIES[penalty]()
    if isinstance(penalty, str) and _exponent(penalty) > 1.0:
        return GroupNorm(_exponent(penalty))
    names = ", ".join(repr(name) for name in PENALTIES)
    raise ValueError(
        f"penalty={penalty!r} is not known; it takes {names}, 'l1,p' with p > 1, or a number p >= 1"
    )


def penalty_name(penalty: Penalty) -> str:
    """Return the name users know a penalty by."""
    if penalty.p is None:
        return type(penalty).__name__
    if penalty.p == 1.0:
        return "l1"
    return "l1,inf" if math.isinf(penalty.p) else f"l1,{penalty.p:g}"
