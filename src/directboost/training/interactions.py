"""The pairs of a fit: which columns `interactions` stands for, and the strongest features."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np

from ..arrays import Array, Bools, Ints
from ..callbacks import TimeLimit
from ..data.interactions import Groups, NamedGroups, by_column
from ..data.validation import TrainingSet, caller_level
from ..history import Status
from ..kernels.threads import Team
from ..oracles import PairOracle, StumpOracle
from .compaction import compact
from .context import FitContext, make_context
from .settings import FitSettings, LossMarginPenalty, resolve_solver
from .strategy import solve


def with_columns_of_pairs(
    settings: FitSettings,
    rows: TrainingSet,
    costs: Array,
    team: Team | None,
    names: list[str],
    seconds: float = 0.0,
) -> FitSettings:
    """Return settings of pairs with an oracle whose `interactions` are columns, or None for all.

    Features with a monotonic constraint enter no pair, and `interactions` must not name them.
    `seconds` have passed since the start of the fit, for time limits.
    """
    asked, oracle = settings.interactions, settings.oracle
    if asked is None:
        return settings
    assert isinstance(oracle, PairOracle)
    free, oracle = free_features(rows), copy(oracle)
    if isinstance(asked, tuple):
        oracle.interactions = groups_of_columns(asked, rows, names)
    elif asked < 2:
        oracle.interactions = 0
    elif asked < free.sum():
        order = _by_strength(settings, rows, costs, team, seconds)
        oracle.interactions = (tuple(order[free[order]][:asked].tolist()),)
    return replace(settings, oracle=oracle)


def free_features(rows: TrainingSet) -> Bools:
    """Return which features have no monotonic constraint, so that they may enter a pair, (d,)."""
    if rows.signs is None:
        return np.ones(rows.X.shape[1], dtype=bool)
    return np.asarray(~rows.signs[:-1].any(axis=1))


def groups_of_columns(asked: NamedGroups, rows: TrainingSet, names: list[str]) -> Groups:
    """Return the groups of `interactions` by column; reject features with a constraint."""
    groups, free = by_column(asked, names), free_features(rows)
    constrained = [f for group in groups for f in group if not free[f]]
    if constrained:
        raise ValueError(
            f"interactions contains the feature {names[constrained[0]]!r}, which has a "
            "direction in monotonic_cst: such features enter no pair, since the constraint "
            "would not hold for a product; remove the feature from one of the two parameters"
        )
    return groups


def with_stumps(settings: FitSettings) -> FitSettings:
    """Return settings of a fit of stumps to the same objective, without a limit on the columns.

    Of the callbacks, only time limits remain.
    """
    parts = LossMarginPenalty(settings.loss, settings.margin, settings.penalty)
    return replace(
        settings,
        oracle=StumpOracle(),
        interactions=None,
        solver=resolve_solver("auto", parts, single_columns=False),
        pricing="exact",
        columns_per_round=None,
        max_columns=None,
        max_learners=None,
        stumps_only=True,
        callbacks=[limit for limit in settings.callbacks if isinstance(limit, TimeLimit)],
    )


def _by_strength(
    settings: FitSettings, rows: TrainingSet, costs: Array, team: Team | None, seconds: float
) -> Ints:
    """Return all features in the order of the sum of their weights in a fit of stumps, (d,).

    The loss, the margin, the penalty, nu and tol are those of the settings. Features that the fit
    does not use follow in the order of their highest price at its solution. Of the callbacks, only
    time limits are called.
    """
    context = make_context(with_stumps(settings), rows, costs, team)
    solution = compact(context, solve(context, None, seconds))
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    columns, W, d = solution.state.columns, solution.state.W, costs.size - 1
    used, objective = columns.stumps(W), context.objective
    strength = np.bincount(used.names[:, 0], used.rows.sum(axis=1), d + 1)[:d]
    U = objective.negative_gradient(columns.scores(W).astype(np.float64, copy=False))
    found = context.oracle.price(objective.coefficients(U), objective.penalty).proposals
    price = np.zeros(d + 1)
    price[found.feature] = found.price
    return np.lexsort((np.arange(d), -price[:d], -strength))


def warn_without_pairs(settings: FitSettings, context: FitContext, names: list[str]) -> None:
    """Warn, with the reason, if a fit with pairs has no two features that can form one."""
    oracle = context.oracle
    if not isinstance(oracle, StumpOracle):
        return
    asked, varied = settings.interactions, oracle.binned.n_bins[:-1] > 1
    free = varied if oracle.signs is None else varied & ~oracle.signs[:-1].any(axis=1)
    if asked == 0:
        return
    if len(names) == 1:
        reason = "X has one feature"
    elif not varied.any():
        reason = "all features are constant"
    elif varied.sum() == 1:
        reason = f"all features except {names[int(np.argmax(varied))]!r} are constant"
    elif free.sum() < 2:
        others = f" except {names[int(np.argmax(free))]!r}" if free.any() else ""
        constant = "" if varied.all() else " or are constant"
        reason = f"all features{others} have a monotonic constraint{constant}"
    elif asked == 1:
        reason = "interactions=1 selects one feature"
    else:
        reason = "every pair in interactions has a constant feature"
    warnings.warn(
        f"learner='pair' fits stumps only: {reason}, so there is no pair; with learner='stump' the "
        "model is the same",
        UserWarning,
        stacklevel=caller_level(),
    )
