"""A fitted model: weak classifiers with weights, compiled into one table per used feature."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from ..arrays import Array, Bools, Ints, Numbers, column, is_sparse, row_parts
from ..kernels import predict
from ..kernels.structs import Tables
from ..kernels.threads import Team
from .learners import CategoryStump, ClassAnswer, Constant, FittedClasses, Stump, WeakClassifier
from .trees import Leaf, Tree

_READ = Stump | CategoryStump  # what a table of one feature holds
_PART = Leaf | ClassAnswer  # what has a table with others of the same tree or classifier


class Ensemble:
    """Scores F(x) = intercept + sum over the features with stumps of a table look-up + others.

    Conventions. Feature `stump_features[u]` has ascending `thresholds[u]` and `tables[u]` with one
    row per count of thresholds below x and a last row for a missing value, k columns each. Weak
    classifiers that are neither stumps nor constants answer for themselves. `features` are those
    that any weak classifier reads.

    Parameters
    ----------
    learners : sequence of WeakClassifier
    coef : (n, k) array, >= 0
    """

    def __init__(self, learners: Sequence[WeakClassifier], coef: Array) -> None:
        self.learners = list(learners)
        self.coef = coef
        self.k = int(coef.shape[1])
        if len(self.learners) != coef.shape[0]:
            raise ValueError(f"{len(self.learners)} learners have {coef.shape[0]} rows of weights")
        self._stumps = [h for h in self.learners if isinstance(h, _READ)]
        self._others = [h for h in self.learners if not isinstance(h, _READ | Constant)]
        constants = [h for h in self.learners if isinstance(h, Constant)]
        self._votes = _signs(self._stumps) * coef[self._are(_READ)]
        self._other_votes = coef[~self._are(_READ | Constant)]
        self.intercept = (_signs(constants) * coef[self._are(Constant)]).sum(axis=0)
        self.stump_features = _ascending(s.feature for s in self._stumps)
        self.features = _ascending(f for h in self.learners for f in h.features)

    def _are(self, kind: Any) -> Bools:
        return np.array([isinstance(h, kind) for h in self.learners], dtype=bool)

    @cached_property
    def _compiled(self) -> tuple[list[Array], list[Array]]:
        return _compile(self._stumps, self._votes)

    @property
    def thresholds(self) -> list[Array]:
        """Thresholds of every used feature."""
        return self._compiled[0]

    @property
    def tables(self) -> list[Array]:
        """Table of every used feature."""
        return self._compiled[1]

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
        """Return F, (m, k), and whether X holds an infinite number, in a used feature or not."""
        if is_sparse(X):
            F, infinite = self._look_up_sparse(X, team), bool(np.isinf(X.data).any())
        else:
            F, infinite = predict(X, self._joined, team)
        if self._others and not infinite:
            F = F + self._other_scores(X)
        return F, infinite

    def _look_up_sparse(self, X: Numbers, team: Team | None) -> Array:
        """Return what stumps and constants add, (m, k); only columns they read are made dense."""
        tables = replace(self._joined, features=np.arange(self.stump_features.size, dtype=np.int32))
        F = np.empty((X.shape[0], self.k))
        for rows, part in row_parts(X, self.stump_features):
            F[rows] = predict(part, tables, team)[0]
        return F

    def _other_scores(self, X: Numbers) -> Array:
        """Return what the weak classifiers without a table add; a tree is gone down once."""
        F = np.zeros((X.shape[0], self.k))
        for tree, table in self._forest:
            F += table[tree.apply(X)]
        alone = [i for i, h in enumerate(self._others) if not isinstance(h, _PART)]
        if alone:
            answers = np.stack([self._others[i].predict(X) for i in alone], axis=1)
            F += answers @ self._other_votes[alone]
        return F

    @cached_property
    def _forest(self) -> list[tuple[Tree | FittedClasses, Array]]:
        """Every tree or classifier with the scores of its leaves or classes, (leaves, k)."""
        found: dict[int, tuple[Tree | FittedClasses, Array]] = {}
        for learner, row in zip(self._others, self._other_votes, strict=True):
            if isinstance(learner, _PART):
                tree, size, votes = _part(learner, row)
                table = found.setdefault(id(tree), (tree, np.zeros((size, self.k))))[1]
                table -= votes
                table[learner.number] += 2.0 * votes
        return list(found.values())

    def contributions(self, X: Numbers) -> Array:
        """Return what every feature adds to every score, (m, d, k); one feature at a time."""
        for learner in self._others:
            if len(learner.features) > 1:
                raise ValueError(
                    "explain takes a model apart that is a sum over features, but this one has "
                    f"{learner.describe(f'{len(learner.features)} features at once')}; "
                    "learner='stump' gives such a sum"
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
        """Return the share of each of d features in the sum of all weights, (d,)."""
        counts = [len(learner.features) for learner in self.learners]
        read = [feature for learner in self.learners for feature in learner.features]
        parts = self.coef.sum(axis=1) / np.maximum(counts, 1)
        places = np.array(read, dtype=np.int64)
        shares = np.asarray(np.bincount(places, np.repeat(parts, counts), d), dtype=np.float64)
        total = shares.sum()
        return shares / total if total > 0.0 else shares


def _part(learner: Leaf | ClassAnswer, row: Array) -> tuple[Tree | FittedClasses, int, Array]:
    """Return whose part a weak classifier is, in how many, and its votes, (k,)."""
    if isinstance(learner, ClassAnswer):
        return learner.source, learner.source.k, row
    return learner.tree, learner.tree.n_leaves, learner.polarity * row


def _signs(learners: Sequence[Stump | CategoryStump | Constant]) -> Array:
    return np.array([h.polarity for h in learners], dtype=np.float64).reshape(-1, 1)


def _ascending(features: Iterable[int]) -> Ints:
    return np.unique(np.array(list(features), dtype=np.int32))


def _compile(
    learners: list[Stump | CategoryStump], votes: Array
) -> tuple[list[Array], list[Array]]:
    """Return the thresholds and the table of each used feature, ascending.

    A table starts with the sum of all votes against, and every vote turns at its threshold, that
    for a level before it and back after it.
    """
    turns = _turns(learners)
    feature = np.array([learner.feature for learner in learners], dtype=np.int32)
    right = np.array([isinstance(h, Stump) and h.missing_right for h in learners], dtype=bool)
    missing = np.where(right[:, None], votes, -votes)
    order = np.argsort(feature, kind="stable")
    starts = np.unique(feature[order], return_index=True)[1]
    thresholds, tables = [], []
    for own in np.split(order, starts[1:]) if learners else []:
        mine = turns.of(own)
        cuts = np.unique(mine.threshold)
        finite = cuts[: cuts.size - int(np.isinf(cuts[-1]))]
        table = np.zeros((cuts.size + 2, votes.shape[1]))
        places = np.searchsorted(cuts, mine.threshold) + 1
        np.add.at(table, places, 2.0 * mine.sign[:, None] * votes[mine.learner])
        table[0] = -votes[own].sum(axis=0)
        table = np.cumsum(table, axis=0)[: finite.size + 2]
        table[-1] = missing[own].sum(axis=0)
        thresholds.append(finite)
        tables.append(table)
    return thresholds, tables


@dataclass(frozen=True)
class _Turns:
    """Where weak classifiers change their answers, (n,) each: which, at what value, which way."""

    learner: Ints
    threshold: Array
    sign: Array

    def of(self, learners: Ints) -> "_Turns":
        own = np.isin(self.learner, learners)
        return _Turns(self.learner[own], self.threshold[own], self.sign[own])


def _turns(learners: list[Stump | CategoryStump]) -> _Turns:
    found: list[tuple[int, float, float]] = []
    for i, learner in enumerate(learners):
        if isinstance(learner, Stump):
            found.append((i, learner.threshold, 1.0))
        else:
            found += [(i, learner.level - 0.5, 1.0), (i, learner.level + 0.5, -1.0)]
    which, threshold, sign = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return _Turns(which.astype(np.int64), threshold, sign)


_RANGE = (-6.0, 6.0)  # of the logarithm of the factor on the scores
_PULL = 1e-10  # of the mean likelihood: what a larger factor has to gain at least


def class_probabilities(F: Array, factor: float) -> Array:
    """Return softmax(factor * F), (m, k)."""
    return np.asarray(softmax(factor * F, axis=1))


def fit_temperature(F: Array, codes: Ints, weight: Array) -> float:
    """Return 1/T that makes softmax(F / T) most likely for the labels.

    Where no row is wrong the likelihood rises with the factor without end, soon by less than
    numbers can tell: the factor costs 1e-10 times itself, and the slope of the sum, which rises,
    has one root.
    """
    others = F - F[np.arange(codes.size), codes][:, None]
    share = weight / weight.sum()

    def slope(log_factor: float) -> float:
        P = class_probabilities(others, np.exp(log_factor))
        return float(share @ (P * others).sum(axis=1)) + _PULL

    low, high = _RANGE
    if slope(low) >= 0.0:
        return float(np.exp(low))
    return float(np.exp(brentq(slope, low, high) if slope(high) > 0.0 else high))
