"""The W-update of ADMM for one block of rows: smooth losses and the hinge."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag, cholesky, solve_triangular
from scipy.optimize import minimize

from ..arrays import Array, Bools
from ..kernels.prox import project_l1_ball
from ..losses import Loss, SampleWeights
from ..margins import Margin
from .conic import LOSS_CONES, ConeProgram, Margins, interior_point
from .lbfgsb import OVERFLOW
from .margin_matrix import MarginMatrix, identity, limit_hinge

_OPTIONS = {"maxcor": 20, "maxiter": 1000, "maxfun": 3000, "maxls": 40, "ftol": 0.0}
_MAX_DENSE = 800  # variables up to which the curvature is worth its time
_EPS = float(np.finfo(np.float64).eps)

_NEWTON_STEPS = 30  # of the update for the hinge
_VIOLATION = 1e-9  # of the slacks, which are of order 1
_NEGLIGIBLE = 1e-9  # share of the mass of a row
_RIDGE = 1e-13  # share of the trace: equal rows make the system singular, though consistent


class BlockUpdate(ABC):
    """W <- argmin f(W) + <M, W> + sigma/2 ||W - Z||^2 for the loss f of one block of rows.

    Completing the square gives the proximal operator of f: argmin f(W) + sigma/2 ||W - V||^2 at
    the center V = Z - M / sigma. An update stores its solution and starts the next one there.

    Conventions: x is W (n, k) flattened row by row, followed by any other variables that the blocks
    share; f has the scale of the whole loss, not that of its own rows.
    """

    @abstractmethod
    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Return x, with a gradient of about `tolerance` in every entry."""

    @abstractmethod
    def multiplier(self) -> Array:
        """Return the M for which x is a fixed point: minus a subgradient of f."""

    @abstractmethod
    def weights(self) -> Array:
        """Return the dual weights U of the rows at x."""


@dataclass(frozen=True)
class BlockLoss:
    """f(W) = L of the rows of one block, at the scale of the whole loss.

    The weights c_i = s_i / (S k) of `rows` refer to all rows, so that the blocks add up to L.

    Paper: Eq. 62 (loss of a block, logistic).
    Differs: the paper divides by the rows of the block, m_q k; then the blocks do not add up to
    the loss of all rows.

    Attributes
    ----------
    H : (m_q, n) array
    margin : Margin
        Margin of these rows, for all classes or one.
    loss : Loss
    rows : SampleWeights
    """

    H: Array
    margin: Margin
    loss: Loss
    rows: SampleWeights

    def margins(self, x: Array) -> Array:
        """Return rho (m_q, k)."""
        return self.margin.forward(self.H @ x.reshape(self.H.shape[1], -1))

    def gradient_from(self, U: Array) -> Array:
        """Return minus the edges of the columns for dual weights U, flattened."""
        return -np.asarray(self.H.T @ self.margin.adjoint(U)).ravel()

    def weights(self, x: Array) -> Array:
        """Return U = -df/drho, (m_q, k)."""
        return self.loss.negative_gradient(self.margins(x), self.rows)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Return f and its gradient."""
        rho = self.margins(x)
        gradient = self.gradient_from(self.loss.negative_gradient(rho, self.rows))
        return self.loss.value(rho, self.rows), gradient

    def curvature(self, x: Array) -> Array:
        """Return sum_i h_i h_i' (x) B_i, a model of the second derivative of f, (N, N).

        B_i = sum_r C_ir g_ir g_ir' with the curvature C of the loss and the derivatives g of the
        margins rho_ir in the scores of row i.
        """
        C = self.loss.curvature(self.margins(x), self.rows)
        m, k = C.shape
        slopes = np.stack([self.margin.adjoint(np.tile(one, (m, 1))) for one in np.eye(k)], axis=1)
        B = np.einsum("ip,ipr,ips->irs", C, slopes, slopes, optimize=True)
        n = self.H.shape[1]
        K = np.empty((n, k, n, k))
        for r in range(k):
            for s in range(r + 1):
                K[:, r, :, s] = self.H.T @ (B[:, r, s, None] * self.H)
                K[:, s, :, r] = K[:, r, :, s]
        return K.reshape(n * k, n * k)


@dataclass(frozen=True)
class LogSumBlock(BlockLoss):
    """f(W, t) = sum_ir c_i exp(-rho_ir - t) + part (t - 1), for x = (W, t).

    The logarithm of the exponential loss couples all rows. Since log sum c exp(-rho) =
    min_t sum c exp(-rho - t) + t - 1, the blocks share the scalar t in addition to W, and the
    parts of the blocks add up to 1. `rows` has no true classes, so the loss is the plain sum.
    """

    part: float

    def margins(self, x: Array) -> Array:
        """Return rho + t (m_q, k)."""
        return super().margins(x[:-1]) + float(x[-1])

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Return f and its gradient in (W, t)."""
        rho = self.margins(x)
        U = self.loss.negative_gradient(rho, self.rows)
        value = self.loss.value(rho, self.rows) + self.part * (float(x[-1]) - 1.0)
        return value, np.append(self.gradient_from(U), self.part - float(U.sum()))

    def curvature(self, x: Array) -> Array:
        """Return the model of the second derivative, without the mixed terms of W and t."""
        total = np.array([[float(self.weights(x).sum())]])
        return np.asarray(block_diag(super().curvature(x), total))


@dataclass(frozen=True)
class Transform:
    """Change of variables x = T z for the updates with one sigma.

    Attributes
    ----------
    sigma : float
    inverse_norm : float
        Upper bound of the norm of the inverse of T.
    T : (N, N) array or sparse array
    """

    sigma: float
    inverse_norm: float
    T: Any


class SmoothUpdate(BlockUpdate):
    """The update for a smooth loss, by L-BFGS without bounds.

    The variables are z with x = start + length T z, where T T' is the inverse of sigma plus the
    curvature of f. `length` turns the first step of L-BFGS, which has length 1, into a Newton step.
    Columns of stumps are highly correlated, so L-BFGS needs many steps without T.

    Paper: Eq. 47 (W-update, logistic).
    Paper: Eq. 65 (W-update of one class, one-vs-all).
    Differs: rho keeps the sign of Eq. 10, the true class minus another; below Eq. 48 the paper
    turns it around, which rewards errors.

    Parameters
    ----------
    loss : BlockLoss
    x : (N,) array
        Initial value.
    transform : Transform, optional
        Computed from the curvature at x by default.
    """

    def __init__(self, loss: BlockLoss, x: Array, transform: Transform | None = None) -> None:
        self.loss = loss
        self.x = x
        self._transform = transform

    def multiplier(self) -> Array:
        """Return minus the gradient of f."""
        return -self.loss.value_and_gradient(self.x)[1]

    def weights(self) -> Array:
        """Return U at x."""
        return self.loss.weights(self.x)

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Run L-BFGS; if rounding hides progress, run it again on finer values."""
        value, slope = self._evaluate(self.x, center, sigma)
        # A gradient g predicts a decrease of g^2 / (2 sigma); rounding of f may hide it.
        visible = float(np.sqrt(1e3 * _EPS * max(abs(value), _EPS) * sigma))
        if np.abs(slope).max() > max(tolerance, visible):
            self._descend(center, sigma, max(tolerance, visible), fine=False)
        if tolerance < visible:
            self._descend(center, sigma, tolerance, fine=True)
        return self.x

    def _descend(self, center: Array, sigma: float, tolerance: float, fine: bool) -> None:
        """Update x by one run of L-BFGS.

        With `fine`, the change of the value is computed as <g(x) + g(start), x - start> / 2, the
        trapezoidal rule. Its error is of third order in the step, far below the rounding of f if
        the steps are small. Changes and gradients are divided by length^2, so that L-BFGS works on
        numbers of order 1.
        """
        origin, transform = self.x, self.transform(sigma)
        T = transform.T
        first_value, first = self._evaluate(origin, center, sigma)
        length = float(np.linalg.norm(T.T @ first))
        if length == 0.0:
            return

        def value_and_gradient(z: Array) -> tuple[float, Array]:
            move = length * (T @ z)
            value, slope = self._evaluate(origin + move, center, sigma)
            change = 0.5 * float((slope + first) @ move) if fine else value - first_value
            change = change / length**2 if value != OVERFLOW else OVERFLOW
            return change, (T.T @ slope) / length

        # A gradient in x is at most one in z times the norm of the inverse of T.
        options = {**_OPTIONS, "gtol": tolerance / (length * transform.inverse_norm)}
        zero = np.zeros(origin.size)
        found = minimize(value_and_gradient, zero, method="L-BFGS-B", jac=True, options=options)
        self.x = origin + length * (T @ found.x)

    def transform(self, sigma: float) -> Transform:
        """Return T, recomputed if sigma has changed; a diagonal if there are many variables."""
        if self._transform is None or self._transform.sigma != sigma:
            self._transform = self._new_transform(sigma)
        return self._transform

    def _new_transform(self, sigma: float) -> Transform:
        size = self.x.size
        if size > _MAX_DENSE:
            scale = float(np.sqrt(sigma))
            return Transform(sigma, scale, sp.diags_array(np.full(size, 1.0 / scale)))
        K = self.loss.curvature(self.x) + sigma * np.eye(size)
        bound = float(np.sqrt(np.abs(K).sum(axis=0).max()))
        return Transform(sigma, bound, solve_triangular(cholesky(K), np.eye(size)))

    def _evaluate(self, x: Array, center: Array, sigma: float) -> tuple[float, Array]:
        """Return f(x) + sigma/2 ||x - center||^2 and its gradient."""
        # A user-defined loss may overflow on a step that is too long.
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = self.loss.value_and_gradient(x)
        move = x - center
        value, slope = loss + 0.5 * sigma * float(move @ move), gradient + sigma * move
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return OVERFLOW, np.zeros_like(x)
        return value, slope


class HingeUpdate(BlockUpdate):
    """The update for the hinge, with either margin: min f(W) + sigma/2 ||W - V||^2.

    The hinge of a row is a maximum of pieces that are linear in W: the slacks S_ip = 1 - rho_ip,
    and one piece that is 0. The dual variables U_ip >= 0 of the pieces of a row sum to its mass,
    and

        W = V + H' A(U) / sigma,    U_ip > 0 only where S_ip is the largest slack of row i.

    Given the pieces with U_ip > 0, that is a linear system. A semismooth Newton method finds them:
    they are the support of the projection of U + step S on the simplices. It starts from the
    last U, and near the end of an ADMM run it solves a single system. If it does not converge,
    an interior-point method provides the start.

    Attributes
    ----------
    U : (m, pieces) array
        Duals of all pieces.
    slopes : (m, pieces, k) array
        Derivative of S_ip in the scores F_i:.

    Paper: Eq. 61 (W-update of a block, hinge).
    Differs: the paper divides by the rows of the block, m_q; then the blocks do not add up.
    """

    def __init__(self, loss: BlockLoss, U: Array) -> None:
        self.loss = loss
        rows, (m, k) = loss.rows, U.shape
        self._rows = np.arange(m)
        self.mass = rows.c if rows.true_class is None else rows.share
        # Index of the piece that is 0. One-vs-all, an update is for one class, and that piece is a
        # second column.
        self.zero_piece = np.ones(m, dtype=np.intp) if rows.true_class is None else rows.true_class
        self.slopes = np.zeros((m, k if rows.true_class is not None else 2, k))
        for p in range(k):
            one = np.zeros((m, k))
            one[:, p] = 1.0
            self.slopes[:, p] = -loss.margin.adjoint(one)
        self.U = self._all_pieces(U)

    def multiplier(self) -> Array:
        """Return the edges of U."""
        return -self.loss.gradient_from(self.weights())

    def weights(self) -> Array:
        """Return the duals of the last update, a point of the dual domain."""
        return self.U[:, : self.slopes.shape[2]]

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Solve to rounding; the tolerance is ignored."""
        U, converged = self._newton(self.U, center, sigma)
        if not converged:
            start = self._interior(center, sigma)
            U, converged = self._newton(start, center, sigma)
            U = U if converged else start
        self.U = U
        return self._primal(U, center, sigma)

    def _primal(self, U: Array, center: Array, sigma: float) -> Array:
        """Return W = V + H' A(U) / sigma, flattened."""
        return center - self.loss.gradient_from(U[:, : self.slopes.shape[2]]) / sigma

    def _slacks(self, x: Array) -> Array:
        """Return S, (m, pieces)."""
        S = np.zeros(self.U.shape)
        S[:, : self.slopes.shape[2]] = 1.0 - self.loss.margins(x)
        S[self._rows, self.zero_piece] = 0.0
        return S

    def _newton(self, U: Array, center: Array, sigma: float) -> tuple[Array, bool]:
        """Return the duals and whether they are optimal."""
        step = sigma / self.loss.H.shape[1]  # the diagonal of the system is about n / sigma
        for _ in range(_NEWTON_STEPS):
            S = self._slacks(self._primal(U, center, sigma))
            if self._is_optimal(U, S):
                return self._project(U), True
            support = self._project(U + step * S) > 0.0
            U = self._equalise(support, U, center, sigma)
        return U, False

    def _is_optimal(self, U: Array, S: Array) -> bool:
        """Return whether no U is negative and every positive one belongs to the largest slack."""
        negligible = _NEGLIGIBLE * self.mass[:, None]
        lag = np.where(negligible < U, S.max(axis=1, keepdims=True) - S, 0.0)
        return bool((-negligible <= U).all() and lag.max() <= _VIOLATION)

    def _project(self, U: Array) -> Array:
        """Project every row on the simplex whose sum is its mass."""
        raised = U - U.min(axis=1, keepdims=True) + self.mass[:, None]
        # The sums are exact only to rounding, but no entry may exceed the mass.
        return np.minimum(project_l1_ball(raised, self.mass), self.mass[:, None])

    def _equalise(self, support: Bools, U: Array, center: Array, sigma: float) -> Array:
        """Return the duals on the support that make its pieces have equal slacks in every row.

        The mass of a row lies on one of its pieces, the base, and x moves some of it to the others:
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
        size, kept = m * k, MarginMatrix(self.loss.margin, m)
        program = ConeProgram()
        W = program.variables(-sigma * center, curvature=sigma)
        F = program.variables(np.zeros(size))
        responses = sp.kron(sp.csr_array(self.loss.H), identity(k))
        terms = [(W, responses), (F, -identity(size))]
        equations = program.constrain([("zero", size)], terms, np.zeros(size))
        LOSS_CONES["hinge"].add(program, Margins(F, kept, self.loss.rows, 1.0))
        z = np.array(interior_point(program, 0.99).z)[equations + kept.index]
        U = np.maximum(kept.scatter(kept.sign * np.nan_to_num(z)), 0.0)
        return self._all_pieces(limit_hinge(U, self.loss.rows))

    def _all_pieces(self, U: Array) -> Array:
        """Return the duals of all pieces: the piece 0 has the rest of the mass."""
        pieces = np.zeros(self.slopes.shape[:2])
        pieces[:, : U.shape[1]] = U
        pieces[self._rows, self.zero_piece] = 0.0
        pieces[self._rows, self.zero_piece] = np.maximum(self.mass - pieces.sum(axis=1), 0.0)
        return pieces
