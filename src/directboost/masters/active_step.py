"""A Newton step of the quadratic model that ends on the bounds it meets."""

import numpy as np

from .. import kernels
from ..arrays import Array
from .newton import NewtonStep
from .segments import segments_of

_TIE = 1e-9  # relative distance within which an entry counts as the largest of its part


class ActiveStep(NewtonStep):
    """The Newton step for models with many weights too many.

    A weight that would change its sign goes to zero. Where hundreds do, the step of the others,
    which was made to go with theirs, is no good any more: it is found anew with those at zero,
    again and again until no further one changes its sign. With p = inf a weight that would grow
    beyond the largest of its part is stopped there, and moves with it from then on.
    """

    def solve_within(self, iterations: int, tolerance: float, repeats: int) -> float:
        """Move the jumps of the model; return by how much it fell."""
        if not self.mask.any():
            return 0.0
        self._segments = segments_of(self._work, self._places, self._model.team)
        self.live = self._segments.jumps
        left = self._edges_left()
        V = self.V
        for again in range(repeats):
            rest = left - self._image(V - self.V) if again else left
            free = V + self._direction(V, rest, iterations, tolerance)
            V = _within(free, V, self._work.p)
            if np.array_equal(V, free):
                break
        return self._move(V - self.V, left)

    def _image(self, change: Array) -> Array:
        """Return the second derivative of the model times a change of V."""
        return kernels.model_product(self._work, self.live, change, self._model.team)

    def _direction(self, V: Array, left: Array, iterations: int, tolerance: float) -> Array:
        return kernels.model_newton(
            self._work, self.live, V, left, iterations, tolerance, self._model.team
        )


def _within(free: Array, V: Array, p: float) -> Array:
    """Return `free` (n, k) with the signs of V and, with p = inf, the largest entries of V."""
    inside = np.where(np.sign(free) == np.sign(V), free, 0.0)
    if not np.isinf(p):
        return inside
    for sign in (1.0, -1.0):
        part, ahead = np.maximum(sign * V, 0.0), np.maximum(sign * inside, 0.0)
        tied = part >= (1.0 - _TIE) * part.max(axis=1, keepdims=True)
        most = np.where(tied, ahead, 0.0).max(axis=1, keepdims=True)
        inside = np.where(part > 0.0, sign * np.minimum(ahead, most), inside)
    return inside
