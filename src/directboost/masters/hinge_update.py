"""The W-update of one row block for the hinge: a quadratic program, solved through its dual."""

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, Bools
from ..kernels.prox import project_l1_ball
from .block_update import BlockLoss, BlockUpdate
from .cones import LOSS_CONES, ConeProgram, Margins
from .interior_point import interior_point
from .margin_rows import MarginRows, identity, limit_hinge

_NEWTON_STEPS = 30
_VIOLATION = 1e-9  # of the slacks, which are of the size of 1
_DUST = 1e-9  # share of the mass of a row
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

    Attributes
    ----------
    U : (m, pieces) array
        The duals of all pieces.
    slopes : (m, pieces, k) array
        Derivative of S_ip in the scores F_i:.

    Paper: Eq. 61 (W-update of a block, hinge).
    Differs: the paper divides by the rows of the block, m_q; then the blocks do not add up.
    """

    def __init__(self, loss: BlockLoss, U: Array) -> None:
        self.loss = loss
        rows, (m, k) = loss.rows, U.shape
        self._rows = np.arange(m)
        self.mass = rows.c if rows.own is None else rows.share
        # One-vs-all, where an update is for one class, the piece 0 is a column behind it.
        self.own = np.ones(m, dtype=np.intp) if rows.own is None else rows.own
        self.slopes = np.zeros((m, k if rows.own is not None else 2, k))
        for p in range(k):
            one = np.zeros((m, k))
            one[:, p] = 1.0
            self.slopes[:, p] = -loss.margin.adjoint(one)
        self.U = self._with_own(U)

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
        return self._primal(U, center, sigma)

    def _primal(self, U: Array, center: Array, sigma: float) -> Array:
        """Return W = V + H' A(U) / sigma, flattened."""
        return center - self.loss.gradient_of(U[:, : self.slopes.shape[2]]) / sigma

    def _slacks(self, x: Array) -> Array:
        """Return S, (m, pieces)."""
        S = np.zeros(self.U.shape)
        S[:, : self.slopes.shape[2]] = 1.0 - self.loss.margins(x)
        S[self._rows, self.own] = 0.0
        return S

    def _newton(self, U: Array, center: Array, sigma: float) -> tuple[Array, bool]:
        """Return the duals, and whether they are optimal."""
        step = sigma / self.loss.H.shape[1]  # the diagonal of the system is about n / sigma
        for _ in range(_NEWTON_STEPS):
            S = self._slacks(self._primal(U, center, sigma))
            if self._is_optimal(U, S):
                return self._project(U), True
            support = self._project(U + step * S) > 0.0
            U = self._equalise(support, U, center, sigma)
        return U, False

    def _is_optimal(self, U: Array, S: Array) -> bool:
        """Tell whether no U is negative, and all that are positive have the largest slack."""
        dust = _DUST * self.mass[:, None]
        lag = np.where(dust < U, S.max(axis=1, keepdims=True) - S, 0.0)
        return bool((-dust <= U).all() and lag.max() <= _VIOLATION)

    def _project(self, U: Array) -> Array:
        """Project every row on the simplex of its mass."""
        raised = U - U.min(axis=1, keepdims=True) + self.mass[:, None]
        # The sums are good to rounding; no entry may be above its mass even so.
        return np.minimum(project_l1_ball(raised, self.mass), self.mass[:, None])

    def _equalise(self, support: Bools, U: Array, center: Array, sigma: float) -> Array:
        """Return the duals on the support whose pieces have equal slacks in every row.

        The mass of a row lies on one piece of it, the base, and x moves some to the others:
        (H H' * d d') x / sigma = S - S of the base, with the differences d of the slopes.
        """
        base = np.where(support, U, -np.inf).argmax(axis=1)
        moved = np.zeros_like(U)
        moved[self._rows, base] = self.mass
        free = support.copy()
        free[self._rows, base] = False
        i, p = np.nonzero(free)
        if i.size == 0:
            return moved
        S = self._slacks(self._primal(moved, center, sigma))
        H, d = self.loss.H[i], self.slopes[i, p] - self.slopes[i, base[i]]
        system = (H @ H.T) * (d @ d.T) / sigma
        system.flat[:: i.size + 1] += _RIDGE * np.trace(system)
        x = np.linalg.solve(system, S[i, p] - S[i, base[i]])
        moved[i, p] = x
        np.subtract.at(moved, (i, base[i]), x)
        return moved

    def _interior(self, center: Array, sigma: float) -> Array:
        """Return the duals by an interior-point method."""
        m, k = self.weights().shape
        size, kept = m * k, MarginRows(self.loss.margin, m)
        program = ConeProgram()
        W = program.variables(-sigma * center, curvature=sigma)
        F = program.variables(np.zeros(size))
        responses = sp.kron(sp.csr_array(self.loss.H), identity(k))
        terms = [(W, responses), (F, -identity(size))]
        equations = program.constrain([("zero", size)], terms, np.zeros(size))
        LOSS_CONES["hinge"].add(program, Margins(F, kept, self.loss.rows, 1.0))
        z = np.array(interior_point(program, 0.99).z)[equations + kept.index]
        U = np.maximum(kept.scatter(kept.sign * np.nan_to_num(z)), 0.0)
        return self._with_own(limit_hinge(U, self.loss.rows))

    def _with_own(self, U: Array) -> Array:
        """Return the duals of all pieces: what the others leave of the mass is on the piece 0."""
        pieces = np.zeros(self.slopes.shape[:2])
        pieces[:, : U.shape[1]] = U
        pieces[self._rows, self.own] = 0.0
        pieces[self._rows, self.own] = np.maximum(self.mass - pieces.sum(axis=1), 0.0)
        return pieces
