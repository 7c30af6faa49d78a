"""Pricing in turns, a part of the features at a time: so that a round moves few bytes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import RowsUnavailableError
from ..kernels.structs import tie_width
from ..oracles.base import Pricing, ranking
from ..penalties import Penalty
from ..problem.columns import Proposals
from ..solvers.quadratic_model import first_size
from . import passes
from .executor import tree_widths
from .passes import LookMessage
from .problem import ShardedOracle
from .shard import RemoteScores, SparseCoefficients
from .statistics import Prices, ShardedStatistics, pick, price_features

_MESSAGES = 10  # with all weights, or as many changes, that a shard gets in a round
_JUMPS = 16  # that a new feature may get in one round
_SAMPLED = 20  # bytes of a row of a sample without codes: which it is, twice, label, weight
_HALF = 0.5  # of the bytes are for pricing; the rest for the model of the features with weight


class TrafficLimitError(RowsUnavailableError):
    """A round would move more bytes than it may."""


@dataclass(frozen=True, eq=False)
class PartialPricingStatistics(ShardedStatistics):
    """`ShardedStatistics` that prices one block of features at a time.

    Attributes
    ----------
    most : int
        Bytes that a round may move.
    """

    in_turns: ClassVar[bool] = True

    most: int = 0
    turn: list[int] = field(default_factory=lambda: [0])

    def place(self, weights: SparseCoefficients, precision: Any) -> RemoteScores:
        """Return the place of weights, of which nothing is known: a turn is of one round only."""
        return RemoteScores(weights, np.dtype(precision))

    def _block_bytes(self) -> int:
        """Return the most bytes of the sums of a block."""
        tree = sum(tree_widths(self.crew.count))
        largest = int(self.bins.n_bins.max()) * self.k * 8
        if _HALF * self.most < largest * tree:
            raise ValueError(
                f"max_round_bytes={self.most} does not fit: the sums of one feature of "
                f"{self.crew.count} shards take {largest * tree} bytes, twice that is the least"
            )
        return int(_HALF * self.most / tree) - largest + 1

    def next_prices(self, place: RemoteScores, penalty: Penalty) -> tuple[Prices, Bools]:
        """Price one more block at a place; return the prices, and which features have one."""
        found, done = place.known.setdefault("turns", (self._unpriced(), []))
        left = [b for b in self._order() if b not in done]
        if left:
            block = self.blocks[left[0]]
            part = self._price_block(place, block, penalty)
            for name in ("best", "jump", "polarity"):
                getattr(found, name)[block] = getattr(part, name)
            found = Prices(part.value, part.sizes, found.best, found.jump, found.polarity)
            done = [*done, left[0]]
            self.turn[0] = (left[0] + 1) % len(self.blocks)
            place.known["turns"] = (found, done)
            place.known["value"] = part.value
        return found, np.isfinite(found.best)

    def prices(self, place: RemoteScores, penalty: Penalty) -> Prices:
        """Return the loss at a place and the prices of all features."""
        found, priced = self.next_prices(place, penalty)
        while not priced.all():
            found, priced = self.next_prices(place, penalty)
        return found

    def _unpriced(self) -> Prices:
        d = self.bins.n_bins.size
        return Prices(
            0.0, np.zeros(self.k), np.full(d, -np.inf), np.zeros(d, np.int32), np.ones(d, np.int8)
        )

    def _order(self) -> Ints:
        """Return the blocks, from the one whose turn it is."""
        return np.roll(np.arange(len(self.blocks)), -self.turn[0])

    def _price_block(self, place: RemoteScores, block: Ints, penalty: Penalty) -> Prices:
        tie = tie_width(place)
        message = LookMessage(place.alone(), self.loss, block)
        held = self.crew.hold(passes.gradient_sums, message, self.size_of(block))
        found: Prices = self.crew.read(held, price_features, self.price_list(block, penalty, tie))
        return found

    def fitting(self, features: list[int], new: int, live: int) -> int:
        """Return how many of the last `new` features may come into a working set."""
        for kept in range(new, 0 if new else -1, -1):
            some = np.array(features[: len(features) - new + kept], dtype=np.int32)
            need = self._need(some) + self._messages(live + _JUMPS * kept)
            if need <= _HALF * self.most:
                return kept
        raise TrafficLimitError(
            f"a round with {len(features) - new + 1} features moves more than "
            f"max_round_bytes={self.most}: raise it, to {int(need / _HALF)} or more, or nu, for a "
            "model with fewer features; the best model so far is kept"
        )

    def _messages(self, live: int) -> int:
        """Return the bytes of all messages of a round with so many jumps that are not zero."""
        return _MESSAGES * live * (8 * self.k + 16) * self.crew.count

    def sampled(self, size: int) -> int:
        """Return how many rows a sample may have that should have `size` of them."""
        return min(size, self.m, first_size(self.m))

    def _need(self, features: Ints) -> int:
        """Return the bytes of the sums of A and the curvature of features, and of sampled codes."""
        size = self.size_of(features)
        of_a_row = features.size * self.bins.codes.itemsize + _SAMPLED
        codes = self.sampled(first_size(self.m)) * of_a_row
        return 2 * size * (sum(tree_widths(self.crew.count)) + 1) + codes

    def _sums_of_A(self, place: RemoteScores, features: Ints) -> Array:
        """Return the sums of A over the bins of features, which are asked for alone."""
        message = LookMessage(place.alone(), self.loss, features)
        held = self.crew.hold(passes.gradient_sums, message, self.size_of(features))
        G: Array = self.crew.read(held, pick, np.arange(int(self.bins.n_bins[features].sum())))
        self.crew.traffic += G.nbytes
        return G


class PartialPricingOracle(ShardedOracle):
    """`ShardedOracle` that prices a part of the features whenever it is asked."""

    def __init__(self, field_: PartialPricingStatistics) -> None:
        super().__init__(field_)
        self._turns = field_

    def price(self, A: Any, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price one more block of features."""
        found, priced = self._turns.next_prices(A, penalty)
        if priced.all():
            return super().price(A, penalty, rule)
        features = np.flatnonzero(priced)
        order = features[ranking(found.best[features], 1e-6)]
        jump, polarity = found.jump[order], found.polarity[order]
        return Pricing(
            np.inf, 0.0, Proposals(order, jump, polarity, found.best[order]), complete=False
        )

    def reprice(self, A: Any, penalty: Penalty) -> Pricing:
        """Price all features, for the final proof."""
        self._turns.prices(A, penalty)
        return super().price(A, penalty)
