"""What makes a model smaller: a stump gives its weights to a neighbour, or loses them."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Bools, Ints
from ..certificate import Certificate, certify
from ..history import Status
from ..kernels.prox import row_norms
from ..kernels.step_functions import CATEGORICAL, rows_with_any
from ..kernels.structs import QuadraticModelArrays, Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import RestrictedProblem
from ..solvers.quadratic_model import Iterate, QuadraticModel, first_size
from .column_generation import Solution
from .task import FitContext

_DIGITS = 6  # to which costs are compared: beyond them rounding would decide
_LONGEST = 20.0  # change of a score beyond which the exponential says enough


@dataclass(frozen=True)
class Moves:
    """Ways to save stumps, each with an estimate of what it adds to the objective.

    Attributes
    ----------
    source, target : (n,) int arrays
        Jumps, stacked as in the model; the target -1 drops the weights.
    weights : (n, k) array
        What leaves the source.
    cost : (n,) array
    saved : (n,) int array
        How many stumps fewer there are, at least one.
    """

    source: Ints
    target: Ints
    weights: Array
    cost: Array
    saved: Ints

    def cheapest(self, budget: float) -> Ints:
        """Return the moves that are cheapest per saved stump and cost so much together.

        No jump takes part in two of them.
        """
        unit = np.round(self.cost / (self.saved * budget), _DIGITS)
        order = np.argsort(unit, kind="stable")
        chosen: list[int] = []
        touched: set[int] = set()
        names = (order, self.source[order], self.target[order], np.maximum(self.cost[order], 0.0))
        for i, source, target, cost in zip(*(values.tolist() for values in names), strict=True):
            if source in touched or target in touched:
                continue
            budget -= cost
            if budget < 0.0:
                break
            touched.add(source)
            if target >= 0:
                touched.add(target)
            chosen.append(i)
        return np.array(chosen, dtype=np.int64)

    def take(self, which: Ints) -> "Moves":
        """Return some of the moves."""
        return Moves(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def all_moves(work: QuadraticModelArrays) -> Moves:
    """Return every move of weights of one sign, or of both, that saves a stump."""
    live = _Live(work)
    found = list(live.moves(live.leaving()))
    joined = Moves(
        *(np.concatenate([getattr(m, name) for m in found]) for name in Moves.__dataclass_fields__)
    )
    return joined.take(np.flatnonzero(joined.saved > 0))


def count_stumps(V: Array) -> int:
    """Return of how many stumps the jumps V (n, k) consist."""
    return sum(rows_with_any(part).size for part in (V > 0.0, V < 0.0))


class _Signs:
    """The two sign parts of jumps V (n, k): the stumps of either polarity."""

    def __init__(self, V: Array) -> None:
        self.parts = np.maximum(V, 0.0), np.maximum(-V, 0.0)
        self.there = (V > 0.0).any(axis=1), (V < 0.0).any(axis=1)
        self.stumps: Ints = np.add(*self.there, dtype=np.int64)

    def norms(self, p: float) -> tuple[Array, Array]:
        """Return the p-norms of both parts, (n,) each."""
        plus, minus = (row_norms(part, p) for part in self.parts)
        return plus, minus


@dataclass(frozen=True)
class _Leaving:
    """Weights that may leave jumps: of some of the live ones, and the norm of what stays."""

    rows: Ints
    weights: Array
    stays: Array

    def of(self, which: Bools) -> "_Leaving":
        return _Leaving(self.rows[which], self.weights[which], self.stays[which])


class _Live:
    """The jumps that are not zero, and sums of gradient and curvature to the left of them."""

    def __init__(self, work: QuadraticModelArrays) -> None:
        self._places = rows_with_any(work.jumps)
        self._V, self._p = work.jumps[self._places], work.p
        self._signs = _Signs(self._V)
        self._norms = self._signs.norms(self._p)
        feature = np.searchsorted(work.first_jump, self._places, side="right") - 1
        jump, last = self._places - work.first_jump[feature], work.n_bins[feature] - 1
        levels = work.kinds[feature] == CATEGORICAL
        self._left = (jump >= last) & ~levels
        self._nu = work.nu[feature]
        # A neighbour is of the same feature and sends missing values the same way.
        kind = 2 * feature + self._left
        self._next = np.append((kind[1:] == kind[:-1]) & ~levels[1:], False)
        self._first, self._end = work.first_bin[feature], work.first_bin[feature + 1]
        place = self._first + np.where(self._left, jump - last, jump)
        # A jump answers -1 to the bins from `low` up to `bin`, and those on the left to missing.
        self._low, self._bin = np.where(levels, place, self._first), place + 1
        self._sums = tuple(
            np.concatenate([np.zeros((1, work.k)), np.cumsum(values, axis=0)])
            for values in (work.G, work.D)
        )

    def leaving(self) -> _Leaving:
        """Return what may leave: the weights of one polarity, or of both where there are both."""
        (up, down), (plus, minus), norms = self._signs.parts, self._signs.there, self._norms
        either, other, both = (np.flatnonzero(x) for x in (plus, minus, plus & minus))
        weights = np.concatenate([up[either], -down[other], self._V[both]])
        stays = np.concatenate([norms[1][either], norms[0][other], np.zeros(both.size)])
        return _Leaving(np.concatenate([either, other, both]), weights, stays)

    def moves(self, leaving: _Leaving) -> Iterator[Moves]:
        """Yield moves to the right, to the left, and away."""
        yield self._shift(leaving.of(self._next[leaving.rows]), 1)
        yield self._shift(leaving.of(np.roll(self._next, 1)[leaving.rows]), -1)
        yield self._drop(leaving)

    def _shift(self, leaving: _Leaving, way: int) -> Moves:
        """Return moves to neighbours: the rows between the two thresholds change sides."""
        source, target, x = leaving.rows, leaving.rows + way, leaving.weights
        G, D = (way * (sums[self._bin[target]] - sums[self._bin[source]]) for sums in self._sums)
        after = _Signs(self._V[target] + x)
        norms = leaving.stays + sum(after.norms(self._p))
        cost = _added(G, D, -2.0 * way * x)
        cost += self._nu[source] * (norms - self._size(source) - self._size(target))
        stumps = self._signs.stumps
        saved = self._gone(leaving) + stumps[target] - after.stumps
        return Moves(self._places[source], self._places[target], x, cost, saved)

    def _drop(self, leaving: _Leaving) -> Moves:
        """Return moves away: all rows change, those that were answered -1 against the others."""
        rows, x = leaving.rows, leaving.weights
        G, D = (sums[self._end[rows]] - sums[self._first[rows]] for sums in self._sums)
        sums, end = self._sums[0], self._end[rows]
        minus = sums[self._bin[rows]] - sums[self._low[rows]]
        minus += np.where(self._left[rows, None], sums[end] - sums[end - 1], 0.0)
        cost = _added(G - 2.0 * minus, D, -x)
        cost += self._nu[rows] * (leaving.stays - self._size(rows))
        away = np.full(rows.size, -1)
        return Moves(self._places[rows], away, x, cost, self._gone(leaving))

    def _size(self, rows: Ints) -> Array:
        return np.asarray(self._norms[0][rows] + self._norms[1][rows])

    def _gone(self, leaving: _Leaving) -> Ints:
        """Return how many stumps of the sources are no more."""
        return np.asarray(self._signs.stumps[leaving.rows] - (leaving.stays > 0.0))


def _added(G: Array, D: Array, change: Array) -> Array:
    """Return an estimate of what a change of the scores of rows adds to their loss, (n,).

    G and D are the sums of A = -dL/dF and of the diagonal curvature over the rows. A margin that
    is large looks flat but is not: where |f'''| <= f'', as for the logistic and the exponential
    loss of classes apart, it is a bound, f(x + d) <= f(x) + f'(x) d + f''(x) (e^|d| - |d| - 1).
    """
    size = np.minimum(np.abs(change), _LONGEST)
    return np.asarray((D * (np.expm1(size) - size) - G * change).sum(axis=1))


_PASSES, _QUICK_PASSES = 3, 2
_SPENT = 0.98  # share of the tolerance that may be spent: the rest is for rounding
_LOOSEST = 0.5  # relative gap beyond which no model goes, whatever the tolerance
_GIVEN_BACK = 0.25  # most of what the model gains over the empty one that is given back for size
_SHARE = 2.0  # of the slack that moves may cost by estimate: the Newton step wins half back
_LESS = 0.4  # of the costs allowed after a pass that came to more than was estimated
_WORTH = 0.1  # share of the stumps a pass has to save
_LITTLE, _QUICK_LITTLE = 0.2, 0.4  # share of the slack that is too little for another pass
_ITERATIONS, _RESIDUAL, _REPEATS, _WHOLE = 5, 0.1, 2, 0.5  # of the Newton step


def compact(task: FitContext, outcome: Solution, quick: bool = False) -> Solution:
    """Return an answer with fewer stumps within the tolerance, or the same one.

    A `quick` search ends where more passes would save little.

    Near the optimum many models are about as good. Stumps that hardly matter give their weights
    to a neighbour on the same feature, or lose them; the others make up for it by a Newton step.
    What the lower bound of the certificate still proves to be within the tolerance is kept.
    """
    columns, request = outcome.state.columns, task.request
    if not (outcome.certificate.converged and request.parts.loss.smooth):
        return outcome
    if not isinstance(columns, FeatureColumns) or not len(columns):
        return outcome
    search = _Search(task, copy(columns), outcome.certificate, quick)
    try:
        return _certified(task, outcome, search.columns, search.smallest(outcome.state.W))
    except KeyboardInterrupt:
        return replace(outcome, status=Status.INTERRUPTED)


def _certified(
    task: FitContext, outcome: Solution, columns: FeatureColumns, W: StepCoefficients
) -> Solution:
    """Return the answer W with its certificate in double precision, if it keeps the tolerance."""
    objective, before = task.objective, outcome.certificate
    penalty = RestrictedProblem(objective, columns).penalty_value(W)
    loss = objective.evaluate(columns.scores(W), Wanted.LOSS, task.team).value
    primal, price = loss + penalty, before.max_price
    after = certify(objective, primal, before.dual, price, before.dictionary, task.request.tol)
    if not after.converged:
        return outcome
    state = replace(outcome.state, columns=columns, W=W, primal=primal)
    return Solution(after, outcome.status, state, loss)


class _Search:
    """Goes to smaller and smaller models over the features of one.

    Parameters
    ----------
    task : FitContext
    columns : FeatureColumns
        Features without weight are dropped from it.
    proof : Certificate
        That of the model.
    quick : bool
    """

    def __init__(
        self, task: FitContext, columns: FeatureColumns, proof: Certificate, quick: bool
    ) -> None:
        self.columns = columns
        self._passes = _QUICK_PASSES if quick else _PASSES
        self._little = _QUICK_LITTLE if quick else _LITTLE
        objective = self._objective = task.objective
        single = task.single and task.request.tol >= 1e-3
        self._rows = task.all_rows(np.dtype(np.float32 if single else np.float64))
        self._sample = self._rows.sample(objective, columns, first_size(task.n_rows))
        spent = min(_SPENT * task.request.tol, _LOOSEST)
        within = (proof.dual - spent * objective.constant) / (1.0 - spent)
        # Near nu_max the tolerance is more than a model gains over the empty one.
        gain = max(objective.start_value() - proof.primal, 0.0)
        self._ceiling = min(within, proof.primal + _GIVEN_BACK * gain)

    def smallest(self, W: StepCoefficients) -> StepCoefficients:
        """Return the smallest model found from W whose objective stays below the ceiling."""
        point, share = self._rows.at(self._objective, self.columns, W), _SHARE
        least = self._little * (self._ceiling - point.value)
        for _ in range(self._passes):
            if self._ceiling - point.value <= least:
                break
            model = QuadraticModel(self._objective, self.columns, point, self._sample, 0.0)
            smaller, saved = _cheapest(model, share * (self._ceiling - point.value))
            if saved <= _WORTH * count_stumps(model.work.jumps):
                break
            model.move_to(smaller)
            model.newton(_ITERATIONS, _RESIDUAL, _REPEATS, _WHOLE)
            line = self._rows.line(self._objective, self.columns, model)
            if line.value(1.0) > self._ceiling:
                share *= _LESS
                continue
            point = self._alive(line.accept(1.0))
            if not point.W:
                break
        return point.W

    def _alive(self, point: Iterate) -> Iterate:
        return replace(point, W=self.columns.prune(point.W))


def _cheapest(model: QuadraticModel, budget: float) -> tuple[Array, int]:
    """Return the jumps after the moves that are cheapest and keep the budget, and what they save.

    That is a number of stumps.
    """
    jumps = model.work.jumps.copy()
    if budget <= 0.0:
        return jumps, 0
    moves = all_moves(model.work)
    moves = moves.take(moves.cheapest(budget))
    jumps[moves.source] -= moves.weights
    shifted = moves.target >= 0
    jumps[moves.target[shifted]] += moves.weights[shifted]
    return jumps, int(moves.saved.sum())
