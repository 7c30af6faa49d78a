"""From names to parts: the loss, margin, penalty, weak learner and master a fit is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils import get_tags

from ..arrays import Ints
from ..callbacks import Callback, Progress
from ..data.validation import check_choice, check_count, check_number
from ..losses import LOSSES, Loss
from ..margins import MARGINS, Margin
from ..oracles import LEARNERS, ClassifierOracle, Oracle, OracleData
from ..penalties import Penalty, penalty_name, resolve_penalty
from ..solvers import SOLVERS, BlockDescent, ColumnBlockDescent, Smoothing, Solver


@dataclass(frozen=True)
class LossMarginPenalty:
    """What the problem is made of."""

    loss: Loss
    margin: type[Margin]
    penalty: Penalty

    def __str__(self) -> str:
        name = penalty_name(self.penalty)
        return f"loss={self.loss.name!r}, margin={self.margin.name!r}, penalty={name!r}"


def resolve_parts(loss: Any, margin: Any, penalty: Any) -> LossMarginPenalty:
    """Turn the three parameters into objects, and refuse what does not go together."""
    found = loss if isinstance(loss, Loss) else LOSSES[check_choice("loss", loss, tuple(LOSSES))]()
    kind = MARGINS[check_choice("margin", margin, tuple(MARGINS))]
    if kind.name not in found.margins:
        fitting = " or ".join(repr(m) for m in found.margins)
        raise ValueError(
            f"margin={margin!r} does not go with loss={found.name!r}; that loss takes {fitting}"
        )
    return LossMarginPenalty(found, kind, resolve_penalty(penalty))


def resolve_learner(learner: Any) -> Callable[[OracleData], Oracle]:
    """Return what makes an oracle for the rows of a fit: of a name, a classifier or an oracle."""
    if isinstance(learner, str):
        return LEARNERS[check_choice("learner", learner, tuple(LEARNERS))]().on
    return learner.on if isinstance(learner, Oracle) else ClassifierOracle(learner).on


def has_whole_features(learner: Any) -> bool:
    """Tell whether block descent can work on the columns of that weak learner."""
    oracle = LEARNERS[learner] if isinstance(learner, str) else learner
    return bool(getattr(oracle, "whole_features", False))


def takes_missing(learner: Any) -> bool:
    """Tell whether weak classifiers of that kind have an answer to missing values."""
    if isinstance(learner, Oracle):
        return learner.takes_missing
    foreign = hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
    return bool(get_tags(learner).input_tags.allow_nan) if foreign else True


def takes_sparse(learner: Any) -> bool:
    """Tell whether weak classifiers of that kind can be found and used on a sparse X."""
    if isinstance(learner, Oracle):
        return learner.takes_sparse
    foreign = hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
    return bool(get_tags(learner).input_tags.sparse) if foreign else True


def check_sparse_supported(learner: Any) -> None:
    """Refuse a sparse X for weak classifiers that cannot read it."""
    if not takes_sparse(learner):
        raise ValueError(
            f"learner={learner!r} does not take a sparse X: give X.toarray(), or another learner, "
            "such as 'stump' or 'tree'"
        )


def resolve_solver(
    solver: Any, parts: LossMarginPenalty, single_columns: bool, on_codes: bool = False
) -> type[Solver] | Solver:
    """Return the master of a name, or the fastest one that fits for "auto".

    `on_codes` tells that single columns are jumps on codes, which answer +1 and -1: then there is
    a block descent for them too.
    """
    if isinstance(solver, Solver):
        reason = _objection(solver, parts, single_columns)
        if reason is not None:
            raise ValueError(f"solver={solver.name!r} does not fit {parts}: {reason}")
        # Block descent takes its precision from the problem, so the class is all it gives.
        return BlockDescent if isinstance(solver, BlockDescent | Smoothing) else solver
    check_choice("solver", solver, ("auto", *SOLVERS))
    masters = SOLVERS | ({"blocks": ColumnBlockDescent} if single_columns and on_codes else {})
    reasons = {name: _objection(m(), parts, single_columns) for name, m in masters.items()}
    fitting = [name for name, reason in reasons.items() if reason is None]
    if not fitting:
        raise ValueError(f"no solver fits {parts}; a smooth loss or the hinge is needed")
    if solver == "auto":
        return masters[_fastest(fitting, parts, single_columns)]
    if reasons[solver] is not None:
        listed = ", ".join(repr(name) for name in fitting)
        raise ValueError(
            f"solver={solver!r} does not fit {parts}: {reasons[solver]}; these do: {listed}"
        )
    return masters[solver]


def _fastest(fitting: list[str], parts: LossMarginPenalty, single_columns: bool) -> str:
    """Return the first name; on single columns a loss with kinks is left to exact solvers."""
    exact = [name for name in fitting if name != "blocks"]
    return exact[0] if single_columns and exact and not parts.loss.smooth else fitting[0]


def _objection(master: Solver, parts: LossMarginPenalty, single_columns: bool) -> str | None:
    """Return why a master cannot serve, or None."""
    if single_columns and isinstance(master, BlockDescent | Smoothing):
        return (
            "it works on whole features, while columns_per_round, pricing or learner ask for "
            "columns"
        )
    return master.supports(parts.loss, parts.margin, parts.penalty)


_SCALES = ("relative", "absolute", "paper")


@dataclass(frozen=True)
class FitSettings:
    """The checked parameters of a fit."""

    parts: LossMarginPenalty
    learner: Callable[[OracleData], Oracle]
    master: type[Solver] | Solver
    nu: float
    nu_scale: str
    rule: str
    columns_per_round: int | None
    max_columns: int | None
    most_learners: int | None
    patience: int | None
    tol: float
    max_bins: int | None
    random_state: Any
    all_stumps: bool
    callbacks: Sequence[Callback]


def make_settings(estimator: Any, more_callbacks: Sequence[Callback]) -> FitSettings:
    """Read the parameters of an estimator; refuse by name what cannot serve."""
    learner = resolve_learner(estimator.learner)
    if estimator.n_jobs is not None and estimator.n_jobs == 0:
        raise ValueError(
            f"n_jobs={estimator.n_jobs!r} does not fit: it takes None, a number of threads, or -1 "
            "for all cores"
        )
    parts = resolve_parts(estimator.loss, estimator.margin, estimator.penalty)
    rule = check_choice("pricing", estimator.pricing, ("exact", "paper"))
    per_round = _columns_per_round(estimator.columns_per_round)
    whole = has_whole_features(estimator.learner)
    single = per_round is not None or rule == "paper" or not whole
    most = _optional_count("max_learners", estimator.max_learners)
    scale = check_choice("nu_scale", estimator.nu_scale, _SCALES)
    return FitSettings(
        parts=parts,
        learner=learner,
        master=resolve_solver(estimator.solver, parts, single, on_codes=whole),
        nu=_nu(estimator.nu, scale),
        nu_scale=scale,
        rule=rule,
        columns_per_round=per_round,
        max_columns=None if per_round is None else most,
        most_learners=most if per_round is None else None,
        patience=_optional_count("n_iter_no_change", estimator.n_iter_no_change),
        tol=check_number("tol", estimator.tol, 0.0, strict=True, what="a positive number"),
        max_bins=_max_bins(estimator.max_bins),
        random_state=estimator.random_state,
        all_stumps=estimator.learner == "stump",
        callbacks=[*_callbacks(estimator.callbacks, estimator.verbose), *more_callbacks],
    )


def check_signs_supported(signs: Ints | None, request: FitSettings) -> None:
    """Refuse monotone constraints where the weights are solved column by column."""
    if signs is not None and (request.master is not BlockDescent or not request.all_stumps):
        raise ValueError(
            "monotonic_cst needs learner='stump', solver='auto' or 'blocks', "
            "columns_per_round='auto' and pricing='exact': other solvers do not know it"
        )


def _nu(value: Any, scale: str) -> float:
    nu = check_number("nu", value, 0.0, strict=True, what="a positive number")
    if scale == "relative" and nu > 1.0:
        raise ValueError(
            f"nu={value!r} does not fit nu_scale='relative': it takes a fraction of nu_max, "
            "above 0 and at most 1 (1 is the empty model)"
        )
    return nu


def _max_bins(value: Any) -> int | None:
    if value is None:
        return None
    return check_count("max_bins", value, 2, "None or an integer >= 2")


def _columns_per_round(value: Any) -> int | None:
    if isinstance(value, str) and value == "auto":
        return None
    return check_count("columns_per_round", value, 1, "'auto' or an integer >= 1")


def _optional_count(name: str, value: Any) -> int | None:
    return None if value is None else check_count(name, value, 1, "None or an integer >= 1")


def _callbacks(value: Any, verbose: Any) -> list[Callback]:
    given = [] if value is None else value
    if callable(given):
        given = [given]
    if not isinstance(given, list | tuple) or not all(callable(c) for c in given):
        raise ValueError(f"callbacks={value!r} does not fit: it takes a callable or a list of them")
    shown: list[Callback] = [Progress()] if verbose else []
    return [*shown, *given]
