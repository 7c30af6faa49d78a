"""What is known of all rows at a place: asked of the crew when it is first needed."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

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
from .executor import Executor, Question
from .passes import LookMessage
from .shard import RemoteScores, Shard, SparseCoefficients, Sums

_SEED = 0


@dataclass(frozen=True)
class SampledRows:
    """Some rows of all shards, one shard after the other.

    Attributes
    ----------
    drawn : list of lists of k int arrays
        Which rows of every class each shard gives, counted within the class.
    labels : (n,) int32 array
    c : (n,) array
        Their weights among all rows.
    scale : (n,) array
        How many rows each stands for.
    codes : (features, n) array
        Of the features that were asked for.
    """

    drawn: list[list[Ints]]
    labels: Ints
    c: Array
    scale: Array
    codes: Ints

    def binned(self, bins: BinnedData) -> BinnedData:
        """Return the rows with the bins of all features, whose codes were asked for."""
        return BinnedData(
            self.codes, bins.n_bins, bins.kinds, bins.missing, bins.thresholds, bins.centre,
            bins.exact, bins.levels,
        )  # fmt: skip


@dataclass(frozen=True)
class SampleMessage:
    """Which rows of every class a shard gives, and the features of which codes are wanted."""

    drawn: list[Ints]
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.features.nbytes + sum(places.nbytes for places in self.drawn)


def sample_rows(crew: Executor, has: Ints, size: int | None, features: Ints) -> SampledRows:
    """Take about `size` rows, None for all, with the codes of features.

    They are those that a fit on one machine takes whose rows come in the order of the shards. Of
    the classes the shards have `has` rows, (shards, k).
    """
    totals = has.sum(axis=0)
    whole = [np.arange(total) for total in totals.tolist()]
    drawn = _dealt(has, whole if size is None else draw_by_class(totals, size, _SEED))
    messages = [SampleMessage(places, features) for places in drawn]
    parts = crew.each(_rows, messages)
    crew.traffic += sum(m.nbytes for m in messages)
    crew.traffic += sum(array.nbytes for part in parts for array in part)
    labels, c = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    taken = np.maximum(np.bincount(labels, minlength=totals.size), 1)
    codes = np.concatenate([part[2] for part in parts], axis=1)
    return SampledRows(drawn, labels, c, (totals / taken)[labels], codes)


def _dealt(has: Ints, drawn: list[Ints]) -> list[list[Ints]]:
    """Tell every shard which of its own rows of every class were drawn, ascending."""
    ends = np.cumsum(has, axis=0)
    dealt: list[list[Ints]] = [[] for _ in has]
    for r, places in enumerate(drawn):
        parts = np.split(np.sort(places), np.searchsorted(np.sort(places), ends[:-1, r]))
        for q, part in enumerate(parts):
            dealt[q].append((part - (ends[q, r] - has[q, r])).astype(np.int32))
    return dealt


def sampled_codes(crew: Executor, taken: SampledRows, features: Ints) -> Ints:
    """Return the codes of features of the sampled rows, (features, n)."""
    messages = [SampleMessage(places, features) for places in taken.drawn]
    parts = crew.each(_codes, messages)
    crew.traffic += sum(m.nbytes for m in messages) + sum(part.nbytes for part in parts)
    return np.concatenate(parts, axis=1)


def _rows(shard: Shard, message: SampleMessage) -> tuple[Ints, Array, Ints]:
    rows = _chosen(shard, message)
    return shard.labels[rows], shard.rows.c[rows], _codes_of(shard, rows, message.features)


def _codes(shard: Shard, message: SampleMessage) -> Ints:
    return _codes_of(shard, _chosen(shard, message), message.features)


def _codes_of(shard: Shard, rows: Ints, features: Ints) -> Ints:
    binned = shard.binned
    codes = np.empty((features.size, rows.size), dtype=binned.codes.dtype)
    for place, feature in enumerate(features.tolist()):
        codes[place] = binned.codes_of(feature)[rows]
    return codes


def _chosen(shard: Shard, message: SampleMessage) -> Ints:
    """Return which rows a shard gives, ascending."""
    own = [np.flatnonzero(shard.labels == r)[places] for r, places in enumerate(message.drawn)]
    return np.sort(np.concatenate(own))


_BLOCK_BYTES = 1 << 25  # of the sums of one block of features
_PLACES = 4  # that are remembered with what was asked of them; one where its sums are large


@dataclass(frozen=True)
class Prices:
    """The loss at a place, sizes sum |A| (k,), and the best price, jump, polarity by feature."""

    value: float
    sizes: Array
    best: Array
    jump: Ints
    polarity: Ints


@dataclass(frozen=True)
class PriceList:
    """What the features of a block need to be priced from their sums."""

    n_bins: Ints
    kinds: Ints
    costs: Array
    signs: Ints | None
    penalty: Penalty
    tie: float


@dataclass(frozen=True, eq=False)
class ShardedStatistics:
    """All shards, and the features they code.

    Attributes
    ----------
    crew : Executor
    loss : Loss
    bins : BinnedData
        Without rows.
    costs : (d + 1,) array
    signs : (d + 1, k) int array or None
    k : int
    class_counts : (shards, k) int array
        How many rows of every class each shard has.
    blocks : list of int arrays
        The features, in parts whose sums are not too large to travel.
    bin_weights : list of d + 1 arrays
        How the rows, by their weights, share the bins of every feature.
    """

    #: Whether pricing goes on with other features whenever it is asked for.
    in_turns: ClassVar[bool] = False
    #: What shards are asked to look at a place, and how the loss bends there.
    questions: ClassVar[tuple[Question, Question]] = (passes.gradient_sums, passes.curvature_sums)

    crew: Executor
    loss: Loss
    bins: BinnedData
    costs: Array
    signs: Ints | None
    k: int
    class_counts: Ints
    blocks: list[Ints] = field(init=False)
    bin_weights: list[Array] = field(init=False)
    _last: list[RemoteScores] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Cut the features into blocks, and ask for the weights of their bins."""
        sizes = np.cumsum(self.bins.n_bins.astype(np.int64) * self.k * 8)
        owner = (sizes - 1) // self._block_bytes()
        features = np.arange(owner.size, dtype=np.int32)
        parts = np.split(features, np.flatnonzero(np.diff(owner)) + 1)
        object.__setattr__(self, "blocks", parts)
        sums = [self.crew.ask(passes.bin_weights, block).arrays[0][:, 0] for block in parts]
        weights = apart(np.concatenate(sums), np.cumsum(self.bins.n_bins))
        object.__setattr__(self, "bin_weights", weights)

    @property
    def m(self) -> int:
        """Number of rows of all shards."""
        return int(self.class_counts.sum())

    def place(self, weights: SparseCoefficients, precision: Any) -> RemoteScores:
        """Return the place of weights in a precision: with what is known of it, if it is recent.

        The loop, its master and the search for a smaller model come back to the same weights.
        """
        dtype = np.dtype(precision)
        for known in self._last:
            if known.dtype == dtype and known.weights.same_as(weights):
                return known
        made = RemoteScores(weights, dtype)
        most = _PLACES if len(self.blocks) == 1 else 1
        self._last[:] = [made, *self._last[: most - 1]]
        return made

    @cached_property
    def all_rows(self) -> SampledRows:
        """All rows with their codes, shard after shard: for problems that are small."""
        features = np.arange(self.bins.n_bins.size, dtype=np.int32)
        return sample_rows(self.crew, self.class_counts, None, features)

    def size_of(self, features: Ints) -> int:
        """Return the bytes of the sums over the bins of features."""
        return int(self.bins.n_bins[features].sum(dtype=np.int64)) * self.k * 8

    def _block_bytes(self) -> int:
        """Return the most bytes of the sums of a block."""
        return _BLOCK_BYTES

    def value(self, place: RemoteScores) -> float:
        """Return the loss at a place."""
        if "value" not in place.known:
            none = np.zeros(0, dtype=np.int32)
            found = self.crew.ask(passes.value, LookMessage(place.alone(), self.loss, none))
            place.known["value"] = float(found.values[0])
        return float(place.known["value"])

    def prices(self, place: RemoteScores, penalty: Penalty) -> Prices:
        """Return the loss at a place and the prices of all features."""
        key = ("prices", penalty.name, penalty.p)
        if key not in place.known:
            place.known[key] = self._priced(place, penalty)
        found: Prices = place.known[key]
        place.known["value"] = found.value
        return found

    def _priced(self, place: RemoteScores, penalty: Penalty) -> Prices:
        crew, tie = self.crew, tie_width(place)
        begun = [
            crew.begin(held, price_features, self.price_list(block, penalty, tie))
            for block, held in zip(self.blocks, self._looks(place), strict=True)
        ]
        parts: list[Prices] = crew.finish(begun)
        columns = ("best", "jump", "polarity")
        joined = [np.concatenate([getattr(part, name) for part in parts]) for name in columns]
        return Prices(parts[0].value, parts[0].sizes, *joined)

    def sampled(self, size: int) -> int:
        """Return how many rows a sample may have that should have `size` of them."""
        return min(size, self.m)

    def fitting(self, features: list[int], new: int, live: int) -> int:
        """Return how many of the last `new` features may come into a working set.

        `live` is the number of jumps that are not zero.
        """
        del features, live
        return new

    def price_list(self, block: Ints, penalty: Penalty, tie: float) -> PriceList:
        """Return what a block needs to be priced."""
        signs = None if self.signs is None else self.signs[block]
        return PriceList(
            self.bins.n_bins[block], self.bins.kinds[block], self.costs[block], signs, penalty, tie
        )

    def _looks(self, place: RemoteScores) -> list[Any]:
        if "looks" not in place.known:
            place.known["looks"] = [
                self.crew.hold(
                    self.questions[0],
                    LookMessage(place.alone(), self.loss, block),
                    self.size_of(block),
                )
                for block in self.blocks
            ]
        found: list[Any] = place.known["looks"]
        return found

    def begin_bend(self, place: RemoteScores, features: Ints) -> None:
        """Begin to sum the curvature over the bins of features that will be asked for."""
        message = LookMessage(place.alone(), self.loss, features)
        held = self.crew.hold(self.questions[1], message, self.size_of(features))
        place.known["bend"] = (features, held)

    def sums(self, place: RemoteScores, features: Ints) -> tuple[Array, Array]:
        """Return the sums of A and of the curvature over the bins of features."""
        begun = place.known.get("bend")
        if begun is None or not np.isin(features, begun[0]).all():
            self.begin_bend(place, features)
        known, held = place.known.pop("bend")
        bend = self.crew.begin(held, pick, self._rows_of(known, features))
        G = self._sums_of_A(place, features)
        D: Array = self.crew.finish([bend])[0]
        self.crew.traffic += D.nbytes
        return G, D

    def _sums_of_A(self, place: RemoteScores, features: Ints) -> Array:
        crew, looks = self.crew, self._looks(place)
        wanted = [np.intersect1d(features, block) for block in self.blocks]
        some = [b for b, found in enumerate(wanted) if found.size]
        parts = crew.finish(
            [crew.begin(looks[b], pick, self._rows_of(self.blocks[b], wanted[b])) for b in some]
        )
        # The parts come in the order of the blocks: put them in that of the features.
        G = np.concatenate([np.zeros((0, self.k)), *parts])
        order = np.concatenate([np.zeros(0, dtype=np.int32), *(wanted[b] for b in some)])
        crew.traffic += G.nbytes
        return np.asarray(G[self._rows_of(order, features)])

    def edges(self, place: RemoteScores, features: Ints) -> list[Array]:
        """Return the edges (n_jumps, k) of all jumps of features, in their order, at a place."""
        G = self._sums_of_A(place, features)
        parts = apart(G, np.cumsum(self.bins.n_bins[features]))
        kinds = self.bins.kinds[features].tolist()
        return [edges_of(part, kind) for part, kind in zip(parts, kinds, strict=True)]

    def _rows_of(self, known: Ints, features: Ints) -> Ints:
        """Return which rows of sums over the bins of the known features belong to `features`."""
        ends = np.cumsum(self.bins.n_bins[known], dtype=np.int64)
        place = {f: i for i, f in enumerate(known.tolist())}
        counts = self.bins.n_bins
        spans = [np.arange(ends[place[f]] - counts[f], ends[place[f]]) for f in features.tolist()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *spans])


def price_features(sums: Sums, features: PriceList) -> Prices:
    """Price the features of a block from their sums over bins."""
    parts = apart(sums.arrays[0], np.cumsum(features.n_bins))
    best = np.zeros(len(parts))
    jump, polarity = np.zeros(len(parts), np.int32), np.ones(len(parts), np.int8)
    for f, part in enumerate(parts):
        signs = None if features.signs is None else features.signs[f]
        E = edges_of(part, int(features.kinds[f]))
        best[f], jump[f], polarity[f] = best_by_edges(E, signs, features.penalty, features.tie)
    return Prices(float(sums.values[0]), sums.arrays[1], best / features.costs, jump, polarity)


def values_of(sums: Sums) -> Array:
    """Return the values of a sum."""
    return sums.values


def pick(sums: Sums, rows: Ints) -> Array:
    """Return some rows of the first array."""
    return np.ascontiguousarray(sums.arrays[0][rows])
