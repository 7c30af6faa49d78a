"""NumPy twin of the Newton equations of the live jumps: the penalty, and conjugate gradients."""

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .reference_model import model_product
from .row_prox import row_norms
from .work import LiveJumps, ModelWork, Team

RIDGE = 1e-3  # share of the diagonal added to the second derivative


def model_newton(
    work: ModelWork,
    live: LiveJumps,
    V: Array,
    left: Array,
    most: int,
    tolerance: float,
    team: Team | None = None,
) -> Array:
    """Return the Newton direction (jumps, k) of the non-zero entries of the live jumps V.

    Solves H x = left - slope, H the second derivative of the model and of the penalty, by
    conjugate gradients: at most so many iterations, or to a relative residual. Zero entries stay;
    with p = inf the largest entries of a sign part move together. The compiled kernel has a
    better preconditioner, and so takes another way to the same solution.
    """
    mask, bend = V != 0.0, Bend(V, live.penalties(work), work.p)
    counts, firsts = np.diff(live.offsets), np.cumsum(live.n_segments) - live.n_segments
    totals = np.repeat(np.add.reduceat(live.D, firsts, axis=0), counts, axis=0)
    diagonal = np.maximum(totals + bend.diagonal, 1e-12 * float((totals + bend.diagonal).max()))

    def product(d: Array) -> Array:
        image = model_product(work, live, d) + bend(d) + RIDGE * diagonal * d
        return bend.tie(np.where(mask, image, 0.0))

    def precondition(residual: Array) -> Array:
        return bend.tie(np.where(mask, residual / diagonal, 0.0))

    right = bend.tie(np.where(mask, left - bend.slope, 0.0))
    return _conjugate_gradients(product, precondition, right, most, tolerance)


def _conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    right: Array,
    most: int,
    tolerance: float,
) -> Array:
    x, residual = np.zeros_like(right), right.copy()
    scaled = precondition(residual)
    direction, size = scaled.copy(), float((residual * scaled).sum())
    goal = tolerance**2 * size
    for _ in range(most):
        if size <= goal:
            break
        image = product(direction)
        curvature = float((direction * image).sum())
        if not curvature > 0.0:
            break
        x += size / curvature * direction
        residual -= size / curvature * image
        scaled = precondition(residual)
        before, size = size, float((residual * scaled).sum())
        direction = scaled + size / before * direction
    return x


class Bend:
    """Slope and second derivative of nu sum (||v_+||_p + ||v_-||_p) on the non-zero entries."""

    def __init__(self, V: Array, nu: Array, p: float) -> None:
        self._positive, self._negative = V > 0.0, V < 0.0
        self._p, size = p, np.abs(V)
        norm = self._of_part(V, lambda part: row_norms(part, p))
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
        return np.asarray(np.where(self._positive, plus[:, None], minus[:, None]))

    def _sums(self, x: Array) -> Array:
        """Return for every entry the sum of x over its sign part."""
        plus = np.where(self._positive, x, 0.0).sum(axis=1, keepdims=True)
        minus = np.where(self._negative, x, 0.0).sum(axis=1, keepdims=True)
        return np.asarray(np.where(self._positive, plus, minus))

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
