"""A Newton step of the quadratic model on the weights that are not zero."""

from collections.abc import Callable

import numpy as np

from .. import kernels
from ..arrays import Array
from .newton_system import NewtonSystem
from .quadratic import QuadraticModel
from .segments import edges_of, segments_of, tables_of

_RIDGE = 1e-6  # share of the diagonal added to the second derivative


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
        self._segments = segments_of(work, self._places, model.team)
        self.live = self._segments.jumps
        self._nu = np.repeat(work.nu, np.diff(self.live.offsets))
        self._bend = _Bend(self.V, self._nu, work.p)

    def solve(self, iterations: int, tolerance: float) -> float:
        """Move the jumps of the model; return by how much it fell."""
        if not self.mask.any():
            return 0.0
        left = self._edges_left()
        gradient = np.where(self.mask, self._bend.slope - left, 0.0)
        system = NewtonSystem(self._product, -self._bend.tie(gradient), self._diagonal(), self.mask)
        direction = system.solve_by_gradients(_RIDGE, iterations, tolerance)
        target = self.V + direction
        target = np.where(np.sign(target) == np.sign(self.V), target, 0.0)
        return self._move(target - self.V, left)

    def _product(self, direction: Array) -> Array:
        image = kernels.model_product(self._work, self.live, direction, self._model.team)
        return self._bend.tie(np.where(self.mask, image + self._bend(direction), 0.0))

    def _edges_left(self) -> Array:
        """Return the edges of the live jumps at what is left of the gradient, (n, k)."""
        work = self._work
        bins = work.G - work.ridge * work.change
        sums = np.add.reduceat(bins, self._segments.starts, axis=0)
        return edges_of(self.live, sums) - kernels.model_gather(work, self.live, self._model.team)

    def _diagonal(self) -> Array:
        """Return the diagonal of the second derivative, about: every jump has the same."""
        totals = np.add.reduceat(self._work.D, self._work.first_bin[:-1], axis=0)
        counts = np.diff(self.live.offsets)
        diagonal = np.repeat(totals, counts, axis=0) + self._bend.diagonal
        return np.maximum(diagonal, 1e-12 * float(diagonal.max()))

    def _move(self, change: Array, left: Array) -> float:
        """Go along a change of V to the lowest point of the model, at most to its end."""
        gain = float((left * change).sum()) + self._penalty(self.V) - self._penalty(self.V + change)
        curvature = kernels.model_move(self._work, self.live, change, self._model.team)
        step = 1.0
        if gain < 0.5 * curvature:
            step = max(gain / curvature, 0.0)
            kernels.model_move(self._work, self.live, (step - 1.0) * change, self._model.team)
        self._write(step * change, self.V + change if step == 1.0 else self.V + step * change)
        return step * gain - 0.5 * step**2 * curvature

    def _write(self, change: Array, V: Array) -> None:
        """Store the new jumps, and what they change in the tables."""
        work = self._work
        work.jumps[self._places] = V
        tables = tables_of(self.live, change)
        sizes = np.diff(np.append(self._segments.starts, work.first_bin[-1]))
        work.change[:] += np.repeat(tables, sizes, axis=0)

    def _penalty(self, V: Array) -> float:
        parts = (np.maximum(V, 0.0), np.maximum(-V, 0.0))
        norms = sum(np.linalg.norm(part, ord=self._work.p, axis=1) for part in parts)
        return float(self._nu @ np.asarray(norms))


class _Bend:
    """Slope and second derivative of nu sum (||v_+||_p + ||v_-||_p) on the non-zero entries."""

    def __init__(self, V: Array, nu: Array, p: float) -> None:
        self._positive, self._negative = V > 0.0, V < 0.0
        self._p, size = p, np.abs(V)
        norm = self._of_part(V, lambda part: np.linalg.norm(part, ord=p, axis=1))
        norm = np.where(V != 0.0, norm, 1.0)
        unit = size / norm
        self._tied = (unit >= 1.0 - 1e-9) & (V != 0.0) if np.isinf(p) else None
        if self._tied is not None:
            self._counts = np.maximum(self._sums(self._tied.astype(np.float64)), 1.0)
            self.slope = np.where(self._tied, nu[:, None] * np.sign(V) / self._counts, 0.0)
            self.diagonal = np.zeros_like(V)
            return
        self.slope = nu[:, None] * np.sign(V) * unit ** (p - 1.0)
        powers = np.where(unit > 0.0, np.maximum(unit, 1e-300) ** (p - 2.0), 0.0)
        self.diagonal = nu[:, None] * (p - 1.0) * powers / norm
        self._scale = nu[:, None] * (p - 1.0) / norm
        self._unit = unit ** (p - 1.0) * np.sign(V)

    def _of_part(self, V: Array, function: Callable[[Array], Array]) -> Array:
        plus, minus = function(np.maximum(V, 0.0)), function(np.maximum(-V, 0.0))
        return np.where(self._positive, plus[:, None], minus[:, None])

    def _sums(self, x: Array) -> Array:
        """Return for every entry the sum of x over its sign part."""
        plus = np.where(self._positive, x, 0.0).sum(axis=1, keepdims=True)
        minus = np.where(self._negative, x, 0.0).sum(axis=1, keepdims=True)
        return np.where(self._positive, plus, minus)

    def __call__(self, d: Array) -> Array:
        """Return the second derivative of the penalty times d (n, k)."""
        if self._tied is not None or self._p == 1.0:
            return np.zeros_like(d)
        return np.asarray(self.diagonal * d - self._scale * self._unit * self._sums(self._unit * d))

    def tie(self, d: Array) -> Array:
        """Return d with the entries at the maximum of a part set to their mean (p = inf)."""
        if self._tied is None:
            return d
        signed = np.where(self._tied, np.where(self._negative, -d, d), 0.0)
        mean = self._sums(signed) / self._counts
        return np.where(self._tied, np.where(self._negative, -mean, mean), d)
