"""Places: weights that stand for the scores they give to rows which are elsewhere."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from ..arrays import Array, Ints
from ..data.binning import Stumps
from ..kernels.step_functions import n_jumps, rows_with_any
from ..problem.feature_columns import Jumps


@dataclass(frozen=True, eq=False)
class JumpList:
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
    def of(cls, features: list[int], W: Jumps, k: int) -> "JumpList":
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
    def of_stumps(cls, stumps: Stumps) -> "JumpList":
        """Return the jumps of stumps, each with the sum of its weights of both polarities."""
        pairs, place = np.unique(stumps.names[:, :2], axis=0, return_inverse=True)
        rows = np.zeros((pairs.shape[0], stumps.rows.shape[1]))
        np.add.at(rows, place.ravel(), stumps.names[:, 2:] * stumps.rows)
        features, counts = np.unique(pairs[:, 0], return_counts=True)
        return cls(features.astype(np.int32), counts.astype(np.int64), pairs[:, 1], rows)

    def spread(self, n_bins: Ints, kinds: Ints) -> Jumps:
        """Return all jumps of the features, (n_jumps, k) each."""
        ends = np.cumsum(self.counts)
        spread = []
        for f, end, count in zip(self.features.tolist(), ends, self.counts, strict=True):
            own = slice(end - count, end)
            jumps = np.zeros((n_jumps(int(n_bins[f]), int(kinds[f])), self.rows.shape[1]))
            jumps[self.jumps[own]] = self.rows[own]
            spread.append(jumps)
        return spread

    def same_as(self, other: "JumpList") -> bool:
        """Tell whether another list has the same jumps with the same weights."""
        names = ("features", "counts", "jumps", "rows")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.features.nbytes + self.counts.nbytes + self.jumps.nbytes + self.rows.nbytes


@dataclass(frozen=True, eq=False)
class Place:
    """Stands for arrays (m, k) of rows on shards: the scores F of weights, and U, A and C there.

    Attributes
    ----------
    weights : JumpList
    dtype : numpy dtype
        Precision of the arrays it stands for.
    key : str
        Names the scores, so that a shard knows whether it still has them.
    known : dict
        What has been asked of it already.
    """

    weights: JumpList
    dtype: "np.dtype[Any]"
    key: str = field(default_factory=lambda: uuid4().hex)
    known: dict[Any, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.weights.nbytes

    def alone(self) -> "Place":
        """Return the place without what is known of it: that is what a message takes along."""
        return Place(self.weights, self.dtype, self.key)

    def astype(self, dtype: Any, copy: bool = False) -> "Place":
        """Return the place of the same weights in another precision."""
        del copy
        return self if np.dtype(dtype) == self.dtype else Place(self.weights, np.dtype(dtype))
