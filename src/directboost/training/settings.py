"""The parameters of an estimator, checked and resolved to objects: `FitSettings`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from ..callbacks import Callback, Progress
from ..data.interactions import NamedGroups, check_interactions
from ..data.validation import check_choice, check_count, check_number
from ..kernels.threads import thread_count
from ..losses import LOSSES, Loss
from ..margins import MARGINS, Margin
from ..oracles import LEARNERS, ClassifierOracle, Oracle, PairOracle
from ..penalties import Penalty, penalty_name, resolve_penalty
from ..solvers import SOLVERS, BlockDescent, ColumnBlockDescent, Smoothing, Solver

#: Default of the parameter `learner`; `DaskDirectBoostClassifier` supports "stump" only.
DEFAULT_LEARNER = "stump"
#: Names of `learner` whose weak classifiers are stumps and products of stumps.
_WITH_PAIRS = ("pair", "auto")
#: The parameters of pairs, with their defaults.
_OF_PAIRS = {"interactions": None, "pair_bins": 32, "interaction_cost": 1.0}


class LossMarginPenalty(NamedTuple):
    """The three parts of the objective."""

    loss: Loss
    margin: type[Margin]
    penalty: Penalty

    def __str__(self) -> str:
        name = penalty_name(self.penalty)
        return f"loss={self.loss.name!r}, margin={self.margin.name!r}, penalty={name!r}"


@dataclass(frozen=True)
class FitSettings:
    """The checked parameters of a fit.

    Attributes
    ----------
    loss, margin, penalty : Loss, type of Margin, Penalty
    oracle : Oracle
        The oracle of the weak classifiers, not started.
    interactions : None, int or groups of features
        Which features may enter a pair, by name or column, if the oracle is a `PairOracle`.
    solver : Solver or type of Solver
    max_columns : int or None
        Largest number of generated columns, with a numeric `columns_per_round`.
    max_learners : int or None
        Largest number of weak classifiers of the model, with columns_per_round="auto".
    stumps_only : bool
        Whether the weak classifiers are the decision stumps.
    takes_signs : bool
        Whether the weak learner supports monotonic constraints.
    choose_learner : bool
        Whether pairs are compared with stumps first, for learner="auto". The oracle is then that
        of pairs.
    """

    loss: Loss
    margin: type[Margin]
    penalty: Penalty
    oracle: Oracle
    interactions: int | NamedGroups | None
    solver: type[Solver] | Solver
    nu: float
    nu_scale: str
    pricing: str
    columns_per_round: int | None
    max_columns: int | None
    max_learners: int | None
    n_iter_no_change: int | None
    tol: float
    max_bins: int | None
    random_state: Any
    stumps_only: bool
    takes_signs: bool
    choose_learner: bool
    callbacks: Sequence[Callback]


def make_settings(estimator: Any, more_callbacks: Sequence[Callback] = ()) -> FitSettings:
    """Check the parameters of an estimator and resolve names to objects."""
    oracle, interactions = _resolve_learner(estimator)
    name = estimator.learner if isinstance(estimator.learner, str) else None
    thread_count(estimator.n_jobs)
    parts = resolve_objective(estimator.loss, estimator.margin, estimator.penalty)
    pricing = check_choice("pricing", estimator.pricing, ("exact", "paper"))
    per_round = None
    if not (isinstance(estimator.columns_per_round, str) and estimator.columns_per_round == "auto"):
        per_round = check_count(
            "columns_per_round", estimator.columns_per_round, 1, "'auto' or an integer >= 1"
        )
    on_codes = bool(getattr(oracle, "whole_features", False))
    single_columns = per_round is not None or pricing == "paper" or not on_codes
    max_learners = _optional_count("max_learners", estimator.max_learners, 1)
    nu_scale = check_choice("nu_scale", estimator.nu_scale, ("relative", "absolute", "paper"))
    nu = check_number("nu", estimator.nu, 0.0, strict=True, what="a positive number")
    if nu_scale == "relative" and nu > 1.0:
        raise ValueError(
            f"nu={estimator.nu!r} is invalid with nu_scale='relative': expected a fraction of "
            "nu_max, above 0 and at most 1 (1 gives the empty model)"
        )
    callbacks = [] if estimator.callbacks is None else estimator.callbacks
    callbacks = [callbacks] if callable(callbacks) else callbacks
    if not isinstance(callbacks, list | tuple) or not all(callable(c) for c in callbacks):
        raise ValueError(
            f"callbacks={estimator.callbacks!r} is invalid: expected a callable or a list of "
            "callables"
        )
    return FitSettings(
        loss=parts.loss,
        margin=parts.margin,
        penalty=parts.penalty,
        oracle=oracle,
        interactions=interactions,
        solver=resolve_solver(estimator.solver, parts, single_columns, on_codes=on_codes),
        nu=nu,
        nu_scale=nu_scale,
        pricing=pricing,
        columns_per_round=per_round,
        max_columns=None if per_round is None else max_learners,
        max_learners=max_learners if per_round is None else None,
        n_iter_no_change=_optional_count("n_iter_no_change", estimator.n_iter_no_change, 1),
        tol=check_number("tol", estimator.tol, 0.0, strict=True, what="a positive number"),
        max_bins=_optional_count("max_bins", estimator.max_bins, 2),
        random_state=estimator.random_state,
        stumps_only=name == "stump",
        takes_signs=name in ("stump", *_WITH_PAIRS),
        choose_learner=name == "auto",
        callbacks=[*([Progress()] if estimator.verbose else []), *callbacks, *more_callbacks],
    )


def _resolve_learner(estimator: Any) -> tuple[Oracle, int | NamedGroups | None]:
    """Return the oracle of `learner`, and which features may enter a pair.

    Rejects options of pairs for a learner without pairs, or with options of its own.
    """
    learner = estimator.learner
    if isinstance(learner, str) and learner in _WITH_PAIRS:
        bins, cost = estimator.pair_bins, estimator.interaction_cost
        pairs = PairOracle(pair_bins=bins, interaction_cost=cost)
        return pairs, check_interactions(estimator.interactions)
    oracle: Oracle
    if isinstance(learner, str):
        oracle = LEARNERS[check_choice("learner", learner, ("auto", *LEARNERS))]()
    else:
        oracle = learner if isinstance(learner, Oracle) else ClassifierOracle(learner)
    for name, default in _OF_PAIRS.items():
        value = getattr(estimator, name)
        if value is default or (np.isscalar(value) and value == default):
            continue
        if isinstance(oracle, PairOracle):
            raise ValueError(
                f"{name}={value!r} is invalid with a PairOracle as learner, which has its own "
                f"option: set PairOracle({name}=...), or use learner='pair'"
            )
        raise ValueError(
            f"{name}={value!r} is invalid with learner={learner!r}, which has no pairs: use "
            f"learner='pair' or 'auto', or leave {name} out"
        )
    if isinstance(oracle, PairOracle):
        return oracle, check_interactions(oracle.interactions)
    return oracle, None


def _optional_count(name: str, value: Any, least: int) -> int | None:
    return (
        None if value is None else check_count(name, value, least, f"None or an integer >= {least}")
    )


def resolve_objective(loss: Any, margin: Any, penalty: Any) -> LossMarginPenalty:
    """Resolve the three parameters to objects; reject combinations that are not defined."""
    found = loss if isinstance(loss, Loss) else LOSSES[check_choice("loss", loss, tuple(LOSSES))]()
    kind = MARGINS[check_choice("margin", margin, tuple(MARGINS))]
    if kind.name not in found.margins:
        supported = " or ".join(repr(name) for name in found.margins)
        raise ValueError(
            f"margin={margin!r} is invalid with loss={found.name!r}: expected {supported}"
        )
    return LossMarginPenalty(found, kind, resolve_penalty(penalty))


def supported_input(learner: Any) -> tuple[bool, bool]:
    """Return whether the weak learner supports missing values, and a sparse X."""
    if isinstance(learner, Oracle):
        return learner.takes_missing, learner.takes_sparse
    if isinstance(learner, type) or not hasattr(learner, "__sklearn_tags__"):
        return True, True
    tags = get_tags(learner).input_tags
    return bool(tags.allow_nan), bool(tags.sparse)


def check_sparse_supported(learner: Any) -> None:
    """Reject a sparse X if the weak learner does not support it."""
    if not supported_input(learner)[1]:
        raise ValueError(
            f"learner={learner!r} does not support a sparse X: pass X.toarray(), or use another "
            "learner, such as 'stump' or 'tree'"
        )


def check_signs_supported(settings: FitSettings) -> None:
    """Reject monotonic constraints if the solver works on single columns."""
    if settings.solver is not BlockDescent or not settings.takes_signs:
        raise ValueError(
            "monotonic_cst requires learner='stump', 'pair' or 'auto', solver='auto' or 'blocks', "
            "columns_per_round='auto' and pricing='exact': other solvers do not support it"
        )


def resolve_solver(
    solver: Any, parts: LossMarginPenalty, single_columns: bool, on_codes: bool = False
) -> type[Solver] | Solver:
    """Return the solver of a name, or the fastest one that supports the problem for "auto".

    If `on_codes`, the single columns are stumps or leaves on binned features, for which there is
    a block descent too.
    """
    if isinstance(solver, Solver):
        reason = _objection(solver, parts, single_columns)
        if reason is not None:
            raise ValueError(f"solver={solver.name!r} does not support {parts}: {reason}")
        # Block descent takes its precision from the problem, so only its class is used.
        return BlockDescent if isinstance(solver, BlockDescent | Smoothing) else solver
    check_choice("solver", solver, ("auto", *SOLVERS))
    solvers = SOLVERS | ({"blocks": ColumnBlockDescent} if single_columns and on_codes else {})
    if solver != "auto":
        reason = _objection(solvers[solver](), parts, single_columns)
        if reason is None:
            return solvers[solver]
        supporting = [
            repr(name)
            for name, other in solvers.items()
            if _objection(other(), parts, single_columns) is None
        ]
        alternatives = f"; use one of {', '.join(supporting)}" if supporting else ""
        raise ValueError(f"solver={solver!r} does not support {parts}: {reason}{alternatives}")
    # On single columns, a non-smooth loss is left to the exact solvers where there is one.
    last = "blocks" if single_columns and not parts.loss.smooth else None
    for name in sorted(solvers, key=lambda name: name == last):
        if _objection(solvers[name](), parts, single_columns) is None:
            return solvers[name]
    raise ValueError(f"no solver supports {parts}: use a smooth loss or the hinge")


def _objection(solver: Solver, parts: LossMarginPenalty, single_columns: bool) -> str | None:
    """Return why a solver cannot solve the problem, or None."""
    if single_columns and isinstance(solver, BlockDescent | Smoothing):
        return (
            "it works on whole features, but columns_per_round, pricing or learner ask for single "
            "columns"
        )
    return solver.supports(parts.loss, parts.margin, parts.penalty)
