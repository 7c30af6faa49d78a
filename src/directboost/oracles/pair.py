"""Exact pricing of all stumps and all products of two stumps: ``learner="pair"``."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import BinnedData, ColumnWeights, bin_features
from ..data.interactions import by_column, check_interactions, pairs_of
from ..data.pair_bins import PairBins, bin_for_pairs
from ..data.validation import check_count, check_number
from ..kernels import price_pairs
from ..kernels.reference.pairs import edges_of_pair
from ..kernels.step_functions import ORDERED, PRODUCT, side
from ..kernels.structs import SparseCodes, tie_width
from ..model.learners import Constant, Learner, Product, WeakClassifier
from ..model.names import default_names
from ..penalties import L1, Penalty
from ..problem.columns import Proposals
from .base import OracleData, Pricing, best_by_edges, ranking, rounding_of
from .stump import NATIVE_NORMS, BinnedOracle, StumpOracle

MOST_PAIR_BINS = 255  # a code has eight bits, and one code is kept for missing values
_PROPOSED = 128  # products that one pricing proposes at most
_TERMS = 9  # the edges of a product are T - 2 R - 2 K + 4 P: nine times the size of a sum


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
        self._stumps, self.bins = binned, bins
        self.costs: list[float] = feature_costs.tolist()
        self._products: list[_Key] = []
        self._numbers: dict[_Key, int] = {}
        self._rows = binned.codes.shape[0]  # of the matrix of codes that belong to stumps
        self._codes = binned.codes
        self.sparse = binned.sparse

    @property
    def stumps(self) -> BinnedData:
        """The features of the data and the constant."""
        return self._stumps

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self._stumps.n_rows

    @property
    def constant(self) -> int:
        """Index of the feature that is the constant classifier."""
        return self._stumps.constant

    @property
    def codes(self) -> Ints:
        """Codes of the rows, of all features, or of those without a list and of the products."""
        return self._codes[: self._rows + len(self._products)]

    @property
    def n_bins(self) -> Ints:
        """Number of codes of every feature, and 2 for every product."""
        products = np.full(len(self._products), 2, dtype=np.int32)
        return np.concatenate([self._stumps.n_bins, products])

    @property
    def kinds(self) -> Ints:
        """Kinds of the codes; those of the products are PRODUCT."""
        products = np.full(len(self._products), PRODUCT, dtype=np.uint8)
        return np.concatenate([self._stumps.kinds, products])

    def add(self, keys: Sequence[_Key], costs: Sequence[float]) -> list[int]:
        """Add the products that are new; return the number of each."""
        new = [i for i, key in enumerate(keys) if key not in self._numbers]
        filled = self._rows + len(self._products)
        if filled + len(new) > self._codes.shape[0]:
            grown = np.empty((filled + max(len(new), filled // 2), self.n_rows), self._codes.dtype)
            grown[:filled] = self._codes[:filled]
            self._codes = grown
            self._stumps = replace(self._stumps, codes=grown[: self._rows])
        for place, i in enumerate(new, start=filled):
            self._numbers[keys[i]] = self._stumps.n_bins.size + len(self._products)
            self._products.append(keys[i])
            self.costs.append(costs[i])
            self._codes[place] = self._agreement(keys[i])
        if new and self._stumps.sparse is not None:
            self.sparse = _with_dense_features(
                self._stumps.sparse, self._stumps.n_bins.size, self._rows, len(self._products),
                self.n_rows,
            )  # fmt: skip
        return [self._numbers[key] for key in keys]

    def _agreement(self, key: _Key) -> Ints:
        """Return where the two stumps of a product agree, as 0 and 1, (m,)."""
        bins = self.bins
        sides = [
            side(int(bins.n_bins[f]), int(bins.kinds[f]), threshold)[bins.codes[:, f]]
            for f, threshold in ((key.one, key.threshold), (key.other, key.other_threshold))
        ]
        return np.equal(*sides)

    def codes_of(self, feature: int) -> Ints:
        """Return the codes of all rows of one feature or product, (m,)."""
        number = feature - self._stumps.n_bins.size
        if number < 0:
            return self._stumps.codes_of(feature)
        return np.asarray(self._codes[self._rows + number])

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds of a feature; 1 for a product."""
        return self._stumps.n_thresholds(feature) if feature < self._stumps.n_bins.size else 1

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return the responses +1 and -1 of a stump or product to the training rows, (m,)."""
        if feature < self._stumps.n_bins.size:
            return self._stumps.response(feature, threshold, polarity)
        return np.where(self.codes_of(feature) > 0, float(polarity), -float(polarity))

    def learner(self, feature: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a stump, a product or the constant as a weak classifier."""
        number = feature - self._stumps.n_bins.size
        if number < 0:
            return self._stumps.learner(feature, threshold, polarity)
        key, bins = self._products[number], self.bins
        first, second = (
            self._stumps.learner(int(bins.features[f]), int(bins.thresholds[f][own]), sign)
            for f, own, sign in (
                (key.one, key.threshold, 1),
                (key.other, key.other_threshold, polarity),
            )
        )
        assert not isinstance(first, Constant)
        assert not isinstance(second, Constant)
        if first.polarity < 0:  # the same product, in words that are easier to read
            first = replace(first, polarity=1)
            second = replace(second, polarity=-second.polarity)
        return Product(first, second)


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
        binned = bin_features(data.X, data.weight, data.max_bins, data.team, data.levels)
        self._stumps = StumpOracle(binned, data.costs, data.team, data.signs)
        self.signs, self.missing, self._team = data.signs, self._stumps.missing, data.team
        varied = binned.n_bins[:-1] > 1
        free = varied if data.signs is None else varied & ~data.signs[:-1].any(axis=1)
        pairs = _usable_pairs(self.interactions, free)
        features, places = np.unique(pairs, return_inverse=True)
        bins = bin_for_pairs(binned, data.weight, features, self.pair_bins)
        self._pairs = np.ascontiguousarray(places.reshape(-1, 2), dtype=np.int32)
        self._pair_costs = self.interaction_cost * data.costs[pairs].mean(axis=1)
        self.binned = self.source = PairFeatures(binned, bins, data.costs)
        self.costs = self.binned.costs
        stumps, *more = self._stumps.dictionary.split(", ")
        if pairs.size:
            stumps += _words_for(pairs, every=pairs.shape[0] == _n_pairs(int(varied.sum())))
            stumps += "" if bins.exact else f" on {self.pair_bins} bins"
        self.dictionary = ", ".join([stumps, *more])

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all stumps, products and the constant for coefficients A (m, k)."""
        stumps = self._stumps.price(A, penalty, rule)
        price, thresholds, polarity = self._best_products(A, penalty)
        highest = float(price.max(initial=0.0))
        if rule == "paper":
            price, thresholds, polarity = self._best_products(A, L1())
        order = np.argsort(-price, kind="stable")[:_PROPOSED]
        order = order[price[order] > 0.0]
        keys = [
            _Key(int(one), int(threshold), int(other), int(other_threshold))
            for (one, other), (threshold, other_threshold) in zip(
                self._pairs[order], thresholds[order], strict=True
            )
        ]
        numbers = self.binned.add(keys, self._pair_costs[order].tolist())
        own = stumps.proposals
        joined = Proposals(
            feature=np.concatenate([own.feature, np.array(numbers, dtype=np.int64)]),
            threshold=np.concatenate([own.threshold, np.zeros(order.size, dtype=np.int64)]),
            polarity=np.concatenate([own.polarity, polarity[order]]),
            price=np.concatenate([own.price, price[order]]),
        )
        terms = _TERMS * (self.binned.n_rows + 4 * (self.pair_bins + 1)) + 8
        least = float(self._pair_costs.min(initial=np.inf))
        return Pricing(
            max_price=max(stumps.max_price, highest),
            rounding=max(stumps.rounding, rounding_of(A, penalty, terms, least)),
            proposals=joined.take(ranking(joined.price, tie_width(A))),
        )

    def _best_products(self, A: Scores, penalty: Penalty) -> tuple[Array, Ints, Ints]:
        """Return the best price of every pair, and the thresholds and polarity that attain it."""
        bins, A = self.binned.bins, np.ascontiguousarray(A)
        codes = (bins.codes, bins.n_bins, bins.kinds, bins.n_thresholds)
        if penalty.p in NATIVE_NORMS:
            q = NATIVE_NORMS[penalty.p]
            return price_pairs(*codes, self._pairs, A, q, self._pair_costs, self._team)
        count, tie = self._pairs.shape[0], tie_width(A)
        price, thresholds = np.zeros(count), np.zeros((count, 2), np.int64)
        polarity = np.ones(count, np.int64)
        for i, both in enumerate(self._pairs.tolist()):
            one, other = both
            sizes = (bins.n_bins[both], bins.kinds[both], bins.n_thresholds[both])
            E = edges_of_pair(bins.codes[:, one], bins.codes[:, other], *sizes, A)
            found = best_by_edges(E.reshape(-1, A.shape[1]), None, penalty, tie)
            price[i], polarity[i] = found[0] / self._pair_costs[i], found[2]
            thresholds[i] = divmod(found[1], int(bins.n_thresholds[other]))
        return price, thresholds, polarity

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
        key = _Key(*places)
        pair = np.flatnonzero((self._pairs == (key.one, key.other)).all(axis=1))
        if not pair.size:
            return None
        return self.binned.add([key], [float(self._pair_costs[pair[0]])])[0], 0, polarity


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


def _words_for(pairs: Ints, every: bool) -> str:
    """Return how the dictionary names its pairs; `every` says that no other pair has a product."""
    if every:
        return " and all pairs"
    count = np.unique(pairs).size
    if pairs.shape[0] == _n_pairs(count):
        return f" and all pairs of {count} features"
    return f" and {pairs.shape[0]} pairs of features"


def _with_dense_features(
    sparse: SparseCodes, n_features: int, n_rows_of_codes: int, count: int, m: int
) -> SparseCodes:
    """Return sparse codes for more features, which have rows in the matrix of codes."""
    blocks = -(-m // sparse.block)
    places = np.arange(n_features, dtype=np.int32) if sparse.places is None else sparse.places
    new = np.arange(n_rows_of_codes, n_rows_of_codes + count, dtype=np.int32)
    return replace(
        sparse,
        most_common=np.concatenate([sparse.most_common, np.full(count, -1, dtype=np.int32)]),
        starts=np.concatenate([sparse.starts, np.full(count * blocks, sparse.starts[-1])]),
        places=np.concatenate([places, new]).astype(np.int32),
    )
