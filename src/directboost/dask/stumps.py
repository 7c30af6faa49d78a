"""Single stumps as columns, whose rows are on shards."""

from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.binning import Stumps
from ..kernels import add_tables, histograms
from ..kernels.step_functions import edges_of, tables_of
from ..problem.columns import DenseColumns
from .field import Field
from .places import JumpList, Place
from .shards import Shard


class ShardedStumps(DenseColumns):
    """Generated stumps without responses; W is (n, k) >= 0."""

    def __init__(self, field: Field, forget: bool = False) -> None:
        self._source, self._feature_costs = field.bins, field.costs
        self._forget, self._field = forget, field
        self._idle: dict[tuple[int, int, int], int] = {}
        self._keys: list[tuple[int, int, int]] = []
        self._last: tuple[Array, list[tuple[int, int, int]], Place] | None = None

    @property
    def H(self) -> Array:
        """Refuse: no process has the rows of all shards."""
        raise TypeError("the responses of stumps on shards are on the workers")

    def scores(self, W: Array) -> Any:
        """Return the place of the scores F."""
        return self.rounded_scores(W, np.float64)

    def rounded_scores(self, W: Array, precision: Any) -> Any:
        """Return the place of the scores F in that precision; the same one for the same weights."""
        last = self._last
        if last is not None and last[1] == self._keys and np.array_equal(last[0], W):
            return last[2].astype(precision)
        place = Place(JumpList.of_stumps(self.stumps(W)), np.dtype(precision))
        self._last = (W.copy(), list(self._keys), place)
        return place

    def edges(self, A: Any) -> Array:
        """Return the edges of all stumps, (n, k)."""
        names = self.array
        features, owner = np.unique(names[:, 0], return_inverse=True)
        edges = self._field.edges(A, features.astype(np.int32))
        found = [
            polarity * edges[f][jump]
            for f, (_, jump, polarity) in zip(owner.ravel(), names.tolist(), strict=True)
        ]
        return np.array(found).reshape(len(self), self._field.k)

    @property
    def array(self) -> Ints:
        """Feature, jump and polarity of every column, (n, 3)."""
        return np.array(self._keys, dtype=np.int64).reshape(-1, 3)

    def keep(self, which: Bools) -> None:
        """Drop the columns where `which` (n,) is false."""
        self._keys = [key for key, stays in zip(self._keys, which, strict=True) if stays]
        self._idle = {key: self._idle.get(key, 0) for key in self._keys}
        self.generation += 1

    def _append(self, key: tuple[int, int, int]) -> None:
        self._keys.append(key)


class StumpMatrix:
    """The responses H (m, n) of stumps to the rows of a shard: as a map, without an array.

    H @ W adds up tables, H.T @ A takes sums over bins: both touch the codes of the features that
    are read, and nothing else.
    """

    def __init__(self, shard: Shard, names: Ints) -> None:
        self._binned, self._names = shard.binned, names
        self.shape = shard.n_rows, names.shape[0]
        self._features = np.unique(names[:, 0]).astype(np.int32)

    def __matmul__(self, W: Array) -> Array:
        weights, binned = JumpList.of_stumps(Stumps(self._names, W)), self._binned
        n_bins, kinds = (all_[weights.features] for all_ in (binned.n_bins, binned.kinds))
        tables = tables_of(weights.spread(binned.n_bins, binned.kinds), n_bins, kinds)
        F = np.zeros((self.shape[0], W.shape[1]))
        add_tables(binned.codes, weights.features, tables, F, None, binned.sparse)
        return F

    @property
    def T(self) -> "_Transposed":
        """The adjoint."""
        return _Transposed(self)

    def edges(self, A: Array) -> Array:
        """Return H.T @ A, (n, k)."""
        binned, features = self._binned, self._features
        n_bins = np.ascontiguousarray(binned.n_bins[features], dtype=np.int32)
        sums = histograms(binned.codes, features, n_bins, A, None, binned.sparse)
        parts = np.split(sums, np.cumsum(n_bins)[:-1])
        kinds = binned.kinds[features].tolist()
        edges = [edges_of(part, kind) for part, kind in zip(parts, kinds, strict=True)]
        place = np.searchsorted(features, self._names[:, 0])
        jumps, polarities = self._names[:, 1].tolist(), self._names[:, 2].tolist()
        rows = [s * edges[f][j] for f, j, s in zip(place, jumps, polarities, strict=True)]
        return np.array(rows).reshape(self.shape[1], A.shape[1])

    def some_rows(self, rows: slice) -> Array:
        """Return the responses to some rows, (rows, n)."""
        responses = [self._binned.response(*name)[rows] for name in self._names.tolist()]
        return np.column_stack(responses)


class _Transposed:
    def __init__(self, matrix: StumpMatrix) -> None:
        self._matrix = matrix

    def __matmul__(self, A: Array) -> Array:
        return self._matrix.edges(np.ascontiguousarray(A))
