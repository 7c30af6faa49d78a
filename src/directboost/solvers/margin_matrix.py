"""Margins as rows of a matrix, and answers of a solver brought to the exact domains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, Ints
from ..losses import SampleWeights
from ..margins import Margin
from ..problem.columns import DenseColumns
from ..problem.objective import Objective, RestrictedProblem

_DUST = 1e-9  # the size of weights that are only a solver's tolerance


class MarginMatrix:
    """The margins that W can change, as rows of a sparse matrix.

    Conventions: scores are flattened row by row, F_ir at position i k + r. Pairwise, the margins
    r = y_i are left out (they are zero): R = m (k - 1). One-vs-all R = m k.

    Attributes
    ----------
    G : (R, m k) sparse array
        rho = G F.
    index : (R,) int array
        Position i k + r of every margin.
    row : (R,) int array
        The i of every margin.
    sign : (R,) array
        The coefficient of F_ir in rho_ir, so that U_ir = sign A_ir.
    """

    def __init__(self, margin: Margin, m: int) -> None:
        k = margin.k
        self.shape = (m, k)
        kept = np.ones((m, k), dtype=bool)
        if margin.true_class is not None:
            kept[np.arange(m), margin.true_class] = False
        self.index: Ints = np.flatnonzero(kept)
        self.row: Ints = self.index // k
        # With one-vs-all margins rho_ir = t_ir F_ir, so the margins of F = 1 are the targets.
        ones = np.ones((m, k))
        self.sign: Array = (-ones if margin.true_class is not None else margin.forward(ones))[kept]
        count = np.arange(self.index.size)
        G = sp.coo_array((self.sign, (count, self.index)), shape=(count.size, m * k))
        if margin.true_class is not None:
            own = self.row * k + margin.true_class[self.row]
            G = G + sp.coo_array((np.ones(count.size), (count, own)), shape=G.shape)
        self.G = G.tocsr()

    def scatter(self, values: Array) -> Array:
        """Return the matrix (m, k) with the given values (R,) at the kept entries, else 0."""
        out = np.zeros(self.shape)
        out.flat[self.index] = values
        return out


def identity(size: int) -> Any:
    """Return the sparse identity matrix."""
    return sp.diags_array(np.ones(size), format="csr")


def limit_hinge(U: Array, rows: SampleWeights) -> Array:
    """Bring U >= 0 into the dual domain of the hinge, up to the entries r = y_i (pairwise zero).

    One-vs-all every entry is at most c_i, pairwise every row sums to at most s_i / S.
    """
    if rows.true_class is None:
        return np.minimum(U, rows.c[:, None])
    excess: Array = np.maximum(U.sum(axis=1) / rows.share, 1.0)
    return U / excess[:, None]


def feasible_weights(
    duals: Array, objective: Objective, limit: Callable[[Array, SampleWeights], Array]
) -> Array:
    """Project duals (m, k), good to a tolerance, on the exact dual domain.

    `limit` brings non-negative duals below their upper bounds. Pairwise the entries r = y_i are
    not read: no edge depends on them, and the loss knows their best value.
    """
    rows, positive = objective.rows, np.maximum(duals, 0.0)
    if rows.true_class is not None:
        rows.set_true_class(positive, np.zeros(rows.c.size))
    return objective.loss.shrink(limit(positive, rows), 1.0, rows)


def dense_columns(problem: RestrictedProblem, master: str) -> DenseColumns:
    """Return the columns of the problem, which have to be single response vectors."""
    if not isinstance(problem.columns, DenseColumns):
        raise TypeError(f"the master {master!r} works on DenseColumns")
    return problem.columns


def without_dust(problem: RestrictedProblem, W: Array) -> Array:
    """Set entries of W >= 0 to zero that are only a solver's tolerance, if P does not rise."""
    size = max(1.0, float(W.max(initial=0.0)))
    clean = np.where(W / size < _DUST, 0.0, W)
    return clean if problem.value(clean) <= problem.value(W) else W
