"""NumPy twins of the passes over the rows: the losses and their dual objectives."""

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

from ...arrays import Array, Scores
from ..structs import (
    EXPONENTIAL,
    LOGISTIC,
    MULTINOMIAL,
    SQUARED_HINGE,
    LossRows,
    LossValues,
    SearchDirection,
    Wanted,
)
from ..threads import Team


def loss_pass(
    rows: LossRows,
    F: Scores,
    wanted: Wanted,
    team: Team | None = None,
    direction: SearchDirection | None = None,
    out: LossValues | None = None,
) -> LossValues:
    """Return the loss at F, or after a step from F, and the wanted ones of F, U, A = -dL/dF and C.

    C is the diagonal of the second derivative in F that the block solver uses: class r has its own
    term and, with pairwise margins, class y_i the sum of the terms of the others. Results are
    written into the arrays of `out` where it has them.
    """
    if direction is not None:
        F = F + F.dtype.type(direction.step) * direction.change
    index = np.arange(F.shape[0])
    if rows.labels is not None:
        z = (F - F[index, rows.labels][:, None]).astype(np.float64)
    else:
        assert rows.targets is not None
        z = (-rows.targets * F).astype(np.float64)
    limit = 88.0 if F.dtype == np.float32 else 708.0
    if rows.loss == EXPONENTIAL and rows.labels is None:
        z = np.clip(z, -limit, limit)
    c = rows.c.astype(np.float64)
    value, u, h = _PASSES[rows.loss](z, c, rows.labels is not None)
    U, A, C = u.copy(), -u, h
    if rows.labels is not None:
        for matrix in (A, C):
            matrix[index, rows.labels] = 0.0
        A[index, rows.labels] = -A.sum(axis=1)
        C[index, rows.labels] = C.sum(axis=1)
    else:
        assert rows.targets is not None
        A = rows.targets * u
    arrays = {"F": F, "U": U, "A": A, "C": C}
    returned = {}
    for name in wanted.fields:
        values, place = arrays[name].astype(F.dtype), None if out is None else getattr(out, name)
        if place is not None:
            place[:] = values
        returned[name] = values if place is None else place
    return LossValues(value=value, **returned)


def dual_parts(
    rows: LossRows, U: Scores, tau: float, team: Team | None = None
) -> tuple[float, float]:
    """Return the terms r != y_i of the dual objective at U shrunk by tau, and their mass.

    Both are sums over the rows. The entries r != y_i are multiplied by tau; every loss has its own
    rule for those at r = y_i, and `own_class_dual` of the total mass gives their terms.
    """
    unit = rows.c.astype(np.float64) * (rows.k if rows.loss == MULTINOMIAL else 1)
    v = tau * U.astype(np.float64) / unit[:, None]
    if rows.labels is not None:
        v[np.arange(v.shape[0]), rows.labels] = 0.0
    terms = _DUALS[rows.loss](v)
    if rows.loss == MULTINOMIAL:
        rest = np.maximum(1.0 - v.sum(axis=1), 0.0)
        terms = terms - xlogy(rest, rest)[:, None] / rows.k
    return float(unit @ terms.sum(axis=1)), float(unit @ v.sum(axis=1))


_DUALS = {
    LOGISTIC: lambda v: -(xlogy(v, v) + xlogy(np.maximum(1.0 - v, 0.0), np.maximum(1.0 - v, 0.0))),
    EXPONENTIAL: lambda v: -xlogy(v, v),
    MULTINOMIAL: lambda v: -xlogy(v, v),
    SQUARED_HINGE: lambda v: v - 0.25 * v**2,
}


def _logistic(z: Array, c: Array, pairwise: bool) -> tuple[float, Array, Array]:
    u = np.asarray(expit(z))
    value = float(c @ np.logaddexp(0.0, z).sum(axis=1))
    return value, c[:, None] * u, c[:, None] * u * np.asarray(expit(-z))


def _exponential(z: Array, c: Array, pairwise: bool) -> tuple[float, Array, Array]:
    logs = z + np.log(c)[:, None]
    if pairwise:
        value = float(logsumexp(logs))
        u = np.exp(logs - value)
        return value, u, u.copy()
    with np.errstate(over="ignore"):
        u = np.exp(logs)
    return float(u.sum()), u, u.copy()


def _multinomial(z: Array, c: Array, pairwise: bool) -> tuple[float, Array, Array]:
    share, p = (c * z.shape[1])[:, None], np.asarray(softmax(z, axis=1))
    return float(share[:, 0] @ logsumexp(z, axis=1)), share * p, share * p * (1.0 - p)


def _squared_hinge(z: Array, c: Array, pairwise: bool) -> tuple[float, Array, Array]:
    t = np.maximum(0.0, 1.0 + z)
    value = float(c @ np.square(t).sum(axis=1))
    return value, 2.0 * c[:, None] * t, 2.0 * c[:, None] * (t > 0.0)


_PASSES = {
    LOGISTIC: _logistic,
    EXPONENTIAL: _exponential,
    MULTINOMIAL: _multinomial,
    SQUARED_HINGE: _squared_hinge,
}
