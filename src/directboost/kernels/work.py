"""What the kernels work on, as plain records of arrays."""

from dataclasses import dataclass
from typing import Protocol

from ..arrays import Array, Bools, Ints, Scores


class Team(Protocol):
    """The threads that help inside the kernels; see `team.Team`."""

    handle: int | None


@dataclass(frozen=True)
class PassRows:
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


@dataclass(frozen=True)
class LossPass:
    """Result of a fused pass: the loss and, in the precision of F, what was asked for."""

    value: float
    U: Scores | None
    A: Scores | None
    C: Scores | None


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
class ModelWork:
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
    missing : (w,) bool array
    nu : (w,) array
        nu times the cost of each feature.
    jumps : list of w arrays (n_jumps, k)
        Changed in place.
    G, D, ridge : lists of w arrays (n_bins, k)
        Sums of A over the bins; the diagonal curvature a block is solved with; what is added to
        the curvature of the rows.
    change : list of w arrays (n_bins, k)
        Change of the tables so far, in place.
    coupling : int
        0: H_i d = h d. 1: h (d - d_y), class y gets minus the sum. 2: w h (d - sum h d).
    labels : (n,) int32 array or None
    H : (n, k) array
    weight : (n,) array or None
    Q : (n, k) array
        H dF, in place.
    p : float
    sweeps : Sweeps
    """

    codes: Ints
    features: Ints
    n_bins: Ints
    missing: Bools
    nu: Array
    jumps: list[Array]
    G: list[Array]
    D: list[Array]
    ridge: list[Array]
    change: list[Array]
    coupling: int
    labels: Ints | None
    H: Scores
    weight: Scores | None
    Q: Scores
    p: float
    sweeps: Sweeps


@dataclass(frozen=True)
class LiveJumps:
    """The jumps of a model that are not zero, stacked over the features of the working set.

    The bins of a feature between two live jumps form a segment; a missing code is a segment of
    its own, the last.

    Attributes
    ----------
    segments : (w, n) array
        The segments of the rows.
    n_segments : (w,) int32 array
    missing : (w,) bool array
    offsets : (w + 1,) int32 array
        Where the jumps of a feature begin.
    position : (jumps,) int32 array
        The segment each jump lies after.
    left : (jumps,) bool array
        Whether the jump sends missing values to the left.
    ridge : (sum of n_segments, k) array
    """

    segments: Ints
    n_segments: Ints
    missing: Bools
    offsets: Ints
    position: Ints
    left: Bools
    ridge: Array


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
