"""Cone programs for the built-in losses with l1,p penalties, solved by Clarabel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..losses import Loss, SampleWeights
from ..margins import Margin
from ..penalties import Penalty
from ..problem.objective import RestrictedProblem
from .base import Solver, SolverResult, margin_objection
from .margin_matrix import (
    MarginMatrix,
    dense_columns,
    drop_negligible,
    feasible_weights,
    identity,
    limit_hinge,
)
from .monitor import Monitor

Cone: TypeAlias = tuple[str, float]
Term: TypeAlias = tuple[int, Any]

# Clarabel seldom reaches 1e-12 but continues until it makes no progress: 100 times more accurate
# in the median than with 1e-10. The caller judges the result by its gap, not by its status.
_TOLERANCE = 1e-12
_ENOUGH = 1e-8  # relative gap above which a second attempt is worth its time
# Whether the costs are scaled to a mean of 1 per margin, and the greatest fraction of a step.
# The scale usually makes solutions 10 times more accurate. Now and then the solver is stuck far
# from the optimum, above all with power cones; another path then usually leads there.
_ATTEMPTS = ((True, 0.99), (True, 0.95), (False, 0.99), (False, 0.8))
_FIRST, _SECOND, _THIRD = (sp.csr_array(np.eye(3)[:, [position]]) for position in range(3))


class ConeProgram:
    """min x' P x / 2 + q' x subject to affine maps of x lying in cones, built block by block.

    Conventions: a block of variables is identified by the index of its first variable. A term
    (first, M) is M times the variables that begin at `first`. A cone is a name with its size, or
    with the exponent of a power cone.

    Attributes
    ----------
    q, curvature : lists of arrays
        Linear costs, and the diagonal of P, block by block.
    cones : list of Cone
    """

    def __init__(self) -> None:
        self.q: list[Array] = []
        self.curvature: list[Array] = []
        self.cones: list[Cone] = []
        self._n_variables = 0
        self._blocks: list[tuple[Sequence[Term], Array]] = []

    def variables(self, cost: Array, curvature: Array | float = 0.0) -> int:
        """Add variables with the objective sum cost x + curvature x^2 / 2; return the first."""
        first = self._n_variables
        self.q.append(cost)
        self.curvature.append(np.broadcast_to(curvature, cost.shape))
        self._n_variables += cost.size
        return first

    def constrain(self, cones: list[Cone], terms: Sequence[Term], offset: Array) -> int:
        """Require sum of terms + offset to lie in the product of cones; return the first row."""
        first = sum(block.size for _, block in self._blocks)
        self._blocks.append((terms, offset))
        self.cones += cones
        return first

    def nonnegative(self, terms: Sequence[Term], offset: Array) -> None:
        """Require sum of terms + offset >= 0."""
        self.constrain([("nonnegative", offset.size)], terms, offset)

    def exponential(self, exponent: Sequence[Term], bound: Sequence[Term], level: Array) -> None:
        """Require exp(exponent) <= bound + level, entry by entry (N,).

        The cone contains the triples (x, y, z) with y exp(x / y) <= z; here y = 1.
        """
        terms = [(first, sp.kron(M, _FIRST)) for first, M in exponent]
        terms += [(first, sp.kron(M, _THIRD)) for first, M in bound]
        offset = np.column_stack([np.zeros_like(level), np.ones_like(level), level]).ravel()
        self.constrain([("exponential", 3)] * level.size, terms, offset)

    def matrix(self) -> tuple[Any, Array]:
        """Return A (CSC) and b of the constraints A x + s = b, s in the cones."""
        data, rows, cols, height = [], [], [], 0
        for terms, offset in self._blocks:
            for first, M in terms:
                block = sp.coo_array(M)
                data.append(-block.data)
                rows.append(block.row + height)
                cols.append(block.col + first)
            height += offset.size
        entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(cols)))
        shape = (height, self._n_variables)
        return sp.csc_array(entries, shape=shape), np.concatenate([b for _, b in self._blocks])


@dataclass(frozen=True)
class Margins:
    """The margins rho = G F of the scores F, as the functions of the losses use them.

    Attributes
    ----------
    F : int
        Index of the first variable of the scores, which are flattened row by row.
    kept : MarginMatrix
        The R margins that depend on W.
    rows : SampleWeights
    scale : float
        Factor on the whole objective.
    """

    F: int
    kept: MarginMatrix
    rows: SampleWeights
    scale: float

    @property
    def minus_rho(self) -> list[Term]:
        """The term -rho, (R,)."""
        return [(self.F, -self.kept.G)]

    @property
    def c(self) -> Array:
        """The scaled weight c_i of every kept margin, (R,)."""
        return self.scale * self.rows.c[self.kept.row]

    @property
    def count(self) -> int:
        """R, the number of kept margins."""
        return int(self.kept.index.size)

    @property
    def by_row(self) -> Any:
        """Incidence of margins and rows, (R, m)."""
        shape = (self.count, self.rows.c.size)
        return sp.csr_array((np.ones(self.count), (np.arange(self.count), self.kept.row)), shape)


def _hinge(program: ConeProgram, margins: Margins) -> None:
    """Slacks xi >= 0 with rho + xi >= 1.

    Paper: Eq. 18 (primal, hinge, l1,2).
    Paper: Eq. 24 (primal, hinge, l1,inf).
    """
    one_each = margins.rows.true_class is None
    spread = identity(margins.count) if one_each else margins.by_row
    cost = margins.c if one_each else margins.scale * margins.rows.share
    xi = program.variables(cost)
    program.nonnegative([(xi, identity(cost.size))], np.zeros(cost.size))
    program.nonnegative([(margins.F, margins.kept.G), (xi, spread)], -np.ones(margins.count))


def _squared_hinge(program: ConeProgram, margins: Margins) -> None:
    """Slacks v >= 1 - rho with objective c v^2; at an optimum v is never negative."""
    v = program.variables(np.zeros(margins.count), curvature=2.0 * margins.c)
    program.nonnegative(
        [(margins.F, margins.kept.G), (v, identity(margins.count))], -np.ones(margins.count)
    )


def _logistic(program: ConeProgram, margins: Margins) -> None:
    """Objective c xi with exp(-rho - xi) <= z and exp(-xi) <= 1 - z.

    Paper: Eq. 28 (primal, logistic, l1,2).
    """
    unit, zero, one = identity(margins.count), np.zeros(margins.count), np.ones(margins.count)
    xi, z = program.variables(margins.c), program.variables(zero)
    program.exponential([*margins.minus_rho, (xi, -unit)], [(z, unit)], zero)
    program.exponential([(xi, -unit)], [(z, -unit)], one)


def _multinomial(program: ConeProgram, margins: Margins) -> None:
    """Objective share xi_i with exp(-rho_ir - xi_i) <= z_ir and exp(-xi_i) <= 1 - sum_r z_ir."""
    zero, share = np.zeros(margins.count), margins.scale * margins.rows.share
    xi, z = program.variables(share), program.variables(zero)
    each, unit = identity(margins.count), identity(share.size)
    program.exponential([*margins.minus_rho, (xi, -margins.by_row)], [(z, each)], zero)
    program.exponential([(xi, -unit)], [(z, -margins.by_row.T)], np.ones(share.size))


def _exponential(program: ConeProgram, margins: Margins) -> None:
    """Pairwise objective t with exp(-rho - t) <= z and exp(-t) <= k - k sum c z, the log form.

    The terms r = y_i of sum c exp(-rho - t) <= 1 add up to exp(-t) / k. One-vs-all: objective
    c z with exp(-rho) <= z.

    Paper: Eq. 11 (primal, exponential, logarithmic form).
    """
    unit, zero = identity(margins.count), np.zeros(margins.count)
    if margins.rows.true_class is None:
        z = program.variables(margins.c)
        program.exponential(margins.minus_rho, [(z, unit)], zero)
        return
    t, z = program.variables(np.array([margins.scale])), program.variables(zero)
    column, k = np.ones((margins.count, 1)), float(margins.rows.k)
    program.exponential([*margins.minus_rho, (t, -column)], [(z, unit)], zero)
    # Weights in the bound, not their logarithms in the exponent: the cones are then all alike.
    shares = margins.rows.share[margins.kept.row]
    program.exponential([(t, -column[:1])], [(z, -shares[None, :])], np.array([k]))


def _l1(program: ConeProgram, costs: Array, k: int, p: float) -> int:
    """Costs of the weights themselves."""
    return program.variables(np.repeat(costs, k))


def _l1_inf(program: ConeProgram, costs: Array, k: int, p: float) -> int:
    """Bounds t_j >= W_jr.

    Paper: Eq. 24 (primal, hinge, l1,inf).
    """
    n = costs.size
    W, t = program.variables(np.zeros(n * k)), program.variables(costs)
    spread = sp.kron(identity(n), np.ones((k, 1)))
    program.nonnegative([(t, spread), (W, -identity(n * k))], np.zeros(n * k))
    return W


def _l1_2(program: ConeProgram, costs: Array, k: int, p: float) -> int:
    """Second-order cones t_j >= ||W_j:||_2.

    Paper: Eq. 19 (primal, hinge, l1,2, as second-order cones).
    """
    n = costs.size
    W, t = program.variables(np.zeros(n * k)), program.variables(costs)
    head = sp.kron(identity(n), np.eye(k + 1, 1))
    tail = sp.kron(identity(n), np.eye(k + 1, k, -1))
    cones: list[Cone] = [("second_order", k + 1)] * n
    program.constrain(cones, [(t, head), (W, tail)], np.zeros(n * (k + 1)))
    return W


def _l1_p(program: ConeProgram, costs: Array, k: int, p: float) -> int:
    """Power cones u_jr^(1/p) t_j^(1 - 1/p) >= W_jr with sum_r u_jr = t_j, so t_j >= ||W_j:||_p."""
    n = costs.size
    W, u = program.variables(np.zeros(n * k)), program.variables(np.zeros(n * k))
    t = program.variables(costs)
    each, spread = identity(n * k), sp.kron(identity(n), np.ones((k, 1)))
    program.constrain([("zero", n)], [(t, identity(n)), (u, -spread.T)], np.zeros(n))
    terms = [(u, sp.kron(each, _FIRST)), (t, sp.kron(spread, _SECOND)), (W, sp.kron(each, _THIRD))]
    program.constrain([("power", 1.0 / p)] * (n * k), terms, np.zeros(3 * n * k))
    return W


def _unlimited(U: Array, rows: SampleWeights) -> Array:
    return U


def _limit_entries(U: Array, rows: SampleWeights) -> Array:
    return np.minimum(U, rows.c[:, None])


def _limit_total(U: Array, rows: SampleWeights) -> Array:
    return U if rows.true_class is None else U / max(float(U.sum()), 1.0)


@dataclass(frozen=True)
class LossCones:
    """Conic form of a loss.

    Attributes
    ----------
    add : callable
        Adds the loss to a cone program.
    limit : callable
        Brings duals U >= 0 below their upper bounds.
    """

    add: Callable[[ConeProgram, Margins], None]
    limit: Callable[[Array, SampleWeights], Array]


LOSS_CONES = {
    "hinge": LossCones(_hinge, limit_hinge),
    "squared_hinge": LossCones(_squared_hinge, _unlimited),
    "logistic": LossCones(_logistic, _limit_entries),
    "multinomial": LossCones(_multinomial, limit_hinge),
    "exponential": LossCones(_exponential, _limit_total),
}

PENALTY_CONES: dict[float, Callable[[ConeProgram, Array, int, float], int]] = {
    1.0: _l1,
    2.0: _l1_2,
    np.inf: _l1_inf,
}


def add_weights(program: ConeProgram, costs: Array, k: int, p: float) -> int:
    """Add weights W (n, k) >= 0 with the objective sum_j costs_j ||W_j:||_p; return the first."""
    W = PENALTY_CONES.get(p, _l1_p)(program, costs, k, p)
    n = costs.size * k
    program.nonnegative([(W, identity(n))], np.zeros(n))
    return W


def interior_point(program: ConeProgram, step: float, monitor: Monitor | None = None) -> Any:
    """Solve a cone program by Clarabel.

    Parameters
    ----------
    program : ConeProgram
    step : float
        Greatest length of a step, as a fraction of the distance to the boundary of the cones.
    monitor : Monitor, optional
        Watches the run.

    Returns
    -------
    clarabel.DefaultSolution
        With x, the duals z of the rows in order, and the number of iterations.
    """
    import clarabel

    A, b = program.matrix()
    P = sp.diags_array(np.concatenate(program.curvature), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_step_fraction = False, step
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    makers: dict[str, Any] = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second_order": clarabel.SecondOrderConeT,
        "power": clarabel.PowerConeT,
        "exponential": lambda size: clarabel.ExponentialConeT(),
    }
    cones = [makers[name](size) for name, size in program.cones]
    q = np.concatenate(program.q)
    # Clarabel accepts the matrix classes of SciPy, not the newer arrays.
    data = (sp.csc_matrix(P), q, sp.csc_matrix(A), b, cones, settings)
    solver = clarabel.DefaultSolver(*data)
    if monitor is None:
        return solver.solve()
    solver.set_termination_callback(lambda info: monitor.stops(info.iterations))
    solution = solver.solve()
    monitor.raise_error()
    return solution


class Conic(Solver):
    """All built-in losses with any l1,p penalty, by an interior-point method.

    The variables are the weights W and the scores F = H W. Thus only one block of rows is dense,
    and the margins are sparse in F. The duals of F = H W are the coefficients A of the edges, and
    give the dual weights U to about 1e-10. The dual weights at W, the gradient of a smooth loss,
    are only as accurate as the square root of the error of P(W).

    Paper: Eq. 36 (general primal).
    Paper: Eq. 38 (general dual).
    Paper: Eq. 22 (dual, hinge, l1,2).
    Paper: Eq. 35 (dual, logistic, l1,inf).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(
    ...     solver="conic", loss="hinge", penalty="l1,2", nu=0.3, columns_per_round=4
    ... )
    >>> clf.fit(X[::5], y[::5]).certificate_.converged
    True
    """

    name: ClassVar[str] = "conic"

    def supports(self, loss: Loss, margin: type[Margin], penalty: Penalty) -> str | None:
        """Return None for a built-in loss with an l1,p penalty, otherwise the reason."""
        if loss.name not in LOSS_CONES or not loss.is_built_in():
            return f"it has no conic form of the loss {loss.name!r}; try 'prox' for a smooth loss"
        if penalty.p is None:
            return "it requires an l1,p penalty; 'prox' supports any penalty with a smooth loss"
        return margin_objection(loss, margin)

    def solve(self, problem: RestrictedProblem, start: Array, accuracy: float) -> SolverResult:
        """Solve without a warm start; return `start` only if Clarabel fails."""
        objective, W, monitor = problem.objective, start, Monitor(self.report)
        U, iterations = objective.negative_gradient(problem.columns.scores(start)), 0
        for scaled, step in _ATTEMPTS if start.size else ():
            model = _ConicModel(problem, scaled)
            iterations += model.run(step, monitor)
            W = min((W, *model.primal()), key=problem.value)
            U = min((U, *model.duals(W)), key=partial(problem.restricted_gap, W))
            gap = objective.relative(problem.restricted_gap(W, U), problem.value(W))
            if gap <= max(accuracy, _ENOUGH) or monitor.stopped:
                break
        gap = objective.relative(problem.restricted_gap(W, U), problem.value(W))
        return SolverResult(W, U, solved=bool(gap <= accuracy), iterations=iterations)


class _ConicModel:
    """The cone program of one restricted problem, and its solution.

    ::

        penalty(W), W >= 0       cones of the penalty
        H W - F = 0              (m k rows, duals A)
        loss(rho = G F)          cones of the loss
    """

    def __init__(self, problem: RestrictedProblem, scaled: bool) -> None:
        objective, rows = problem.objective, problem.objective.rows
        columns = dense_columns(problem, Conic.name)
        self.problem, self.program = problem, ConeProgram()
        self.margins = MarginMatrix(objective.margin, rows.c.size)
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

    def run(self, step: float, monitor: Monitor) -> int:
        """Run Clarabel; return the number of iterations."""
        self.solution: Any = interior_point(self.program, step, monitor)
        return int(self.solution.iterations)

    def primal(self) -> list[Array]:
        """Return the weights W (n, k) >= 0 found, or an empty list if they are not finite."""
        size = len(self.problem.columns) * self.problem.objective.rows.k
        x = np.array(self.solution.x)[self.W : self.W + size]
        if not np.isfinite(x).all():
            return []
        W = np.maximum(x, 0.0).reshape(len(self.problem.columns), -1)
        return [drop_negligible(self.problem, W)]

    def duals(self, W: Array) -> list[Array]:
        """Return U (m, k) from the duals of H W = F and, for a smooth loss, from W."""
        objective, found = self.problem.objective, []
        A = np.array(self.solution.z)[self.equations + self.margins.index] / self.scale
        if np.isfinite(A).all():
            duals = self.margins.scatter(self.margins.sign * A)
            limit = LOSS_CONES[objective.loss.name].limit
            found.append(feasible_weights(duals, objective, limit))
        if objective.loss.smooth:
            found.append(objective.negative_gradient(self.problem.columns.scores(W)))
        return found
