"""Fits of one task at several nus in a row."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import log, sqrt

import numpy as np

from ..arrays import Array
from ..certificate import recertify
from ..data.binning import ColumnWeights
from ..history import Record, Status
from ..kernels.structs import Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import RestrictedProblem
from .column_generation import LoopState, Solution, WarmStart
from .compaction import compact
from .result import FitResult, trained
from .stopping import ENDED_BY_USER, wish_of
from .strategy import solve
from .task import FitContext


def has_neighbours(task: FitContext, end: Solution) -> bool:
    """Return whether answers at other nus can be made of that one."""
    smooth, columns = task.request.parts.loss.smooth, end.state.columns
    return smooth and not task.oracle.grows and isinstance(columns, FeatureColumns)


def interpolate(task: FitContext, upper: Solution, lower: Solution) -> WarmStart:
    """Return weights and a dual point for the nu of the task, which lies between those of others.

    Prices are convex in the dual point U, and the bound D(U) is concave. With
    nu = (1 - t) nu_upper + t nu_lower no price at (1 - t) U_upper + t U_lower is above nu where
    the ends keep to theirs, and the bound there is at least (1 - t) D_upper + t D_lower. The
    weights go evenly with the logarithm of nu.
    """
    nu, above, below = task.objective.nu, upper.certificate.nu, lower.certificate.nu
    t = (above - nu) / (above - below)
    columns, W = _mixed(upper, lower, nu)
    loss = task.objective.evaluate(columns.scores(W), Wanted.LOSS, task.team).value
    assert upper.state.U is not None
    assert lower.state.U is not None
    return WarmStart(columns, W, (1.0 - t) * upper.state.U + t * lower.state.U, loss)


def extrapolate(task: FitContext, upper: Solution, lower: Solution) -> WarmStart:
    """Return weights for the nu of the task, which lies below those of others.

    They go on as they went from one to the other; what would change its sign, or has no weight at
    the lower one, has none.
    """
    columns, W = _mixed(upper, lower, task.objective.nu)
    last = _features(lower).features
    signs = {f: np.sign(jumps) for f, jumps in zip(last, lower.state.W, strict=True)}
    for feature, jumps in zip(columns.features, W, strict=True):
        jumps[jumps * signs.get(feature, 0.0) <= 0.0] = 0.0
    return WarmStart(columns, columns.prune(W))


def _mixed(upper: Solution, lower: Solution, nu: float) -> tuple[FeatureColumns, StepCoefficients]:
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


def _features(end: Solution) -> FeatureColumns:
    assert isinstance(end.state.columns, FeatureColumns)
    return end.state.columns


def certify_known(task: FitContext, known: WarmStart, seconds: float) -> Solution:
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
    state = LoopState(known.columns, known.W, known.U, primal, wish=wish, history=[record])
    status = Status.OPTIMAL if proof.converged else Status.MAX_ITER
    return Solution(proof, status, state, known.loss)


_STRIDE = 3.0  # largest ratio of nu between answers that are solved for, where others lie between
_FEW = 6  # features from which on answers are made of others: one in between has those of both


class NuPath:
    """Fits a task at one nu after the other; each fit starts from the answers before.

    Seconds in the records count from the start of the walk: an answer between two others is found
    after both.

    Parameters
    ----------
    task : FitContext
    before : ColumnWeights, optional
        The start of the first fit.
    """

    def __init__(self, task: FitContext, before: ColumnWeights | None = None) -> None:
        self.task = task
        #: Whether the user ended the last fit, so that another one is not wanted.
        self.ended = False
        self._before = before
        self._last: list[Solution] = []
        self._began = time.perf_counter()

    def to(self, nu: float) -> FitResult:
        """Return the model of that nu, absolute."""
        return self._model(self._solved(nu))

    def down(self, nus: Sequence[float]) -> Iterator[FitResult]:
        """Yield the models of falling nus, absolute, until the user ends a fit.

        Only some are solved for. Those in between are made of their neighbours, and solved for
        where that is not good enough. Where the user ends a fit, nothing more is solved for: those
        in between follow as far as they are good enough, and the first that is not.
        """
        self.task = replace(self.task, keep_dual=True)
        rest = list(nus)
        while rest:
            count = self._stride(rest)
            for outcome in self._next(rest[:count]):
                yield self._model(outcome, quick=len(outcome.state.columns) >= _FEW)
                if self.ended:
                    return
            rest = rest[count:]

    def _stride(self, nus: list[float]) -> int:
        """Return how many nus it is to the next one to solve for."""
        known = self._last and has_neighbours(self.task, self._last[-1])
        if not known or len(self._last[-1].state.columns) < _FEW:
            return 1
        return max(sum(self._last[-1].certificate.nu <= _STRIDE * nu for nu in nus), 1)

    def _next(self, nus: list[float]) -> Iterator[Solution]:
        """Yield the answers of some nus, of which the last one is solved for first."""
        before = self._last[-1:]
        lower = _as_wished(self._solved(nus[-1]))
        if before:
            yield from self._filled(before[0], lower, nus[:-1])
        yield lower

    def _filled(self, upper: Solution, lower: Solution, nus: list[float]) -> Iterator[Solution]:
        """Yield the answers of falling nus between two others; the one half way is found first."""
        if not nus:
            return
        half = 0 if lower.status in ENDED_BY_USER else len(nus) // 2
        middle = self._between(upper, lower, nus[half])
        solved = len(middle.state.history) > 1
        below = middle if solved else replace(lower, status=middle.status)
        yield from self._filled(upper, below, nus[:half])
        yield middle
        yield from self._filled(middle if solved else upper, lower, nus[half + 1 :])

    def _between(self, upper: Solution, lower: Solution, nu: float) -> Solution:
        try:
            return self._near(upper, lower, nu)
        except KeyboardInterrupt:
            last = replace(lower, status=Status.INTERRUPTED)
            return replace(self._near(upper, last, nu), status=Status.INTERRUPTED)

    def _near(self, upper: Solution, lower: Solution, nu: float) -> Solution:
        """Return an answer made of two others; solve for one where it is not good enough.

        Where an answer has single columns, of a solver that finished it, the upper one has to do.
        """
        task = self.task.at(nu)
        both = all(has_neighbours(task, end) for end in (upper, lower))
        known = interpolate(task, upper, lower) if both else upper.known
        found = certify_known(task, known, self._seconds())
        good = found.certificate.converged
        if lower.status in ENDED_BY_USER:
            return found if good else replace(found, status=lower.status)
        if good or found.state.wish:
            return _as_wished(found)
        return _as_wished(solve(task, known, self._seconds()))

    def _solved(self, nu: float) -> Solution:
        """Return the answer of that nu, which the next one starts from.

        It starts from the answers themselves, not from the smaller models made of them.
        """
        task = self.task.at(nu)
        outcome = solve(task, self._start(task), self._seconds())
        self._last = [*self._last[-1:], outcome]
        return outcome

    def _start(self, task: FitContext) -> ColumnWeights | WarmStart | None:
        if not self._last:
            return self._before
        nus = [outcome.certificate.nu for outcome in self._last]
        falling = len(nus) == 2 and nus[0] > nus[1] > task.objective.nu
        if falling and all(has_neighbours(task, outcome) for outcome in self._last):
            return extrapolate(task, *self._last)
        return self._last[-1].known

    def _model(self, outcome: Solution, quick: bool = False) -> FitResult:
        """Return the model of an answer, made smaller within the tolerance."""
        task = self.task.at(outcome.certificate.nu)
        outcome = compact(task, outcome, quick)
        self.ended = outcome.status in ENDED_BY_USER
        return trained(task, outcome)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began


def _as_wished(outcome: Solution) -> Solution:
    """Return the answer with the status of the end that a callback wishes for, if one does.

    For a single fit a wish at an answer within the tolerance means nothing; a path it ends.
    """
    wish = outcome.state.wish
    return outcome if wish is None else replace(outcome, status=wish)


_PER_DECADE = 10  # points of a path
_HALVINGS, _CLOSE = 8, 1.02  # of the last step to a budget, and the ratio of nu that ends them


def relative_grid(points: int, smallest: float) -> Array:
    """Return fractions of nu_max, from 1 down to `smallest`, evenly by ratio."""
    return np.geomspace(1.0, smallest, points)


def _grid(task: FitContext) -> list[float]:
    """Return nus from nu_max down to that of the task."""
    first, last = task.relative(1.0), task.objective.nu
    if first <= last:
        return [last]
    steps = max(int(np.ceil(_PER_DECADE * np.log10(first / last))), 1)
    return [float(nu) for nu in np.geomspace(first, last, steps + 1)]


def fit_within(task: FitContext, fits: Callable[[FitResult], bool]) -> FitResult:
    """Return the model of the smallest nu, but not below that of the task, that fits.

    The empty model at nu_max counts as fitting. Between the last point of the path that fits and
    the first that does not the ratio is halved a few times.
    """
    walk, best = NuPath(task), None
    for found in walk.down(_grid(task)):
        if best is not None and not fits(found):
            return best if walk.ended else _between(walk, best, found.nu, fits)
        best = found
    assert best is not None
    return best


def _between(
    walk: NuPath, best: FitResult, low: float, fits: Callable[[FitResult], bool]
) -> FitResult:
    for _ in range(_HALVINGS):
        if best.nu / low < _CLOSE or walk.ended:
            break
        found = walk.to(sqrt(best.nu * low))
        if fits(found):
            best = found
        else:
            low = found.nu
    return best


def fit_until_no_better(
    task: FitContext, loss: Callable[[FitResult], float], patience: int
) -> tuple[FitResult, list[tuple[float, float]]]:
    """Walk down to the nu of the task while the loss improves; return the best model.

    Ends when the loss has not improved for `patience` points. The second answer has nu and loss
    of every point.
    """
    walk, best, seen = NuPath(task), None, []
    for found in walk.down(_grid(task)):
        seen.append((found.nu, loss(found)))
        lowest = int(np.argmin([value for _, value in seen]))
        if best is None or lowest == len(seen) - 1:
            best = found
        if len(seen) - 1 - lowest >= patience:
            break
    assert best is not None
    return best, seen
