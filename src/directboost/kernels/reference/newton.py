"""NumPy twin of the Newton step on the non-zero jumps, by conjugate gradients."""

from collections.abc import Callable

import numpy as np

from ...arrays import Array, Ints, Scores
from ..prox import row_norms
from ..step_functions import answers, live_jumps
from ..structs import QuadraticModelArrays
from ..threads import Team

RIDGE = 1e-3  # share of the diagonal added to the second derivative
TIE = 1e-9  # entries of a sign part within this relative distance of its maximum are tied


def model_newton(
    work: QuadraticModelArrays,
    most: int,
    tolerance: float,
    repeats: int = 1,
    enough: float = np.inf,
    team: Team | None = None,
) -> float:
    """Take a Newton step on the non-zero jumps, in place; return the decrease of the model.

    Solves H x = left - slope, with H the second derivative of the model and of the penalty, by
    conjugate gradients: at most `most` iterations, or to the relative residual `tolerance`. Zero
    entries stay zero, and entries that would change their sign become zero. With p = inf the
    largest entries of a sign part move together, and an entry that would outgrow them is stopped
    there. If a bound is met, the step is recomputed with those entries fixed, up to `repeats`
    times in all, unless it gains, to first order, a share `enough` of its curvature. If it gains
    at least 0.5 of its curvature, the whole step does not raise the model and is taken; else the
    step ends at the minimum of the model along it. The compiled kernel has a better
    preconditioner, so it reaches the same solution by other iterates.
    """
    places = np.flatnonzero(live_jumps(work.jumps))
    if places.size == 0:
        return 0.0
    active, V = _ActiveSet(work, places), work.jumps[places]
    left = active.edges(work.Q[:, : work.k], work.G - work.ridge * work.change, -1.0)
    at = V
    for _ in range(repeats):
        rest = left - active.product(at - V)
        free = at + _direction(work, active, at, rest, most, tolerance)
        at = _within(free, at, work.p)
        if np.array_equal(at, free):
            break
        change = at - V
        gain = float((left * change).sum()) + active.penalty(V) - active.penalty(at)
        if gain >= enough * float((change * active.product(change)).sum()):
            break
    return _move(work, active, places, at - V, left)


def _within(free: Array, V: Array, p: float) -> Array:
    """Return `free` (n, k) clipped to the signs of V and, with p = inf, to its largest entries."""
    inside = np.where(np.sign(free) == np.sign(V), free, 0.0)
    if not np.isinf(p):
        return inside
    for sign in (1.0, -1.0):
        part, ahead = np.maximum(sign * V, 0.0), np.maximum(sign * inside, 0.0)
        tied = (part >= (1.0 - TIE) * part.max(axis=1, keepdims=True)) & (part > 0.0)
        most = np.where(tied, ahead, 0.0).max(axis=1, keepdims=True)
        inside = np.where(part > 0.0, sign * np.minimum(ahead, most), inside)
    return inside


def _move(
    work: QuadraticModelArrays, active: "_ActiveSet", places: Ints, change: Array, left: Array
) -> float:
    V = work.jumps[places]
    gain = float((left * change).sum() + active.penalty(V) - active.penalty(V + change))
    scores, tables = active.scores(change)
    image = work.hessian_product(scores)
    curvature = float((scores * image).sum() + (work.ridge * tables**2).sum())
    step = max(gain, 0.0) / curvature if gain < 0.5 * curvature else 1.0
    work.jumps[places] += step * change
    work.change[:] += step * tables
    work.Q[:, : work.k] += step * image
    return step * gain - 0.5 * step**2 * curvature


def _direction(
    work: QuadraticModelArrays,
    active: "_ActiveSet",
    V: Array,
    left: Array,
    most: int,
    tolerance: float,
) -> Array:
    mask, penalty = V != 0.0, PenaltyCurvature(V, active.nu, work.p)
    totals = np.add.reduceat(work.D, work.first_bin[:-1], axis=0)[active.feature]
    diagonal = np.where(mask, totals + penalty.diagonal, 0.0)
    diagonal = np.maximum(diagonal, 1e-12 * float(diagonal.max()))

    def product(d: Array) -> Array:
        image = active.product(d) + penalty(d) + RIDGE * diagonal * d
        return penalty.tie(np.where(mask, image, 0.0))

    def precondition(residual: Array) -> Array:
        return penalty.tie(np.where(mask, residual / diagonal, 0.0))

    right = penalty.tie(np.where(mask, left - penalty.slope, 0.0))
    return _conjugate_gradients(product, precondition, right, most, tolerance)


class _ActiveSet:
    """The non-zero jumps, given by their places among all jumps, and their values on the bins."""

    def __init__(self, work: QuadraticModelArrays, places: Ints) -> None:
        self._work = work
        self.feature = np.searchsorted(work.first_threshold, places, side="right") - 1
        self.nu = work.nu[self.feature]
        self._answers = []
        for w in np.unique(self.feature):
            rows = np.flatnonzero(self.feature == w)
            threshold = places[rows] - work.first_threshold[w]
            every = answers(int(work.n_bins[w]), int(work.kinds[w]))
            self._answers.append((w, rows, every[threshold]))

    def _bins(self, w: int) -> slice:
        return slice(self._work.first_bin[w], self._work.first_bin[w + 1])

    def scores(self, V: Array) -> tuple[Scores, Array]:
        """Return the scores (n, k) and the tables (all bins, k) of jumps V."""
        work = self._work
        tables = np.zeros_like(work.change)
        scores = np.zeros((work.codes.shape[1], work.k), dtype=work.Q.dtype)
        for w, rows, signs in self._answers:
            tables[self._bins(w)] = signs.T @ V[rows]
            scores += tables[self._bins(w)][work.codes[work.features[w]]].astype(scores.dtype)
        return scores, tables

    def edges(self, rows_of_scores: Scores, sums: Array, sign: float = 1.0) -> Array:
        """Return the edges of the jumps for sums over the bins plus `sign` times rows of scores."""
        work, out = self._work, np.empty((self.feature.size, self._work.k))
        for w, rows, signs in self._answers:
            total = sums[self._bins(w)].copy()
            codes = work.codes[work.features[w]]
            np.add.at(total, codes, sign * rows_of_scores.astype(np.float64))
            out[rows] = signs @ total
        return out

    def product(self, V: Array) -> Array:
        """Return the second derivative of the model times jumps V."""
        scores, tables = self.scores(V)
        return self.edges(self._work.hessian_product(scores), self._work.ridge * tables)

    def penalty(self, V: Array) -> float:
        """Return the penalty of the jumps V."""
        parts = (np.maximum(V, 0.0), np.maximum(-V, 0.0))
        return float(sum(self.nu @ row_norms(part, self._work.p) for part in parts))


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


class PenaltyCurvature:
    """Slope and second derivative of nu sum (||v_+||_p + ||v_-||_p) on the non-zero entries."""

    def __init__(self, V: Array, nu: Array, p: float) -> None:
        self._positive, self._negative = V > 0.0, V < 0.0
        self._p, size = p, np.abs(V)
        norm = self._of_part(V, lambda part: row_norms(part, p))
        norm = np.where(V != 0.0, norm, 1.0)
        unit = size / norm
        self._tied = (unit >= 1.0 - TIE) & (V != 0.0) if np.isinf(p) else None
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
        """Return the sum of x over the sign part of every entry."""
        plus = np.where(self._positive, x, 0.0).sum(axis=1, keepdims=True)
        minus = np.where(self._negative, x, 0.0).sum(axis=1, keepdims=True)
        return np.asarray(np.where(self._positive, plus, minus))

    def __call__(self, d: Array) -> Array:
        """Return the second derivative of the penalty times d (n, k)."""
        if self._tied is not None or self._p == 1.0:
            return np.zeros_like(d)
        return np.asarray(self.diagonal * d - self._scale * self._unit * self._sums(self._unit * d))

    def tie(self, d: Array) -> Array:
        """Return d with the tied entries of every sign part set to their mean (p = inf)."""
        if self._tied is None:
            return d
        signed = np.where(self._tied, np.where(self._negative, -d, d), 0.0)
        mean = self._sums(signed) / self._counts
        return np.where(self._tied, np.where(self._negative, -mean, mean), d)
