"""The objective as a function of the scores, and the restricted master problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..kernels.structs import LossRows, LossValues, Wanted, own_class_dual
from ..kernels.threads import Team
from ..losses import Loss, SampleWeights
from ..margins import Margin, OneVsAll
from ..penalties import Penalty
from .columns import Columns

_BLOCK = 4096  # rows per block, so that the intermediate results of a formula stay in the cache


def row_blocks(m: int) -> Iterator[slice]:
    """Return slices of m rows, for formulas that are evaluated block by block."""
    return (slice(first, first + _BLOCK) for first in range(0, m, _BLOCK))


@dataclass(frozen=True)
class Objective:
    """P(W) = L(rho(F)) + nu sum_j cost_j N(W_j:), F = H W, W >= 0, without any columns.

    Conventions: F, U and A are (m, k), in double precision unless stated otherwise.

    Attributes
    ----------
    margin : Margin
    loss : Loss
    penalty : Penalty
    nu : float
    rows : SampleWeights
    """

    margin: Margin
    loss: Loss
    penalty: Penalty
    nu: float
    rows: SampleWeights

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.rows.c.size)

    @property
    def constant(self) -> float:
        """P_const, the part of L that no W can reduce."""
        return self.loss.constant(self.rows)

    def loss_value(self, F: Array) -> float:
        """Return L at the scores F."""
        return fsum(
            self.loss.value(margin.forward(F[part]), rows) for part, margin, rows in self._parts()
        )

    def negative_gradient(self, F: Array) -> Array:
        """Return the weights U at the scores F."""
        U = np.empty(F.shape)
        for part, margin, rows in self._parts():
            U[part] = self.loss.negative_gradient(margin.forward(F[part]), rows)
        return U

    def start(self, precision: np.dtype[Any]) -> Scores:
        """Return the weights U at W = 0 in the given precision."""
        U = np.empty((self.rows.c.size, self.margin.k), dtype=precision)
        for part, _, rows in self._parts():
            U[part] = self.loss.start(rows)
        return U

    def start_value(self) -> float:
        """Return L at W = 0."""
        return fsum(self.loss.start_value(rows) for _, _, rows in self._parts())

    def evaluate(self, F: Scores, wanted: Wanted, team: Team | None = None) -> LossValues:
        """Return L at the scores F, and U, A and C as requested, in the precision of F.

        A loss without a fused kernel returns U in double precision.
        """
        rows = self.pass_rows(F.dtype)
        if rows is not None:
            return kernels.loss_pass(rows, F, wanted, team)
        double = F.astype(np.float64, copy=False)
        made: dict[str, Scores] = {}
        if wanted & (Wanted.NEGATIVE_GRADIENT | Wanted.COEFFICIENTS):
            made["U"] = self.negative_gradient(double)
        if wanted & Wanted.COEFFICIENTS:
            made["A"] = np.ascontiguousarray(self.coefficients(made["U"]), dtype=F.dtype)
        if wanted & Wanted.CURVATURE:
            made["C"] = np.ascontiguousarray(self.curvature(double), dtype=F.dtype)
        return LossValues(self.loss_value(double), **made)

    def coefficients(self, U: Scores) -> Scores:
        """Return A, the adjoint of the margin at U, so that the edges of h are h @ A."""
        A = np.empty_like(U)
        for part in row_blocks(U.shape[0]):
            A[part] = self.margin.take(part).adjoint(U[part])
        return A

    def curvature(self, F: Array) -> Array:
        """Return a diagonal model (m, k) of the second derivative of L in F.

        For pairwise margins class r != y_i has its own term and class y_i the sum of the others.
        """
        C = self.loss.curvature(self.margin.forward(F), self.rows)
        if self.margin.true_class is None:
            return C
        self.rows.set_true_class(C, np.zeros(C.shape[0]))
        return self.rows.set_true_class(C, C.sum(axis=1))

    def feasible_share(self, max_price: float) -> float:
        """Return tau = min(1, nu / max_price): no price at tau U is above nu."""
        return 1.0 if max_price <= self.nu else self.nu / max_price

    def dual_bound(self, U: Array, max_price: float) -> float:
        """Return D(shrink(U, tau)) with tau = `feasible_share(max_price)`.

        A lower bound of min P over every column whose price at U is at most `max_price`.
        """
        tau = self.feasible_share(max_price)
        return fsum(
            self.loss.dual_value(self.loss.shrink(U[part], tau, rows), rows)
            for part, _, rows in self._parts()
        )

    def proof(self, U: Scores) -> Scores | None:
        """Return U if it can be used for a certificate later, otherwise None.

        A point that was rounded to single precision may lie slightly outside the dual domain.
        """
        return U if U.dtype == np.float64 else None

    def pass_rows(self, precision: np.dtype[Any]) -> LossRows | None:
        """Return the rows for the fused kernels, or None if the loss has no such kernel."""
        if self.loss.native is None or not self.loss.is_built_in():
            return None
        targets = self.margin.targets if isinstance(self.margin, OneVsAll) else None
        c = self.rows.c.astype(precision, copy=False)
        return LossRows(
            loss=self.loss.native,
            k=self.margin.k,
            labels=self.margin.true_class,
            targets=targets,
            c=c,
        )

    def dual_estimate(self, U: Scores, max_price: float, team: Team | None = None) -> float:
        """Return `dual_bound` in the precision of U, by the fused kernel if there is one."""
        rows = self.pass_rows(U.dtype)
        if rows is None:
            return self.dual_bound(U.astype(np.float64, copy=False), max_price)
        value, mass = kernels.dual_parts(rows, U, self.feasible_share(max_price), team)
        return value + own_class_dual(rows, mass)

    def _parts(self) -> Iterator[tuple[slice, Margin, SampleWeights]]:
        """Yield blocks of rows with margin and weights; one block if L is not additive."""
        m = self.rows.c.size
        if not self.loss.is_additive() or m <= _BLOCK:
            yield slice(None), self.margin, self.rows
            return
        for part in row_blocks(m):
            yield part, self.margin.take(part), self.rows.take(part)

    def relative(self, gap: float, primal: float) -> float:
        """Return gap / max(P - P_const, 1e-12), the unit of the parameter tol."""
        return gap / max(primal - self.constant, 1e-12)


@dataclass(frozen=True)
class RestrictedProblem:
    """The restricted master problem: the objective over the generated columns.

    The form of the weights W depends on the column set: (n, k) >= 0 for `DenseColumns`.
    """

    objective: Objective
    columns: Columns

    def value(self, W: Any) -> float:
        """Return P(W)."""
        return self.objective.loss_value(self.columns.scores(W)) + self.penalty_value(W)

    def penalty_value(self, W: Any) -> float:
        """Return nu sum_j cost_j N(W_j:)."""
        return self.objective.nu * self.columns.penalty(W, self.objective.penalty)

    def loss_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return L and its gradient in W (n, k), minus the edges, for dense columns."""
        F = self.columns.scores(W)
        A = self.objective.coefficients(self.objective.negative_gradient(F))
        return self.objective.loss_value(F), -self.columns.edges(A)

    def restricted_bound(self, W: Any, U: Array) -> float:
        """Return a lower bound of P over the generated columns, from dual weights U."""
        edges = self.columns.edges(self.objective.coefficients(U))
        costs = self.columns.rows(W)[1]
        prices = self.objective.penalty.dual_norm(edges) / costs
        return self.objective.dual_bound(U, float(prices.max(initial=0.0)))

    def restricted_gap(self, W: Array, U: Array) -> float:
        """Return the duality gap over the generated columns only, for dual weights U."""
        return self.value(W) - self.restricted_bound(W, U)
