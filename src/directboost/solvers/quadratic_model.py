"""The rows a quadratic model of the loss is built on: all of them, or a sample."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.step_functions import apart, tables_of
from ..kernels.structs import QuadraticModelArrays, Sweeps, padded_width
from ..problem.columns import BinnedFeatures
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective


@dataclass(frozen=True)
class Iterate:
    """A point of the descent: the jumps, their scores, and the loss there.

    A = -dL/dF and the diagonal curvature C in F are (m, k) in the precision of the scores.
    """

    W: StepCoefficients
    F: Scores
    loss: float
    penalty: float
    U: Scores
    A: Scores
    C: Scores

    @property
    def value(self) -> float:
        """The objective."""
        return self.loss + self.penalty

    def sums(self, columns: FeatureColumns) -> tuple[Array, Array]:
        """Return the sums of A and C over the bins of the working set, (all bins, k) each."""
        features, n_bins = np.array(columns.features, dtype=np.int32), columns.n_bins()
        codes, rows = columns.binned.codes, (columns.team, columns.binned.sparse)
        G = kernels.histograms(codes, features, n_bins, self.A, *rows)
        return G, kernels.histograms(codes, features, n_bins, self.C, *rows)


_LEAST, _MOST = 8_000, 20_000  # rows of a sample
_ALL = 0.7  # share of the rows from which on a sample takes all
_RARE = 300  # rows of a class up to which all are taken
DIAGONAL, PAIRS, SIMPLEX = 0, 1, 2  # how the classes of a row couple


class RowSample:
    """A fixed sample of the rows, by class, with the codes of the features that were asked for.

    Every class gives the same share of its rows, but a rare one more; `scale` (n,) makes up for
    it, so that scaled sums over the sample estimate sums over all rows.

    Parameters
    ----------
    binned : BinnedFeatures
    groups : (m,) int array
        The classes of the rows.
    size : int
        Rows wanted; from m on all are taken.
    seed : int
    """

    def __init__(self, binned: BinnedFeatures, groups: Ints, size: int, seed: int = 0) -> None:
        self._binned = binned
        self.rows: Ints | None = None
        self.scale: Array | None = None
        if size < _ALL * binned.n_rows:
            self.rows, self.scale = _by_class(groups, size, seed)
        self._place: dict[int, int] = {}
        self._codes = np.empty((0, self.n), dtype=binned.codes.dtype)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._binned.n_rows if self.rows is None else int(self.rows.size)

    @property
    def whole(self) -> bool:
        """Whether all rows are taken."""
        return self.rows is None

    def take(self, array: Scores) -> Scores:
        """Return the sampled rows of an array, scaled: sums over them estimate the whole."""
        if self.rows is None or self.scale is None:
            return array
        rows = array[self.rows]
        scale = self.scale.astype(array.dtype)
        return np.asarray(rows * (scale if rows.ndim == 1 else scale[:, None]))

    def pick(self, array: Ints) -> Ints:
        """Return the sampled rows of an array as they are."""
        return array if self.rows is None else array[self.rows]

    def labels(self, objective: Objective) -> Ints | None:
        """Return the classes of the sampled rows, None where a row may have several labels."""
        return (
            None if objective.margin.true_class is None else self.pick(objective.margin.true_class)
        )

    def bend(self, point: Iterate) -> Scores:
        """Return the diagonal curvature of the sampled rows at a point, scaled."""
        return self.take(point.C)

    def curvature(self, objective: Objective, point: Iterate) -> tuple[int, Scores, Scores | None]:
        """Return how the classes of a row couple, and the second derivatives of the rows."""
        labels = self.labels(objective)
        if labels is None:
            return DIAGONAL, np.ascontiguousarray(self.take(point.C)), None
        if objective.loss.simplex:
            share = objective.rows.share.astype(point.U.dtype)
            P = self.take(point.U) / self.take(share)[:, None]
            weight = self.take(share * objective.loss.sharpness)
            return SIMPLEX, np.ascontiguousarray(P), np.ascontiguousarray(weight.astype(P.dtype))
        H = np.array(self.take(point.C))
        H[np.arange(labels.size), labels] = 0.0
        return PAIRS, H, None

    def codes(self, features: list[int]) -> tuple[Ints, Ints]:
        """Return codes of the sampled rows, and which row of them belongs to each feature."""
        if self.rows is None and self._binned.codes.shape[0] == self._binned.n_bins.size:
            return self._binned.codes, np.array(features, dtype=np.int32)
        new = [f for f in features if f not in self._place]
        if new:
            self._add(new)
        return self._codes, np.array([self._place[f] for f in features], dtype=np.int32)

    def _add(self, features: list[int]) -> None:
        filled = len(self._place)
        if filled + len(features) > self._codes.shape[0]:
            grown = np.empty((2 * filled + len(features), self.n), dtype=self._codes.dtype)
            grown[:filled] = self._codes[:filled]
            self._codes = grown
        for place, f in enumerate(features, start=filled):
            self._codes[place] = self.pick(self._binned.codes_of(f))
            self._place[f] = place


def first_size(m: int) -> int:
    """Return how many rows a first model of m rows takes."""
    return int(np.clip(m // 3, _LEAST, _MOST))


def draw_by_class(totals: Ints, size: int, seed: int) -> list[Ints]:
    """Draw about `size` rows: return which of the rows of every class, where totals (k,) has them.

    Every class gives the same share of its rows, but a rare one more.
    """
    share, rng = size / int(totals.sum()), np.random.default_rng(seed)
    counts = np.minimum(totals, np.maximum(np.ceil(share * totals), _RARE)).astype(np.int64)
    return [
        rng.choice(total, count, replace=False) if count else np.zeros(0, dtype=np.int64)
        for total, count in zip(totals.tolist(), counts.tolist(), strict=True)
    ]


def _by_class(groups: Ints, size: int, seed: int) -> tuple[Ints, Array]:
    """Return the drawn rows, ascending, and how many rows each stands for."""
    drawn = draw_by_class(np.bincount(groups), size, seed)
    rows, scale = [], []
    for group, places in enumerate(drawn):
        members = np.flatnonzero(groups == group)
        rows.append(members[places])
        scale.append(np.full(places.size, members.size / max(places.size, 1)))
    joined = np.concatenate(rows)
    order = np.argsort(joined)
    return joined[order], np.concatenate(scale)[order]


_SWEEPS = Sweeps(1, 3, 1e-3)


class QuadraticModel:
    """The model -<A, dF> + dF' H dF / 2 of the loss around a point, plus the penalty.

    The gradient is that of all rows; the second derivative H that of a sample of them. A bin with
    few or no rows in the sample would look flat, and the step there would be without bound: the
    curvature of every bin is known from all rows, and what the sample lacks of it is added as a
    ridge on the table of its feature.

    Parameters
    ----------
    objective : Objective
    columns : FeatureColumns
    point : Iterate
    sample : RowSample
    damping : float
        Share of the curvature of every bin added to the ridge: shortens the step.
    """

    def __init__(
        self,
        objective: Objective,
        columns: FeatureColumns,
        point: Iterate,
        sample: RowSample,
        damping: float,
    ) -> None:
        self.team = columns.team
        self.point, self.whole = point, sample.whole
        features, n_bins = np.array(columns.features, dtype=np.int32), columns.n_bins()
        codes, places = sample.codes(columns.features)
        G, D = point.sums(columns)
        ridge = damping * D
        if not sample.whole:
            full = D
            D = kernels.histograms(codes, places, n_bins, sample.bend(point), self.team)
            full -= D
            ridge += np.maximum(full, 0.0, out=full)
        D *= _factor(objective)
        D += ridge
        coupling, H, weight = sample.curvature(objective, point)
        wide = np.zeros((H.shape[0], padded_width(H.shape[1])), dtype=H.dtype)
        wide[:, : H.shape[1]] = H
        self.work = QuadraticModelArrays(
            codes=codes,
            features=places,
            n_bins=n_bins,
            kinds=columns.binned.kinds[features],
            nu=objective.nu * columns.feature_costs[features],
            jumps=np.concatenate(point.W),
            G=G,
            D=D,
            ridge=ridge,
            change=np.zeros_like(G),
            coupling=coupling,
            labels=sample.labels(objective),
            H=wide,
            weight=weight,
            Q=np.zeros_like(wide),
            p=float(objective.penalty.p or 0.0),
            sweeps=_SWEEPS,
            signs=None if columns.signs is None else columns.signs[features],
        )

    def epoch(self) -> float:
        """Visit every feature once; return by how much the model fell."""
        return kernels.model_epoch(self.work, self.team)

    def newton(
        self, iterations: int, tolerance: float, repeats: int = 1, enough: float = np.inf
    ) -> float:
        """Take a Newton step on the non-zero weights; return by how much the model fell."""
        return kernels.model_newton(self.work, iterations, tolerance, repeats, enough, self.team)

    def move_to(self, jumps: Array) -> None:
        """Go to other jumps, stacked: steps go on from there."""
        work = self.work
        moved = apart(jumps - np.concatenate(self.point.W), work.first_jump[1:])
        changes = tables_of(moved, work.n_bins, work.kinds)
        scores = np.zeros((work.Q.shape[0], work.k), dtype=work.Q.dtype)
        kernels.add_tables(work.codes, work.features, changes, scores, self.team)
        work.jumps[:] = jumps
        work.change[:] = np.concatenate(changes)
        work.Q[:, : work.k] = work.hessian_product(scores)

    def penalty(self, start: Array, step: float) -> float:
        """Return the penalty a share `step` of the way from `start` to the jumps of the model.

        Both are stacked, (all jumps, k).
        """
        work = self.work
        return kernels.penalty(start, work.jumps, step, work.first_jump, work.nu, work.p)


def _factor(objective: Objective) -> float:
    """Return the factor on the diagonal curvature that makes up for the coupling of classes.

    Pairwise, two classes move against each other with twice the curvature of the diagonal, many
    hardly at all.
    """
    k = objective.margin.k
    return 1.0 if objective.margin.true_class is None else k / (k - 1.0)
