"""The whole problem as a CVXPY model, straight from the theory page; no import of the library."""

import contextlib
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize

from tests.reference import formulas

#: Tolerances for Clarabel, tightest first: the first it can reach is taken.
_LADDER = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
#: Relative gaps above which a solution is polished, and refused. The gap is linear in the error of
#: W and P quadratic, so P is far closer to the optimum than its gap says.
_POLISH, _REFUSE = 1e-8, 1e-4


@dataclass(frozen=True)
class Twin:
    """The data of one problem; y holds class codes (m,), or for one-vs-all a +-1 matrix (m, k)."""

    H: np.ndarray
    y: np.ndarray
    k: int
    sample_weight: np.ndarray
    loss: str
    margin: str
    p: float
    nu: float
    costs: np.ndarray

    @property
    def c(self):
        """Return c_i = s_i / (S k), (m,)."""
        return formulas.row_weights(self.sample_weight, self.k)

    @property
    def own(self):
        """Return y_i for pairwise margins, None for one-vs-all."""
        return self.y if self.margin == "pairwise" else None

    def value(self, W):
        """Return P(W) by the plain formulas."""
        rho = formulas.margins(self.H @ W, self.margin, self.y)
        loss = float(formulas.loss_value(self.loss, rho, self.c, self.own))
        return loss + self.nu * formulas.penalty_value(W, self.p, self.costs)

    def max_price(self, U):
        """Return the largest price over all columns at the weights U."""
        edges = self.H.T @ formulas.edge_coefficients(U, self.margin, self.y)
        pairs = zip(edges, self.costs, strict=True)
        return max(formulas.price(e, self.p, cost) for e, cost in pairs)

    def gap(self, W, U=None):
        """Return P(W) - D at the weights of W (or U), shrunk until no column violates."""
        if U is None:
            rho = formulas.margins(self.H @ W, self.margin, self.y)
            U = formulas.loss_weights(self.loss, rho, self.c, self.own)
        tau = min(1.0, self.nu / max(self.max_price(U), 1e-300))
        U = formulas.shrink(self.loss, U, tau, self.c, self.own)
        return self.value(W) - float(formulas.dual_value(self.loss, U, self.c, self.own))

    def relative_gap(self, W, U=None):
        """Return the gap in units of P(W) without the part that no W can reduce."""
        floor = formulas.constant(self.loss, self.own, self.k)
        return self.gap(W, U) / max(self.value(W) - floor, 1e-12)

    def solve(self):
        """Return the optimal W (n, k) and, for the hinge, the weights U (m, k), else None."""
        W = cp.Variable((self.H.shape[1], self.k), nonneg=True)
        loss, constraints = _LOSSES[self.loss](self, self._margins(W))
        _solve(cp.Problem(cp.Minimize(loss + self.nu * self._penalty(W)), constraints))
        best, U = np.maximum(W.value, 0.0), None
        if constraints:
            U = self._into_domain(np.stack([x.dual_value for x in constraints], axis=1))
        elif not np.isinf(self.p) and self.relative_gap(best) > _POLISH:
            best = self._polish(best)
        gap = self.relative_gap(best, U)
        if gap > _REFUSE:
            raise RuntimeError(f"the twin is not accurate: relative gap {gap:.1e}")
        return best, U

    def _into_domain(self, U):
        """Remove the rounding of the solver from the duals of the hinge."""
        if self.own is None:
            return np.clip(U, 0.0, self.c[:, None])
        U = np.maximum(U, 0.0)
        return U * (self.k * self.c / U.sum(axis=1))[:, None]

    def _polish(self, W):
        """Minimise P by L-BFGS-B over the non-zero rows of W, where it is smooth."""
        rows = W.max(axis=1) > 1e-7 * W.max()

        def spread(x):
            full = np.zeros_like(W)
            full[rows] = x.reshape(-1, self.k)
            return full

        def function(x):
            return self.value(spread(x)), self._gradient(spread(x))[rows].ravel()

        options = {"maxiter": 300, "ftol": 0.0, "gtol": 1e-11, "maxcor": 30}
        start = W[rows].ravel()
        bounds = [(0.0, None)] * start.size
        found = minimize(
            function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        polished = np.maximum(spread(found.x), 0.0)
        return min(W, polished, key=self.value)

    def _gradient(self, W):
        """Return the gradient of P for a smooth loss and p < inf, 0 at rows of zeros."""
        rho = formulas.margins(self.H @ W, self.margin, self.y)
        U = formulas.loss_weights(self.loss, rho, self.c, self.own)
        gradient = -self.H.T @ formulas.edge_coefficients(U, self.margin, self.y)
        norms = np.array([formulas.norm(row, self.p) for row in W])
        ratio = W / np.where(norms > 0.0, norms, 1.0)[:, None]
        return gradient + self.nu * self.costs[:, None] * ratio ** (self.p - 1.0)

    def _margins(self, W):
        F = self.H @ W
        if self.margin == "pairwise":
            own = cp.sum(cp.multiply(np.eye(self.k)[self.y], F), axis=1, keepdims=True)
            return own @ np.ones((1, self.k)) - F
        targets = formulas.targets_of(self.y, self.k) if self.y.ndim == 1 else self.y
        return cp.multiply(targets, F)

    def _penalty(self, W):
        if self.p == 1:
            norms = cp.sum(W, axis=1)
        elif np.isinf(self.p):
            norms = cp.max(W, axis=1)
        elif self.p == 2:
            norms = cp.norm(W, 2, axis=1)
        else:
            norms = cp.hstack([cp.pnorm(row, self.p, approx=False) for row in W])
        return self.costs @ norms

    def _mean(self, terms):
        return self.c @ cp.sum(terms, axis=1)


def _solve(problem):
    """Solve with the tightest tolerance of the ladder that Clarabel reaches."""
    for tolerance in _LADDER:
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.CLARABEL, **dict.fromkeys(names, tolerance))
            if problem.status == cp.OPTIMAL:
                return
    if problem.status != cp.OPTIMAL_INACCURATE:  # such a one is polished, and judged by its gap
        raise RuntimeError(f"the twin found no solution: {problem.status}")


def _hinge(twin, rho):
    if twin.own is None:
        slack = cp.Variable(rho.shape, nonneg=True)
        return twin._mean(slack), [slack[:, r] >= 1.0 - rho[:, r] for r in range(twin.k)]
    slack = cp.Variable(rho.shape[0])
    ones = 1.0 - np.eye(twin.k)[twin.y]
    constraints = [slack >= ones[:, r] - rho[:, r] for r in range(twin.k)]
    return twin.k * twin.c @ slack, constraints


def _exponential(twin, rho):
    if twin.own is None:
        return twin._mean(cp.exp(-rho)), []
    return cp.log_sum_exp(np.log(twin.c)[:, None] - rho), []


def _logistic(twin, rho):
    return twin._mean(cp.logistic(-rho)), []


def _multinomial(twin, rho):
    return twin.k * twin.c @ cp.log_sum_exp(-rho, axis=1), []


def _squared_hinge(twin, rho):
    return twin._mean(cp.square(cp.pos(1.0 - rho))), []


_LOSSES = {
    "hinge": _hinge,
    "exponential": _exponential,
    "logistic": _logistic,
    "multinomial": _multinomial,
    "squared_hinge": _squared_hinge,
}


def solve_twin(H, y, k, sample_weight, loss, margin, p, nu, costs=None):  # noqa: PLR0913, PLR0917
    """Return (P, W) at the optimum over all columns of H, P recomputed from W >= 0."""
    costs = np.ones(H.shape[1]) if costs is None else np.asarray(costs, dtype=float)
    y, s = np.asarray(y), np.asarray(sample_weight, dtype=float)
    twin = Twin(H, y, k, s, loss, margin, p, nu, costs)
    W, _ = twin.solve()
    return twin.value(W), W
