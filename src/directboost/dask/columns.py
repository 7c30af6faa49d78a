"""Columns and oracle of a fit whose rows are on shards."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..data.binning import BinnedData
from ..kernels.step_functions import rows_with_any
from ..oracles.base import rounding_of_sums
from ..oracles.stump import StumpOracle
from ..penalties import Penalty
from ..problem.columns import Proposals
from ..problem.feature_columns import FeatureColumns, Jumps
from .field import Field
from .places import JumpList


@dataclass(frozen=True)
class ShardedBins(BinnedData):
    """Bins whose rows are elsewhere.

    Attributes
    ----------
    m : int
        Number of rows.
    """

    m: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.m


class ShardedColumns(FeatureColumns):
    """A working set of features whose scores are places."""

    def __init__(self, field: Field, **more: Any) -> None:
        super().__init__(field.bins, field.costs, field.k, signs=field.signs, **more)
        self.field = field

    def extend(self, proposals: Proposals, W: Jumps) -> int:
        """Let the worst violators in, as many as the field has room for."""
        before = list(self.features)
        added = super().extend(proposals, W)
        live = sum(rows_with_any(jumps).size for jumps in W)
        kept = self.field.fitting(self.features, added, live)
        if kept < added:
            best = [f for f in proposals.feature.tolist() if f in self.features[len(before) :]]
            self.features = [*before, *sorted(best[:kept])]
        return kept

    def rounded_scores(self, W: Jumps, precision: Any) -> Any:
        """Return the place of the scores F in that precision."""
        k = W[0].shape[1] if W else self.k
        return self.field.place(JumpList.of(self.features, W, k), precision)

    def scores(self, W: Jumps) -> Any:
        """Return the place of the scores F."""
        return self.rounded_scores(W, np.float64)

    def means(self, W: Jumps, weight: Array) -> Array:
        """Return the weighted mean over the rows of what every feature adds to F, (d + 1, k)."""
        del weight  # the field has it
        out = np.zeros((self.binned.n_bins.size, self._k))
        for feature, table in zip(self.features, self.tables(W) if W else [], strict=True):
            out[feature] = self.field.bin_weights[feature] @ table
        return out


class ShardedOracle(StumpOracle):
    """Prices every stump from the sums of all shards; only the best of each feature travel."""

    def __init__(self, field: Field) -> None:
        super().__init__(field.bins, field.costs, None, field.signs)
        self._field = field
        self._counted = 0

    def traffic(self) -> int:
        """Return the bytes that have travelled since the last call."""
        total = self._field.crew.traffic
        before, self._counted = self._counted, total
        return total - before

    def _best(self, A: Any, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the best price of every feature, and the jump and polarity that have it."""
        found = self._field.prices(A, penalty)
        return found.best, found.jump, found.polarity

    def _rounding(self, A: Any, penalty: Penalty) -> float:
        """Bound the error of an edge: as many additions as rows, bins and shards."""
        if A.dtype != np.float64:
            return 0.0
        field = self._field
        terms = field.m + 2 * int(field.bins.n_bins.max()) + field.crew.count + 8
        sizes = field.prices(A, penalty).sizes
        return rounding_of_sums(sizes, penalty, terms, float(min(field.costs)))
