"""The linear system of a Newton step: by the whole matrix, or by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Bools


@dataclass(frozen=True)
class NewtonSystem:
    """Second derivative times x = right, for the entries `mask` of (n, k) arrays.

    Attributes
    ----------
    product : callable
        The second derivative times an (n, k) array that is zero outside the mask.
    right : (n, k) array
        Minus the gradient, zero outside the mask.
    diagonal : (n, k) array
        A positive diagonal of the size of that of the second derivative; a share of it, the
        ridge, is added to the system.
    mask : (n, k) bool array
    """

    product: Callable[[Array], Array]
    right: Array
    diagonal: Array
    mask: Bools

    @cached_property
    def _matrix(self) -> Array:
        places = np.flatnonzero(self.mask)
        matrix = np.empty((places.size, places.size))
        for column, place in enumerate(places):
            unit = np.zeros(self.mask.size)
            unit[place] = 1.0
            matrix[:, column] = self.product(unit.reshape(self.mask.shape)).ravel()[places]
        return 0.5 * (matrix + matrix.T)

    def solve_directly(self, ridge: float) -> Array:
        """Solve with the whole matrix, (n, k).

        For few unknowns this is as quick as conjugate gradients, and does not let rounding grow
        where there are more unknowns than the rows can tell apart.
        """
        places = np.flatnonzero(self.mask)
        matrix = self._matrix + np.diag(ridge * self.diagonal.ravel()[places])
        solution = np.zeros(self.mask.size)
        solution[places] = np.linalg.solve(matrix, self.right.ravel()[places])
        return solution.reshape(self.mask.shape)

    def solve_by_gradients(self, ridge: float, most: int, tolerance: float) -> Array:
        """Solve by preconditioned conjugate gradients, to a relative residual, (n, k)."""
        x, residual = np.zeros_like(self.right), self.right.copy()
        scaled = residual / self.diagonal
        direction, size = scaled.copy(), float((residual * scaled).sum())
        goal = tolerance**2 * size
        for _ in range(most):
            if size <= goal or size == 0.0:
                break
            image = self.product(direction) + ridge * self.diagonal * direction
            curvature = float((direction * image).sum())
            if curvature <= 0.0:
                break
            step = size / curvature
            x += step * direction
            residual -= step * image
            scaled = residual / self.diagonal
            before, size = size, float((residual * scaled).sum())
            direction = scaled + size / before * direction
        return x
