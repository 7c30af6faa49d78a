"""The sum of weak classifiers that a fitted model is, compiled into look-up tables.

Also the scale from scores to probabilities.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from ..arrays import Array, Ints, Numbers, is_sparse, row_parts
from ..kernels import predict
from ..kernels.structs import Products, Tables
from ..kernels.threads import Team
from .effects import Effects, purified_effects
from .learners import (
    CategoryStump,
    ClassAnswer,
    Constant,
    FittedClasses,
    Product,
    Stump,
    WeakClassifier,
)
from .products import compile_products
from .tables import PairTable, pair_tables, stump_tables
from .trees import Leaf, Tree

_TABLED = Stump | CategoryStump  # weak classifiers that the table of a feature contains
_GROUPED = Leaf | ClassAnswer  # weak classifiers that share the table of a tree or classifier
_CHUNK = 1 << 22  # numbers that contributions of features take at a time
_LOG_FACTORS = (-6.0, 6.0)  # range of the logarithm of the factor on the scores
_FACTOR_COST = 1e-10  # in units of the mean log-likelihood: the gain that a larger factor must have


class Ensemble:
    """Scores F(x) = intercept + sum of the tables, trees and other weak classifiers at x.

    An ensemble consists of five parts, which exports read separately:

    - constants, as the `intercept`;
    - stumps, as one look-up table per feature: `stump_features`, `thresholds` and `tables`;
    - products of two stumps, as a list of rules, `compiled_products`, or added up to one look-up
      table per pair of features, `pair_tables`;
    - leaves, as one look-up table per tree: `forest`;
    - all `others`, which are evaluated by their own `predict`.

    Parameters
    ----------
    learners : sequence of n WeakClassifier
        Weak classifiers.
    weights : (n, k) array
        Their weights for every class.

    Attributes
    ----------
    k : int
        Number of classes.
    features : (f,) int array
        Features that any weak classifier reads, ascending.
    intercept : (k,) array
        Sum of the constants.
    purified_intercept : (k,) array
        Intercept of the `effects`: the sum of the constants minus the means of the products.
    stumps : list of s Stump or CategoryStump
        Stumps, in the order of `learners`.
    stump_weights : (s, k) array
        Their weights, multiplied by their polarity.
    stump_features : (t,) int array
        Features that stumps read, ascending.
    products : list of Product
        Products of two stumps, in the order of `learners`.
    product_weights : (p, k) array
        Their weights.

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

    def __init__(self, learners: Sequence[WeakClassifier], weights: Array) -> None:
        self.learners = list(learners)
        self.weights = weights
        self.k = int(weights.shape[1])
        if len(self.learners) != weights.shape[0]:
            raise ValueError(
                f"weights has {weights.shape[0]} rows, but there are {len(self.learners)} "
                "learners; pass one row per learner"
            )
        self.stumps = [h for h in self.learners if isinstance(h, _TABLED)]
        self.products = [h for h in self.learners if isinstance(h, Product)]
        known = _TABLED | Product | Constant
        self._others = [h for h in self.learners if not isinstance(h, known)]
        constants = [h for h in self.learners if isinstance(h, Constant)]
        tabled, product, constant, known_at = (
            np.array([isinstance(h, kind) for h in self.learners], dtype=bool)
            for kind in (_TABLED, Product, Constant, known)
        )
        self.stump_weights = (
            np.reshape([h.polarity for h in self.stumps], (-1, 1)) * weights[tabled]
        )
        self.product_weights = weights[product]
        self._other_votes = weights[~known_at]
        signs = np.reshape([h.polarity for h in constants], (-1, 1))
        self.intercept = (signs * weights[constant]).sum(axis=0)
        means = np.array([h.means[0] * h.means[1] for h in self.products])
        self.purified_intercept: Array = self.intercept - means @ self.product_weights
        self.stump_features = np.unique(np.array([s.feature for s in self.stumps], dtype=np.int32))
        read = [feature for learner in self.learners for feature in learner.features]
        self.features = np.unique(np.array(read, dtype=np.int32))

    @cached_property
    def _compiled(self) -> tuple[list[Array], list[Array]]:
        _, thresholds, tables = stump_tables(self.stumps, self.stump_weights)
        return thresholds, tables

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
        """Weak classifiers outside the tables and the forest, each with its weights, (k,)."""
        both = zip(self._others, self._other_votes, strict=True)
        return [(learner, row) for learner, row in both if not isinstance(learner, Leaf)]

    @cached_property
    def pair_tables(self) -> list[PairTable]:
        """The products of two stumps, added up by pair of features; pairs are ascending."""
        return pair_tables(self.products, self.product_weights)

    @cached_property
    def compiled_products(self) -> Products:
        """The products of two stumps in the form that the kernels evaluate."""
        return compile_products(self.products, self.product_weights)

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
            F, infinite = predict(X, self._joined, self.compiled_products, team)
        if self._others and not infinite:
            F = F + self._other_scores(X)
        return F, infinite

    def _look_up_sparse(self, X: Numbers, team: Team | None) -> Array:
        """Return the sum of stumps, constants and products, (m, k).

        Only their columns are made dense.
        """
        tables, products = self._joined, self.compiled_products
        used = np.union1d(tables.features, products.features)
        own, paired = (
            np.searchsorted(used, part).astype(np.int32)
            for part in (tables.features, products.features)
        )
        tables, products = replace(tables, features=own), replace(products, features=paired)
        F = np.empty((X.shape[0], self.k))
        for rows, part in row_parts(X, used):
            F[rows] = predict(part, tables, products, team)[0]
        return F

    def _other_scores(self, X: Numbers) -> Array:
        """Return the sum of all trees and other weak classifiers, (m, k)."""
        F = np.zeros((X.shape[0], self.k))
        for tree, table in self._forest:
            F += table[tree.apply(X)]
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

    @cached_property
    def effects(self) -> Effects:
        """The stumps, constants and products as main effects and purified pair effects."""
        if not self.products:
            return Effects(self.intercept, self.stump_features, *self._compiled, [])
        return purified_effects(
            (self.stumps, self.stump_weights),
            (self.products, self.product_weights),
            self.purified_intercept,
        )

    def contributions(self, X: Numbers) -> Array:
        """Return the contribution of every feature and pair to every score, (m, d + p, k).

        The pairs are those of the `effects`. With their intercept, the sum is the score.

        Raises
        ------
        ValueError
            If a weak classifier that is no product of two stumps reads several features.
        """
        for learner in self._others:
            if len(learner.features) > 1:
                raise ValueError(
                    "explain needs a model that is a sum of functions of one or two features, but "
                    "this model has "
                    f"{learner.describe(f'{len(learner.features)} features at once')}; "
                    "fit with learner='stump' or learner='pair'"
                )
        out = self.effects.contributions(X)
        for learner, votes in zip(self._others, self._other_votes, strict=True):
            out[:, learner.features[0]] += np.outer(learner.predict(X), votes)
        return out

    def weight_importances(self, d: int) -> Array:
        """Return the share of each of d features in the sum of all absolute weights, (d,).

        A weak classifier on several features counts in equal parts for each of them.
        """
        counts = [len(learner.features) for learner in self.learners]
        read = [feature for learner in self.learners for feature in learner.features]
        parts = np.abs(self.weights).sum(axis=1) / np.maximum(counts, 1)
        places = np.array(read, dtype=np.int64)
        return as_shares(np.bincount(places, np.repeat(parts, counts), d).astype(np.float64))

    def variances(self, X: Numbers, weight: Array) -> Array:
        """Return the variance of the contribution of each feature, added up over the scores, (d,).

        Half of the variance of a purified pair effect counts for each of its features. Other weak
        classifiers that read several features, and all leaves of a tree together, contribute equal
        parts to each of them.

        Parameters
        ----------
        X : (m, d) array or csc_array
            Rows without infinite values.
        weight : (m,) array
            Their weights.
        """
        m, d = X.shape
        pairs, share = self.effects.pairs, weight / weight.sum()
        means, squares = np.zeros((2, d + len(pairs), self.k))
        step = m
        if self._others:
            step = max(_CHUNK // max(self.features.size * self.k, 1), 1000)
        for start in range(0, m, step):
            part = X if step >= m else X[start : start + step]
            own = share[start : start + step]
            for place, values in self._contributions_by_place(part):
                means[place] += own @ values
                squares[place] += own @ values**2
        variances = np.maximum((squares - means**2).sum(axis=1), 0.0)
        for number, pair in enumerate(pairs, start=d):
            variances[list(pair.features)] += 0.5 * variances[number]
        return np.asarray(variances[:d])

    def _contributions_by_place(self, X: Numbers) -> Iterator[tuple[int, Array]]:
        """Yield the non-zero contributions of the features and pairs, with their places, (m, k).

        The place of a feature is its column, and pairs follow after the last feature.
        """
        first_pair = X.shape[1]
        places = [
            *self.effects.features.tolist(),
            *range(first_pair, first_pair + len(self.effects.pairs)),
        ]
        terms = zip(places, self.effects.terms(X), strict=True)
        if not self._others:
            yield from terms
            return
        found = dict(terms)
        for features, values in self._other_contributions(X):
            for feature in features:
                found[feature] = found.get(feature, 0.0) + values / len(features)
        yield from found.items()

    def _other_contributions(self, X: Numbers) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield features and contribution of every tree and other weak classifier, (m, k)."""
        for source, table in self._forest:
            yield source.features, table[source.apply(X)]
        for learner, votes in zip(self._others, self._other_votes, strict=True):
            if not isinstance(learner, _GROUPED):
                yield learner.features, np.outer(learner.predict(X), votes)


def as_shares(values: Array) -> Array:
    """Return values >= 0 divided by their sum, unless all are zero."""
    total = values.sum()
    return values / total if total > 0.0 else values


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
