"""The parameters of an estimator, checked and turned into objects, before a fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .arrays import Ints
from .callbacks import Callback, Progress
from .data.validation import check_choice, check_count, check_number
from .masters import FeatureBlocks, Master
from .oracles import Oracle, OracleData
from .settings import Parts, has_whole_features, resolve_learner, resolve_master, resolve_parts

_SCALES = ("relative", "absolute", "paper")


@dataclass(frozen=True)
class Request:
    """The checked parameters of a fit."""

    parts: Parts
    learner: Callable[[OracleData], Oracle]
    master: type[Master] | Master
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


def request_of(estimator: Any, more_callbacks: Sequence[Callback]) -> Request:
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
    return Request(
        parts=parts,
        learner=learner,
        master=resolve_master(estimator.solver, parts, single, on_codes=whole),
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


def refuse_signs(signs: Ints | None, request: Request) -> None:
    """Refuse monotone constraints where the weights are solved column by column."""
    if signs is not None and (request.master is not FeatureBlocks or not request.all_stumps):
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
    return check_count("max_bins", value, 2, "None or a whole number of at least 2")


def _columns_per_round(value: Any) -> int | None:
    if isinstance(value, str) and value == "auto":
        return None
    return check_count("columns_per_round", value, 1, "'auto' or a whole number of at least 1")


def _optional_count(name: str, value: Any) -> int | None:
    return None if value is None else check_count(name, value, 1, "None or a whole number >= 1")


def _callbacks(value: Any, verbose: Any) -> list[Callback]:
    given = [] if value is None else value
    if callable(given):
        given = [given]
    if not isinstance(given, list | tuple) or not all(callable(c) for c in given):
        raise ValueError(f"callbacks={value!r} does not fit: it takes a callable or a list of them")
    shown: list[Callback] = [Progress()] if verbose else []
    return [*shown, *given]
