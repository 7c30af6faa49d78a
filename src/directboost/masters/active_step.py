"""A Newton step of the quadratic model that ends on the bounds it meets."""

import numpy as np

from .. import kernels
from ..arrays import Array
from .newton import NewtonStep
from .segments import segments_of


class ActiveStep(NewtonStep):
    """The Newton step for models with many weights too many.

    A weight that would change its sign goes to zero. Where hundreds do, the step of the others,
    which was made to go with theirs, is no good any more: it is found anew with those at zero,
    again and again until no further one changes its sign.
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
            change = V - self.V
            rest = left - self._image(change) if again else left
            direction = self._direction(V, rest, iterations, tolerance)
            ahead = np.where(np.sign(V + direction) == np.sign(V), V + direction, 0.0)
            crossed = bool(((ahead == 0.0) & (V != 0.0)).any())
            V = ahead
            if not crossed:
                break
        return self._move(V - self.V, left)

    def _image(self, change: Array) -> Array:
        """Return the second derivative of the model times a change of V."""
        return kernels.model_product(self._work, self.live, change, self._model.team)

    def _direction(self, V: Array, left: Array, iterations: int, tolerance: float) -> Array:
        return kernels.model_newton(
            self._work, self.live, V, left, iterations, tolerance, self._model.team
        )
