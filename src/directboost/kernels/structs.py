"""What the kernels work on, as plain records of arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from .step_functions import count_jumps

LOGISTIC, EXPONENTIAL, MULTINOMIAL, SQUARED_HINGE = range(4)  # numbers of the fused passes


class Team(Protocol):
    """The threads that help inside the kernels; see `team.Team`."""

    handle: int | None


@dataclass(frozen=True)
class LossRows:
    """Rows of a fused pass: labels (pairwise) or targets (one-vs-all), and weights.

    Attributes
    ----------
    loss : int
        Number of the loss, `Loss.native`.
    k : int
    labels : (m,) int32 array or None
    targets : (m, k) int8 array of +1 and -1, or None
    c : (m,) array in the precision of the scores
    """

    loss: int
    k: int
    labels: Ints | None
    targets: Ints | None
    c: Scores


def tie_width(A: Any) -> float:
    """Return the relative difference up to which prices at coefficients A count as equal.

    It depends on the precision of A alone; A is an array, or another object with a `dtype`.
    """
    return 1e-12 if A.dtype == np.float64 else 1e-6


def padded_width(k: int) -> int:
    """Return k up to a multiple of eight: rows of that width are read as whole vectors."""
    return -(-k // 8) * 8


def own_class_dual(rows: LossRows, mass: float) -> float:
    """Return what the entries r = y_i add to the dual objective, given the mass of the others.

    Logistic and squared hinge keep them at their value for margin 0; the exponential loss puts
    what is left of the mass there, in proportion to the weights; the soft maxima do it by row.
    One-vs-all has no such entries; there the exponential loss has the mass itself as a term.
    """
    if rows.loss == EXPONENTIAL:
        rest = max(1.0 - mass, 0.0)
        return mass if rows.labels is None else -rest * float(np.log(max(rest * rows.k, 1e-300)))
    if rows.labels is None or rows.loss == MULTINOMIAL:
        return 0.0
    unit = float(np.log(2.0)) if rows.loss == LOGISTIC else 1.0
    return unit * float(rows.c.sum(dtype=np.float64))


LIST_ROWS = 512  # rows of a block of lists; the same as in directboost.h


@dataclass(frozen=True)
class SparseCodes:
    """Features most of whose rows have one code: the rows with another one, listed.

    Sums and scores of such a feature touch the listed rows only. Lists go through the rows in
    blocks; those of a feature follow one another, and so do the features.

    Attributes
    ----------
    usual : (d,) int32 array
        The commonest code, or -1 where the feature has no list.
    starts : (d * blocks + 1,) int64 array
        Where the list of a feature and block begins.
    rows : (all listed,) uint16 array
        Ascending, counted from the start of the block.
    codes : (all listed,) array
        The codes of these rows.
    places : (d,) int32 array or None
        The row that a feature has in the matrix of codes, -1 where the list is all there is; None
        where every feature has the row of its number.
    block : int
        Rows of a block: `LIST_ROWS` times a power of two, at most 65536.
    """

    usual: Ints
    starts: Ints
    rows: Ints
    codes: Ints
    places: Ints | None = None
    block: int = LIST_ROWS

    def written_out(self, feature: int, m: int) -> Ints:
        """Return the codes of all m rows of a feature that has a list, (m,)."""
        blocks = -(-m // self.block)
        starts = self.starts[feature * blocks : (feature + 1) * blocks + 1]
        true_class = slice(starts[0], starts[-1])
        begins = np.repeat(np.arange(blocks) * self.block, np.diff(starts))
        codes = np.full(m, self.usual[feature], dtype=self.codes.dtype)
        codes[begins + self.rows[true_class]] = self.codes[true_class]
        return codes


def codes_of(codes: Ints, sparse: SparseCodes | None, feature: int) -> Ints:
    """Return the codes of one feature, (m,), from the matrix of codes (n, m) or from its list."""
    if sparse is None or sparse.places is None:
        return np.asarray(codes[feature])
    place = int(sparse.places[feature])
    return codes[place] if place >= 0 else sparse.written_out(feature, codes.shape[1])


@dataclass(frozen=True)
class SearchDirection:
    """A step away from given scores: what is looked at is F + step * change.

    Attributes
    ----------
    change : (m, k) array in the precision of the scores
    step : float
    """

    change: Scores
    step: float


@dataclass(frozen=True)
class LossValues:
    """Result of a fused pass: the loss and, in the precision of the scores, what was asked for.

    Attributes
    ----------
    value : float
    F, U, A, C : (m, k) arrays or None
        Scores, weights, A = -dL/dF and the diagonal curvature in F.
    """

    value: float
    F: Scores | None = None
    U: Scores | None = None
    A: Scores | None = None
    C: Scores | None = None


@dataclass(frozen=True)
class Sweeps:
    """How hard a block is solved.

    `full` sweeps over all jumps, each followed by `segment` sweeps over the non-zero ones; a
    block counts as solved when a sweep moves less than `tolerance` of the first.
    """

    full: int
    segment: int
    tolerance: float


@dataclass(frozen=True)
class QuadraticModelArrays:
    """A quadratic model of the loss on a few rows, and the features that may change.

    With dF the change of the scores so far, the model is -<A, dF> + dF' H dF / 2 plus half the
    ridge times the squared changes of the tables, plus the penalty of the jumps.

    Attributes
    ----------
    codes : (rows of codes, n) array
        Codes of the n rows of the model.
    features : (w,) int32 array
        Which row of `codes` belongs to each feature of the working set.
    n_bins : (w,) int32 array
    kinds : (w,) int array
    signs : (w, k) int8 array or None
        +1 where jumps must not be negative, -1 where not positive, 0 where they are free.
    nu : (w,) array
        nu times the cost of each feature.
    jumps : (all jumps, k) array
        Feature after feature; changed in place.
    G, D, ridge : (all bins, k) arrays
        Feature after feature: sums of A over the bins; the diagonal curvature a block is solved
        with; what is added to the curvature of the rows.
    change : (all bins, k) array
        Change of the tables so far, in place.
    coupling : int
        0: H_i d = h d. 1: h (d - d_y), class y gets minus the sum. 2: w h (d - sum h d).
    labels : (n,) int32 array or None
    H : (n, width) array
        The width is `padded_width(k)`; spare columns are zero.
    weight : (n,) array or None
    Q : (n, width) array
        H dF, in place.
    p : float
    sweeps : Sweeps
    """

    codes: Ints
    features: Ints
    n_bins: Ints
    kinds: Ints
    nu: Array
    jumps: Array
    G: Array
    D: Array
    ridge: Array
    change: Array
    coupling: int
    labels: Ints | None
    H: Scores
    weight: Scores | None
    Q: Scores
    p: float
    sweeps: Sweeps
    signs: Ints | None = None

    @property
    def k(self) -> int:
        """Number of classes."""
        return int(self.jumps.shape[1])

    @cached_property
    def first_bin(self) -> Ints:
        """Where the bins of every feature begin, and where the last ends, (w + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_bins, dtype=np.int64)])

    @cached_property
    def first_jump(self) -> Ints:
        """Where the jumps of every feature begin, and where the last ends, (w + 1,)."""
        counts = count_jumps(self.n_bins, self.kinds)
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def bend(self, d: Scores) -> Scores:
        """Return H d for every row, (n, k).

        Diagonal: h d. Pairs: h_r (d_r - d_y), class y gets minus the sum. Simplex:
        w h_r (d_r - sum_l h_l d_l).
        """
        H = self.H[:, : self.k]
        if self.coupling == 0:
            return np.asarray(H * d)
        if self.coupling == 1:
            index = np.arange(d.shape[0])
            image = H * (d - d[index, self.labels][:, None])
            image[index, self.labels] -= image.sum(axis=1)
            return np.asarray(image)
        mean = (H * d).sum(axis=1, keepdims=True)
        return np.asarray(self.weight[:, None] * H * (d - mean))  # type: ignore[index]


@dataclass(frozen=True)
class Cuts:
    """Where the thresholds of d features lie, those of one after those of the other.

    Attributes
    ----------
    counts : (d,) int32 array
        Number of thresholds.
    before, after : (counts.sum(),) arrays
        The two neighbouring distinct values around every threshold.
    missing : (d,) bool array
    centre : (d,) int64 array
        The code that holds the weighted median.
    exact : (d,) bool array
        Whether there is a threshold between all distinct values.
    """

    counts: Ints
    before: Array
    after: Array
    missing: Bools
    centre: Ints
    exact: Bools


@dataclass(frozen=True)
class Tables:
    """A fitted model for prediction, what belongs to one feature after that of the other.

    Attributes
    ----------
    features : (n_used,) int32 array
    n_thresholds : (n_used,) int32 array
    thresholds : (n_thresholds.sum(),) array
        Ascending for every feature.
    values : (n_thresholds.sum() + 2 n_used, k) array
        Per feature a row for every count of thresholds below x, and a last one for missing.
    intercept : (k,) array
    """

    features: Ints
    n_thresholds: Ints
    thresholds: Array
    values: Array
    intercept: Array


def midpoints(low: Array, high: Array) -> Array:
    """Return t with low <= t < high: the midpoint, or `low` where rounding forbids it."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def split(joined: Array, counts: Ints) -> list[Array]:
    """Return the parts of so many numbers that lie one after the other."""
    ends = np.cumsum(counts).tolist()
    return [joined[end - n : end] for n, end in zip(counts.tolist(), ends, strict=True)]


def code_dtype(bins: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type for the codes of so many bins."""
    if bins <= 1 << 8:
        return np.uint8
    return np.uint16 if bins <= 1 << 16 else np.uint32
