"""Shards: the rows of some partitions, coded, on the worker that holds them."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from ..arrays import Array, Ints, Numbers, Scores
from ..data.binning import BinnedData, ColumnWeights, coded
from ..kernels import add_tables
from ..kernels.step_functions import n_jumps, rows_with_any, tables_of
from ..losses import Loss, SampleWeights
from ..margins import Margin
from ..penalties import L1
from ..problem.feature_columns import StepCoefficients
from ..problem.objective import Objective


@dataclass(frozen=True, eq=False)
class SparseCoefficients:
    """The jumps that are not zero: what travels of weights.

    Attributes
    ----------
    features : (w,) int32 array
        The features that have some, in order.
    counts : (w,) int array
        How many each has.
    jumps : (n,) int array
    rows : (n, k) array
        Signed weights.
    key : str
        Names the list, for those who keep what they made of it.
    """

    features: Ints
    counts: Ints
    jumps: Ints
    rows: Array
    key: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def of(cls, features: list[int], W: StepCoefficients, k: int) -> "SparseCoefficients":
        """Return the jumps of weights W of some features."""
        live = [rows_with_any(jumps) for jumps in W]
        kept = [w for w, found in enumerate(live) if found.size]
        none = np.zeros((0, k))
        return cls(
            np.array([features[w] for w in kept], dtype=np.int32),
            np.array([live[w].size for w in kept], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int64), *(live[w] for w in kept)]),
            np.concatenate([none, *(W[w][live[w]] for w in kept)]),
        )

    @classmethod
    def of_stumps(cls, stumps: ColumnWeights) -> "SparseCoefficients":
        """Return the jumps of stumps, each with the sum of its weights of both polarities."""
        pairs, place = np.unique(stumps.names[:, :2], axis=0, return_inverse=True)
        rows = np.zeros((pairs.shape[0], stumps.rows.shape[1]))
        np.add.at(rows, place.ravel(), stumps.names[:, 2:] * stumps.rows)
        features, counts = np.unique(pairs[:, 0], return_counts=True)
        return cls(features.astype(np.int32), counts.astype(np.int64), pairs[:, 1], rows)

    def spread(self, n_bins: Ints, kinds: Ints) -> StepCoefficients:
        """Return all jumps of the features, (n_jumps, k) each."""
        ends = np.cumsum(self.counts)
        spread = []
        for f, end, count in zip(self.features.tolist(), ends, self.counts, strict=True):
            own = slice(end - count, end)
            jumps = np.zeros((n_jumps(int(n_bins[f]), int(kinds[f])), self.rows.shape[1]))
            jumps[self.jumps[own]] = self.rows[own]
            spread.append(jumps)
        return spread

    def same_as(self, other: "SparseCoefficients") -> bool:
        """Tell whether another list has the same jumps with the same weights."""
        names = ("features", "counts", "jumps", "rows")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.features.nbytes + self.counts.nbytes + self.jumps.nbytes + self.rows.nbytes


@dataclass(frozen=True, eq=False)
class RemoteScores:
    """Stands for arrays (m, k) of rows on shards: the scores F of weights, and U, A and C there.

    Attributes
    ----------
    weights : SparseCoefficients
    dtype : numpy dtype
        Precision of the arrays it stands for.
    key : str
        Names the scores, so that a shard knows whether it still has them.
    known : dict
        What has been asked of it already.
    """

    weights: SparseCoefficients
    dtype: "np.dtype[Any]"
    key: str = field(default_factory=lambda: uuid4().hex)
    known: dict[Any, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.weights.nbytes

    def alone(self) -> "RemoteScores":
        """Return the place without what is known of it: that is what a message takes along."""
        return RemoteScores(self.weights, self.dtype, self.key)

    def astype(self, dtype: Any, copy: bool = False) -> "RemoteScores":
        """Return the place of the same weights in another precision."""
        del copy
        return (
            self if np.dtype(dtype) == self.dtype else RemoteScores(self.weights, np.dtype(dtype))
        )


@dataclass(eq=False)
class Shard:
    """Rows as codes, with their classes and their weights among all rows.

    Attributes
    ----------
    binned : BinnedData
    margin : Margin
    rows : SampleWeights
        With the weights of these rows among all of them.
    labels : (m,) int32 array
        Classes, of which a sample takes its share.
    kept : pairs of a key and scores
        The scores that were made last, of two places; they do not travel.
    notes : dict
        What questions keep for the next one, and can make again; it does not travel.
    """

    binned: BinnedData
    margin: Margin
    rows: SampleWeights
    labels: Ints
    kept: tuple[tuple[str, Scores], ...] = field(default=(), repr=False)
    notes: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.binned.n_rows

    def objective(self, loss: Loss, tau: float = 1.0) -> Objective:
        """Return the loss of these rows; with nu = tau, a price of 1 shrinks weights by tau."""
        return Objective(self.margin, loss, L1(), tau, self.rows)

    def scores(self, place: RemoteScores) -> Scores:
        """Return the scores of a place, (m, k).

        They are added up from nothing, whatever was there before: so a shard that had to be made
        anew gives the same, to the bit.
        """
        kept = self.kept  # another thread may set it meanwhile
        for key, scores in kept:
            if key == place.key:
                return scores
        self.kept = kept[: _SCORES - 1]
        F = self.added(place.weights, place.dtype)
        self.kept = ((place.key, F), *kept[: _SCORES - 1])
        return F

    def added(self, weights: SparseCoefficients, dtype: Any) -> Scores:
        """Return what weights add to the scores, (m, k)."""
        F = np.zeros((self.n_rows, self.rows.k), dtype=dtype)
        binned, features = self.binned, weights.features
        if features.size:
            add_tables(binned.codes, features, _tables(weights, binned), F, None, binned.sparse)
        return F

    def __getstate__(self) -> dict[str, Any]:
        """Travel without the scores."""
        return {**self.__dict__, "kept": (), "notes": {}}

    def __sizeof__(self) -> int:
        """Return the bytes of codes, weights and scores."""
        arrays = [self.binned.codes, self.rows.c, self.labels]
        lists = self.binned.sparse
        if lists is not None:
            arrays += [lists.starts, lists.rows, lists.codes]
        scores = _SCORES * self.rows.c.size * self.rows.k * 4  # kept ones come and go
        return sum(array.nbytes for array in arrays) + scores


def _tables(weights: SparseCoefficients, bins: BinnedData) -> list[Array]:
    """Return the tables of weights; all shards of a process share the last ones."""
    with _one_at_a_time:
        known = _known_tables.get(weights.key)
        if known is None:
            features = weights.features
            jumps = weights.spread(bins.n_bins, bins.kinds)
            known = tables_of(jumps, bins.n_bins[features], bins.kinds[features])
            while len(_known_tables) >= _TABLES:
                del _known_tables[next(iter(_known_tables))]
            _known_tables[weights.key] = known
        return known


_SCORES = 2  # of so many places a shard keeps the scores
_TABLES = 4  # of so many weights are kept
_known_tables: dict[str, list[Array]] = {}
_one_at_a_time = Lock()  # of the threads of a worker


@dataclass(frozen=True)
class ShardPlan:
    """What all shards of a fit have in common.

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

    def shard(self, X: Numbers, labels: Ints, weight: Array) -> Shard:
        """Code rows X (m, d) with classes and weights."""
        margin = self.margin.from_codes(labels, self.k)
        rows = SampleWeights(weight / (self.total * self.k), self.k, margin.true_class)
        return Shard(coded(self.bins, X), margin, rows, np.asarray(labels, dtype=np.int32))


_rooms = threading.local()


def give_back() -> None:
    """Let go of the room of this thread."""
    _rooms.__dict__.clear()


def room(name: str, like: Scores) -> Scores:
    """Return an array of the shape and precision of another, with whatever was left in it.

    The next call with that name in the same thread may return the same memory.
    """
    held: dict[str, Any] = _rooms.__dict__
    found = held.get(name)
    if found is None or found.nbytes < like.nbytes:
        found = held[name] = np.empty(like.nbytes, dtype=np.uint8)
    return np.asarray(found[: like.nbytes].view(like.dtype).reshape(like.shape))


FAN_IN = 8  # sums that are added up at once


@dataclass(frozen=True)
class Sums:
    """What the rows of one or more shards add up to.

    A loss that is the logarithm of a sum over all rows is `coupled`: its values v join as
    log(e^v1 + e^v2), and what is divided by the sum of the own rows only joins with the weights
    e^(v1 - v) and e^(v2 - v).

    Attributes
    ----------
    values : (s,) array
        Losses; the arrays of a coupled loss belong to the first.
    arrays : arrays
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
    """Return the sums of several shards, in their order: the result depends on nothing else."""
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
    """Return the sums of all shards, added up in the order of the tree over them."""
    level = list(parts)
    while len(level) > 1:
        level = [add_up(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    return level[0]
