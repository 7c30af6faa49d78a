"""The W-update of one row block for the hinge: a quadratic program, solved through its dual."""

import numpy as np
from scipy.linalg import solve

from ..arrays import Array, Bools
from ..kernels.simplex import project_l1_ball
from .block_update import BlockLoss, BlockUpdate
from .cones import LOSS_CONES, ConeProgram, Margins
from .interior_point import interior_point
from .margin_rows import MarginRows, identity, limit_hinge

_NEWTON_STEPS = 30
_VIOLATION = 1e-9  # of the slacks, which are of the size of 1
_RIDGE = 1e-13  # share of the trace: equal rows make the system singular, though consistent


class HingeUpdate(BlockUpdate):
    """The update for the hinge, both margins: min f(W) + sigma/2 ||W - V||^2.

    The hinge of a row is a maximum of pieces, linear in W: slack S_ip = 1 - rho_ip, and one piece
    that is 0. The dual variables U_ip >= 0 of the pieces of a row sum to its mass, and

        W = V + H' A(U) / sigma,    U_ip > 0 only where S_ip is the largest slack of row i.

    Given the pieces with U_ip > 0 that is a linear system. A semismooth Newton method finds them:
    they are the support of the projection of U + step S on the simplices. It starts from the
    last U, and near the end of an ADMM run one system is all it takes. Where it does not settle,
    an interior-point method gives the start.

    Paper: Eq. 61 (W-update of a block, hinge).
    Differs: the paper divides by the rows of the block, m_q; then the blocks do not add up.
    """

    def __init__(self, loss: BlockLoss, U: Array) -> None:
        self.loss = loss
        rows = loss.rows
        m, k = U.shape
        pairwise = rows.own is not None
        self.mass = rows.share if pairwise else rows.c
        # One-vs-all, with a single class here, the piece 0 is an extra column behind it.
        self.own = rows.own if rows.own is not None else np.full(m, k)
        self.U = U if pairwise else np.column_stack([U, rows.c - U[:, 0]])
        self.slopes = np.zeros((m, self.U.shape[1], k))  # of S_ip in F_i:
        for p in range(k):
            one = np.zeros((m, k))
            one[:, p] = 1.0
            self.slopes[:, p] = -loss.margin.adjoint(one)

    def multiplier(self) -> Array:
        """Return the edges of U."""
        return -self.loss.gradient_of(self.weights())

    def weights(self) -> Array:
        """Return the duals of the last program, a point of the dual domain."""
        return self.U[:, : self.slopes.shape[2]]

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Solve to rounding, whatever the tolerance."""
        U, settled = self._newton(self.U, center, sigma)
        if not settled:
            start = self._interior(center, sigma)
            U, settled = self._newton(start, center, sigma)
            U = U if settled else start
        self.U = U
        return self._primal(center, sigma)(U)

    def _primal(self, center, sigma):
        return lambda U: center - self.loss.gradient_of(U[:, : self.slopes.shape[2]]) / sigma

    def _slacks(self, x: Array) -> Array:
        """Return S, (m, pieces)."""
        S = np.zeros(self.U.shape)
        S[:, : self.slopes.shape[2]] = 1.0 - self.loss.margins(x)
        S[np.arange(S.shape[0]), self.own] = 0.0
        return S

    def _newton(self, U: Array, center: Array, sigma: float) -> tuple[Array, bool]:
        """Return the duals, and whether they are optimal."""
        primal = self._primal(center, sigma)
        step = sigma / self.loss.H.shape[1]
        for _ in range(_NEWTON_STEPS):
            S = self._slacks(primal(U))
            support = self._project(U + step * S) > 0.0
            if self._optimal(U, S):
                return self._project(U), True
            U = self._equalise(support, U, center, sigma)
        return U, False

    def _optimal(self, U: Array, S: Array) -> bool:
        lag = np.where(U > 1e-9*self.mass[:,None], S.max(axis=1, keepdims=True) - S, 0.0)
        return bool((U >= -1e-9 * self.mass[:, None]).all() and lag.max() <= _VIOLATION)

    def _project(self, U: Array) -> Array:
        """Project every row on the simplex of its mass."""
        raised = U - U.min(axis=1, keepdims=True) + self.mass[:, None]
        return project_l1_ball(raised, self.mass)

    def _equalise(self, support: Bools, U: Array, center: Array, sigma: float) -> Array:
        """Return the duals on the support whose pieces have equal slacks in every row."""
        every = np.arange(U.shape[0])
        base = np.where(support, U, -np.inf).argmax(axis=1)
        fixed = np.zeros_like(U)
        fixed[every, base] = self.mass
        free = support.copy()
        free[every, base] = False
        i, p = np.nonzero(free)
        if i.size == 0:
            return fixed
        S = self._slacks(self._primal(center, sigma)(fixed))
        H, d = self.loss.H[i], self.slopes[i, p] - self.slopes[i, base[i]]
        system = (H @ H.T) * (d @ d.T) / sigma
        system.flat[:: i.size + 1] += _RIDGE * np.trace(system)
        moved = solve(system, S[i, p] - S[i, base[i]], assume_a="pos")
        fixed[i, p] = moved
        np.subtract.at(fixed, (i, base[i]), moved)
        return fixed

    def _interior(self, center: Array, sigma: float) -> Array:
        """Return the duals by an interior-point method."""
        loss = self.loss
        m, k = self.weights().shape
        program, kept = ConeProgram(), MarginRows(loss.margin, m)
        W = program.variables(-sigma * center, curvature=sigma)
        F = program.variables(np.zeros(m * k))
        H = np.kron(loss.H, np.eye(k))
        first = program.constrain([("zero", m * k)], [(W, H), (F, -identity(m * k))], np.zeros(m * k))
        LOSS_CONES["hinge"].add(program, Margins(F, kept, loss.rows, 1.0))
        z = np.array(interior_point(program, 0.99).z)
        U = np.maximum(kept.scatter(kept.sign * z[first + kept.index]), 0.0)
        U = limit_hinge(U, loss.rows)
        full = np.zeros_like(self.U); full[:, :k] = U
        full[np.arange(m), self.own] = 0
        full[np.arange(m), self.own] = np.maximum(self.mass - full.sum(axis=1), 0)
        return full
