"""The formulas of the theory page in 50 digits: plain loops, no import of the library.

Conventions: `c` (m,) holds c_i = s_i / (S k); `own` (m,) holds y_i for pairwise margins and is None
for one-vs-all. Every float is taken as an exact number, so the results are right to the last bit.
"""

from collections.abc import Iterator
from decimal import Context, Decimal, localcontext

import numpy as np

LOSS_MARGINS = {
    "hinge": ("pairwise", "one-vs-all"),
    "exponential": ("pairwise", "one-vs-all"),
    "logistic": ("pairwise", "one-vs-all"),
    "multinomial": ("pairwise",),
    "squared_hinge": ("pairwise", "one-vs-all"),
}
ZERO, ONE = Decimal(0), Decimal(1)
_CONTEXT = Context(prec=50)


def row_weights(sample_weight, k):
    """Return c_i = s_i / (S k), (m,)."""
    s = np.asarray(sample_weight, dtype=float)
    return s / (s.sum() * k)


def targets_of(y, k):
    """Return the +-1 matrix (m, k) of class codes."""
    return np.array([[1.0 if r == label else -1.0 for r in range(k)] for label in y])


def margins(F, margin, y):
    """Return rho (m, k); y holds codes, or for one-vs-all also a +-1 matrix."""
    m, k = F.shape
    if margin == "pairwise":
        return np.array([[F[i, y[i]] - F[i, r] for r in range(k)] for i in range(m)])
    t = targets_of(y, k) if np.ndim(y) == 1 else y
    return np.array([[t[i, r] * F[i, r] for r in range(k)] for i in range(m)])


def edge_coefficients(U, margin, y):
    """Return A (m, k), so that the edges of h are sum_i h(x_i) A_i:."""
    m, k = U.shape
    if margin == "pairwise":
        rows = [[(r == y[i]) * U[i].sum() - U[i, r] for r in range(k)] for i in range(m)]
        return np.array(rows)
    t = targets_of(y, k) if np.ndim(y) == 1 else y
    return np.array([[t[i, r] * U[i, r] for r in range(k)] for i in range(m)])


def loss_value(loss, rho, c, own):
    """Return L(rho) as a Decimal."""
    k = rho.shape[1]
    with localcontext(_CONTEXT):
        if loss == "multinomial" or (loss == "hinge" and own is not None):
            pairs = zip(map(_exact_row, rho), c, own, strict=True)
            return sum((k * Decimal(ci) * _row_loss(loss, row, y) for row, ci, y in pairs), ZERO)
        if loss == "exponential":
            total = sum((ci * (-z).exp() for z, ci in _entries(rho, c)), ZERO)
            return total if own is None else total.ln()
        return sum((ci * _theta(loss, z) for z, ci in _entries(rho, c)), ZERO)


def _row_loss(loss, row, label):
    if loss == "multinomial":
        return sum(((-z).exp() for z in row), ZERO).ln()
    return max((ZERO if r == label else ONE) - z for r, z in enumerate(row))


def _theta(loss, z):
    if loss == "logistic":
        return (ONE + (-z).exp()).ln()
    slack = max(ZERO, ONE - z)
    return {"hinge": slack, "squared_hinge": slack * slack}[loss]


def dual_value(loss, U, c, own):
    """Return D(U) as a Decimal, for U in the dual domain."""
    k = U.shape[1]
    with localcontext(_CONTEXT):
        if loss == "hinge" and own is not None:
            m = len(c)
            off = (Decimal(float(U[i, r])) for i in range(m) for r in range(k) if r != own[i])
            return sum(off, ZERO)
        return sum((_dual_term(loss, u, ci, k, own is None) for u, ci in _entries(U, c)), ZERO)


def _dual_term(loss, u, c, k, separate):
    if loss == "hinge":
        return u
    if loss == "squared_hinge":
        return u - u * u / (4 * c)
    if loss == "logistic":
        v = min(u / c, ONE)
        return -c * (_entropy(v) + _entropy(ONE - v))
    if loss == "multinomial":
        c = k * c
    term = -u * (u / c).ln() if u else ZERO
    return term + u if loss == "exponential" and separate else term


def _entropy(v):
    return v * v.ln() if v > 0 else ZERO


def loss_weights(loss, rho, c, own):
    """Return U = -dL/drho of a smooth loss, (m, k)."""
    U = np.empty(rho.shape)
    with localcontext(_CONTEXT):
        for i, row in enumerate(map(_exact_row, rho)):
            inverse = 1 / sum((-z).exp() for z in row) if loss == "multinomial" else None
            weight = Decimal(float(c[i]))
            for r, z in enumerate(row):
                U[i, r] = float(weight * _descent(loss, z, inverse, len(row)))
    return U / U.sum() if loss == "exponential" and own is not None else U


def _descent(loss, z, inverse, k):
    if loss == "multinomial":
        return k * (-z).exp() * inverse
    if loss == "exponential":
        return (-z).exp()
    if loss == "logistic":
        return 1 / (1 + z.exp())
    return {"squared_hinge": 2 * max(ZERO, ONE - z)}[loss]


def shrink(loss, U, tau, c, own):
    """Return the point of the dual domain whose edges are tau times those of U."""
    V = tau * U
    if own is None:
        return V
    rows = np.arange(len(c))
    V[rows, own] = 0.0
    if loss in ("hinge", "multinomial"):
        freed = c * U.shape[1] - V.sum(axis=1)
    elif loss == "exponential":
        freed = (1.0 - V.sum()) * c / c.sum()
    else:
        freed = c * {"logistic": 0.5, "squared_hinge": 2.0}[loss]
    V[rows, own] = np.maximum(freed, 0.0)
    return V


def start_weights(loss, c, own, k):
    """Return U at W = 0, (m, k), as in section 7 of the theory page."""
    factor = {"logistic": 0.5, "squared_hinge": 2.0}.get(loss, 1.0)
    U = np.array([[factor * ci] * k for ci in c])
    if loss == "hinge" and own is not None:
        for i, label in enumerate(own):
            U[i] = k * c[i] / (k - 1)
            U[i, label] = 0.0
    return U


def constant(loss, own, k):
    """Return P_const, the part of L that no W can reduce."""
    if own is None:
        return 0.0
    logarithms = {"logistic": np.log(2.0) / k, "exponential": -np.log(k)}
    return {"squared_hinge": 1.0 / k, **logarithms}.get(loss, 0.0)


def domain_violation(loss, U, c, own):
    """Return how far U is from its dual domain in units of the row weights; 0 inside."""
    k = U.shape[1]
    below = max(0.0, -float((U / c[:, None]).min()))
    if loss == "multinomial" or (loss == "hinge" and own is not None):
        return max(below, float(np.abs(U.sum(axis=1) / (k * c) - 1.0).max()))
    if loss == "exponential":
        return below if own is None else max(below, abs(float(U.sum()) - 1.0))
    if loss in ("hinge", "logistic"):
        return max(below, float((U / c[:, None]).max()) - 1.0)
    return below


def penalty_value(W, p, costs=None):
    """Return sum_j kappa_j ||W_j:||_p."""
    costs = np.ones(len(W)) if costs is None else np.asarray(costs)
    return float(sum(cost * norm(row, p) for row, cost in zip(W, costs, strict=True)))


def norm(w, p):
    """Return ||w||_p of a vector, safe from overflow and underflow."""
    sizes = np.abs(np.asarray(w, dtype=float))
    top = float(sizes.max(initial=0.0))
    if top == 0.0 or np.isinf(p):
        return top
    return top * float(sum((size / top) ** p for size in sizes)) ** (1.0 / p)


def conjugate_exponent(p):
    """Return q with 1/p + 1/q = 1."""
    if p == 1:
        return np.inf
    return 1.0 if np.isinf(p) else p / (p - 1.0)


def price(edges, p, cost=1.0):
    """Return ||E_+||_q / kappa of one weak classifier."""
    return norm(np.maximum(edges, 0.0), conjugate_exponent(p)) / cost


def _exact_row(row):
    return [Decimal(float(x)) for x in row]


def _entries(matrix, c) -> Iterator[tuple[Decimal, Decimal]]:
    for row, ci in zip(matrix, c, strict=True):
        weight = Decimal(float(ci))
        for x in row:
            yield Decimal(float(x)), weight
