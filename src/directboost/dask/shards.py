"""Shards: the rows of some partitions, coded, on the worker that holds them."""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ..arrays import Array, Ints, Numbers, Scores
from ..data.binning import BinnedData, coded
from ..kernels import add_tables
from ..kernels.step_functions import tables_of
from ..losses import Loss, Rows
from ..margins import Margin
from ..penalties import L1
from ..problem.objective import Objective
from .places import JumpList, Place


@dataclass(eq=False)
class Shard:
    """Rows as codes, with their classes and their weights among all rows.

    Attributes
    ----------
    binned : BinnedData
    margin : Margin
    rows : Rows
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
    rows: Rows
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

    def scores(self, place: Place) -> Scores:
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

    def added(self, weights: JumpList, dtype: Any) -> Scores:
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


def _tables(weights: JumpList, bins: BinnedData) -> list[Array]:
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
        rows = Rows(weight / (self.total * self.k), self.k, margin.own)
        return Shard(coded(self.bins, X), margin, rows, np.asarray(labels, dtype=np.int32))
