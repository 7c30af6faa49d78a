"""Quadratic model of the loss around an iterate, with a sample of the rows for the curvature."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..arrays import Array, Ints, Scores
from ..kernels.step_functions import apart, tables_of
from ..kernels.structs import QuadraticModelArrays, Sweeps
from ..problem.columns import BinnedFeatures
from ..problem.feature_columns import FeatureColumns, StepCoefficients
from ..problem.objective import Objective

_MIN_SIZE, _MAX_SIZE = 8_000, 20_000  # rows of the first sample
WHOLE_SHARE = 0.7  # a sample of at least this share of the rows is replaced by all rows
_BY_CURVATURE = 0.7  # share of the draws in proportion to the curvature; the others are even
_RARE = 300  # rows of a class that a sample contains at least, if there are as many
DIAGONAL, PAIRS, SIMPLEX = 0, 1, 2  # coupling of the classes within a row
_SWEEPS = Sweeps(1, 3, 1e-3)


@dataclass(frozen=True)
class Iterate:
    """Coefficients of the step functions, with the scores and the loss there.

    Attributes
    ----------
    W : StepCoefficients
    F : (m, k) array
        Scores.
    loss, penalty : float
        The two parts of the objective.
    U : (m, k) array
        Dual weights.
    A : (m, k) array
        -dL/dF, in the precision of F.
    C : (m, k) array
        Diagonal curvature of the loss in F, in the precision of F.
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
        features = np.array(columns.features, dtype=np.int32)
        sums, team = columns.binned.sums, columns.team
        return sums(features, self.A, team), sums(features, self.C, team)


class RowSample:
    """Stratified sample of the training rows; rare classes are oversampled.

    Scaled sums over the sample estimate sums over all rows. The codes of a feature are copied when
    they are first needed.

    Parameters
    ----------
    binned : BinnedFeatures
    groups : (m,) int array
        Classes of the rows.
    size : int
        Requested number of rows. All rows are used if `size` is at least 70 % of m.
    seed : int

    Attributes
    ----------
    whole : bool
        Whether the sample contains all rows.
    n : int
        Number of sampled rows.
    rows : (n,) int array or None
        Indices of the sampled rows, ascending; None for all rows.
    scale : (n,) array or None
        Number of rows that each sampled row represents; None for all rows.
    """

    def __init__(self, binned: BinnedFeatures, groups: Ints, size: int, seed: int = 0) -> None:
        self._binned = binned
        self.rows: Ints | None = None
        self.scale: Array | None = None
        self.whole, self.n = size >= WHOLE_SHARE * binned.n_rows, binned.n_rows
        if not self.whole:
            self.rows, self.scale = _stratified_rows(groups, size, seed)
            self.n = int(self.rows.size)
        self._position: dict[int, int] = {}  # of a feature in _codes
        self._codes: Ints = np.empty((0, 0), dtype=np.uint8)

    def take(self, array: Scores) -> Scores:
        """Return the sampled rows of an array, multiplied by `scale`."""
        if self.rows is None or self.scale is None:
            return array
        rows = array[self.rows]
        scale = self.scale.astype(array.dtype)
        return np.asarray(rows * (scale if rows.ndim == 1 else scale[:, None]))

    def diagonal_curvature(self, iterate: Iterate) -> Scores:
        """Return the diagonal curvature of the sampled rows, scaled."""
        return self.take(iterate.C)

    def pick(self, array: Ints) -> Ints:
        """Return the sampled rows of an array, without scaling."""
        return array if self.rows is None else array[self.rows]

    def curvature(
        self, objective: Objective, iterate: Iterate
    ) -> tuple[int, Ints | None, Scores, Scores | None]:
        """Return the second derivative of the loss of every sampled row.

        Returns
        -------
        coupling : int
            DIAGONAL, PAIRS or SIMPLEX: the coupling of the classes within a row.
        labels : (n,) int array or None
            Classes of the rows; None if a row may have several labels.
        H : (n, k) array
            Entries of the second derivative, in the layout that belongs to the coupling.
        weight : (n,) array or None
            Factors on the rows of H, for SIMPLEX only.
        """
        if objective.margin.true_class is None:
            return DIAGONAL, None, np.ascontiguousarray(self.take(iterate.C)), None
        labels = self.pick(objective.margin.true_class)
        if objective.loss.simplex:
            share = objective.rows.share.astype(iterate.U.dtype)
            P = self.take(iterate.U) / self.take(share)[:, None]
            weight = np.ascontiguousarray(
                self.take(share * objective.loss.sharpness).astype(P.dtype)
            )
            return SIMPLEX, labels, np.ascontiguousarray(P), weight
        H = np.array(self.take(iterate.C))
        H[np.arange(labels.size), labels] = 0.0
        return PAIRS, labels, H, None

    def codes(self, features: list[int]) -> tuple[Ints, Ints]:
        """Return the codes of the sampled rows, and the row of that array for each feature."""
        if self.rows is None and self._binned.codes.shape[0] == self._binned.n_bins.size:
            return self._binned.codes, np.array(features, dtype=np.int32)
        new = [f for f in features if f not in self._position]
        if new:
            self._add(new)
        return self._codes, np.array([self._position[f] for f in features], dtype=np.int32)

    def _add(self, features: list[int]) -> None:
        """Copy the codes of new features; the capacity of the array doubles when it is full."""
        filled = len(self._position)
        if filled + len(features) > self._codes.shape[0]:
            grown = np.empty((2 * filled + len(features), self.n), self._binned.codes.dtype)
            if filled:
                grown[:filled] = self._codes[:filled]
            self._codes = grown
        for position, f in enumerate(features, start=filled):
            self._codes[position] = self._binned.codes_of(f, self.rows)
            self._position[f] = position


class CurvatureSample(RowSample):
    """Sample of the training rows in proportion to their curvature, for models of products.

    Most rows are classified so well that they hardly contribute to the second derivative. The
    others determine it, and products of stumps, which are many and overlap, need many of them.

    Parameters
    ----------
    binned : BinnedFeatures
    curvature : (m,) array
        Sum of the curvature of every row over the classes.
    size : int
        Expected number of rows. All rows are used if `size` is at least 70 % of m.
    seed : int
    """

    def __init__(self, binned: BinnedFeatures, curvature: Array, size: int, seed: int = 0) -> None:
        m = binned.n_rows
        super().__init__(binned, np.zeros(0, dtype=np.int32), m)
        total = float(curvature.sum())
        if size >= WHOLE_SHARE * m or not total > 0.0:
            return
        chance = _BY_CURVATURE / total * curvature + (1.0 - _BY_CURVATURE) / m
        chance = np.minimum(size * chance, 1.0)
        self.rows = np.flatnonzero(np.random.default_rng(seed).random(m) < chance)
        self.scale, self.whole, self.n = 1.0 / chance[self.rows], False, int(self.rows.size)


def first_size(m: int) -> int:
    """Return the size of the first sample of m rows."""
    return int(np.clip(m // 3, _MIN_SIZE, _MAX_SIZE))


def draw_by_class(totals: Ints, size: int, seed: int) -> list[Ints]:
    """Draw a stratified sample; rare classes are oversampled.

    Parameters
    ----------
    totals : (k,) int array
        Number of rows of every class.
    size : int
        Requested number of rows.
    seed : int

    Returns
    -------
    list of int arrays
        For every class, the drawn numbers among its rows.
    """
    share, rng = size / int(totals.sum()), np.random.default_rng(seed)
    counts = np.minimum(totals, np.maximum(np.ceil(share * totals), _RARE)).astype(np.int64)
    return [
        rng.choice(total, count, replace=False) if count else np.zeros(0, dtype=np.int64)
        for total, count in zip(totals.tolist(), counts.tolist(), strict=True)
    ]


def _stratified_rows(groups: Ints, size: int, seed: int) -> tuple[Ints, Array]:
    """Return the drawn rows, ascending, and the number of rows that each of them represents."""
    drawn = draw_by_class(np.bincount(groups), size, seed)
    rows, scale = [], []
    for group, numbers in enumerate(drawn):
        members = np.flatnonzero(groups == group)
        rows.append(members[numbers])
        scale.append(np.full(numbers.size, members.size / max(numbers.size, 1)))
    joined = np.concatenate(rows)
    order = np.argsort(joined)
    return joined[order], np.concatenate(scale)[order]


class QuadraticModel:
    """The model -<A, dF> + dF' H dF / 2 of the loss around an iterate, plus the penalty.

    The gradient A is computed from all rows, the second derivative H from a sample. A bin with few
    or no sampled rows would look flat, and the step there would be unbounded. The curvature of
    every bin over all rows is therefore computed too, and the part that is missing in the sample
    is added as a ridge on the table of its feature.

    Parameters
    ----------
    objective : Objective
    columns : FeatureColumns
    iterate : Iterate
    sample : RowSample
    damping : float
        Share of the curvature of every bin that is added to the ridge; it shortens the step.

    Attributes
    ----------
    work : QuadraticModelArrays
        The arrays that the kernels read and modify, with the current coefficients `jumps`.
    whole : bool
        Whether H is computed from all rows.
    """

    def __init__(
        self,
        objective: Objective,
        columns: FeatureColumns,
        iterate: Iterate,
        sample: RowSample,
        damping: float,
    ) -> None:
        self.team = columns.team
        self.iterate, self.whole = iterate, sample.whole
        features, n_bins = np.array(columns.features, dtype=np.int32), columns.n_bins()
        codes, places = sample.codes(columns.features)
        G, D = iterate.sums(columns)
        ridge = damping * D
        if not sample.whole:
            full = D
            D = kernels.histograms(
                codes, places, n_bins, sample.diagonal_curvature(iterate), self.team
            )
            full -= D
            ridge += np.maximum(full, 0.0, out=full)
        # The diagonal ignores the coupling of the classes. Pairwise, two classes that move against
        # each other have twice the curvature of the diagonal; with many classes, hardly more.
        k = objective.margin.k
        D *= 1.0 if objective.margin.true_class is None else k / (k - 1.0)
        D += ridge
        coupling, labels, H, weight = sample.curvature(objective, iterate)
        # A multiple of eight columns, so that the kernels read a row as whole vectors.
        wide = np.zeros((H.shape[0], -(-H.shape[1] // 8) * 8), dtype=H.dtype)
        wide[:, : H.shape[1]] = H
        self.work = QuadraticModelArrays(
            codes=codes,
            features=places,
            n_bins=n_bins,
            kinds=columns.binned.kinds[features],
            nu=objective.nu * columns.feature_costs[features],
            jumps=np.concatenate(iterate.W),
            G=G,
            D=D,
            ridge=ridge,
            change=np.zeros_like(G),
            coupling=coupling,
            labels=labels,
            H=wide,
            weight=weight,
            Q=np.zeros_like(wide),
            p=float(objective.penalty.p or 0.0),
            sweeps=_SWEEPS,
            signs=None if columns.signs is None else columns.signs_of(columns.features),
        )

    def epoch(self) -> float:
        """Update every feature once; return the decrease of the model."""
        return kernels.model_epoch(self.work, self.team)

    def newton(
        self, iterations: int, tolerance: float, repeats: int = 1, enough: float = np.inf
    ) -> float:
        """Take a Newton step on the non-zero coefficients; return the decrease of the model.

        Parameters
        ----------
        iterations : int
            Maximum number of conjugate gradient iterations.
        tolerance : float
            Relative residual at which the conjugate gradients stop.
        repeats : int, default=1
            Maximum number of times the step is computed. Every repetition leaves out the
            coefficients that reached a bound in the previous one.
        enough : float, default=inf
            A step that gains, to first order, at least this multiple of its curvature is not
            repeated.
        """
        return kernels.model_newton(self.work, iterations, tolerance, repeats, enough, self.team)

    def move_to(self, jumps: Array) -> None:
        """Set the coefficients, stacked as (all thresholds, k); further steps start there."""
        work = self.work
        moved = apart(jumps - np.concatenate(self.iterate.W), work.first_threshold[1:])
        changes = tables_of(moved, work.n_bins, work.kinds)
        scores = np.zeros((work.Q.shape[0], work.k), dtype=work.Q.dtype)
        kernels.add_tables(work.codes, work.features, changes, scores, self.team)
        work.jumps[:] = jumps
        work.change[:] = np.concatenate(changes)
        work.Q[:, : work.k] = work.hessian_product(scores)

    def penalty(self, start: Array, step: float) -> float:
        """Return the penalty at start + step (jumps - start), with the jumps of the model.

        Both are stacked, (all thresholds, k).
        """
        work = self.work
        return kernels.penalty(start, work.jumps, step, work.first_threshold, work.nu, work.p)
