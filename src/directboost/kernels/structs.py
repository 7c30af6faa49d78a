"""Records of arrays that the kernels read and write."""

from dataclasses import dataclass
from enum import Flag, auto
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from .step_functions import count_thresholds

LOGISTIC, EXPONENTIAL, MULTINOMIAL, SQUARED_HINGE = range(4)  # numbers of the losses in losses.h
SPARSE_BLOCK_ROWS = 512  # DB_SPARSE_BLOCK_ROWS of directboost.h


class Wanted(Flag):
    """Arrays that a pass over the rows returns besides the loss; see `LossValues`."""

    LOSS = 0  #: the loss alone
    SCORES = auto()  #: F
    NEGATIVE_GRADIENT = auto()  #: U
    COEFFICIENTS = auto()  #: A
    CURVATURE = auto()  #: C
    DERIVATIVES = NEGATIVE_GRADIENT | COEFFICIENTS | CURVATURE

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields of `LossValues` that hold these arrays."""
        return tuple(name for flag, name in _FIELDS if flag in self)


_FIELDS = (
    (Wanted.SCORES, "F"),
    (Wanted.NEGATIVE_GRADIENT, "U"),
    (Wanted.COEFFICIENTS, "A"),
    (Wanted.CURVATURE, "C"),
)


@dataclass(frozen=True)
class LossRows:
    """Rows of a loss pass: labels (pairwise) or targets (one-vs-all), and weights.

    Attributes
    ----------
    loss : int
        Number of the loss, `Loss.native`.
    k : int
        Number of classes.
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


def own_class_dual(rows: LossRows, mass: float) -> float:
    """Return the terms of the entries r = y_i of the dual objective, given the mass of the others.

    Logistic and squared hinge keep these entries at their value for margin 0. The exponential loss
    gives them the remaining mass, in proportion to the weights; the multinomial loss does so row
    by row. One-vs-all has no such entries; there the exponential loss adds the mass itself.
    """
    if rows.loss == EXPONENTIAL:
        rest = max(1.0 - mass, 0.0)
        return mass if rows.labels is None else -rest * float(np.log(max(rest * rows.k, 1e-300)))
    if rows.labels is None or rows.loss == MULTINOMIAL:
        return 0.0
    unit = float(np.log(2.0)) if rows.loss == LOGISTIC else 1.0
    return unit * float(rows.c.sum(dtype=np.float64))


@dataclass(frozen=True)
class SparseCodes:
    """Sparse storage of features most of whose rows have the same code.

    A sparse feature stores the rows with another code, and sums and scores of the feature visit
    only these rows. The rows are stored in blocks, feature after feature.

    Attributes
    ----------
    most_common : (d,) int32 array
        The most common code, or -1 where the feature is not sparse.
    starts : (d * blocks + 1,) int64 array
        Start of every feature and block in `rows` and `codes`.
    rows : (n_stored,) uint16 array
        Rows with another code, ascending, counted from the start of the block.
    codes : (n_stored,) array
        The codes of these rows.
    places : (d,) int32 array or None
        Row of every feature in the matrix of codes, -1 where the feature is stored here only.
        None if feature f has row f.
    block : int
        Rows of a block: `SPARSE_BLOCK_ROWS` times a power of two, at most 65536.
    """

    most_common: Ints
    starts: Ints
    rows: Ints
    codes: Ints
    places: Ints | None = None
    block: int = SPARSE_BLOCK_ROWS

    def to_dense(self, feature: int, m: int) -> Ints:
        """Return the codes of all m rows of a sparse feature, (m,)."""
        blocks = -(-m // self.block)
        starts = self.starts[feature * blocks : (feature + 1) * blocks + 1]
        stored = slice(starts[0], starts[-1])
        begins = np.repeat(np.arange(blocks) * self.block, np.diff(starts))
        codes = np.full(m, self.most_common[feature], dtype=self.codes.dtype)
        codes[begins + self.rows[stored]] = self.codes[stored]
        return codes


def codes_of(codes: Ints, sparse: SparseCodes | None, feature: int) -> Ints:
    """Return the codes of one feature, (m,), from the matrix of codes (n, m) or sparse storage."""
    if sparse is None or sparse.places is None:
        return np.asarray(codes[feature])
    place = int(sparse.places[feature])
    return codes[place] if place >= 0 else sparse.to_dense(feature, codes.shape[1])


@dataclass(frozen=True)
class SearchDirection:
    """A direction from given scores and a step along it: the point F + step * change.

    Attributes
    ----------
    change : (m, k) array in the precision of the scores
        The direction.
    step : float
        The step length.
    """

    change: Scores
    step: float


@dataclass(frozen=True)
class LossValues:
    """Result of a loss pass: the loss and the wanted arrays, in the precision of the scores.

    Attributes
    ----------
    value : float
        The loss.
    F : (m, k) array or None
        Scores.
    U : (m, k) array or None
        Negative gradient of the loss in the margins.
    A : (m, k) array or None
        Coefficients A = -dL/dF.
    C : (m, k) array or None
        Diagonal curvature in F.
    """

    value: float
    F: Scores | None = None
    U: Scores | None = None
    A: Scores | None = None
    C: Scores | None = None


@dataclass(frozen=True)
class Sweeps:
    """Effort spent on one block.

    Attributes
    ----------
    full : int
        Sweeps over all jumps.
    segment : int
        Sweeps over the non-zero jumps after each of them.
    tolerance : float
        A block is solved when a sweep moves the jumps by less than this share of the first sweep.
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
        Row of `codes` of every feature in the working set.
    n_bins : (w,) int32 array
    kinds : (w,) int array
    signs : (w, k) int8 array or None
        +1 where jumps must not be negative, -1 where they must not be positive, 0 where free.
    nu : (w,) array
        nu times the cost of each feature.
    jumps : (all jumps, k) array
        Feature after feature; changed in place.
    G : (all bins, k) array
        Sums of A over the bins, feature after feature.
    D : (all bins, k) array
        Diagonal curvature of the bins, which the block solver uses.
    ridge : (all bins, k) array
        Added to the curvature of the rows.
    change : (all bins, k) array
        Change of the tables so far; updated in place.
    coupling : int
        0: H_i d = h d. 1: h (d - d_y), class y gets minus the sum. 2: w h (d - sum h d).
    labels : (n,) int32 array or None
    H : (n, width) array
        Second derivatives in the margins. The width is k rounded up to a multiple of
        eight; spare columns are zero.
    weight : (n,) array or None
    Q : (n, width) array
        H dF; updated in place.
    p : float
        Inner norm of the penalty.
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
        """First bin of every feature, and the end of the last one, (w + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_bins, dtype=np.int64)])

    @cached_property
    def first_threshold(self) -> Ints:
        """First threshold of every feature, and the end of the last one, (w + 1,)."""
        counts = count_thresholds(self.n_bins, self.kinds)
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def hessian_product(self, d: Scores) -> Scores:
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
    """Thresholds of d features, given by the neighbouring values, feature after feature.

    Attributes
    ----------
    counts : (d,) int32 array
        Number of thresholds.
    before, after : (counts.sum(),) arrays
        The two neighbouring distinct values around every threshold.
    missing : (d,) bool array
        Whether the feature has missing values.
    centre : (d,) int64 array
        Code of the weighted median.
    exact : (d,) bool array
        Whether there is a threshold between any two neighbouring distinct values.
    """

    counts: Ints
    before: Array
    after: Array
    missing: Bools
    centre: Ints
    exact: Bools


@dataclass(frozen=True)
class Tables:
    """A fitted model for prediction: one table per used feature, feature after feature.

    Attributes
    ----------
    features : (n_used,) int32 array
        The used features.
    n_thresholds : (n_used,) int32 array
        Number of thresholds.
    thresholds : (n_thresholds.sum(),) array
        Ascending for every feature.
    values : (n_thresholds.sum() + 2 n_used, k) array
        Per feature one row for every number of thresholds below x, and a last one for missing.
    intercept : (k,) array
        Added to all scores.
    """

    features: Ints
    n_thresholds: Ints
    thresholds: Array
    values: Array
    intercept: Array


@dataclass(frozen=True)
class Products:
    """The products of two stumps of a fitted model, for prediction.

    A product is +1 where both stumps hold or neither does, else -1. The code of a value is the
    number of thresholds of its feature below it, or n_thresholds + 1 if it is missing.

    Attributes
    ----------
    features : (n_used,) int32 array
        Features that the products read.
    n_thresholds : (n_used,) int32 array
        Number of thresholds.
    thresholds : (n_thresholds.sum(),) array
        Ascending for every feature, feature after feature.
    factors : (n, 2, 3) int32 array
        For both stumps of every product: the place of its feature in `features`, and the first and
        the last code for which it holds.
    starts : (n + 1,) int64 array
        Where the weights of every product start.
    classes : (starts[-1],) int32 array
        Classes with a weight, each at most once per product.
    weights : (starts[-1],) array
        What the product adds to their scores, times its value.
    """

    features: Ints
    n_thresholds: Ints
    thresholds: Array
    factors: Ints
    starts: Ints
    classes: Ints
    weights: Array


def midpoints(low: Array, high: Array) -> Array:
    """Return t with low <= t < high: the midpoint, or `low` if rounding moves it out of range."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def code_dtype(bins: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that holds the codes of `bins` bins."""
    if bins <= 1 << 8:
        return np.uint8
    return np.uint16 if bins <= 1 << 16 else np.uint32
