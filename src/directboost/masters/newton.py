"""A Newton step of the quadratic model on the weights that are not zero."""

import numpy as np

from .. import kernels
from ..arrays import Array
from ..kernels.row_prox import row_norms
from .quadratic import QuadraticModel
from .segments import edges_of, segments_of, tables_of


class NewtonStep:
    """The model on the non-zero entries of the jumps, whose signs stay.

    Conventions. The live jumps of all features are stacked into V (n, k); unknowns are its
    non-zero entries `mask`. With p = inf the largest entries of a sign part are tied: they move
    together, and the penalty is linear.
    """

    def __init__(self, model: QuadraticModel) -> None:
        self._model, self._work = model, model.work
        work = self._work
        self._places = np.flatnonzero(work.jumps.any(axis=1))
        self.V = work.jumps[self._places]
        self.mask = self.V != 0.0
        self._nu = work.nu[np.searchsorted(work.first_jump, self._places, side="right") - 1]

    def solve(self, iterations: int, tolerance: float) -> float:
        """Move the jumps of the model; return by how much it fell."""
        if not self.mask.any():
            return 0.0
        self._segments = segments_of(self._work, self._places, self._model.team)
        self.live = self._segments.jumps
        left = self._edges_left()
        direction = kernels.model_newton(
            self._work, self.live, self.V, left, iterations, tolerance, self._model.team
        )
        target = self.V + direction
        target = np.where(np.sign(target) == np.sign(self.V), target, 0.0)
        return self._move(target - self.V, left)

    def _edges_left(self) -> Array:
        """Return the edges of the live jumps at what is left of the gradient, (n, k)."""
        work = self._work
        sums = self._segments.sums(work.G - work.ridge * work.change)
        return edges_of(self.live, sums) - kernels.model_gather(work, self.live, self._model.team)

    def _move(self, change: Array, left: Array) -> float:
        """Go along a change of V to the lowest point of the model, at most to its end."""
        gain = float((left * change).sum()) + self._penalty(self.V) - self._penalty(self.V + change)
        curvature = kernels.model_move(self._work, self.live, change, self._model.team)
        step = 1.0
        if gain < 0.5 * curvature:
            step = gain / curvature if gain > 0.0 else 0.0
            kernels.model_move(self._work, self.live, (step - 1.0) * change, self._model.team)
        self._write(step * change, self.V + change if step == 1.0 else self.V + step * change)
        return step * gain - 0.5 * step**2 * curvature

    def _write(self, change: Array, V: Array) -> None:
        """Store the new jumps, and what they change in the tables."""
        work = self._work
        work.jumps[self._places] = V
        self._segments.spread(tables_of(self.live, change), work.change)

    def _penalty(self, V: Array) -> float:
        parts = (np.maximum(V, 0.0), np.maximum(-V, 0.0))
        norms = sum(row_norms(part, self._work.p) for part in parts)
        return float(self._nu @ np.asarray(norms))
