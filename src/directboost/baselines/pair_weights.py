"""Weights of the pairs (row, wrong class), moved along one stump of one class at a time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .rounds import FLOOR, NO_EDGE, Problem


@dataclass(eq=False)
class Coordinate:
    """A stump of one class: F_c += weight * polarity * h, with the weight at least 0.

    `helped` says for which rows it makes weights of pairs smaller, a bit per row.
    """

    label: int
    place: int
    polarity: int
    helped: npt.NDArray[np.uint8]
    weight: float = 0.0


class PairWeights:
    """mu_ir = s_i exp(F_ir - F_{i y_i}) for r != y_i, and the best weight of one coordinate.

    Rows lie in the order of their classes, so that those of a class are a block, and the array is
    (k, m): the weights of all pairs with one wrong class are together.

    Parameters
    ----------
    problem : Problem
    nu : float
        Price of a weight.

    Attributes
    ----------
    mu : (k, m) array
    total : float
        Their sum.
    """

    def __init__(self, problem: Problem, nu: float) -> None:
        self._problem, self._nu = problem, nu
        self._order = np.argsort(problem.labels, kind="stable")
        ends = np.cumsum(np.bincount(problem.labels, minlength=problem.k))
        self._blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self.mu: Array = np.tile(problem.v[self._order] * problem.size, (problem.k, 1))
        for c, block in enumerate(self._blocks):
            self.mu[c, block] = 0.0
        self.sum_up()

    def gradients(self) -> Array:
        """Return V_ic = [y_i = c] sum_r mu_ir - mu_ic, (m, k), rows as they were given."""
        V = -self.mu
        for c, block in enumerate(self._blocks):
            np.add.reduce(self.mu[:, block], axis=0, out=V[c, block])
        G = np.empty((V.shape[1], V.shape[0]))
        G[self._order] = V.T
        return G

    def proposals(self) -> list[Coordinate]:
        """Return the stump with the largest edge sum_i V_ic h(x_i) for every class."""
        places, edges = self._problem.search.bests(self.gradients())
        found = zip(places.tolist(), np.where(edges < 0.0, -1, 1).tolist(), strict=True)
        return [self._coordinate(c, *stump) for c, stump in enumerate(found)]

    def _coordinate(self, c: int, place: int, polarity: int) -> Coordinate:
        right = self._problem.search.right(place)[self._order]
        helped = right == (polarity < 0)  # the pairs (i, c) of the other classes
        helped[self._blocks[c]] ^= True
        return Coordinate(c, place, polarity, np.packbits(helped))

    def solve(self, coordinate: Coordinate, rate: float = 1.0) -> float:
        """Give a coordinate `rate` times its best weight, all others fixed; return its change."""
        c, block = coordinate.label, self._blocks[coordinate.label]
        helped = np.unpackbits(coordinate.helped, count=self.mu.shape[1]).view(np.bool_)
        weights = self.mu[c].copy()
        np.add.reduce(self.mu[:, block], axis=0, out=weights[block])
        gain, loss = float(weights @ helped), float(weights @ ~helped)
        # Without the coordinate the sums of weights are these.
        factor = np.exp(coordinate.weight)
        change = rate * self._best(gain * factor, loss / factor) - coordinate.weight
        if change != 0.0:
            step = np.exp(change)
            factors = np.where(helped, 1.0 / step, step)
            self.mu[c] *= factors
            self.mu[:, block] *= factors[block]
            self.total += gain * (1.0 / step - 1.0) + loss * (step - 1.0)
            coordinate.weight += change
        return change

    def _best(self, gain: float, loss: float) -> float:
        """Return w >= 0 with the least gain exp(-w) + loss exp(w) + nu w.

        For nu = 0 with a floor, and 0 without an edge: where next to all pairs that are touched
        are settled. Both are relative to the weights, which fall without end.
        """
        if self._nu > 0.0:
            if gain - loss <= self._nu:
                return 0.0
            half = self._nu / 2.0  # the root in the form without a difference, for loss = 0 too
            return max(float(np.log(gain / (np.sqrt(gain * loss + half * half) + half))), 0.0)
        if gain - loss <= NO_EDGE * self.total:
            return 0.0
        floor = FLOOR * (gain + loss)
        return float(np.log((gain + floor) / (loss + floor))) / 2.0

    def sum_up(self) -> float:
        """Sum all weights anew, without the rounding of single steps, and return that."""
        self.total = float(self.mu.sum())
        return self.total

    def rescale(self) -> None:
        """Divide all weights by their sum."""
        self.mu /= self.total
        self.total = 1.0
