"""Shards: coded rows on the worker that holds them, the points they are evaluated at, and sums."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from ..arrays import Array, Ints, Numbers, Scores
from ..data.binning import BinnedData, ColumnWeights, coded
from ..kernels import add_tables
from ..kernels.step_functions import n_thresholds, rows_with_any, tables_of
from ..losses import Loss, SampleWeights
from ..margins import Margin
from ..penalties import L1
from ..problem.feature_columns import StepCoefficients
from ..problem.objective import Objective

FAN_IN = 8  # sums that are added in one step
_CACHED_SCORES = 2  # points whose scores a shard keeps
_CACHED_TABLES = 4  # coefficients whose tables a process keeps


@dataclass(frozen=True, eq=False)
class SparseCoefficients:
    """Non-zero threshold coefficients of some features, as they are sent to the shards.

    Attributes
    ----------
    features : (w,) int32 array
        The features with non-zero coefficients, ascending.
    counts : (w,) int array
        Number of non-zero coefficients of each feature.
    thresholds : (n,) int array
        Numbers of the thresholds, feature by feature.
    rows : (n, k) array
        Signed coefficients of the thresholds.
    key : str
        Identifies the coefficients in caches.
    """

    features: Ints
    counts: Ints
    thresholds: Ints
    rows: Array
    key: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def from_features(
        cls, features: list[int], W: StepCoefficients, k: int
    ) -> "SparseCoefficients":
        """Return the non-zero coefficients W of some features."""
        live = [rows_with_any(jumps) for jumps in W]
        kept = [w for w, found in enumerate(live) if found.size]
        return cls(
            features=np.array([features[w] for w in kept], dtype=np.int32),
            counts=np.array([live[w].size for w in kept], dtype=np.int64),
            thresholds=np.concatenate([np.zeros(0, dtype=np.int64), *(live[w] for w in kept)]),
            rows=np.concatenate([np.zeros((0, k)), *(W[w][live[w]] for w in kept)]),
        )

    @classmethod
    def from_stumps(cls, stumps: ColumnWeights) -> "SparseCoefficients":
        """Return the coefficients of stumps; those of both polarities are added up."""
        pairs, place = np.unique(stumps.names[:, :2], axis=0, return_inverse=True)
        rows = np.zeros((pairs.shape[0], stumps.rows.shape[1]))
        np.add.at(rows, place.ravel(), stumps.names[:, 2:] * stumps.rows)
        features, counts = np.unique(pairs[:, 0], return_counts=True)
        return cls(features.astype(np.int32), counts.astype(np.int64), pairs[:, 1], rows)

    def to_dense(self, n_bins: Ints, kinds: Ints) -> StepCoefficients:
        """Return the coefficients of all thresholds of the features, (n_thresholds, k) each."""
        ends = np.cumsum(self.counts)
        dense = []
        for f, end, count in zip(self.features.tolist(), ends, self.counts, strict=True):
            own = slice(end - count, end)
            jumps = np.zeros((n_thresholds(int(n_bins[f]), int(kinds[f])), self.rows.shape[1]))
            jumps[self.thresholds[own]] = self.rows[own]
            dense.append(jumps)
        return dense

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.features.nbytes + self.counts.nbytes + self.thresholds.nbytes + self.rows.nbytes


@dataclass(frozen=True)
class Prices:
    """Prices of features at a point, from the sums over all rows.

    Attributes
    ----------
    loss : float
    sizes : (k,) array
        Sums of |A| over the rows.
    best : array
        Largest price of every feature.
    threshold, polarity : int arrays
        The threshold and the polarity with that price.
    """

    loss: float
    sizes: Array
    best: Array
    threshold: Ints
    polarity: Ints


@dataclass(eq=False)
class PointCache:
    """Statistics of all rows at a point, as far as they have been requested.

    Attributes
    ----------
    loss : float or None
    gradient : list of futures, or None
        Sums of A over the bins, by block of features.
    curvature : future or None
        Sums of the curvature over the bins of `curvature_features`.
    prices : dict of Prices
        Prices of all features, by the name and p of the penalty.
    partial_prices : Prices or None
        With partial pricing: the prices known so far; the others are -inf.
    priced_blocks : list of int
        With partial pricing: the blocks with a price.
    hinge : (4,) array or None
        For the hinge: smoothed loss, loss, <U, rho> and D(U).
    """

    loss: float | None = None
    gradient: list[Any] | None = None
    curvature: Any = None
    curvature_features: Ints | None = None
    prices: dict[tuple[str, float | None], Prices] = field(default_factory=dict)
    partial_prices: Prices | None = None
    priced_blocks: list[int] = field(default_factory=list)
    hinge: Array | None = None


@dataclass(frozen=True, eq=False)
class RemoteScores:
    """Reference to the scores F (m, k) of some coefficients on the rows of all shards.

    The boosting loop and its solver hand it on in place of F and of the arrays that follow from F:
    the weights U, their coefficients A and the curvature C. Each shard computes these arrays for
    its own rows.

    Attributes
    ----------
    coefficients : SparseCoefficients
    dtype : numpy dtype
        Precision of the arrays on the shards.
    key : str
        Identifies the scores in the caches of the shards.
    cache : PointCache
        Statistics of the point; it stays on the driver.
    """

    coefficients: SparseCoefficients
    dtype: "np.dtype[Any]"
    key: str = field(default_factory=lambda: uuid4().hex)
    cache: PointCache = field(default_factory=PointCache)

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.coefficients.nbytes

    def without_cache(self) -> "RemoteScores":
        """Return the reference that requests to the shards contain."""
        return RemoteScores(self.coefficients, self.dtype, self.key)

    def astype(self, dtype: Any, copy: bool = False) -> "RemoteScores":
        """Return the scores of the same coefficients in another precision."""
        del copy
        if np.dtype(dtype) == self.dtype:
            return self
        return RemoteScores(self.coefficients, np.dtype(dtype))


@dataclass(eq=False)
class Shard:
    """Coded rows with their classes and their weights among all rows.

    Attributes
    ----------
    binned : BinnedData
    margin : Margin
    rows : SampleWeights
        Weights of these rows among the rows of all shards.
    labels : (m,) int32 array
        Classes, by which samples are stratified.
    cached_scores : pairs of a key and scores
        The scores at the last two points; they are not transferred.
    notes : dict
        Intermediate results that later passes can reuse or recompute; they are not transferred.
    """

    binned: BinnedData
    margin: Margin
    rows: SampleWeights
    labels: Ints
    cached_scores: tuple[tuple[str, Scores], ...] = field(default=(), repr=False)
    notes: dict[Any, Any] = field(default_factory=dict, repr=False)

    def objective(self, loss: Loss) -> Objective:
        """Return the loss of these rows, with nu = 1."""
        return Objective(self.margin, loss, L1(), 1.0, self.rows)

    def scores(self, point: RemoteScores) -> Scores:
        """Return the scores at a point, (m, k).

        They are added up from zero and not from the scores of an earlier point. A shard that was
        recomputed therefore returns identical bits.
        """
        cached = self.cached_scores  # another thread may replace the attribute meanwhile
        for key, scores in cached:
            if key == point.key:
                return scores
        self.cached_scores = cached[: _CACHED_SCORES - 1]  # frees memory for the new scores
        F = self.compute_scores(point.coefficients, point.dtype)
        self.cached_scores = ((point.key, F), *cached[: _CACHED_SCORES - 1])
        return F

    def compute_scores(self, coefficients: SparseCoefficients, dtype: Any) -> Scores:
        """Return the scores of coefficients, (m, k)."""
        F = np.zeros((self.labels.size, self.rows.k), dtype=dtype)
        binned, features = self.binned, coefficients.features
        if not features.size:
            return F
        with _table_lock:  # all shards of a process share the tables of the last coefficients
            tables = _cached_tables.get(coefficients.key)
            if tables is None:
                jumps = coefficients.to_dense(binned.n_bins, binned.kinds)
                tables = tables_of(jumps, binned.n_bins[features], binned.kinds[features])
                while len(_cached_tables) >= _CACHED_TABLES:
                    del _cached_tables[next(iter(_cached_tables))]
                _cached_tables[coefficients.key] = tables
        add_tables(binned.codes, features, tables, F, None, binned.sparse)
        return F

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without caches."""
        return {**self.__dict__, "cached_scores": (), "notes": {}}

    def __sizeof__(self) -> int:
        """Return the bytes of codes, weights and cached scores."""
        arrays = [self.binned.codes, self.rows.c, self.labels]
        sparse = self.binned.sparse
        if sparse is not None:
            arrays += [sparse.starts, sparse.rows, sparse.codes]
        scores = _CACHED_SCORES * self.rows.c.size * self.rows.k * 4  # counted even if not there
        return sum(array.nbytes for array in arrays) + scores


_cached_tables: dict[str, list[Array]] = {}
_table_lock = threading.Lock()  # a worker has several threads


@dataclass(frozen=True)
class ShardPlan:
    """The part of a fit that all shards share.

    Attributes
    ----------
    bins : BinnedData
        Without rows.
    margin : type of Margin
    k : int
    total : float
        Sum of the weights of all rows.
    """

    bins: BinnedData
    margin: type[Margin]
    k: int
    total: float

    def make_shard(self, X: Numbers, labels: Ints, weight: Array) -> Shard:
        """Code rows X (m, d) with classes and weights."""
        margin = self.margin.from_codes(labels, self.k)
        rows = SampleWeights(weight / (self.total * self.k), self.k, margin.true_class)
        return Shard(coded(self.bins, X), margin, rows, np.asarray(labels, dtype=np.int32))


_buffers = threading.local()


def release_scratch() -> None:
    """Free the scratch buffers of this thread."""
    _buffers.__dict__.clear()


def scratch(name: str, like: Scores) -> Scores:
    """Return an uninitialised array with the shape and precision of another one.

    The next call with the same name in the same thread may return the same memory.
    """
    buffers: dict[str, Any] = _buffers.__dict__
    buffer = buffers.get(name)
    if buffer is None or buffer.nbytes < like.nbytes:
        buffer = buffers[name] = np.empty(like.nbytes, dtype=np.uint8)
    return np.asarray(buffer[: like.nbytes].view(like.dtype).reshape(like.shape))


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of one or several shards.

    A loss that is the logarithm of a sum over all rows is `coupled`: two values v1 and v2 combine
    to v = log(e^v1 + e^v2). Arrays that were divided by the sum over their own rows combine with
    the weights e^(v1 - v) and e^(v2 - v).

    Attributes
    ----------
    values : (s,) array
        Losses; the arrays of a coupled loss belong to the first one.
    arrays : tuple of arrays
    coupled : bool
    """

    values: Array
    arrays: tuple[Array, ...] = ()
    coupled: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.values.nbytes + sum(array.nbytes for array in self.arrays)


def add_up(parts: Sequence[Sums]) -> Sums:
    """Return the sums of several shards, added in the given order."""
    first, coupled = parts[0], parts[0].coupled
    if len(parts) == 1:
        return first
    values = first.values
    for part in parts[1:]:
        values = np.logaddexp(values, part.values) if coupled else values + part.values
    weights = [float(np.exp(part.values[0] - values[0])) if coupled else 1.0 for part in parts]
    arrays = [first_array * weights[0] for first_array in first.arrays]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        for place, array in enumerate(part.arrays):
            arrays[place] += array if weight == 1.0 else weight * array
    return Sums(np.asarray(values), tuple(arrays), coupled)


def add_up_all(parts: Sequence[Sums]) -> Sums:
    """Return the sums of all shards, added in the order of the tree of `FAN_IN` sums per node."""
    level = list(parts)
    while len(level) > 1:
        level = [add_up(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    return level[0]
