"""Losses and penalties as cone constraints: one registered function for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..losses import Rows
from .margin_rows import MarginRows, identity, limit_hinge

Cone: TypeAlias = tuple[str, float]
Term: TypeAlias = tuple[int, Any]

_FIRST, _SECOND, _THIRD = (sp.csr_array(np.eye(3)[:, [place]]) for place in range(3))


class ConeProgram:
    """min x' P x / 2 + q' x subject to affine maps of x lying in cones, built block by block.

    Conventions: a block of variables is known by the index of its first one. A term (first, M)
    stands for M times the variables from `first` on. A cone is its name and its size, or the
    exponent of a power cone.

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
        """Demand that sum of terms + offset lies in the product of cones; return the first row."""
        first = sum(block.size for _, block in self._blocks)
        self._blocks.append((terms, offset))
        self.cones += cones
        return first

    def nonnegative(self, terms: Sequence[Term], offset: Array) -> None:
        """Demand sum of terms + offset >= 0."""
        self.constrain([("nonnegative", offset.size)], terms, offset)

    def exponential(self, exponent: Sequence[Term], bound: Sequence[Term], level: Array) -> None:
        """Demand exp(exponent) <= bound + level, entry by entry (N,).

        A cone holds the triple (x, y, z) with y exp(x / y) <= z; here y = 1.
        """
        terms = [(first, sp.kron(M, _FIRST)) for first, M in exponent]
        terms += [(first, sp.kron(M, _THIRD)) for first, M in bound]
        offset = np.column_stack([np.zeros_like(level), np.ones_like(level), level]).ravel()
        self.constrain([("exponential", 3)] * level.size, terms, offset)

    def matrix(self) -> tuple[Any, Array]:
        """Return A (CSC) and b of the form A x + s = b, s in the cones."""
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
    """The margins rho = G F of the scores F, as a loss sees them.

    Attributes
    ----------
    F : int
        First variable of the scores, flattened row by row.
    kept : MarginRows
        The R margins that W can change.
    rows : Rows
    scale : float
        Factor on the whole objective.
    """

    F: int
    kept: MarginRows
    rows: Rows
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
    one_each = margins.rows.own is None
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
    if margins.rows.own is None:
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
    """Costs on the weights themselves."""
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


def _unlimited(U: Array, rows: Rows) -> Array:
    return U


def _limit_entries(U: Array, rows: Rows) -> Array:
    return np.minimum(U, rows.c[:, None])


def _limit_total(U: Array, rows: Rows) -> Array:
    return U if rows.own is None else U / max(float(U.sum()), 1.0)


@dataclass(frozen=True)
class LossCones:
    """How a loss enters a cone program, and how its duals U >= 0 come under their bounds."""

    add: Callable[[ConeProgram, Margins], None]
    limit: Callable[[Array, Rows], Array]


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
    """Add the weights W (n, k) >= 0 with the objective sum_j costs_j ||W_j:||_p; return W."""
    W = PENALTY_CONES.get(p, _l1_p)(program, costs, k, p)
    n = costs.size * k
    program.nonnegative([(W, identity(n))], np.zeros(n))
    return W
