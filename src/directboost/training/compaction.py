"""Compaction: a smaller model within the tolerance, by moving or dropping coefficients."""

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Ints
from ..certificate import certify, recertify
from ..history import Status
from ..kernels.prox import row_norms
from ..kernels.step_functions import CATEGORICAL, PRODUCT, rows_with_any
from ..kernels.structs import QuadraticModelArrays, Wanted
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import RestrictedProblem
from ..solvers.quadratic_model import CurvatureSample, QuadraticModel, RowSample, first_size
from .column_generation import Solution
from .context import FitContext
from .pruning import cheaper_columns

_PASSES, _QUICK_PASSES = 3, 2  # largest number of passes
_SPENT = 0.98  # share of the tolerance that may be spent; the rest is for rounding
_LOOSEST = 0.5  # largest relative gap of a compacted model, whatever the tolerance
_GIVEN_BACK = 0.25  # largest share of the gain over the empty model that is given back for size
_SHARE = 2.0  # estimated cost of the moves over the slack: the Newton step recovers half of it
_LESS = 0.4  # factor on that share after a pass that cost more than estimated
_WORTH = 0.1  # share of the stumps that a pass has to save
_LITTLE, _QUICK_LITTLE = 0.2, 0.4  # share of the slack that is too little for another pass
_ITERATIONS, _RESIDUAL = 5, 0.1  # conjugate gradient iterations of the Newton step, and their end
_REPEATS, _WHOLE = 2, 0.5  # Newton steps per pass, and the gain that makes another one needless
_PRODUCT_ROWS = 2000  # rows of the model with products of stumps, whose codes take much memory
_DIGITS = 6  # digits to which costs are compared: beyond them, rounding would decide
_LONGEST = 20.0  # change of a score above which the exponential bound is large enough


def compact(context: FitContext, solution: Solution, quick: bool = False) -> Solution:
    """Return a solution with fewer stumps within the tolerance, or the same solution.

    Near the optimum, many models are about as good. Stumps that hardly matter move their
    coefficients to a neighbour on the same feature, or lose them; a Newton step adjusts the
    others. The result is kept if the lower bound of the certificate proves that it is within the
    tolerance. A `quick` search ends where more passes would save little.
    """
    columns = solution.state.columns
    if not (solution.certificate.converged and context.settings.loss.smooth):
        return solution
    if not isinstance(columns, FeatureColumns) or not len(columns):
        return solution
    columns = copy(columns)  # features without coefficients are dropped from it
    objective, before, tol = context.objective, solution.certificate, context.settings.tol
    try:
        W = _smallest(context, columns, solution, quick)
        penalty = RestrictedProblem(objective, columns).penalty_value(W)
        loss = objective.evaluate(columns.scores(W), Wanted.LOSS, context.team).value
    except KeyboardInterrupt:
        return replace(solution, status=Status.INTERRUPTED)
    primal = loss + penalty
    after = certify(objective, primal, before.dual, before.max_price, before.dictionary, tol)
    if not after.converged:
        return solution
    state = replace(solution.state, columns=columns, W=W, primal=primal)
    return Solution(after, solution.status, state, loss)


def _smallest(
    context: FitContext, columns: FeatureColumns, solution: Solution, quick: bool
) -> StepCoefficients:
    """Return the smallest model found whose objective is provably within the tolerance."""
    objective, tol, proof = context.objective, context.settings.tol, solution.certificate
    single = context.single_precision_pays and tol >= 1e-3
    rows = context.all_rows(np.dtype(np.float32 if single else np.float64))
    spent = min(_SPENT * tol, _LOOSEST)
    ceiling = (proof.dual - spent * objective.constant) / (1.0 - spent)
    # Near nu_max, the tolerance exceeds what the model gains over the empty one.
    gain = max(objective.start_value() - proof.primal, 0.0)
    ceiling = min(ceiling, proof.primal + _GIVEN_BACK * gain)

    iterate, share = rows.at(objective, columns, solution.state.W), _SHARE
    if PRODUCT in columns.binned.kinds[columns.features]:
        curvature = iterate.C.sum(axis=1, dtype=np.float64)
        sample: RowSample = CurvatureSample(columns.binned, curvature, _PRODUCT_ROWS)
    else:
        sample = rows.sample(objective, columns, first_size(objective.n_rows))
    least = (_QUICK_LITTLE if quick else _LITTLE) * (ceiling - iterate.value)
    for _ in range(_QUICK_PASSES if quick else _PASSES):
        slack = ceiling - iterate.value
        if slack <= least:
            break
        model = QuadraticModel(objective, columns, iterate, sample, 0.0)
        moves = all_moves(model.work).cheapest(share * slack)
        if moves.saved.sum() <= _WORTH * stumps_per_row(model.work.jumps).sum():
            break
        smaller, shifted = model.work.jumps.copy(), moves.target >= 0
        smaller[moves.source] -= moves.weights
        smaller[moves.target[shifted]] += moves.weights[shifted]
        model.move_to(smaller)
        model.newton(_ITERATIONS, _RESIDUAL, _REPEATS, _WHOLE)
        line = rows.line(objective, columns, model)
        if line.value(1.0) > ceiling:
            share *= _LESS
            continue
        iterate = line.accept(1.0)
        iterate = replace(iterate, W=columns.prune(iterate.W))
        if not iterate.W:
            break
    W: StepCoefficients = iterate.W
    return W


def prune(context: FitContext, solution: Solution) -> Solution:
    """Return a solution on smaller trees within the tolerance, or the same solution."""
    found = cheaper_columns(context.oracle, solution.state.columns, solution.state.W)
    if found is None:
        return solution
    columns, W = found
    penalty = RestrictedProblem(context.objective, columns).penalty_value(W)
    state = replace(solution.state, columns=columns, W=W, primal=solution.loss + penalty)
    duals = [U.astype(np.float64) for U in (state.U, state.best_U) if U is not None]
    certificate = recertify(
        context.objective, state.primal, duals, context.oracle, context.settings.tol, context.team
    )
    if not certificate.converged:
        return solution
    return Solution(certificate, solution.status, state, solution.loss)


@dataclass(frozen=True)
class Moves:
    """Moves of coefficients that save stumps, each with an estimate of its cost.

    Attributes
    ----------
    source, target : (n,) int arrays
        Thresholds, stacked as in the model; the target -1 drops the coefficients.
    weights : (n, k) array
        The coefficients that leave the source.
    cost : (n,) array
        Estimated increase of the objective.
    saved : (n,) int array
        Number of stumps that the move removes, at least one.
    """

    source: Ints
    target: Ints
    weights: Array
    cost: Array
    saved: Ints

    def cheapest(self, budget: float) -> "Moves":
        """Return the moves that are cheapest per saved stump, within the budget together.

        No threshold takes part in two of them.
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
        which = np.array(chosen, dtype=np.int64)
        return Moves(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def all_moves(work: QuadraticModelArrays) -> Moves:
    """Return every move of the coefficients of one sign, or of both, that saves a stump.

    Coefficients move to the right or left neighbour, or are dropped. A neighbour is the next
    threshold of the same feature that sends missing values the same way.
    """
    live = _LiveThresholds(work)
    (plus, minus), (up, down) = live.norms, (live.V > 0.0, live.V < 0.0)
    either, other = np.flatnonzero(up.any(axis=1)), np.flatnonzero(down.any(axis=1))
    both = np.intersect1d(either, other)
    rows = np.concatenate([either, other, both])
    leaving = np.concatenate(
        [np.maximum(live.V, 0.0)[either], -np.maximum(-live.V, 0.0)[other], live.V[both]]
    )
    stays = np.concatenate([minus[either], plus[other], np.zeros(both.size)])
    found = []
    for direction, has_neighbour in ((1, live.has_next), (-1, np.roll(live.has_next, 1))):
        kept = has_neighbour[rows]
        found.append(live.shift(rows[kept], leaving[kept], stays[kept], direction))
    found.append(live.drop(rows, leaving, stays))
    saves = np.flatnonzero(np.concatenate([moves.saved for moves in found]) > 0)
    return Moves(
        *(
            np.concatenate([getattr(moves, name) for moves in found])[saves]
            for name in Moves.__dataclass_fields__
        )
    )


def stumps_per_row(V: Array) -> Ints:
    """Return how many stumps, of either polarity, every row of V (n, k) has, (n,)."""
    return np.add((V > 0.0).any(axis=1), (V < 0.0).any(axis=1), dtype=np.int64)


def _norms_by_sign(V: Array, p: float) -> tuple[Array, Array]:
    """Return the p-norms of the positive and of the negative part of V (n, k), (n,) each."""
    return row_norms(np.maximum(V, 0.0), p), row_norms(np.maximum(-V, 0.0), p)


class _LiveThresholds:
    """The thresholds with a non-zero coefficient, and sums of gradient and curvature up to them.

    `shift` and `drop` return moves of the coefficients x (n, k) that leave the thresholds `rows`;
    `stays` are the norms of the coefficients that remain there.
    """

    def __init__(self, work: QuadraticModelArrays) -> None:
        self._places = rows_with_any(work.jumps)
        self.V, self._p = work.jumps[self._places], work.p
        self.norms = _norms_by_sign(self.V, self._p)
        self._norm, self._stumps = self.norms[0] + self.norms[1], stumps_per_row(self.V)
        feature = np.searchsorted(work.first_threshold, self._places, side="right") - 1
        threshold, last = self._places - work.first_threshold[feature], work.n_bins[feature] - 1
        levels = work.kinds[feature] == CATEGORICAL
        self._left = (threshold >= last) & ~levels
        self._nu = work.nu[feature]
        kind = 2 * feature + self._left
        self.has_next = np.append((kind[1:] == kind[:-1]) & ~levels[1:], False)
        self._first, self._end = work.first_bin[feature], work.first_bin[feature + 1]
        place = self._first + np.where(self._left, threshold - last, threshold)
        # A threshold gives -1 to the bins from `low` up to `bin`; those in `_left` also to missing.
        self._low, self._bin = np.where(levels, place, self._first), place + 1
        self._sums = tuple(
            np.concatenate([np.zeros((1, work.k)), np.cumsum(values, axis=0)])
            for values in (work.G, work.D)
        )

    def shift(self, rows: Ints, x: Array, stays: Array, direction: int) -> Moves:
        """Return moves to neighbours; the rows between the two thresholds change sides."""
        target = rows + direction
        G, D = (
            direction * (sums[self._bin[target]] - sums[self._bin[rows]]) for sums in self._sums
        )
        after = self.V[target] + x
        norms = stays + sum(_norms_by_sign(after, self._p))
        cost = _added(G, D, -2.0 * direction * x)
        cost += self._nu[rows] * (norms - self._norm[rows] - self._norm[target])
        saved = self._stumps[rows] - (stays > 0.0) + self._stumps[target] - stumps_per_row(after)
        return Moves(self._places[rows], self._places[target], x, cost, saved)

    def drop(self, rows: Ints, x: Array, stays: Array) -> Moves:
        """Return drops; the scores of all rows change, by the sign of the stump."""
        G, D = (sums[self._end[rows]] - sums[self._first[rows]] for sums in self._sums)
        sums, end = self._sums[0], self._end[rows]
        minus = sums[self._bin[rows]] - sums[self._low[rows]]
        minus += np.where(self._left[rows, None], sums[end] - sums[end - 1], 0.0)
        cost = _added(G - 2.0 * minus, D, -x)
        cost += self._nu[rows] * (stays - self._norm[rows])
        saved = self._stumps[rows] - (stays > 0.0)
        return Moves(self._places[rows], np.full(rows.size, -1), x, cost, saved)


def _added(G: Array, D: Array, change: Array) -> Array:
    """Return an estimate of the increase of the loss by a change of the scores of rows, (n,).

    G and D are the sums of A = -dL/dF and of the diagonal curvature over the rows. The quadratic
    model underestimates long changes at large margins. If |f'''| <= f'', as for the logistic and
    exponential losses class by class, the estimate is a bound:
    f(x + d) <= f(x) + f'(x) d + f''(x) (e^|d| - |d| - 1).
    """
    size = np.minimum(np.abs(change), _LONGEST)
    return np.asarray((D * (np.expm1(size) - size) - G * change).sum(axis=1))
