"""Partial pricing: a round prices one block of features, so that it transfers few bytes."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import RowsUnavailableError
from ..kernels.step_functions import rows_with_any
from ..oracles.base import Pricing, ranking
from ..penalties import Penalty
from ..problem.columns import Proposals
from ..problem.feature_columns import StepCoefficients
from ..solvers.quadratic_model import first_size
from .executor import tree_widths
from .problem import ShardedColumns, ShardedOracle
from .shard import Prices, RemoteScores, SparseCoefficients
from .statistics import ShardedStatistics, pick_rows

_MESSAGES = 10  # requests with all coefficients, or as many changes, that a shard gets in a round
_JUMPS = 16  # non-zero coefficients that a new feature may get in one round
_ROW_BYTES = 20  # of a sampled row without codes: its place, twice, label and weight
_HALF = 0.5  # share of the bytes for pricing; the rest is for the quadratic model
_TIE = 1e-6  # relative difference below which prices of a block count as equal


class TrafficLimitError(RowsUnavailableError):
    """Raised when a round would transfer more than `max_round_bytes` bytes.

    `DaskDirectBoostClassifier.fit` raises it when the features of the model alone exceed the limit.
    The message names a sufficient limit. The estimator then holds the best model found so far,
    with a valid certificate.

    Attributes
    ----------
    state : LoopState or None
        State of the boosting loop, if it had started.

    See Also
    --------
    ClusterLostError : Raised when the cluster is gone or does not respond.

    Examples
    --------
    >>> from directboost.dask import TrafficLimitError
    >>> try:
    ...     raise TrafficLimitError("a round transfers more than max_round_bytes=1000")
    ... except TrafficLimitError as error:
    ...     print(error)
    a round transfers more than max_round_bytes=1000
    """


@dataclass(eq=False)
class PartialPricingStatistics(ShardedStatistics):
    """`ShardedStatistics` that prices one block of features at a time.

    Attributes
    ----------
    max_bytes : int
        Bytes that a round may transfer.
    next_block : int
        The block that is priced next.
    """

    partial_pricing: ClassVar[bool] = True

    max_bytes: int = 0
    next_block: int = 0

    def __post_init__(self) -> None:
        """Limit the bytes of a block, and samples to the size of the first one."""
        n_shards = self.executor.n_shards
        tree = sum(tree_widths(n_shards))
        largest = int(self.bins.n_bins.max()) * self.k * 8
        if _HALF * self.max_bytes < largest * tree:
            raise ValueError(
                f"max_round_bytes={self.max_bytes} is invalid: the sums of one feature of "
                f"{n_shards} shards take {largest * tree} bytes; expected at least twice that, "
                f"{2 * largest * tree}"
            )
        self.block_bytes = int(_HALF * self.max_bytes / tree) - largest + 1
        super().__post_init__()
        self.max_sample = min(self.n_rows, first_size(self.n_rows))

    def remote_scores(self, coefficients: SparseCoefficients, precision: Any) -> RemoteScores:
        """Return the scores of coefficients without known statistics, which hold for one round."""
        return RemoteScores(coefficients, np.dtype(precision))

    def next_prices(self, point: RemoteScores, penalty: Penalty) -> tuple[Prices, Bools]:
        """Price one more block at a point; return all prices, and which features have one."""
        cache = point.cache
        found = cache.partial_prices
        if found is None:
            d = self.bins.n_bins.size
            found = Prices(
                loss=0.0,
                sizes=np.zeros(self.k),
                best=np.full(d, -np.inf),
                threshold=np.zeros(d, np.int32),
                polarity=np.ones(d, np.int8),
            )
        order = np.roll(np.arange(len(self.blocks)), -self.next_block).tolist()
        left = [b for b in order if b not in cache.priced_blocks]
        if left:
            block = self.blocks[left[0]]
            future = self._submit(self.pass_functions.gradient, point, block)
            reading = self._submit_pricing(future, block, point, penalty)
            part: Prices = self.executor.gather([reading])[0]
            for name in ("best", "threshold", "polarity"):
                getattr(found, name)[block] = getattr(part, name)
            found = replace(found, loss=part.loss, sizes=part.sizes)
            cache.priced_blocks.append(left[0])
            cache.loss = part.loss
            self.next_block = (left[0] + 1) % len(self.blocks)
        cache.partial_prices = found
        return found, np.isfinite(found.best)

    def prices(self, point: RemoteScores, penalty: Penalty) -> Prices:
        """Return the loss at a point and the prices of all features."""
        found, priced = self.next_prices(point, penalty)
        while not priced.all():
            found, priced = self.next_prices(point, penalty)
        return found

    def n_admitted(self, features: list[int], n_new: int, n_live: int) -> int:
        """Return how many of the last `n_new` features may enter a working set.

        `n_live` is the number of non-zero coefficients.
        """
        tree, rows = sum(tree_widths(self.executor.n_shards)), first_size(self.n_rows)
        for kept in range(n_new, 0 if n_new else -1, -1):
            some = np.array(features[: len(features) - n_new + kept], dtype=np.int32)
            sums = 2 * self.sum_bytes(some) * (tree + 1)  # of A and of the curvature
            row_bytes = some.size * self.bins.codes.itemsize + _ROW_BYTES
            sample = min(rows, self.max_sample) * row_bytes
            live = n_live + _JUMPS * kept
            requests = _MESSAGES * live * (8 * self.k + 16) * self.executor.n_shards
            need = sums + sample + requests
            if need <= _HALF * self.max_bytes:
                return kept
        raise TrafficLimitError(
            f"a round with {len(features) - n_new + 1} features transfers more than "
            f"max_round_bytes={self.max_bytes}; increase it to {int(need / _HALF)} or more, or "
            "increase nu for a model with fewer features; the best model so far is kept"
        )

    def _gradient_sums(self, point: RemoteScores, features: Ints) -> Array:
        """Return the sums of A over the bins of features, in a pass of their own."""
        future = self._submit(self.pass_functions.gradient, point, features)
        rows = np.arange(int(self.bins.n_bins[features].sum()))
        G: Array = self.executor.read(future, pick_rows, rows)
        self.executor.traffic += G.nbytes
        return G


class PartialPricingColumns(ShardedColumns):
    """`ShardedColumns` that admits only as many features as a round can transfer."""

    def extend(self, proposals: Proposals, W: StepCoefficients) -> int:
        """Let the features with the largest prices enter, within the limit on bytes."""
        assert isinstance(self.statistics, PartialPricingStatistics)
        before = list(self.features)
        added = super().extend(proposals, W)
        n_live = sum(rows_with_any(jumps).size for jumps in W)
        kept = self.statistics.n_admitted(self.features, added, n_live)
        if kept < added:
            best = [f for f in proposals.feature.tolist() if f in self.features[len(before) :]]
            self.features = [*before, *sorted(best[:kept])]
        return kept


class PartialPricingOracle(ShardedOracle):
    """`ShardedOracle` that prices one more block of features in every call."""

    _statistics: PartialPricingStatistics

    def price(self, A: Any, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price one more block of features."""
        found, priced = self._statistics.next_prices(A, penalty)
        if priced.all():
            return super().price(A, penalty, rule)
        features = np.flatnonzero(priced)
        order = features[ranking(found.best[features], _TIE)]
        proposals = Proposals(
            order, found.threshold[order], found.polarity[order], found.best[order]
        )
        return Pricing(np.inf, 0.0, proposals, complete=False)

    def reprice(self, A: Any, penalty: Penalty) -> Pricing:
        """Price all features, for the final certificate."""
        self._statistics.prices(A, penalty)
        return super().price(A, penalty)
