"""NumPy twin of a Newton step on the live jumps: the penalty, and conjugate gradients."""

from collections.abc import Callable

import numpy as np

from ...arrays import Array, Ints, Scores
from ..prox import row_norms
from ..step_functions import answers, live_jumps
from ..structs import QuadraticModelArrays, Team

RIDGE = 1e-3  # share of the diagonal added to the second derivative
TIE = 1e-9  # relative distance from the maximum of a part that is none


def model_newton(
    work: QuadraticModelArrays,
    most: int,
    tolerance: float,
    repeats: int = 1,
    enough: float = np.inf,
    team: Team | None = None,
) -> float:
    """Take a Newton step on the non-zero jumps, in place; return by how much the model fell.

    Solves H x = left - slope, H the second derivative of the model and of the penalty, by
    conjugate gradients: at most so many iterations, or to a relative residual. Zero entries stay,
    and entries that would change their sign become zero; with p = inf the largest entries of a
    sign part move together, and one that would outgrow them is stopped there. Where a bound is
    met the step is found anew with those entries held, up to `repeats` times in all; but not
    where it gains, to first order, a share `enough` of its curvature. From 0.5 on the whole step
    does not raise the model and is taken, else the lowest point of the model on the way. The
    compiled kernel has a better preconditioner, and so takes another way to the same solution.
    """
    places = np.flatnonzero(live_jumps(work.jumps))
    if places.size == 0:
        return 0.0
    live, V = _Live(work, places), work.jumps[places]
    left = live.edges(work.Q[:, : work.k], work.G - work.ridge * work.change, -1.0)
    at = V
    for _ in range(repeats):
        rest = left - live.product(at - V)
        free = at + _direction(work, live, at, rest, most, tolerance)
        held = _within(free, at, work.p)
        at = held
        if np.array_equal(held, free):
            break
        change = at - V
        gain = float((left * change).sum()) + live.penalty(V) - live.penalty(at)
        if gain >= enough * float((change * live.product(change)).sum()):
            break
    return _move(work, live, places, at - V, left)


def _within(free: Array, V: Array, p: float) -> Array:
    """Return `free` (n, k) with the signs of V and, with p = inf, the largest entries of V."""
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
    work: QuadraticModelArrays, live: "_Live", places: Ints, change: Array, left: Array
) -> float:
    V = work.jumps[places]
    gain = float((left * change).sum() + live.penalty(V) - live.penalty(V + change))
    scores, tables = live.scores(change)
    image = work.bend(scores)
    curvature = float((scores * image).sum() + (work.ridge * tables**2).sum())
    step = max(gain, 0.0) / curvature if gain < 0.5 * curvature else 1.0
    work.jumps[places] += step * change
    work.change[:] += step * tables
    work.Q[:, : work.k] += step * image
    return step * gain - 0.5 * step**2 * curvature


def _direction(
    work: QuadraticModelArrays, live: "_Live", V: Array, left: Array, most: int, tolerance: float
) -> Array:
    mask, penalty = V != 0.0, PenaltyCurvature(V, live.nu, work.p)
    totals = np.add.reduceat(work.D, work.first_bin[:-1], axis=0)[live.feature]
    diagonal = np.where(mask, totals + penalty.diagonal, 0.0)
    diagonal = np.maximum(diagonal, 1e-12 * float(diagonal.max()))

    def product(d: Array) -> Array:
        image = live.product(d) + penalty(d) + RIDGE * diagonal * d
        return penalty.tie(np.where(mask, image, 0.0))

    def precondition(residual: Array) -> Array:
        return penalty.tie(np.where(mask, residual / diagonal, 0.0))

    right = penalty.tie(np.where(mask, left - penalty.slope, 0.0))
    return _conjugate_gradients(product, precondition, right, most, tolerance)


class _Live:
    """What the live jumps, at these places of all jumps, answer to the bins of their features."""

    def __init__(self, work: QuadraticModelArrays, places: Ints) -> None:
        self._work = work
        self.feature = np.searchsorted(work.first_jump, places, side="right") - 1
        self.nu = work.nu[self.feature]
        self._answers = []
        for w in np.unique(self.feature):
            rows = np.flatnonzero(self.feature == w)
            jump = places[rows] - work.first_jump[w]
            every = answers(int(work.n_bins[w]), int(work.kinds[w]))
            self._answers.append((w, rows, every[jump]))

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
        """Return the edges of the live jumps for sums over the bins plus rows times the sign."""
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
        return self.edges(self._work.bend(scores), self._work.ridge * tables)

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
