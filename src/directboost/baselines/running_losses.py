"""Losses whose gradient is kept up while stumps change their votes one at a time."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..arrays import Array, Bools
from .rounds import Problem, answers

_STEPS = 50  # after which exponentials are scaled again; a step changes them by less than e^6


class RunningLoss(ABC):
    """A smooth loss of scores F (m, k) with the gradient v_i (p_i - o_i), o the unit vector of y_i.

    Changing the votes of one stump by delta raises it by no more than g . delta + (L / 2)
    ||delta||^2 for the gradient g of the votes and L the `curvature`.
    """

    curvature: ClassVar[float]

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @abstractmethod
    def start(self, F: Array) -> float:
        """Begin anew from scores F; return the loss."""

    @abstractmethod
    def p(self) -> Array:
        """Return p at the scores now, (m, k)."""

    @abstractmethod
    def mean(self, right: Bools) -> Array:
        """Return sum_i v_i h(x_i) p_i for a stump by the rows on its right, (k,)."""

    @abstractmethod
    def add(self, right: Bools, delta: Array) -> None:
        """Add delta (k,) to the scores of the rows on the right, and take it from the others."""


class MultinomialLoss(RunningLoss):
    """sum_i v_i log(1 + sum_{r != y_i} exp(F_ir - F_iy_i)); p = softmax(F).

    Since diag(p) - p p^T <= I / 2, L = 1/2.
    """

    curvature: ClassVar[float] = 0.5

    def start(self, F: Array) -> float:
        """Keep exp(F), each row divided by its largest entry, and the sums of the rows."""
        below = F - F.max(axis=1, keepdims=True)
        own = below.ravel()[self._problem.own_places]
        self._exp = np.exp(below)
        self._one = np.ones(F.shape[1])
        self._sums, self._count = self._exp @ self._one, 0
        return float(self._problem.v @ (np.log(self._sums) - own))

    def p(self) -> Array:
        """Return softmax(F)."""
        return np.asarray(self._exp / self._sums[:, None])

    def mean(self, right: Bools) -> Array:
        """Return the sum in one pass over exp(F)."""
        share = self._problem.v / self._sums
        return np.asarray(np.where(right, share, -share) @ self._exp)

    def add(self, right: Bools, delta: Array) -> None:
        """Multiply exp(F) by exponentials of the votes, not of the rows."""
        factors = np.exp(delta)
        self._exp *= answers(right, 1.0 / factors, factors)
        self._sums, self._count = self._exp @ self._one, self._count + 1
        if self._count % _STEPS == 0:
            self._exp /= self._sums[:, None]
            self._sums = self._exp @ self._one


class MultitaskLoss(RunningLoss):
    """sum_i v_i sum_r log(1 + exp(-Y_ir F_ir)); p = 1 / (1 + exp(-F)), so that L = 1/4."""

    curvature: ClassVar[float] = 0.25

    def start(self, F: Array) -> float:
        """Keep exp(-F): neither zero nor infinity in it does any harm to p."""
        with np.errstate(over="ignore"):
            self._exp = np.exp(-F)
        losses = np.logaddexp(0.0, -self._problem.targets * F)
        return float(self._problem.v @ losses.sum(axis=1))

    def p(self) -> Array:
        """Return 1 / (1 + exp(-F))."""
        return np.asarray(1.0 / (1.0 + self._exp))

    def mean(self, right: Bools) -> Array:
        """Return the sum in two passes over exp(-F)."""
        v = self._problem.v
        return np.asarray(np.where(right, v, -v) @ self.p())

    def add(self, right: Bools, delta: Array) -> None:
        """Multiply exp(-F) by exponentials of the votes, not of the rows."""
        factors = np.exp(delta)
        with np.errstate(over="ignore"):
            self._exp *= answers(right, factors, 1.0 / factors)


LOSSES: dict[str, type[RunningLoss]] = {
    "multinomial": MultinomialLoss,
    "multitask": MultitaskLoss,
}
