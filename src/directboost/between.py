"""Answers next to others on the path of nu, which cost no solve."""

from math import log

import numpy as np

from .boosting_run import Known, Outcome, State
from .certificate import recertify
from .ending import wish_of
from .history import Record, Status
from .problem.feature_columns import FeatureColumns, Jumps
from .problem.objective import RestrictedProblem
from .task import Task


def has_neighbours(task: Task, end: Outcome) -> bool:
    """Return whether answers at other nus can be made of that one."""
    smooth, columns = task.request.parts.loss.smooth, end.state.columns
    return smooth and not task.oracle.grows and isinstance(columns, FeatureColumns)


def between(task: Task, upper: Outcome, lower: Outcome) -> Known:
    """Return weights and a dual point for the nu of the task, which lies between those of others.

    Prices are convex in the dual point U, and the bound D(U) is concave. With
    nu = (1 - t) nu_upper + t nu_lower no price at (1 - t) U_upper + t U_lower is above nu where
    the ends keep to theirs, and the bound there is at least (1 - t) D_upper + t D_lower. The
    weights go evenly with the logarithm of nu.
    """
    nu, above, below = task.objective.nu, upper.certificate.nu, lower.certificate.nu
    t = (above - nu) / (above - below)
    columns, W = _mixed(upper, lower, nu)
    loss = task.objective.evaluate(columns.scores(W), "", task.team).value
    assert upper.state.U is not None
    assert lower.state.U is not None
    return Known(columns, W, (1.0 - t) * upper.state.U + t * lower.state.U, loss)


def beyond(task: Task, upper: Outcome, lower: Outcome) -> Known:
    """Return weights for the nu of the task, which lies below those of others.

    They go on as they went from one to the other; what would change its sign, or has no weight at
    the lower one, has none.
    """
    columns, W = _mixed(upper, lower, task.objective.nu)
    last = _features(lower).features
    signs = {f: np.sign(jumps) for f, jumps in zip(last, lower.state.W, strict=True)}
    for feature, jumps in zip(columns.features, W, strict=True):
        jumps[jumps * signs.get(feature, 0.0) <= 0.0] = 0.0
    return Known(columns, columns.prune(W))


def _mixed(upper: Outcome, lower: Outcome, nu: float) -> tuple[FeatureColumns, Jumps]:
    """Return the columns of both, and weights on the line through theirs in log(nu)."""
    above, below = upper.certificate.nu, lower.certificate.nu
    share = log(above / nu) / log(above / below)
    ends = [
        (_features(upper), upper.state.W, 1.0 - share),
        (_features(lower), lower.state.W, share),
    ]
    columns = ends[-1][0].over({f for one, _, _ in ends for f in one.features})
    W = dict(zip(columns.features, columns.grow([]), strict=True))
    for one, weights, part in ends:
        for feature, jumps in zip(one.features, weights, strict=True):
            W[feature] += part * jumps
    return columns, list(W.values())


def _features(end: Outcome) -> FeatureColumns:
    assert isinstance(end.state.columns, FeatureColumns)
    return end.state.columns


def judged(task: Task, known: Known, seconds: float) -> Outcome:
    """Return what is known as an answer, with its certificate; `seconds` were spent."""
    objective, tol = task.objective, task.request.tol
    assert known.U is not None
    assert known.loss is not None
    primal = known.loss + RestrictedProblem(objective, known.columns).penalty_value(known.W)
    proof = recertify(
        objective, primal, [known.U.astype(np.float64, copy=False)], task.oracle, tol, task.team
    )
    record = Record(
        0, len(known.columns), primal, proof.dual, proof.gap, proof.relative_gap, proof.max_price,
        objective.nu, 0.0, 0.0, seconds,
    )  # fmt: skip
    wish = wish_of(task.request.callbacks, record)
    state = State(known.columns, known.W, known.U, primal, wish=wish, history=[record])
    status = Status.OPTIMAL if proof.converged else Status.MAX_ITER
    return Outcome(proof, status, state, known.loss)
