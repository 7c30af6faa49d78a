"""The sum of weak classifiers that a fitted model is, compiled into look-up tables.

Also the scale from scores to probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from ..arrays import Array, Ints, Numbers, column, is_sparse, row_parts
from ..kernels import predict
from ..kernels.structs import Tables
from ..kernels.threads import Team
from .learners import (
    CategoryStump,
    ClassAnswer,
    Constant,
    FittedClasses,
    Product,
    Stump,
    WeakClassifier,
)
from .trees import Leaf, Tree

_TABLED = Stump | CategoryStump  # weak classifiers that the table of a feature contains
# Weak classifiers that share the table of a tree, a classifier or a pair of features.
_GROUPED = Leaf | ClassAnswer | Product
_LOG_FACTORS = (-6.0, 6.0)  # range of the logarithm of the factor on the scores
_FACTOR_COST = 1e-10  # in units of the mean log-likelihood: the gain that a larger factor must have


class Ensemble:
    """Scores F(x) = intercept + sum of the tables, trees and other weak classifiers at x.

    An ensemble consists of five parts, which exports read separately:

    - constants, as the `intercept`;
    - stumps, as one look-up table per feature: `stump_features`, `thresholds` and `tables`;
    - products of two stumps, as one look-up table per pair of features: `pair_tables`;
    - leaves, as one look-up table per tree: `forest`;
    - all `others`, which are evaluated by their own `predict`.

    Parameters
    ----------
    learners : sequence of n WeakClassifier
        Weak classifiers.
    coef : (n, k) array
        Their coefficients for every class.

    Attributes
    ----------
    k : int
        Number of classes.
    features : (f,) int array
        Features that any weak classifier reads, ascending.
    intercept : (k,) array
        Sum of the constants.
    stumps : list of s Stump or CategoryStump
        Stumps, in the order of `learners`.
    stump_coef : (s, k) array
        Their coefficients, multiplied by their polarity.
    stump_features : (t,) int array
        Features that stumps read, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.model.ensemble import Ensemble
    >>> from directboost.model.learners import Constant, Stump
    >>> learners = [Stump(0, 0.5, 1, False), Stump(0, 2.0, -1, False), Constant(1)]
    >>> ensemble = Ensemble(learners, np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 0.5]]))
    >>> ensemble.thresholds[0]
    array([0.5, 2. ])
    >>> ensemble.tables[0]
    array([[-1.,  3.],
           [ 1.,  3.],
           [ 1., -3.],
           [-1.,  3.]])
    >>> ensemble.scores(np.array([[1.0], [3.0]]))
    array([[ 1. ,  3.5],
           [ 1. , -2.5]])
    """

    def __init__(self, learners: Sequence[WeakClassifier], coef: Array) -> None:
        self.learners = list(learners)
        self.coef = coef
        self.k = int(coef.shape[1])
        if len(self.learners) != coef.shape[0]:
            raise ValueError(
                f"coef has {coef.shape[0]} rows, but there are {len(self.learners)} learners; pass "
                "one row per learner"
            )
        self.stumps = [h for h in self.learners if isinstance(h, _TABLED)]
        self._others = [h for h in self.learners if not isinstance(h, _TABLED | Constant)]
        constants = [h for h in self.learners if isinstance(h, Constant)]
        tabled = np.array([isinstance(h, _TABLED) for h in self.learners], dtype=bool)
        constant = np.array([isinstance(h, Constant) for h in self.learners], dtype=bool)
        self.stump_coef = np.reshape([h.polarity for h in self.stumps], (-1, 1)) * coef[tabled]
        self._other_votes = coef[~(tabled | constant)]
        signs = np.reshape([h.polarity for h in constants], (-1, 1))
        self.intercept = (signs * coef[constant]).sum(axis=0)
        self.stump_features = np.unique(np.array([s.feature for s in self.stumps], dtype=np.int32))
        read = [feature for learner in self.learners for feature in learner.features]
        self.features = np.unique(np.array(read, dtype=np.int32))

    @cached_property
    def _compiled(self) -> tuple[list[Array], list[Array]]:
        return _compile(self.stumps, self.stump_coef)

    @property
    def thresholds(self) -> list[Array]:
        """Ascending thresholds of each of the `stump_features`, (c,) each."""
        return self._compiled[0]

    @property
    def tables(self) -> list[Array]:
        """Contribution of each of the `stump_features` to the scores, (c + 2, k) each.

        Row j is the contribution of a value with j thresholds below it, for j = 0..c. The last row
        is the contribution of a missing value.
        """
        return self._compiled[1]

    @property
    def forest(self) -> list[tuple[Tree, Array]]:
        """Trees, each with the contribution of its leaves to the scores, (leaves, k)."""
        return [(tree, table) for tree, table in self._forest if isinstance(tree, Tree)]

    @property
    def others(self) -> list[tuple[WeakClassifier, Array]]:
        """Weak classifiers outside the tables and the forest, each with its coefficients, (k,)."""
        both = zip(self._others, self._other_votes, strict=True)
        return [(learner, row) for learner, row in both if not isinstance(learner, Leaf | Product)]

    @cached_property
    def pair_tables(self) -> list["PairTable"]:
        """The products of two stumps, added up by pair of features; pairs are ascending."""
        found: dict[tuple[int, int], tuple[list[Product], list[Array]]] = {}
        for learner, row in zip(self._others, self._other_votes, strict=True):
            if isinstance(learner, Product):
                pair = (learner.first.feature, learner.second.feature)
                products, votes = found.setdefault(pair, ([], []))
                products.append(learner)
                votes.append(row)
        return [
            _pair_table(pair, found[pair][0], np.array(found[pair][1])) for pair in sorted(found)
        ]

    @cached_property
    def _joined(self) -> Tables:
        counts = np.array([cuts.size for cuts in self.thresholds], dtype=np.int32)
        cuts = np.concatenate([*self.thresholds, np.empty(0)])
        values = np.concatenate([*self.tables, np.empty((0, self.k))])
        return Tables(self.stump_features, counts, cuts, values, self.intercept)

    def scores(self, X: Numbers, team: Team | None = None) -> Array:
        """Return F, (m, k)."""
        return self.checked_scores(X, team)[0]

    def checked_scores(self, X: Numbers, team: Team | None = None) -> tuple[Array, bool]:
        """Return F, (m, k), and whether X contains an infinite value in any of its columns."""
        if is_sparse(X):
            F, infinite = self._look_up_sparse(X, team), bool(np.isinf(X.data).any())
        else:
            F, infinite = predict(X, self._joined, team)
        if self._others and not infinite:
            F = F + self._other_scores(X)
        return F, infinite

    def _look_up_sparse(self, X: Numbers, team: Team | None) -> Array:
        """Return the sum of stumps and constants, (m, k); only their columns are made dense."""
        tables = replace(self._joined, features=np.arange(self.stump_features.size, dtype=np.int32))
        F = np.empty((X.shape[0], self.k))
        for rows, part in row_parts(X, self.stump_features):
            F[rows] = predict(part, tables, team)[0]
        return F

    def _other_scores(self, X: Numbers) -> Array:
        """Return the sum of all weak classifiers without a table of their feature, (m, k)."""
        F = np.zeros((X.shape[0], self.k))
        for tree, table in self._forest:
            F += table[tree.apply(X)]
        for pair in self.pair_tables:
            pair.add_to(F, X)
        single = [i for i, h in enumerate(self._others) if not isinstance(h, _GROUPED)]
        if single:
            responses = np.stack([self._others[i].predict(X) for i in single], axis=1)
            F += responses @ self._other_votes[single]
        return F

    @cached_property
    def _forest(self) -> list[tuple[Tree | FittedClasses, Array]]:
        """Trees and multi-class classifiers with the scores of their leaves or classes."""
        found: dict[int, tuple[Tree | FittedClasses, Array]] = {}
        for learner, row in zip(self._others, self._other_votes, strict=True):
            if isinstance(learner, Leaf):
                source: Tree | FittedClasses = learner.tree
                size, votes = learner.tree.n_leaves, learner.polarity * row
            elif isinstance(learner, ClassAnswer):
                source, size, votes = learner.source, learner.source.k, row
            else:
                continue
            table = found.setdefault(id(source), (source, np.zeros((size, self.k))))[1]
            table -= votes
            table[learner.number] += 2.0 * votes
        return list(found.values())

    def contributions(self, X: Numbers) -> Array:
        """Return the contribution of every feature to every score, (m, d, k).

        Raises
        ------
        ValueError
            If a weak classifier reads several features.
        """
        for learner in self._others:
            if len(learner.features) > 1:
                raise ValueError(
                    "explain needs a model that is a sum over single features, but this model has "
                    f"{learner.describe(f'{len(learner.features)} features at once')}; "
                    "fit with learner='stump'"
                )
        out = np.zeros((X.shape[0], X.shape[1], self.k))
        for feature, cuts, table in zip(
            self.stump_features, self.thresholds, self.tables, strict=True
        ):
            x = column(X, feature)
            codes = np.searchsorted(cuts, x.astype(np.float64))
            out[:, feature] = table[np.where(np.isnan(x), cuts.size + 1, codes)]
        for learner, votes in zip(self._others, self._other_votes, strict=True):
            out[:, learner.features[0]] += np.outer(learner.predict(X), votes)
        return out

    def importances(self, d: int) -> Array:
        """Return the share of each of d features in the sum of all coefficients, (d,).

        A weak classifier on several features counts in equal parts for each of them.
        """
        counts = [len(learner.features) for learner in self.learners]
        read = [feature for learner in self.learners for feature in learner.features]
        parts = self.coef.sum(axis=1) / np.maximum(counts, 1)
        places = np.array(read, dtype=np.int64)
        shares = np.asarray(np.bincount(places, np.repeat(parts, counts), d), dtype=np.float64)
        total = shares.sum()
        return shares / total if total > 0.0 else shares


@dataclass(frozen=True, eq=False)
class PairTable:
    """Sum of the products of stumps on two features, as a table of their values.

    Attributes
    ----------
    features : (int, int)
    thresholds : pair of arrays
        Ascending thresholds of each feature, (c,) and (d,).
    values : (c + 2, d + 2, k) array
        Entry (i, j) is the contribution of values with i and j thresholds below them. The last
        row and column are those of missing values.
    """

    features: tuple[int, int]
    thresholds: tuple[Array, Array]
    values: Array

    def add_to(self, F: Array, X: Numbers) -> None:
        """Add the contributions of the rows of X (m, d) to the scores F (m, k)."""
        places = []
        for feature, cuts in zip(self.features, self.thresholds, strict=True):
            x = column(X, feature)
            place = np.searchsorted(cuts, x.astype(np.float64))
            places.append(np.where(np.isnan(x), cuts.size + 1, place))
        F += self.values[places[0], places[1]]


def _pair_table(features: tuple[int, int], products: list[Product], votes: Array) -> PairTable:
    """Return the table of products on the same two features, with coefficients (n, k)."""
    first = _responses_by_cell([product.first for product in products])
    second = _responses_by_cell([product.second for product in products])
    return PairTable(
        features=features,
        thresholds=(first[0], second[0]),
        values=np.einsum("na,nb,nr->abr", first[1], second[1], votes, optimize=True),
    )


def _responses_by_cell(stumps: list[Stump | CategoryStump]) -> tuple[Array, Array]:
    """Return the thresholds of stumps on one feature, and their responses between them.

    The responses are (n, c + 2) for c thresholds; the last column is that of missing values.
    """
    edges = [
        [h.threshold] if isinstance(h, Stump) else [h.level - 0.5, h.level + 0.5] for h in stumps
    ]
    cuts = np.unique(np.array([t for own in edges for t in own if np.isfinite(t)]))
    cells = np.arange(cuts.size + 2)
    responses = np.empty((len(stumps), cells.size))
    for i, (h, own) in enumerate(zip(stumps, edges, strict=True)):
        places = np.searchsorted(cuts, own)
        if isinstance(h, Stump):
            above = cells > places[0]
            above[-1] = h.missing_right
        else:
            above = (cells > places[0]) & (cells <= places[1])
            above[-1] = False
        responses[i] = np.where(above, h.polarity, -h.polarity)
    return cuts, responses


def _compile(
    learners: list[Stump | CategoryStump], votes: Array
) -> tuple[list[Array], list[Array]]:
    """Return the thresholds and the table of each feature that stumps read, ascending.

    Below all thresholds the value of the table is minus the sum of all votes. A stump changes the
    sign of its vote at its threshold, a category stump just below its level and back just above.
    """
    changes: list[tuple[int, float, float]] = []  # learner, threshold, direction
    for i, h in enumerate(learners):
        if isinstance(h, Stump):
            changes.append((i, h.threshold, 1.0))
        else:
            changes += [(i, h.level - 0.5, 1.0), (i, h.level + 0.5, -1.0)]
    which, threshold, sign = np.array(changes, dtype=np.float64).reshape(-1, 3).T
    learner = which.astype(np.int64)
    feature = np.array([h.feature for h in learners], dtype=np.int32)
    right = np.array([isinstance(h, Stump) and h.missing_right for h in learners], dtype=bool)
    missing = np.where(right[:, None], votes, -votes)
    order = np.argsort(feature, kind="stable")
    starts = np.unique(feature[order], return_index=True)[1]
    thresholds, tables = [], []
    for own in np.split(order, starts[1:]) if learners else []:
        mine = np.isin(learner, own)
        cuts = np.unique(threshold[mine])
        finite = cuts[: cuts.size - int(np.isinf(cuts[-1]))]
        table = np.zeros((cuts.size + 2, votes.shape[1]))
        places = np.searchsorted(cuts, threshold[mine]) + 1
        np.add.at(table, places, 2.0 * sign[mine, None] * votes[learner[mine]])
        table[0] = -votes[own].sum(axis=0)
        table = np.cumsum(table, axis=0)[: finite.size + 2]
        table[-1] = missing[own].sum(axis=0)
        thresholds.append(finite)
        tables.append(table)
    return thresholds, tables


def class_probabilities(F: Array, factor: float) -> Array:
    """Return softmax(factor * F), (m, k)."""
    return np.asarray(softmax(factor * F, axis=1))


def fit_temperature(F: Array, codes: Ints, weight: Array) -> float:
    """Return the factor 1/T for which softmax(F / T) has the largest likelihood.

    If every row is classified correctly, the likelihood increases with the factor without end,
    soon by less than the rounding error. A cost of 1e-10 times the factor is therefore subtracted.
    The derivative of the negative sum is increasing, so it has one root.

    Parameters
    ----------
    F : (m, k) array
        Scores.
    codes : (m,) int array
        True classes.
    weight : (m,) array
        Sample weights.
    """
    others = F - F[np.arange(codes.size), codes][:, None]
    share = weight / weight.sum()

    def slope(log_factor: float) -> float:
        P = class_probabilities(others, np.exp(log_factor))
        return float(share @ (P * others).sum(axis=1)) + _FACTOR_COST

    low, high = _LOG_FACTORS
    if slope(low) >= 0.0:
        return float(np.exp(low))
    return float(np.exp(brentq(slope, low, high) if slope(high) > 0.0 else high))
