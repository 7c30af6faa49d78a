"""The weak learner of a fit with learner="auto": pairs if they help on held-out rows, or stumps."""

import time
from copy import copy
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np
from scipy.special import log_softmax, logit
from sklearn.utils import check_random_state

from ..arrays import Array, Ints, is_sparse, sparse_ranges
from ..callbacks import Callback, TimeLimit
from ..data.interactions import count_pairs
from ..data.memory import check_memory
from ..data.validation import TrainingSet
from ..history import Status
from ..kernels import ranges
from ..kernels.threads import Team
from ..losses import SampleWeights
from ..margins import OneVsAll
from ..model.ensemble import Ensemble
from ..oracles import PairOracle, StumpOracle
from ..oracles.pair import SCAN_ROWS
from ..problem.objective import Objective
from .context import fit_size, make_context
from .interactions import free_features, groups_of_columns, with_columns_of_pairs, with_stumps
from .settings import FitSettings
from .strategy import solve

#: Largest work of pricing the pairs once: rows times pairs times vectors of eight classes. A fit at
#: nu = 0.003 then takes up to about ten seconds on one core.
_MOST_WORK = 600_000_000
_LANES = 8
#: Rows times vectors of eight classes above which the restricted master problems take too long.
_LARGE = 100_000
_MOST_ROWS = 6000  # rows of the comparison: more hardly change its result
_FOLDS = 4  # parts of these rows, of which one is held out
_FEW_ROWS = 1000  # rows up to which each part is held out in turn
_LEAST_HELD_OUT = 20  # held-out rows below which there is no comparison
_GROUPS = 50  # groups of held-out rows for losses that are not known by row
_STANDARD_ERRORS = 1.5  # by which the loss of pairs has to be lower
_GAIN = 0.01  # share of the loss of stumps by which it has to be lower, too
_LEAST_PRIOR = 1e-12  # prior of a class that the rows of a trial lack
_TOL = 0.1  # tolerance of the two fits, if that of the estimator is tighter
_LEAST_NU = 0.01  # smallest nu of the two fits, relative to nu_max: smaller ones may over-fit
_TIME_SHARE = 0.3  # of a time limit: the rest is for the fit itself


@dataclass(frozen=True)
class LearnerChoice:
    """The weak learner that learner="auto" stands for in a fit, and the reason.

    Attributes
    ----------
    learner : {"stump", "pair"}
    reason : str
    pair_features : int or None
        Number of features whose pairs are used, the strongest ones; None if all pairs, or those of
        `interactions`, are used.
    stump_loss, pair_loss : float or None
        Mean loss on the held-out rows; None if the learners were not compared.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost import DirectBoostClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> choice = DirectBoostClassifier(learner="auto").fit(X, y).learner_choice_
    >>> choice.learner, choice.pair_loss < choice.stump_loss
    ('pair', True)
    """

    learner: str
    reason: str
    pair_features: int | None = None
    stump_loss: float | None = None
    pair_loss: float | None = None

    def __str__(self) -> str:
        return f"{self.learner}, {self.reason}"


def with_learner(settings: FitSettings, choice: LearnerChoice) -> FitSettings:
    """Return the settings of a fit with the chosen learner."""
    if choice.learner == "stump":
        return replace(settings, oracle=StumpOracle(), interactions=None, stumps_only=True)
    if choice.pair_features is None:
        return settings
    return replace(settings, interactions=choice.pair_features)


def choose_learner(
    settings: FitSettings, rows: TrainingSet, costs: Array, team: Team | None, names: list[str]
) -> LearnerChoice:
    """Return "pair" if pairs have a lower loss than stumps on held-out rows, or else "stump".

    Both are fitted to the other rows with the same parameters, but not to a smaller gap than 10 %,
    and not at a smaller nu than 0.01 nu_max. Of many rows, a sample is used.
    """
    began = time.perf_counter()
    settings, pair_features, objection = _affordable(settings, rows, team, names)
    if objection is not None:
        return LearnerChoice("stump", objection)
    splits = _splits(rows, settings.random_state)
    if splits[0][1].size < _LEAST_HELD_OUT:
        return LearnerChoice("stump", f"since {rows.weight.size} rows are too few to hold some out")
    limits: list[Callback] = [
        TimeLimit(_TIME_SHARE * limit.seconds)
        for limit in settings.callbacks
        if isinstance(limit, TimeLimit)
    ]
    pairs = replace(
        with_stumps(settings),
        oracle=settings.oracle,
        interactions=settings.interactions,
        tol=max(settings.tol, _TOL),
        callbacks=limits,
    )
    losses: dict[str, list[Array]] = {"stump": [], "pair": []}
    for train, held in splits:
        few, others = _take(rows, train), _take(rows, held)
        seconds = time.perf_counter() - began
        trials = {
            "stump": with_stumps(pairs),
            "pair": with_columns_of_pairs(pairs, few, costs, team, names, seconds),
        }
        for learner, trial in trials.items():
            context = make_context(trial, few, costs, team)
            nu = max(context.objective.nu, context.from_relative_nu(_LEAST_NU))
            solution = solve(context.at(nu), None, time.perf_counter() - began)
            if solution.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            if solution.status is Status.TIME_LIMIT:
                return LearnerChoice("stump", "since the time limit is too short for pairs")
            columns = solution.state.columns
            stumps = columns.stumps(solution.state.W)
            weights = stumps.rows.reshape(-1, rows.classes.size)
            F = Ensemble(columns.named(stumps), weights).scores(others.X)
            scale = settings.loss.probability_scale
            if not weights.size and scale is not None:  # an empty model predicts the prior
                prior = np.clip(few.prior, _LEAST_PRIOR, 1.0 - _LEAST_PRIOR)
                F = F + (np.log(prior) if few.targets is None else logit(prior)) / scale
            losses[learner].append(_losses(context.objective, others, F))
    stump_losses, pair_losses = map(np.concatenate, losses.values())
    name = "loss" if settings.loss.probability_scale is None else "log loss"
    return _compare(stump_losses, pair_losses, name, pair_features)


def _affordable(
    settings: FitSettings, rows: TrainingSet, team: Team | None, names: list[str]
) -> tuple[FitSettings, int | None, str | None]:
    """Return the settings with pairs that do not take too long, and the number of their features.

    The last value is the reason if there are no such pairs.
    """
    low, high, missing = sparse_ranges(rows.X) if is_sparse(rows.X) else ranges(rows.X, team)
    usable = free_features(rows) & ((low < high) | (missing & (low == high)))
    m, vectors = rows.weight.size, -(-rows.classes.size // _LANES)
    asked: Any = settings.interactions
    if isinstance(asked, tuple):
        groups = groups_of_columns(asked, rows, names)
        asked = tuple(tuple(f for f in group if usable[f]) for group in groups)
    elif asked == 1:
        asked = 0
    pairs = count_pairs(asked, int(usable.sum()))[1]
    if not pairs and asked == 0:
        value = settings.interactions
        return settings, None, f"since interactions={value!r} allows no pair"
    if not pairs:
        return settings, None, "since no two features can form a pair"
    if m * vectors > _LARGE:
        k = rows.classes.size
        return settings, None, f"since pairs take too long with {m} rows and {k} classes"
    most = _MOST_WORK // ((m + SCAN_ROWS) * vectors)
    pair_features = None
    if pairs > most:
        pair_features = (1 + isqrt(1 + 8 * most)) // 2
        if isinstance(asked, tuple) or pair_features < 2:
            return settings, None, f"since {pairs} pairs of features take too long"
        asked, settings = pair_features, replace(settings, interactions=pair_features)
    oracle = copy(settings.oracle)
    assert isinstance(oracle, PairOracle)
    oracle.interactions = asked
    try:
        check_memory(fit_size(replace(settings, oracle=oracle), rows, team))
    except MemoryError:
        return settings, None, f"since {pairs} pairs of features need too much memory"
    return settings, pair_features, None


def _splits(rows: TrainingSet, random_state: Any) -> list[tuple[Ints, Ints]]:
    """Return rows to train on and rows to hold out, with the same share of each class.

    A quarter of the rows is held out, or of few rows each quarter in turn, except those of classes
    with fewer than four rows. The held-out rows are in random order within their class.
    """
    rng = check_random_state(0 if random_state is None else random_state)
    codes, order = rows.codes, rng.permutation(rows.codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    sizes = np.bincount(codes, minlength=rows.classes.size)
    place = np.arange(codes.size) - (np.cumsum(sizes) - sizes)[codes[order]]
    few = np.ceil(sizes * min(_MOST_ROWS / codes.size, 1.0))[codes[order]]
    fold = np.where(few < _FOLDS, -1, place % _FOLDS)[place < few]
    order = order[place < few]
    return [
        (np.sort(order[fold != number]), order[fold == number])
        for number in range(_FOLDS if codes.size <= _FEW_ROWS else 1)
    ]


def _take(rows: TrainingSet, chosen: Ints) -> TrainingSet:
    return replace(
        rows,
        X=rows.X[chosen],
        codes=rows.codes[chosen],
        weight=rows.weight[chosen],
        targets=None if rows.targets is None else rows.targets[chosen],
    )


def _losses(objective: Objective, rows: TrainingSet, F: Array) -> Array:
    """Return weight and mean loss of the rows, in groups if the loss has no probabilities, (n, 2).

    This is the log loss of the probabilities that the loss models. If it models none, it is the
    loss itself, without the part that no model reduces.
    """
    scale, weight = objective.loss.probability_scale, rows.weight
    if scale is None:
        groups = [np.arange(g, weight.size, _GROUPS) for g in range(min(_GROUPS, weight.size))]
        return np.array([(weight[g].sum(), _mean_loss(objective, rows, F, g)) for g in groups])
    if rows.targets is not None:
        losses = np.logaddexp(0.0, -scale * rows.targets * F).mean(axis=1)
    else:
        losses = -log_softmax(scale * F, axis=1)[np.arange(weight.size), rows.codes]
    return np.column_stack([weight, losses])


def _mean_loss(objective: Objective, rows: TrainingSet, F: Array, group: Ints) -> float:
    k = objective.margin.k
    if rows.targets is None:
        margin = type(objective.margin).from_codes(rows.codes[group], k)
    else:
        margin = OneVsAll(rows.targets[group])
    shares = SampleWeights.weighted(rows.weight[group], k, margin.true_class)
    part = replace(objective, margin=margin, rows=shares)
    return part.loss_value(F[group]) - part.constant


def _compare(stumps: Array, pairs: Array, name: str, pair_features: int | None) -> LearnerChoice:
    """Choose pairs if their loss is clearly lower than that of stumps; losses are (n, 2)."""
    share, gains = stumps[:, 0] / stumps[:, 0].sum(), stumps[:, 1] - pairs[:, 1]
    gain, stump_loss, pair_loss = (float(share @ x) for x in (gains, stumps[:, 1], pairs[:, 1]))
    error = float(np.sqrt(share**2 @ (gains - gain) ** 2))
    better = gain > max(_STANDARD_ERRORS * error, _GAIN * stump_loss)
    judged, rule = f"the {name} on held-out rows is lower", ""
    if not better and gain > 0.0:
        judged = f"pairs do not clearly lower the {name} on held-out rows"
        size = gain / max(error, 1e-300)
        rule = (
            f"; the difference is {size:.2f} standard errors and {gain / stump_loss:.1%}, but "
            f"pairs need {_STANDARD_ERRORS:g} and {_GAIN:.0%}"
        )
    return LearnerChoice(
        learner="pair" if better else "stump",
        reason=f"since {judged}: {pair_loss:.4g} with pairs, {stump_loss:.4g} with stumps{rule}",
        pair_features=pair_features if better else None,
        stump_loss=stump_loss,
        pair_loss=pair_loss,
    )
