"""Margins as a sparse matrix, and projection of a solver's results on their exact domains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, Ints
from ..losses import SampleWeights
from ..margins import Margin
from ..problem.columns import DenseColumns
from ..problem.objective import Objective, RestrictedProblem

_NEGLIGIBLE = 1e-9  # relative size of weights that are within the tolerance of a solver


class MarginMatrix:
    """The margins that depend on W, as rows of a sparse matrix.

    Conventions: scores are flattened row by row, F_ir at position i k + r. The pairwise margins
    r = y_i are zero and left out: R = m (k - 1). One-vs-all, R = m k.

    Parameters
    ----------
    margin : Margin
    m : int
        Number of rows.

    Attributes
    ----------
    G : (R, m k) sparse array
        rho = G F.
    index : (R,) int array
        Position i k + r of every margin.
    row : (R,) int array
        Row i of every margin.
    sign : (R,) array
        Coefficient of F_ir in rho_ir, so that U_ir = sign A_ir.
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
            true = self.row * k + margin.true_class[self.row]
            G = G + sp.coo_array((np.ones(count.size), (count, true)), shape=G.shape)
        self.G = G.tocsr()

    def scatter(self, values: Array) -> Array:
        """Return the (m, k) matrix with values (R,) at the kept entries and 0 elsewhere."""
        out = np.zeros(self.shape)
        out.flat[self.index] = values
        return out


def identity(size: int) -> Any:
    """Return the sparse identity matrix."""
    return sp.diags_array(np.ones(size), format="csr")


def limit_hinge(U: Array, rows: SampleWeights) -> Array:
    """Bring U >= 0 below the upper bounds of the dual domain of the hinge.

    One-vs-all, every entry is at most c_i; pairwise, every row sums to at most s_i / S. Pairwise,
    the entries r = y_i must be zero; they are filled in later.
    """
    if rows.true_class is None:
        return np.minimum(U, rows.c[:, None])
    excess: Array = np.maximum(U.sum(axis=1) / rows.share, 1.0)
    return U / excess[:, None]


def feasible_weights(
    duals: Array, objective: Objective, limit: Callable[[Array, SampleWeights], Array]
) -> Array:
    """Project duals (m, k) that satisfy the constraints to a tolerance on the exact dual domain.

    `limit` brings non-negative duals below their upper bounds. Pairwise, the entries r = y_i are
    ignored: no edge depends on them, and the loss determines their best value.
    """
    rows, positive = objective.rows, np.maximum(duals, 0.0)
    if rows.true_class is not None:
        rows.set_true_class(positive, np.zeros(rows.c.size))
    return objective.loss.shrink(limit(positive, rows), 1.0, rows)


def dense_columns(problem: RestrictedProblem, solver: str) -> DenseColumns:
    """Return the columns of a problem; raise TypeError if they are whole features."""
    if not isinstance(problem.columns, DenseColumns):
        raise TypeError(f"solver {solver!r} requires DenseColumns")
    return problem.columns


def drop_negligible(problem: RestrictedProblem, W: Array) -> Array:
    """Set the negligible entries of W >= 0 to zero if this does not increase P."""
    size = max(1.0, float(W.max(initial=0.0)))
    clean = np.where(W / size < _NEGLIGIBLE, 0.0, W)
    return clean if problem.value(clean) <= problem.value(W) else W
