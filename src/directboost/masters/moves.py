"""What makes a model smaller: a stump gives its weights to a neighbour, or loses them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints
from ..kernels.row_prox import row_norms
from ..kernels.work import ModelWork

_DIGITS = 6  # to which costs are compared: beyond them rounding would decide
_LONGEST = 20.0  # change of a score beyond which the exponential says enough


@dataclass(frozen=True)
class Moves:
    """Ways to save stumps, each with an estimate of what it adds to the objective.

    Attributes
    ----------
    source, target : (n,) int arrays
        Jumps, stacked as in the model; the target -1 drops the weights.
    weights : (n, k) array
        What leaves the source.
    cost : (n,) array
    saved : (n,) int array
        How many stumps fewer there are, at least one.
    """

    source: Ints
    target: Ints
    weights: Array
    cost: Array
    saved: Ints

    def cheapest(self, budget: float) -> Ints:
        """Return the moves that are cheapest per saved stump and cost so much together.

        No jump takes part in two of them.
        """
        unit = np.round(self.cost / (self.saved * budget), _DIGITS)
        chosen: list[int] = []
        touched: set[int] = set()
        for i in np.argsort(unit, kind="stable").tolist():
            jumps = {int(self.source[i]), int(self.target[i])} - {-1}
            if jumps & touched:
                continue
            budget -= max(float(self.cost[i]), 0.0)
            if budget < 0.0:
                break
            touched |= jumps
            chosen.append(i)
        return np.array(chosen, dtype=np.int64)

    def take(self, which: Ints) -> "Moves":
        """Return some of the moves."""
        return Moves(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def all_moves(work: ModelWork) -> Moves:
    """Return every move of weights of one sign, or of both, that saves a stump."""
    live = _Live(work)
    found = [moves for parts in _parts(live.V) for moves in live.moves(parts)]
    joined = Moves(
        *(np.concatenate([getattr(m, name) for m in found]) for name in Moves.__dataclass_fields__)
    )
    return joined.take(np.flatnonzero(joined.saved > 0))


def _parts(V: Array) -> Iterator[Array]:
    """Yield what may leave the jumps V: the weights of one polarity, or of both."""
    yield np.maximum(V, 0.0)
    yield np.minimum(V, 0.0)
    yield np.where(_stumps(V)[:, None] == 2, V, 0.0)


def count_stumps(V: Array) -> int:
    """Return of how many stumps the jumps V (n, k) consist."""
    return int(_stumps(V).sum())


def _stumps(V: Array) -> Ints:
    """Return of how many stumps every jump consists: one per sign, (n,)."""
    signs = np.stack([(V > 0.0).any(axis=1), (V < 0.0).any(axis=1)])
    return np.asarray(signs.sum(axis=0))


class _Live:
    """The jumps that are not zero, and sums of gradient and curvature to the left of them."""

    def __init__(self, work: ModelWork) -> None:
        self.places = np.flatnonzero(work.jumps.any(axis=1))
        self.V, self._p = work.jumps[self.places], work.p
        feature = np.searchsorted(work.first_jump, self.places, side="right") - 1
        jump, last = self.places - work.first_jump[feature], work.n_bins[feature] - 1
        missing_left = jump >= last
        self._nu = work.nu[feature]
        # A neighbour is of the same feature and sends missing values the same way.
        self._kind = 2 * feature + missing_left
        self._first = work.first_bin[feature]
        self._bin = self._first + 1 + np.where(missing_left, jump - last, jump)
        self._end = work.first_bin[feature + 1]
        self._right_end = self._end - missing_left
        self._sums = tuple(
            np.concatenate([np.zeros((1, work.k)), np.cumsum(values, axis=0)])
            for values in (work.G, work.D)
        )

    def moves(self, part: Array) -> Iterator[Moves]:
        """Yield the moves of `part` (n, k) of the jumps: to the left, to the right, away."""
        near = np.flatnonzero(self._kind[1:] == self._kind[:-1])
        yield self._shift(part, near + 1, near)
        yield self._shift(part, near, near + 1)
        yield self._drop(part)

    def _shift(self, part: Array, source: Ints, target: Ints) -> Moves:
        """Return moves to neighbours: the rows between the two thresholds change sides."""
        x, V = part[source], self.V
        left = np.minimum(self._bin[source], self._bin[target])
        right = np.maximum(self._bin[source], self._bin[target])
        G, D = (sums[right] - sums[left] for sums in self._sums)
        change = np.where((source < target)[:, None], -2.0, 2.0) * x
        cost = _added(G, D, change)
        before, after = (V[source], V[target]), (V[source] - x, V[target] + x)
        for sign, rows in ((-1.0, before), (1.0, after)):
            cost += sign * self._nu[source] * (self._norms(rows[0]) + self._norms(rows[1]))
        saved = sum(map(_stumps, before)) - sum(map(_stumps, after))
        return Moves(self.places[source], self.places[target], x, cost, np.asarray(saved))

    def _drop(self, part: Array) -> Moves:
        """Return moves away: all rows change, those on the right against the others."""
        right, both = (
            [sums[end] - sums[first] for sums in self._sums]
            for first, end in ((self._bin, self._right_end), (self._first, self._end))
        )
        cost = _added(2.0 * right[0] - both[0], both[1], -part)
        cost += self._nu * (self._norms(self.V - part) - self._norms(self.V))
        saved = _stumps(self.V) - _stumps(self.V - part)
        return Moves(self.places, np.full(self.places.size, -1), part, cost, saved)

    def _norms(self, V: Array) -> Array:
        return row_norms(np.maximum(V, 0.0), self._p) + row_norms(np.maximum(-V, 0.0), self._p)


def _added(G: Array, D: Array, change: Array) -> Array:
    """Return what a change of the scores of rows adds to their loss, at most, (n,).

    G and D are the sums of A = -dL/dF and of the curvature over the rows. A margin that is large
    looks flat but is not: with |f'''| <= f'', which holds for the logistic and the exponential
    loss, f(x + d) <= f(x) + f'(x) d + f''(x) (e^|d| - |d| - 1).
    """
    size = np.minimum(np.abs(change), _LONGEST)
    return np.asarray((D * (np.expm1(size) - size) - G * change).sum(axis=1))
