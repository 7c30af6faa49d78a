"""Fits at several values of nu: single points, a path, down to a budget, early stopping."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import log, sqrt

import numpy as np

from ..arrays import Array
from ..certificate import recertify
from ..data.binning import ColumnWeights
from ..history import Record, RowsUnavailableError, Status
from ..kernels.structs import Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import RestrictedProblem
from .column_generation import LoopState, Solution, WarmStart
from .compaction import compact, prune
from .context import FitContext
from .result import FitResult, make_result
from .stopping import ENDED_BY_USER, StoppingRule, stop_request
from .strategy import solve

_MAX_RATIO = 3.0  # largest ratio of nu between solved points, if those between are interpolated
_FEW = 6  # features below which points are not interpolated: that would use those of both ends
_PER_DECADE = 10  # points per decade of nu
_HALVINGS, _CLOSE = 8, 1.02  # steps of the bisection to a budget, and the ratio that ends it


class NuPath:
    """Fits at one nu after the other; each fit starts from the solutions before it.

    The seconds of the records count from the start of the path, since an interpolated solution is
    found after its two neighbours.

    Parameters
    ----------
    context : FitContext
    before : ColumnWeights, optional
        The coefficients that the first fit starts from.

    Attributes
    ----------
    ended : bool
        Whether the user ended the last fit, so that no other should follow.
    """

    def __init__(self, context: FitContext, before: ColumnWeights | None = None) -> None:
        self.context = context
        self.ended = False
        self._before = before
        self._last: list[Solution] = []
        self._began = time.perf_counter() - context.seconds

    def fit_at(self, nu: float) -> FitResult:
        """Return the model at nu, absolute."""
        with self._keeping_last():
            seconds = time.perf_counter() - self._began
            solution = solve(self.context.at(nu), self._start(nu), seconds)
            self._last = [*self._last[-1:], solution]
            return self._compacted(solution, quick=False)

    def fit_path(self, nus: Sequence[float]) -> Iterator[FitResult]:
        """Yield the models at decreasing nus, absolute, until the user ends a fit.

        Only some points are solved. Those between are interpolated, and solved only if the
        interpolation is not within the tolerance. After the user ends a fit, nothing more is
        solved: interpolated points follow up to and including the first one that is not within
        the tolerance.
        """
        self.context = replace(self.context, keep_dual=True)
        rest = list(nus)
        with self._keeping_last():
            while rest:
                count = self._stride(rest)
                for solution in self._next(rest[:count]):
                    yield self._compacted(solution, quick=len(solution.state.columns) >= _FEW)
                    if self.ended:
                        return
                rest = rest[count:]

    def scan(self, nus: Sequence[float]) -> Iterator[WarmStart]:
        """Yield columns and their coefficients at decreasing nus, absolute, without certificates.

        The solved points have the tolerance of the settings. Those between them are interpolated,
        which costs no pass over the rows; where that is not possible, the solution before takes
        their place. A stop request of a callback ends the scan.
        """
        rest = list(nus)
        while rest:
            count = self._stride(rest)
            nu, upper = rest[count - 1], self._last[-1:]
            context, seconds = self.context.at(nu), time.perf_counter() - self._began
            lower = solve(context, self._start(nu), seconds)
            if lower.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            self._last = [*upper, lower]
            both = all(can_interpolate(context, end) for end in (*upper, lower))
            for between in rest[: count - 1]:
                mixed = WarmStart(*_mixed(upper[0], lower, between)) if both else None
                yield mixed or upper[0].warm_start
            yield lower.warm_start
            if lower.status in ENDED_BY_USER:
                return
            rest = rest[count:]

    @contextmanager
    def _keeping_last(self) -> Iterator[None]:
        """Pass on the last solution if the rows become unavailable between two runs."""
        try:
            yield
        except RowsUnavailableError as lost:
            if lost.state is None and self._last:
                lost.state = self._last[-1].state
            raise

    def _compacted(self, solution: Solution, quick: bool) -> FitResult:
        """Return the model of a solution, made smaller within the tolerance."""
        context = self.context.at(solution.certificate.nu)
        solution = compact(context, solution, quick)
        if context.oracle.grows:
            solution = prune(context, solution)
        self.ended = solution.status in ENDED_BY_USER
        return make_result(context, solution)

    def _start(self, nu: float) -> ColumnWeights | WarmStart | None:
        """Return the start of a solve at nu, from the last solutions before compaction."""
        context, last = self.context.at(nu), self._last
        if not last:
            return self._before
        nus = [solution.certificate.nu for solution in last]
        decreasing = len(nus) == 2 and nus[0] > nus[1] > nu
        if decreasing and all(can_interpolate(context, solution) for solution in last):
            return extrapolate(context, *last)
        return last[-1].warm_start

    def _stride(self, nus: list[float]) -> int:
        """Return how many points there are up to the next one to solve."""
        known = self._last and can_interpolate(self.context, self._last[-1])
        if not known or len(self._last[-1].state.columns) < _FEW:
            return 1
        return max(sum(self._last[-1].certificate.nu <= _MAX_RATIO * nu for nu in nus), 1)

    def _next(self, nus: list[float]) -> Iterator[Solution]:
        """Yield the solutions at some nus; the last one is solved first."""
        before = self._last[-1:]
        context, start = self.context.at(nus[-1]), self._start(nus[-1])
        solution = solve(context, start, time.perf_counter() - self._began)
        self._last = [*before, solution]
        lower = _with_request(solution)
        if before:
            yield from self._between(before[0], lower, nus[:-1])
        yield lower

    def _between(self, upper: Solution, lower: Solution, nus: list[float]) -> Iterator[Solution]:
        """Yield the solutions at nus between two others, the middle one found first."""
        if not nus:
            return
        half = 0 if lower.status in ENDED_BY_USER else len(nus) // 2
        try:
            middle = self._interpolated(upper, lower, nus[half])
        except KeyboardInterrupt:
            ended = replace(lower, status=Status.INTERRUPTED)
            middle = self._interpolated(upper, ended, nus[half])
            middle = replace(middle, status=Status.INTERRUPTED)
        solved = len(middle.state.history) > 1
        below = middle if solved else replace(lower, status=middle.status)
        yield from self._between(upper, below, nus[:half])
        yield middle
        yield from self._between(middle if solved else upper, lower, nus[half + 1 :])

    def _interpolated(self, upper: Solution, lower: Solution, nu: float) -> Solution:
        """Return the interpolated solution at nu, or the solved one if that is not good enough.

        A solution on single columns, from a solver that finished the work, cannot be
        interpolated; the upper solution takes its place.
        """
        context, seconds = self.context.at(nu), time.perf_counter() - self._began
        both = all(can_interpolate(context, end) for end in (upper, lower))
        start = interpolate(context, upper, lower) if both else upper.warm_start
        solution = certify_start(context, start, seconds)
        good = solution.certificate.converged
        if lower.status in ENDED_BY_USER:
            return solution if good else replace(solution, status=lower.status)
        if not good and solution.state.stopping.request is None:
            solution = solve(context, start, time.perf_counter() - self._began)
        return _with_request(solution)


def _with_request(solution: Solution) -> Solution:
    """Return the solution with the status of the stop request of a callback, if there is one.

    A stop request ends a path, but not a single fit that has converged.
    """
    request = solution.state.stopping.request
    return solution if request is None else replace(solution, status=request)


def can_interpolate(context: FitContext, solution: Solution) -> bool:
    """Return whether solutions at other nus can be made from this one."""
    fixed = context.settings.loss.smooth and not context.oracle.grows
    return fixed and isinstance(solution.state.columns, FeatureColumns)


def interpolate(context: FitContext, upper: Solution, lower: Solution) -> WarmStart:
    """Return coefficients and a dual point for the nu of the context, between two others.

    Prices are convex in the dual point U, and the bound D(U) is concave. With
    nu = (1 - t) nu_upper + t nu_lower, no price at (1 - t) U_upper + t U_lower is above nu if
    the prices at both ends are at most their nu, and the bound is at least
    (1 - t) D_upper + t D_lower. The coefficients are linear in the logarithm of nu.
    """
    nu, above, below = context.objective.nu, upper.certificate.nu, lower.certificate.nu
    t = (above - nu) / (above - below)
    columns, W = _mixed(upper, lower, nu)
    loss = context.objective.evaluate(columns.scores(W), Wanted.LOSS, context.team).value
    assert upper.state.U is not None
    assert lower.state.U is not None
    return WarmStart(columns, W, (1.0 - t) * upper.state.U + t * lower.state.U, loss)


def extrapolate(context: FitContext, upper: Solution, lower: Solution) -> WarmStart:
    """Return coefficients for the nu of the context, below two others.

    They continue the line through both. A coefficient that would change its sign, or is zero at
    the lower nu, is zero.
    """
    columns, W = _mixed(upper, lower, context.objective.nu)
    last = _features(lower).features
    signs = {f: np.sign(values) for f, values in zip(last, lower.state.W, strict=True)}
    for feature, values in zip(columns.features, W, strict=True):
        values[values * signs.get(feature, 0.0) <= 0.0] = 0.0
    return WarmStart(columns, columns.prune(W))


def _mixed(upper: Solution, lower: Solution, nu: float) -> tuple[FeatureColumns, StepCoefficients]:
    """Return the columns of both, and coefficients on the line through theirs in log(nu)."""
    above, below = upper.certificate.nu, lower.certificate.nu
    share = log(above / nu) / log(above / below)
    ends = [
        (_features(upper), upper.state.W, 1.0 - share),
        (_features(lower), lower.state.W, share),
    ]
    columns = ends[-1][0].over({f for end, _, _ in ends for f in end.features})
    W = dict(zip(columns.features, columns.grow([]), strict=True))
    for end, coefficients, part in ends:
        for feature, values in zip(end.features, coefficients, strict=True):
            W[feature] += part * values
    return columns, list(W.values())


def _features(solution: Solution) -> FeatureColumns:
    assert isinstance(solution.state.columns, FeatureColumns)
    return solution.state.columns


def certify_start(context: FitContext, start: WarmStart, seconds: float) -> Solution:
    """Return a start as a solution, with its certificate and one record; nothing is solved."""
    objective, settings = context.objective, context.settings
    assert start.U is not None
    assert start.loss is not None
    primal = start.loss + RestrictedProblem(objective, start.columns).penalty_value(start.W)
    certificate = recertify(
        objective, primal, [start.U.astype(np.float64, copy=False)], context.oracle, settings.tol,
        context.team,
    )  # fmt: skip
    record = Record(
        round=0,
        columns=len(start.columns),
        primal=primal,
        dual=certificate.dual,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        max_price=certificate.max_price,
        nu=objective.nu,
        seconds_pricing=0.0,
        seconds_master=0.0,
        seconds=seconds,
        iterations=0,
        solved=True,
        learners=start.columns.n_learners(start.W),
    )
    stopping = StoppingRule(settings.tol)
    stopping.request = stop_request(settings.callbacks, record)
    state = LoopState(start.columns, start.W, start.U, primal, stopping, history=[record])
    status = Status.OPTIMAL if certificate.converged else Status.MAX_ITER
    return Solution(certificate, status, state, start.loss)


def relative_grid(points: int, smallest: float) -> Array:
    """Return fractions of nu_max from 1 down to `smallest`, evenly spaced by ratio."""
    return np.geomspace(1.0, smallest, points)


def _grid(context: FitContext) -> list[float]:
    """Return nus from nu_max down to that of the context."""
    first, last = context.from_relative_nu(1.0), context.objective.nu
    if first <= last:
        return [last]
    steps = max(int(np.ceil(_PER_DECADE * np.log10(first / last))), 1)
    return [float(nu) for nu in np.geomspace(first, last, steps + 1)]


def fit_within(context: FitContext, is_within: Callable[[FitResult], bool]) -> FitResult:
    """Return the model of the smallest nu within a budget, not below the nu of the context.

    The empty model at nu_max counts as within. Between the last point of the path within the
    budget and the first one outside, nu is bisected by ratio.
    """
    path, best = NuPath(context), None
    for found in path.fit_path(_grid(context)):
        if best is not None and not is_within(found):
            low = found.nu
            break
        best = found
    else:
        assert best is not None
        return best
    for _ in range(_HALVINGS):
        if best.nu / low < _CLOSE or path.ended:
            break
        found = path.fit_at(sqrt(best.nu * low))
        if is_within(found):
            best = found
        else:
            low = found.nu
    return best


def fit_until_no_better(
    context: FitContext, loss: Callable[[FitResult], float], n_iter_no_change: int
) -> tuple[FitResult, list[tuple[float, float]]]:
    """Follow the path down to the nu of the context while the loss improves.

    Returns the best model, and nu and loss of every point. The path ends after
    `n_iter_no_change` points without a better loss.
    """
    path, best, seen = NuPath(context), None, []
    for found in path.fit_path(_grid(context)):
        seen.append((found.nu, loss(found)))
        lowest = int(np.argmin([value for _, value in seen]))
        if best is None or lowest == len(seen) - 1:
            best = found
        if len(seen) - 1 - lowest >= n_iter_no_change:
            break
    assert best is not None
    return best, seen
