"""A Newton step on the weights that are not zero, by conjugate gradients in bin space."""

import numpy as np

from .. import kernels
from ..arrays import Array, Bools, Scores
from ..feature_columns import FeatureColumns, Jumps
from ..kernels.split import live_jumps
from ..problem import Objective
from .newton_system import NewtonSystem

_STEPS = 4  # tries of the line search, each 0.4 times the one before
_REPEATS = 6  # directions per call, each after an entry has left
_SMALL = 4_000_000  # entries of the matrix of responses up to which it is built
_FEW = 1000  # unknowns up to which many iterations are cheap
_MOST_EARLY, _MOST, _MOST_FEW = 10, 40, 400  # iterations of conjugate gradients
_DIRECT = 100  # unknowns up to which the matrix is built and solved directly
_NOISE = 1e-14  # relative rise of the objective that is rounding
_RIDGES = (1e-8, 1e-5, 1e-3)  # shares of the diagonal added to the second derivative, in turn


class NewtonStep:
    """The smooth problem on the non-zero entries of the jumps of a working set.

    Conventions. The live jumps of all features are stacked into V (n, k); unknowns are its
    non-zero entries `mask`, whose signs stay. Second derivatives are applied through the tables:
    direction to jumps to scores, the loss there, and back by histograms.
    """

    def __init__(self, objective: Objective, columns: FeatureColumns, W: Jumps) -> None:
        self._objective, self._columns = objective, columns
        self._sizes = [jumps.shape for jumps in W]
        self._live: list[Bools] = [live_jumps(jumps) for jumps in W]
        self.V = np.concatenate([jumps[live] for jumps, live in zip(W, self._live, strict=True)])
        self.mask = self.V != 0.0
        counts = [int(live.sum()) for live in self._live]
        self._cuts = np.cumsum(counts)[:-1]
        costs = columns.feature_costs[np.repeat(np.array(columns.features, np.intp), counts)]
        self._nu = objective.nu * costs
        small = columns.binned.n_rows * self.V.shape[0] <= _SMALL
        self._R = self._responses() if small else None

    def _responses(self) -> Array:
        """Return the responses of the live jumps, (m, n)."""
        source = self._columns.binned
        names = [
            (f, int(jump))
            for f, live in zip(self._columns.features, self._live, strict=True)
            for jump in np.flatnonzero(live)
        ]
        return np.stack([source.response(f, jump, 1) for f, jump in names], axis=1)

    def _scores(self, V: Array) -> Array:
        """Return the scores of stacked jumps, (m, k)."""
        if self._R is not None:
            return np.asarray(self._R @ V)
        return self._columns.scores(self._jumps(V))

    def solve(self, tolerance: float, early: bool) -> Jumps:
        """Return jumps that are no worse.

        A direction may drive an entry through zero although the others gain from it: then the
        step ends where the first entry gets there, the entry leaves, and the rest tries again.
        Where the loss is flat along a direction it may run far astray: a ridge draws it back.
        `early` says that the gap is still wide.
        """
        for _ in range(1 if early else _REPEATS):
            F = self._scores(self.V)
            before, system = self._value(self.V, F), self._system(F)
            for ridge in _RIDGES:
                direction = self._direction(system, ridge, tolerance, early)
                moved = self._step(direction, before)
                if moved or self._step_to_zero(direction, before):
                    break
            if moved or np.array_equal(self.mask, self.V != 0.0):
                break
            self.mask = self.V != 0.0
        return self._jumps(self.V)

    def _direction(
        self, system: NewtonSystem, ridge: float, tolerance: float, early: bool
    ) -> Array:
        """Solve the system with as many iterations as are worth it: few far from the optimum."""
        unknowns = int(self.mask.sum())
        if early:
            return system.solve_by_gradients(ridge, _MOST_EARLY, tolerance)
        if self._R is not None and unknowns <= _DIRECT:
            return system.solve_directly(ridge)
        few = self._R is not None and unknowns <= _FEW
        return system.solve_by_gradients(ridge, _MOST_FEW if few else _MOST, tolerance)

    def _step(self, direction: Array, before: float) -> bool:
        """Try steps with entries that change sign set to zero; keep the first that gains."""
        step = 1.0
        for _ in range(_STEPS):
            V = self.V + step * direction
            V = np.where(np.sign(V) == np.sign(self.V), V, 0.0)
            if self._value(V) < before:
                self.V = V
                return True
            step *= 0.4
        return False

    def _step_to_zero(self, direction: Array, before: float) -> bool:
        """Go as far as the first entry that reaches zero, if that is on the way and no loss."""
        falling = self.mask & (self.V * direction < 0.0)
        if not falling.any():
            return False
        lengths = np.full(self.V.shape, np.inf)
        lengths[falling] = -self.V[falling] / direction[falling]
        first = lengths.min()
        V = np.where(lengths <= first * (1.0 + 1e-12), 0.0, self.V + first * direction)
        if first >= 1.0 or self._value(V) > before + _NOISE * abs(before):
            return False
        self.V = np.where(self.mask, V, 0.0)
        return True

    def _value(self, V: Array, F: Array | None = None) -> float:
        scores = self._scores(V) if F is None else F
        return self._objective.loss_value(scores) + self._penalty(V)

    def _jumps(self, V: Array) -> Jumps:
        """Return the stacked jumps as the weights of the working set."""
        W = [np.zeros(size) for size in self._sizes]
        for jumps, live, rows in zip(W, self._live, np.split(V, self._cuts), strict=True):
            jumps[live] = rows
        return W

    def _edges(self, A: Scores) -> Array:
        """Return the edges of the live jumps, (n, k)."""
        if self._R is not None:
            return np.asarray(self._R.T @ A)
        binned, A = self._columns.binned, np.ascontiguousarray(A)
        found = [
            kernels.edges(binned.codes[f], int(binned.n_bins[f]), bool(binned.missing[f]), A)[live]
            for f, live in zip(self._columns.features, self._live, strict=True)
        ]
        return np.concatenate(found)

    def _system(self, F: Array) -> NewtonSystem:
        """Return the second derivative and the gradient at the scores F."""
        objective = self._objective
        rho = objective.margin.forward(F)
        A = objective.coefficients(objective.loss.weights(rho, objective.rows))
        bend = self._penalty_bend()
        gradient = np.where(self.mask, self._penalty_slope() - self._edges(A), 0.0)
        curve = objective.loss.curvature_map(rho, objective.rows)
        diagonal = objective.curvature(F).sum(axis=0) + bend.diagonal

        def product(direction: Array) -> Array:
            scores = self._scores(direction)
            image = objective.margin.adjoint(curve(objective.margin.forward(scores)))
            return np.where(self.mask, self._edges(image) + bend(direction), 0.0)

        floor = 1e-12 * float(diagonal.max())
        return NewtonSystem(product, -gradient, np.maximum(diagonal, floor), self.mask)

    def _penalty(self, V: Array) -> float:
        rows = np.concatenate([np.maximum(V, 0.0), np.maximum(-V, 0.0)])
        return self._objective.penalty.value(rows, np.concatenate([self._nu, self._nu]))

    def _parts(self) -> tuple[Array, Array]:
        """Return for every entry |v| and the norm of the sign part it belongs to."""
        norms = self._objective.penalty.norms
        plus, minus = norms(np.maximum(self.V, 0.0)), norms(np.maximum(-self.V, 0.0))
        own = np.where(self.V > 0.0, plus[:, None], minus[:, None])
        return np.abs(self.V), np.where(self.mask, own, 1.0)

    def _penalty_slope(self) -> Array:
        size, norm = self._parts()
        p = float(self._objective.penalty.p or 1.0)
        return np.asarray(self._nu[:, None] * np.sign(self.V) * (size / norm) ** (p - 1.0))

    def _penalty_bend(self) -> "_Bend":
        size, norm = self._parts()
        return _Bend(self.V, size / norm, norm, self._nu, float(self._objective.penalty.p or 1.0))


class _Bend:
    """Second derivative of nu sum (||v_+||_p + ||v_-||_p) on the non-zero entries."""

    def __init__(self, V: Array, unit: Array, norm: Array, nu: Array, p: float) -> None:
        powers = np.where(unit > 0.0, np.maximum(unit, 1e-300) ** (p - 2.0), 0.0)
        self.diagonal = nu[:, None] * (p - 1.0) * powers / norm
        self._scale = nu[:, None] * (p - 1.0) / norm
        self._unit = unit ** (p - 1.0) * np.sign(V)
        self._positive, self._negative = V > 0.0, V < 0.0

    def __call__(self, d: Array) -> Array:
        """Return the second derivative times d (n, k)."""
        along = self._unit * d
        plus = np.where(self._positive, along, 0.0).sum(axis=1, keepdims=True)
        minus = np.where(self._negative, along, 0.0).sum(axis=1, keepdims=True)
        own = np.where(self._positive, plus, minus)
        return np.asarray(self.diagonal * d - self._scale * self._unit * own)
