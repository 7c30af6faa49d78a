"""Exact pricing of all stumps and all products of two stumps: ``learner="pair"``."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, ColumnWeights
from ..data.interactions import by_column, check_interactions, pairs_of
from ..data.pair_bins import PairBins, bin_for_pairs
from ..data.validation import check_count, check_number
from ..kernels import add_tables, histograms, price_pairs
from ..kernels.reference.pairs import best_products, edges_of_pair
from ..kernels.step_functions import ORDERED, PRODUCT, side
from ..kernels.structs import SparseCodes, tie_width
from ..kernels.threads import Team
from ..model.learners import Constant, Learner, Product, WeakClassifier
from ..model.names import default_names, these_features, these_pairs
from ..penalties import L1, Penalty
from ..problem.columns import Proposals
from .base import OracleData, Pricing, ranking, rounding_of
from .stump import NATIVE_NORMS, BinnedOracle, StumpOracle

MOST_PAIR_BINS = 255  # a code has eight bits, and one code is kept for missing values
_PROPOSED = 512  # products that one pricing proposes at most
_PER_PAIR = 4  # products of one pair that it proposes at most
SCAN_ROWS = 6000  # rows whose sums take as long as the scan of a pair
_LARGE = 100_000_000  # pairs times rows from which a call prices a part of the pairs
_PARTIAL_CALLS = 3  # calls in a row that do so
_PARTS, _LEAST_PARTS = 16, 8  # they price a 16th of the pairs, or an eighth if that is less than
_LEAST_PAIRS = 2000  # this number of pairs
_DIGEST = 1000  # entries by which coefficients are recognised
_TERMS = 9  # the edges of a product are T - 2 R - 2 K + 4 P: nine times the size of a sum

_PACKED, _CELLS = 8, 256  # products whose codes share a byte, and the values of the byte
_BITS = (np.arange(_CELLS)[:, None] >> np.arange(_PACKED) & 1).astype(np.float64)
_ROWS_AT_ONCE = 64  # bytes per row that are processed together


class _Key(NamedTuple):
    """A product: positions of both features in `PairBins`, and their thresholds."""

    one: int
    threshold: int
    other: int
    other_threshold: int


class PairFeatures:
    """The features of the data, the constant, and the products generated so far.

    Conventions. The features and the constant have the numbers and thresholds of `BinnedData`.
    Products follow, each as a feature of two codes with one threshold: code 1 where the two stumps
    agree.

    Parameters
    ----------
    binned : BinnedData
        The stumps.
    bins : PairBins
        The stumps that products are made of.
    feature_costs : (d + 1,) array
        Cost of every feature of the data, and of the constant at the end.
    pair_costs : (p,) array
        Cost of every pair.
    """

    def __init__(self, binned: BinnedData, bins: PairBins, feature_costs: Array) -> None:
        self.stumps, self.bins = binned, bins
        self.costs: list[float] = feature_costs.tolist()
        self._products: list[_Key] = []
        self._numbers: dict[int, int] = {}  # of the products, by their keys as one number
        self._slots: dict[int, int] = {}  # of the products whose codes are stored
        self._free: list[int] = []  # slots without a product
        self._packed = np.zeros((0, binned.n_rows), dtype=np.uint8)  # eight slots in a row

    @property
    def codes(self) -> Ints:
        """Codes of the features of the data and of the constant."""
        return self.stumps.codes

    @property
    def sparse(self) -> SparseCodes | None:
        """Sparse codes of the features of the data."""
        return self.stumps.sparse

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.stumps.n_rows

    @property
    def constant(self) -> int:
        """Index of the feature that is the constant classifier."""
        return self.stumps.constant

    @property
    def n_bins(self) -> Ints:
        """Number of codes of every feature, and 2 for every product."""
        products = np.full(len(self._products), 2, dtype=np.int32)
        return np.concatenate([self.stumps.n_bins, products])

    @property
    def kinds(self) -> Ints:
        """Kinds of the codes; those of the products are PRODUCT."""
        products = np.full(len(self._products), PRODUCT, dtype=np.uint8)
        return np.concatenate([self.stumps.kinds, products])

    def add(self, keys: Ints, costs: Array) -> list[int]:
        """Add the products that are new; return the number of each."""
        n, most = self.bins.codes.shape[1], int(self.bins.n_thresholds.max())
        names = np.ravel_multi_index(tuple(keys.T), (n, most, n, most)).tolist()
        for place, name in enumerate(names):
            if name not in self._numbers:
                self._numbers[name] = self.stumps.n_bins.size + len(self._products)
                self._products.append(_Key(*keys[place].tolist()))
                self.costs.append(float(costs[place]))
        return [self._numbers[name] for name in names]

    def sums(self, features: Ints, A: Scores, team: Team | None = None) -> Array:
        """Return the sums of the rows of A (m, k) over the bins of the features, (all bins, k)."""
        is_product = features >= self.stumps.n_bins.size
        ends = np.cumsum(self.n_bins[features])
        out = np.empty((int(ends[-1]) if ends.size else 0, A.shape[1]))
        of_product = np.repeat(is_product, self.n_bins[features])
        out[~of_product] = self.stumps.sums(features[~is_product], A, team)
        last = ends[is_product] - 1
        for chosen, rows, slots in self._groups(features[is_product]):
            bins = np.full(rows.size, _CELLS, dtype=np.int32)
            cells = histograms(self._packed, rows, bins, A, team).reshape(rows.size, _CELLS, -1)
            agree = (_BITS.T @ cells).reshape(-1, A.shape[1])[slots]
            out[last[chosen]] = agree
            out[last[chosen] - 1] = cells.sum(axis=1)[slots // _PACKED] - agree
        return out

    def add_scores(
        self, features: Ints, tables: list[Array], F: Scores, team: Team | None = None
    ) -> None:
        """Add the tables (n_bins, k) of the features to the scores F (m, k), in place."""
        is_product = features >= self.stumps.n_bins.size
        stumps, places = np.flatnonzero(~is_product).tolist(), np.flatnonzero(is_product)
        self.stumps.add_scores(features[~is_product], [tables[i] for i in stumps], F, team)
        if not places.size:
            return
        two = np.array([tables[i] for i in places.tolist()])
        for chosen, rows, slots in self._groups(features[places]):
            change = np.zeros((rows.size * _PACKED, F.shape[1]))
            change[slots] = two[chosen, 1] - two[chosen, 0]
            cells = _BITS @ change.reshape(rows.size, _PACKED, -1)
            least = np.zeros((rows.size, F.shape[1]))
            np.add.at(least, slots // _PACKED, two[chosen, 0])
            cells += least[:, None]
            add_tables(self._packed, rows, list(cells), F, team)

    def _groups(self, products: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Store the products; yield them in groups: their places, rows and slots in these rows."""
        self._store(products.tolist())
        slots = np.array([self._slots[product] for product in products.tolist()], dtype=np.int64)
        rows, row = np.unique(slots // _PACKED, return_inverse=True)
        for first in range(0, rows.size, _ROWS_AT_ONCE):
            chosen = np.flatnonzero((row >= first) & (row < first + _ROWS_AT_ONCE))
            own = rows[first : first + _ROWS_AT_ONCE].astype(np.int32)
            yield chosen, own, (row[chosen] - first) * _PACKED + slots[chosen] % _PACKED

    def _store(self, products: list[int]) -> None:
        """Compute the codes of new products; drop others where these need space.

        The codes of eight products are the bits of one byte.
        """
        new = [product for product in products if product not in self._slots]
        if len(new) > len(self._free):
            needed = set(products)
            for product in [f for f in self._slots if f not in needed]:
                self._free.append(self._slots.pop(product))
        missing = len(new) - len(self._free)
        if missing > 0:
            filled = self._packed.shape[0]
            more = max(-(-missing // _PACKED), filled // 4)
            empty = np.zeros((more, self.n_rows), dtype=np.uint8)
            self._packed = np.concatenate([self._packed, empty])
            self._free += range(filled * _PACKED, (filled + more) * _PACKED)
        self._free.sort(reverse=True)
        for product in new:
            slot = self._slots[product] = self._free.pop()
            row, bit = divmod(slot, _PACKED)
            self._packed[row] &= np.uint8(~(1 << bit) & 0xFF)
            self._packed[row] |= self._agreement(product).astype(np.uint8) << np.uint8(bit)

    def _agreement(self, product: int, rows: Ints | slice = slice(None)) -> Bools:
        """Return where the two stumps of a product agree, for all rows (m,) or the given ones."""
        bins, key = self.bins, self._products[product - self.stumps.n_bins.size]
        agree: Bools = np.ones(1, dtype=bool)
        for f, threshold in ((key.one, key.threshold), (key.other, key.other_threshold)):
            holds = side(int(bins.n_bins[f]), int(bins.kinds[f]), threshold)
            # A stump holds for a range of codes or for all others: comparing is faster than a
            # look-up per row.
            within = np.flatnonzero(~holds if holds[0] else holds).astype(np.uint8)
            codes = np.ascontiguousarray(bins.codes[rows, f])
            inside = (codes >= within[0]) & (codes <= within[-1])
            agree = agree == (~inside if holds[0] else inside)
        return agree

    def codes_of(self, feature: int, rows: Ints | None = None) -> Ints:
        """Return the codes of one feature or product, of all rows (m,) or of the given ones."""
        if feature < self.stumps.n_bins.size:
            return self.stumps.codes_of(feature, rows)
        which = slice(None) if rows is None else rows
        slot = self._slots.get(feature)
        if slot is None:
            return self._agreement(feature, which).astype(np.uint8)
        row, bit = divmod(slot, _PACKED)
        return np.asarray(self._packed[row, which] >> np.uint8(bit) & np.uint8(1))

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds of a feature; 1 for a product."""
        return self.stumps.n_thresholds(feature) if feature < self.stumps.n_bins.size else 1

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return the responses +1 and -1 of a stump or product to the training rows, (m,)."""
        if feature < self.stumps.n_bins.size:
            return self.stumps.response(feature, threshold, polarity)
        return np.where(self.codes_of(feature) > 0, float(polarity), -float(polarity))

    def learner(self, feature: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a stump, a product or the constant as a weak classifier."""
        number = feature - self.stumps.n_bins.size
        if number < 0:
            return self.stumps.learner(feature, threshold, polarity)
        key, bins = self._products[number], self.bins
        first, second = (
            self.stumps.learner(int(bins.features[f]), int(bins.thresholds[f][own]), sign)
            for f, own, sign in (
                (key.one, key.threshold, 1),
                (key.other, key.other_threshold, polarity),
            )
        )
        assert not isinstance(first, Constant)
        assert not isinstance(second, Constant)
        means = (
            bins.mean_response(key.one, key.threshold),
            polarity * bins.mean_response(key.other, key.other_threshold),
        )
        if first.polarity < 0:  # the same product, in words that are easier to read
            first = replace(first, polarity=1)
            second = replace(second, polarity=-second.polarity)
            means = (-means[0], -means[1])
        return Product(first, second, means, (bins.missing(key.one), bins.missing(key.other)))


class PairOracle(BinnedOracle):
    """Oracle of decision stumps and of products of two stumps: ``learner="pair"``.

    Prices every stump, the constant, and for every two features every product
    ``h(x) = h_a(x_a) h_b(x_b)`` of two stumps, in both polarities. Stumps and products together
    span every function of two features that is constant between the thresholds.

    The products use at most `pair_bins` bins of a feature. Missing values are a bin of their own
    on each axis: a stump of a product sends them to either side, or separates them from all
    present values. Of a categorical feature one level is separated from the rest; if it has more
    than `pair_bins` levels, only the most frequent ones are.

    Paper: Eq. 23 (best weak classifier, group penalties).
    Differs: the weak classifiers read two features.

    Parameters
    ----------
    interactions : int or list of groups of column numbers, optional
        Which features may enter a pair; all by default. A group of two features is a pair, and a
        larger one stands for all pairs within it. 0: no pair; the oracle is then that of stumps.
        Another integer q: the pairs of the q strongest features, which an estimator determines; see
        `DirectBoostClassifier`. Features may be given by name in the parameter of the estimator.
    pair_bins : int, default=32
        Largest number of bins of a feature in a pair, 2 to 255.
    interaction_cost : float, default=1.0
        Factor on the cost of a product, which is the mean of the costs of its two features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.oracles import PairOracle
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(learner=PairOracle(pair_bins=8), nu=0.1).fit(X, y)
    >>> clf.certificate_.dictionary
    'all stumps and all pairs on 8 bins'
    """

    binned: PairFeatures
    _digest: tuple[float, bytes] | None

    def __init__(
        self, interactions: Any = None, pair_bins: int = 32, interaction_cost: float = 1.0
    ) -> None:
        what = f"an integer from 2 to {MOST_PAIR_BINS}"
        self.pair_bins = check_count("pair_bins", pair_bins, 2, what)
        if self.pair_bins > MOST_PAIR_BINS:
            raise ValueError(f"pair_bins={pair_bins!r} is invalid: expected {what}")
        self.interaction_cost = check_number(
            "interaction_cost", interaction_cost, 0.0, strict=True, what="a positive number"
        )
        groups = check_interactions(interactions)
        members = [f for group in groups for f in group] if isinstance(groups, tuple) else []
        named = [feature for feature in members if isinstance(feature, str)]
        if named:
            raise ValueError(
                f"interactions contains the name {named[0]!r}: PairOracle expects column numbers; "
                "to use names, set interactions of the estimator, with learner='pair'"
            )
        self.interactions = interactions

    def on(self, data: OracleData) -> BinnedOracle:
        """Return a copy that has been started on the data; without pairs, a `StumpOracle`."""
        oracle = copy(self)
        oracle.start(data)
        return oracle if oracle._pairs.size else oracle._stumps

    def start(self, data: OracleData) -> None:
        """Bin the training rows; there is no product yet."""
        self._stumps = StumpOracle().on(data)
        binned = self._stumps.binned
        self.signs, self.missing, self._team = data.signs, self._stumps.missing, data.team
        varied = binned.n_bins[:-1] > 1
        free = varied if data.signs is None else varied & ~data.signs[:-1].any(axis=1)
        pairs = _usable_pairs(self.interactions, free)
        features, places = np.unique(pairs, return_inverse=True)
        bins = bin_for_pairs(binned, data.weight, features, self.pair_bins)
        self._pairs = np.ascontiguousarray(places.reshape(-1, 2), dtype=np.int32)
        self._pair_costs = self.interaction_cost * data.costs[pairs].mean(axis=1)
        work = self._pairs.shape[0] * (binned.n_rows + SCAN_ROWS)
        self.prices_in_parts = work >= _LARGE
        self._partial_calls_left, self._digest = 0, None
        self._highest_pairs = np.arange(self._pairs.shape[0])
        self.binned = self.source = PairFeatures(binned, bins, data.costs)
        self.costs = self.binned.costs
        stumps, *more = self._stumps.dictionary.split(", ")
        if pairs.size:
            every = pairs.shape[0] == _n_pairs(int(varied.sum()))
            names = default_names(varied.size) if data.names is None else data.names
            stumps += " and all pairs" if every else _words_for(pairs, names)
            stumps += "" if bins.exact else f" on {self.pair_bins} bins"
        self.dictionary = ", ".join([stumps, *more])

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price the stumps, the constant and the products for coefficients A (m, k).

        If pricing all pairs takes long, most calls price only the pairs that had the highest prices
        when all of them were priced last, and are not complete. Every fourth call, and every second
        one for the same coefficients, prices all pairs.
        """
        digest = (float(A.sum()), A.ravel()[:: max(A.size // _DIGEST, 1)].tobytes())
        if self._partial_calls_left and digest != self._digest:
            self._partial_calls_left -= 1
            self._digest = digest
            return self._priced(A, penalty, rule, self._highest_pairs)
        pricing = self._priced(A, penalty, rule, None)
        self._partial_calls_left = _PARTIAL_CALLS if self.prices_in_parts else 0
        return pricing

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price all stumps, products and the constant."""
        return self._priced(A, penalty, "exact", None)

    def _priced(self, A: Scores, penalty: Penalty, rule: str, which: Ints | None) -> Pricing:
        """Price the stumps, the constant, and the products of some pairs, or of all pairs."""
        stumps = self._stumps.price(A, penalty, rule)
        pairs, costs = self._pairs, self._pair_costs
        if which is not None:
            pairs, costs = np.ascontiguousarray(pairs[which]), costs[which]
        price, thresholds, polarity = self._best_products(A, penalty, pairs, costs)
        highest = float(price.max(initial=0.0))
        if which is None and self.prices_in_parts:
            few = min(price.shape[0] // _LEAST_PARTS, _LEAST_PAIRS)
            count = max(price.shape[0] // _PARTS, few)
            self._highest_pairs = np.sort(np.argsort(-price[:, 0], kind="stable")[:count])
        if rule == "paper":
            price, thresholds, polarity = self._best_products(A, L1(), pairs, costs)
        price, tie = price.ravel(), tie_width(A)
        least = np.partition(price, -_PROPOSED)[-_PROPOSED] if price.size > _PROPOSED else 0.0
        order = np.flatnonzero((price > 0.0) & (price >= (1.0 - tie) * least))
        order = order[ranking(price[order], tie)[:_PROPOSED]]
        pair, price, polarity = order // _PER_PAIR, price[order], polarity.ravel()[order]
        places = thresholds.reshape(-1, 2)[order]
        keys = np.stack([pairs[pair, 0], places[:, 0], pairs[pair, 1], places[:, 1]], axis=1)
        numbers = self.binned.add(keys, costs[pair])
        own = stumps.proposals
        joined = Proposals(
            feature=np.concatenate([own.feature, np.array(numbers, dtype=np.int64)]),
            threshold=np.concatenate([own.threshold, np.zeros(order.size, dtype=np.int64)]),
            polarity=np.concatenate([own.polarity, polarity]),
            price=np.concatenate([own.price, price]),
        )
        proposals = joined.take(ranking(joined.price, tie))
        if which is not None:
            return Pricing(np.inf, 0.0, proposals, complete=False)
        terms = _TERMS * (self.binned.n_rows + 4 * (self.pair_bins + 1)) + 8
        return Pricing(
            max_price=max(stumps.max_price, highest),
            rounding=max(stumps.rounding, rounding_of(A, penalty, terms, float(costs.min()))),
            proposals=proposals,
        )

    def _best_products(
        self, A: Scores, penalty: Penalty, pairs: Ints, costs: Array
    ) -> tuple[Array, Ints, Ints]:
        """Return the best products of the pairs; see `kernels.price_pairs`."""
        bins, A = self.binned.bins, np.ascontiguousarray(A)
        codes = (bins.codes, bins.n_bins, bins.kinds, bins.n_thresholds)
        if penalty.p in NATIVE_NORMS:
            q = NATIVE_NORMS[penalty.p]
            return price_pairs(*codes, pairs, A, q, costs, _PER_PAIR, self._team)
        found = []
        for both in pairs.tolist():
            sizes = (bins.n_bins[both], bins.kinds[both], bins.n_thresholds[both])
            E = edges_of_pair(bins.codes[:, both[0]], bins.codes[:, both[1]], *sizes, A)
            rows = E.reshape(-1, A.shape[1])
            prices = np.stack([penalty.dual_norm(rows), penalty.dual_norm(-rows)], axis=1)
            prices = prices.reshape(*E.shape[:2], 2)
            found.append(best_products(prices, tie_width(A), _PER_PAIR))
        price, thresholds, polarity = (np.array(part) for part in zip(*found, strict=True))
        return price / costs[:, None], thresholds, polarity

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return the stumps and products of an earlier model, at the next thresholds."""
        names, weights = [], []
        for learner, row in zip(learners, rows, strict=True):
            name = self._name_of(learner)
            if name is not None:
                names.append(name)
                weights.append(row)
        unique, place = np.unique(
            np.array(names, dtype=np.int64).reshape(-1, 3), axis=0, return_inverse=True
        )
        summed = np.zeros((unique.shape[0], rows.shape[1]))
        np.add.at(summed, place.ravel(), np.array(weights).reshape(-1, rows.shape[1]))
        return ColumnWeights(unique, summed)

    def _name_of(self, learner: WeakClassifier) -> tuple[int, int, int] | None:
        """Return the name of a stump or product, or None if there is none like it here."""
        if isinstance(learner, Learner):
            return self.binned.stumps.name_of(learner)
        if not isinstance(learner, Product):
            return None
        bins, places, polarity = self.binned.bins, [], 1
        for stump in (learner.first, learner.second):
            name = self.binned.stumps.name_of(stump)
            own = np.flatnonzero(bins.features == stump.feature)
            if name is None or not own.size:
                return None
            thresholds = bins.thresholds[own[0]]
            nearest = int(np.argmin(np.abs(thresholds - name[1])))
            if bins.kinds[own[0]] != ORDERED and thresholds[nearest] != name[1]:
                return None
            places += [int(own[0]), nearest]
            polarity *= name[2]
        pair = np.flatnonzero((self._pairs == (places[0], places[2])).all(axis=1))
        if not pair.size:
            return None
        return self.binned.add(np.array([places]), self._pair_costs[pair])[0], 0, polarity


def _usable_pairs(interactions: Any, usable: Bools) -> Ints:
    """Return the chosen pairs of usable features, ascending, (p, 2)."""
    groups, places = check_interactions(interactions), np.flatnonzero(usable)
    if groups == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if isinstance(groups, tuple):
        pairs = pairs_of(by_column(groups, default_names(usable.size)))
        return np.asarray(pairs[usable[pairs].all(axis=1)])
    if groups is not None and groups < places.size:
        raise ValueError(
            f"interactions={groups} is invalid for an oracle without an estimator, since the "
            "strongest features depend on the labels: pass the oracle to an estimator as learner, "
            "or a list of groups of column numbers"
        )
    one, other = np.triu_indices(places.size, 1)
    return np.column_stack([places[one], places[other]])


def _n_pairs(features: int) -> int:
    return features * (features - 1) // 2


def _words_for(pairs: Ints, names: Sequence[str]) -> str:
    """Return how the dictionary names its pairs, if they are not those of all features."""
    features = np.unique(pairs)
    if pairs.shape[0] == _n_pairs(features.size):
        return f" and all pairs of {these_features([names[f] for f in features])}"
    return f" and {these_pairs([(names[one], names[other]) for one, other in pairs])}"
