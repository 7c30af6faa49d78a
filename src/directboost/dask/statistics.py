"""Statistics of all rows at a point, collected from the shards on request; samples of rows."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array, Ints
from ..data.binning import BinnedData
from ..kernels.step_functions import apart, edges_of
from ..kernels.structs import tie_width
from ..losses import Loss
from ..oracles.base import best_by_edges
from ..penalties import Penalty
from ..solvers.quadratic_model import draw_by_class
from . import passes
from .executor import Executor, PassFunction
from .passes import GradientRequest
from .shard import Prices, RemoteScores, Shard, SparseCoefficients, Sums

_SEED = 0  # of samples, as in a local fit
_BLOCK_BYTES = 1 << 25  # of the sums of one block of features
_CACHED_POINTS = 4  # points whose statistics are kept; one if the sums are large


class PassFunctions(NamedTuple):
    """The passes that collect the statistics of a loss.

    Attributes
    ----------
    gradient, curvature : pass functions
        Sums of A, and of the curvature, over the bins of features.
    line, line_and_gradient : pass functions
        Losses along a search direction, alone or with the sums of `gradient` at its end.
    n_values : int
        Number of values of the pass `gradient`; the first one is the loss.
    """

    gradient: PassFunction
    curvature: PassFunction
    line: PassFunction
    line_and_gradient: PassFunction
    n_values: int


@dataclass(frozen=True)
class PricingInputs:
    """What is needed to price the features of a block from their sums."""

    n_bins: Ints
    kinds: Ints
    costs: Array
    signs: Ints | None
    penalty: Penalty
    tie: float


@dataclass(eq=False)
class ShardedStatistics:
    """Collects statistics of the rows of all shards.

    Attributes
    ----------
    executor : Executor
    loss : Loss
    bins : BinnedData
        The bins of all features; the codes are on the shards.
    costs : (d + 1,) array
    signs : (d + 1, k) int array or None
    k : int
    class_counts : (shards, k) int array
        Number of rows of every class on each shard.
    n_rows : int
        Number of rows of all shards.
    max_sample : int
        Largest number of rows of a sample.
    block_bytes : int or None
        Limit on the bytes of the sums of a block, if it is not 32 MiB.
    blocks : list of int arrays
        The features, in blocks whose sums are small enough to transfer.
    bin_weights : list of d + 1 arrays
        Total weight of the rows in every bin of each feature.
    """

    #: Whether a pricing covers only part of the features.
    partial_pricing: ClassVar[bool] = False
    pass_functions: ClassVar[PassFunctions] = PassFunctions(
        gradient=passes.gradient_sums,
        curvature=passes.curvature_sums,
        line=passes.line_losses,
        line_and_gradient=passes.line_losses_and_sums,
        n_values=1,
    )

    executor: Executor
    loss: Loss
    bins: BinnedData
    costs: Array
    signs: Ints | None
    k: int
    class_counts: Ints
    n_rows: int = field(init=False)
    max_sample: int = field(init=False)
    block_bytes: int | None = field(init=False, default=None)
    blocks: list[Ints] = field(init=False)
    bin_weights: list[Array] = field(init=False)
    _recent: list[RemoteScores] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Split the features into blocks, and collect the weights of their bins."""
        self.n_rows = self.max_sample = int(self.class_counts.sum())
        sizes = np.cumsum(self.bins.n_bins.astype(np.int64) * self.k * 8)
        owner = (sizes - 1) // (self.block_bytes or _BLOCK_BYTES)
        features = np.arange(owner.size, dtype=np.int32)
        self.blocks = np.split(features, np.flatnonzero(np.diff(owner)) + 1)
        sums = [
            self.executor.run(passes.bin_weights, block).arrays[0][:, 0] for block in self.blocks
        ]
        self.bin_weights = apart(np.concatenate(sums), np.cumsum(self.bins.n_bins))

    def remote_scores(self, coefficients: SparseCoefficients, precision: Any) -> RemoteScores:
        """Return the scores of coefficients; for recent ones, with the statistics known of them.

        The loop, its solver and the compaction of a model return to the same coefficients.
        """
        dtype, names = np.dtype(precision), ("features", "counts", "thresholds", "rows")
        for known in self._recent:
            if known.dtype == dtype and all(
                np.array_equal(getattr(known.coefficients, name), getattr(coefficients, name))
                for name in names
            ):
                return known
        made = RemoteScores(coefficients, dtype)
        most = _CACHED_POINTS if len(self.blocks) == 1 else 1
        self._recent[:] = [made, *self._recent[: most - 1]]
        return made

    @cached_property
    def all_rows(self) -> "SampledRows":
        """All rows with their codes, shard by shard; for small problems."""
        features = np.arange(self.bins.n_bins.size, dtype=np.int32)
        return sample_rows(self.executor, self.class_counts, None, features)

    def sum_bytes(self, features: Ints) -> int:
        """Return the bytes of the sums over the bins of features."""
        return int(self.bins.n_bins[features].sum(dtype=np.int64)) * self.k * 8

    def value(self, point: RemoteScores) -> float:
        """Return the loss at a point."""
        cache = point.cache
        if cache.loss is None:
            none = np.zeros(0, dtype=np.int32)
            request = GradientRequest(point.without_cache(), self.loss, none)
            cache.loss = float(self.executor.run(passes.value, request).values[0])
        return cache.loss

    def prices(self, point: RemoteScores, penalty: Penalty) -> Prices:
        """Return the loss at a point and the prices of all features."""
        key, cache = (penalty.name, penalty.p), point.cache
        if key not in cache.prices:
            futures = self._gradient_futures(point)
            readings = []
            for block, future in zip(self.blocks, futures, strict=True):
                readings.append(self._submit_pricing(future, block, point, penalty))
            parts: list[Prices] = self.executor.gather(readings)
            names = ("best", "threshold", "polarity")
            joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
            cache.prices[key] = Prices(loss=parts[0].loss, sizes=parts[0].sizes, **joined)
        cache.loss = cache.prices[key].loss
        return cache.prices[key]

    def _submit_pricing(
        self, future: Any, block: Ints, point: RemoteScores, penalty: Penalty
    ) -> Any:
        """Start to price the features of a block where their sums are stored."""
        inputs = PricingInputs(
            n_bins=self.bins.n_bins[block],
            kinds=self.bins.kinds[block],
            costs=self.costs[block],
            signs=None if self.signs is None else self.signs[block],
            penalty=penalty,
            tie=tie_width(point),
        )
        return self.executor.submit_reader(future, price_features, inputs)

    def _gradient_futures(self, point: RemoteScores) -> list[Any]:
        """Return futures of the sums of A, one per block."""
        cache = point.cache
        if cache.gradient is None:
            cache.gradient = []
            for block in self.blocks:
                cache.gradient.append(self._submit(self.pass_functions.gradient, point, block))
        return cache.gradient

    def _submit(self, function: PassFunction, point: RemoteScores, features: Ints) -> Any:
        """Start a pass that returns sums over the bins of features."""
        request = GradientRequest(point.without_cache(), self.loss, features)
        return self.executor.submit(function, request, self.sum_bytes(features))

    def sums(self, point: RemoteScores, features: Ints) -> tuple[Array, Array]:
        """Return the sums of A and of the curvature over the bins of features."""
        cache, executor = point.cache, self.executor
        future, known = cache.curvature, cache.curvature_features
        if known is None or not np.isin(features, known).all():
            future, known = self._submit(self.pass_functions.curvature, point, features), features
        cache.curvature = cache.curvature_features = None  # they are read once
        reading = executor.submit_reader(future, pick_rows, self._bin_rows(known, features))
        G = self._gradient_sums(point, features)
        D: Array = executor.gather([reading])[0]
        executor.traffic += D.nbytes
        return G, D

    def _gradient_sums(self, point: RemoteScores, features: Ints) -> Array:
        """Return the sums of A over the bins of features."""
        executor, futures = self.executor, self._gradient_futures(point)
        wanted = [np.intersect1d(features, block) for block in self.blocks]
        some = [b for b, found in enumerate(wanted) if found.size]
        readings = []
        for b in some:
            rows = self._bin_rows(self.blocks[b], wanted[b])
            readings.append(executor.submit_reader(futures[b], pick_rows, rows))
        # The results are in the order of the blocks; return them in the order of the features.
        G = np.concatenate([np.zeros((0, self.k)), *executor.gather(readings)])
        order = np.concatenate([np.zeros(0, dtype=np.int32), *(wanted[b] for b in some)])
        executor.traffic += G.nbytes
        return np.asarray(G[self._bin_rows(order, features)])

    def edges(self, point: RemoteScores, features: Ints) -> list[Array]:
        """Return the edges (n_thresholds, k) of all thresholds of features, in their order."""
        G = self._gradient_sums(point, features)
        parts = apart(G, np.cumsum(self.bins.n_bins[features]))
        kinds = self.bins.kinds[features].tolist()
        return [edges_of(part, kind) for part, kind in zip(parts, kinds, strict=True)]

    def _bin_rows(self, known: Ints, features: Ints) -> Ints:
        """Return the rows of sums over the bins of `known` that belong to `features`."""
        ends = np.cumsum(self.bins.n_bins[known], dtype=np.int64)
        place = {f: i for i, f in enumerate(known.tolist())}
        counts = self.bins.n_bins
        spans = [np.arange(ends[place[f]] - counts[f], ends[place[f]]) for f in features.tolist()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *spans])


def price_features(sums: Sums, inputs: PricingInputs) -> Prices:
    """Price the features of a block from their sums over bins."""
    parts = apart(sums.arrays[0], np.cumsum(inputs.n_bins))
    best = np.zeros(len(parts))
    threshold, polarity = np.zeros(len(parts), np.int32), np.ones(len(parts), np.int8)
    for f, part in enumerate(parts):
        signs = None if inputs.signs is None else inputs.signs[f]
        E = edges_of(part, int(inputs.kinds[f]))
        best[f], threshold[f], polarity[f] = best_by_edges(E, signs, inputs.penalty, inputs.tie)
    return Prices(
        loss=float(sums.values[0]),
        sizes=sums.arrays[1],
        best=best / inputs.costs,
        threshold=threshold,
        polarity=polarity,
    )


def read_values(sums: Sums) -> Array:
    """Return the values of a sum."""
    return sums.values


def pick_rows(sums: Sums, rows: Ints) -> Array:
    """Return some rows of the first array of a sum."""
    return np.ascontiguousarray(sums.arrays[0][rows])


@dataclass(frozen=True)
class SampledRows:
    """A stratified sample of the rows of all shards, shard by shard.

    Attributes
    ----------
    drawn : list of lists of k int arrays
        For every shard, the drawn rows of each class, counted within the class.
    labels : (n,) int32 array
    c : (n,) array
        Weights among all rows.
    scale : (n,) array
        Number of rows that each sampled row represents.
    codes : (features, n) array
        Codes of the requested features.
    """

    drawn: list[list[Ints]]
    labels: Ints
    c: Array
    scale: Array
    codes: Ints


@dataclass(frozen=True)
class SampleRequest:
    """The drawn rows of each class of a shard, and the features whose codes are requested."""

    drawn: list[Ints]
    features: Ints
    codes_only: bool = False

    @property
    def nbytes(self) -> int:
        """Number of bytes to transfer."""
        return self.features.nbytes + sum(places.nbytes for places in self.drawn)


def sample_rows(
    executor: Executor, class_counts: Ints, size: int | None, features: Ints
) -> SampledRows:
    """Draw about `size` rows, or all rows if it is None, with the codes of features.

    A local fit draws the same rows if its rows are in the order of the shards. `class_counts`
    (shards, k) is the number of rows of every class on each shard.
    """
    totals = class_counts.sum(axis=0)
    everything = [np.arange(total) for total in totals.tolist()]
    ends = np.cumsum(class_counts, axis=0)
    drawn: list[list[Ints]] = [[] for _ in class_counts]
    for r, rows in enumerate(everything if size is None else draw_by_class(totals, size, _SEED)):
        # Split the drawn rows of class r by shard, counted from the first row of the shard.
        parts = np.split(np.sort(rows), np.searchsorted(np.sort(rows), ends[:-1, r]))
        for q, part in enumerate(parts):
            drawn[q].append((part - (ends[q, r] - class_counts[q, r])).astype(np.int32))
    requests = [SampleRequest(places, features) for places in drawn]
    found = executor.run_each(take_rows, requests)
    executor.traffic += sum(request.nbytes for request in requests)
    executor.traffic += sum(array.nbytes for part in found for array in part)
    labels, c = (np.concatenate([part[i] for part in found]) for i in (0, 1))
    taken = np.maximum(np.bincount(labels, minlength=totals.size), 1)
    codes = np.concatenate([part[2] for part in found], axis=1)
    return SampledRows(drawn=drawn, labels=labels, c=c, scale=(totals / taken)[labels], codes=codes)


def sampled_codes(executor: Executor, sample: SampledRows, features: Ints) -> Ints:
    """Return the codes of features of the sampled rows, (features, n)."""
    requests = [SampleRequest(places, features, codes_only=True) for places in sample.drawn]
    parts = [codes for _, _, codes in executor.run_each(take_rows, requests)]
    executor.traffic += sum(request.nbytes for request in requests)
    executor.traffic += sum(part.nbytes for part in parts)
    return np.concatenate(parts, axis=1)


def take_rows(shard: Shard, request: SampleRequest) -> tuple[Ints, Array, Ints]:
    """Return labels, weights and codes of the drawn rows of a shard, in the order of the rows.

    Labels and weights are empty if only codes are requested.
    """
    own = [np.flatnonzero(shard.labels == r)[places] for r, places in enumerate(request.drawn)]
    rows = np.sort(np.concatenate(own))
    binned, features = shard.binned, request.features
    codes = np.empty((features.size, rows.size), dtype=binned.codes.dtype)
    for place, feature in enumerate(features.tolist()):
        codes[place] = binned.codes_of(feature)[rows]
    if request.codes_only:
        rows = rows[:0]
    return shard.labels[rows], shard.rows.c[rows], codes
