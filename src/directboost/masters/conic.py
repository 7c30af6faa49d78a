"""Cone programs, solved by Clarabel: every built-in loss with every l1,p penalty."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..losses import Loss
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Master, MasterResult
from .cones import LOSS_CONES, ConeProgram, Margins, add_weights
from .interior_point import interior_point
from .margin_rows import MarginRows, dense_columns, feasible_weights, identity, without_dust

_ENOUGH = 1e-8  # relative gap above which a second attempt is worth its time
# Whether the costs are scaled to a mean of 1 per margin, and the greatest fraction of a step.
# The scale makes answers 10 times more accurate as a rule. Now and then the solver is stuck far
# from the optimum, above all with power cones; then another path usually leads there.
_ATTEMPTS = ((True, 0.99), (True, 0.95), (False, 0.99), (False, 0.8))


class Conic(Master):
    """Any registered loss with any l1,p penalty, by an interior-point method.

    The variables are the weights W and the scores F = H W, so that only one block of rows is
    dense and the margins are sparse in F. The duals of F = H W are the coefficients A of the
    edges. They give the weights U, to about 1e-10; the weights at W, the gradient of a smooth
    loss, are good only to the square root of the error of P(W).

    Paper: Eq. 36 (general primal).
    Paper: Eq. 38 (general dual).
    Paper: Eq. 22 (dual, hinge, l1,2).
    Paper: Eq. 35 (dual, logistic, l1,inf).
    """

    name: ClassVar[str] = "conic"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a loss with a conic form and an l1,p penalty, else the reason."""
        if loss.name not in LOSS_CONES or not loss.is_built_in():
            return f"it has no cones for the loss {loss.name!r}, which 'prox' would take"
        if margin.name not in loss.margins:
            return f"the loss {loss.name!r} has no {margin.name} form, only {loss.margins[0]}"
        if penalty.p is None:
            return "it needs an l1,p penalty; 'prox' takes any penalty with a smooth loss"
        return None

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> MasterResult:
        """Solve from nothing; `start` comes back only where the solver fails."""
        objective, W = problem.objective, start
        U, iterations = objective.weights(problem.columns.scores(start)), 0
        for scaled, step in _ATTEMPTS if start.size else ():
            model = _Model(problem, scaled)
            iterations += model.run(step)
            W = min((W, *model.primal()), key=problem.value)
            U = min((U, *model.duals(W)), key=partial(problem.restricted_gap, W))
            gap = objective.relative(problem.restricted_gap(W, U), problem.value(W))
            if gap <= max(accuracy, _ENOUGH):
                break
        gap = objective.relative(problem.restricted_gap(W, U), problem.value(W))
        return MasterResult(W, U, solved=bool(gap <= accuracy), iterations=iterations)


class _Model:
    """The cone program of one problem, and its answers.

    ::

        penalty(W), W >= 0       cones of the penalty
        H W - F = 0              (m k rows, duals A)
        loss(rho = G F)          cones of the loss
    """

    def __init__(self, problem: RestrictedProblem, scaled: bool) -> None:
        objective, rows = problem.objective, problem.objective.rows
        columns = dense_columns(problem, Conic.name)
        self.problem, self.program = problem, ConeProgram()
        self.margins = MarginRows(objective.margin, rows.c.size)
        self.scale = 1.0 / float(rows.c.mean()) if scaled else 1.0
        costs = self.scale * objective.nu * columns.costs
        self.W = add_weights(self.program, costs, rows.k, objective.penalty.p or 1.0)
        size = rows.c.size * rows.k
        F = self.program.variables(np.zeros(size))
        responses = sp.kron(sp.csr_array(columns.H), identity(rows.k))
        terms = [(self.W, responses), (F, -identity(size))]
        self.equations = self.program.constrain([("zero", size)], terms, np.zeros(size))
        margins = Margins(F, self.margins, rows, self.scale)
        LOSS_CONES[objective.loss.name].add(self.program, margins)

    def run(self, step: float) -> int:
        """Solve the program; return the number of iterations."""
        self.solution: Any = interior_point(self.program, step)
        return int(self.solution.iterations)

    def primal(self) -> list[Array]:
        """Return the weights W (n, k) >= 0 found, or nothing if they are not finite."""
        size = len(self.problem.columns) * self.problem.objective.rows.k
        x = np.array(self.solution.x)[self.W : self.W + size]
        if not np.isfinite(x).all():
            return []
        W = np.maximum(x, 0.0).reshape(len(self.problem.columns), -1)
        return [without_dust(self.problem, W)]

    def duals(self, W: Array) -> list[Array]:
        """Return U (m, k) from the duals of H W = F and, for a smooth loss, from W."""
        objective, found = self.problem.objective, []
        A = np.array(self.solution.z)[self.equations + self.margins.index] / self.scale
        if np.isfinite(A).all():
            duals = self.margins.scatter(self.margins.sign * A)
            limit = LOSS_CONES[objective.loss.name].limit
            found.append(feasible_weights(duals, objective, limit))
        if objective.loss.smooth:
            found.append(objective.weights(self.problem.columns.scores(W)))
        return found
