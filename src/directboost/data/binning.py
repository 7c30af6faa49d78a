"""Binning of X into codes, and the dictionary of stumps on these codes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores, as_csc, is_sparse
from ..kernels import add_tables, encode, find_cuts, histograms, list_codes
from ..kernels.step_functions import (
    CATEGORICAL,
    ORDERED,
    WITH_MISSING,
    apart,
    n_thresholds,
    side,
)
from ..kernels.structs import Cuts, SparseCodes, code_dtype, codes_of, midpoints
from ..kernels.threads import Team
from ..model.learners import CategoryStump, Constant, Learner, Stump
from .memory import MAX_SPARSE_SHARE
from .sparse_binning import code_entries, store_codes

_BUFFER = 1 << 20  # thresholds that the kernel's buffer holds per call


@dataclass(frozen=True)
class ColumnWeights:
    """Weights of weak classifiers by name, independent of any set of columns.

    Attributes
    ----------
    names : (n, 3) int array
        The three numbers that name a column; for stumps feature, threshold and polarity.
    rows : (n, k) array, >= 0
        Weights of every column, by class.
    """

    names: Ints
    rows: Array


class CodedFeatures:
    """Sums over the bins of features and their scores, from a matrix of codes.

    A subclass has the attributes `codes`, `n_bins` and `sparse` of `BinnedData`.
    """

    codes: Any
    n_bins: Any
    sparse: Any

    def codes_of(self, feature: int, rows: Ints | None = None) -> Ints:
        """Return the codes of one feature, of all rows (m,) or of the given ones."""
        codes = codes_of(self.codes, self.sparse, feature)
        return codes if rows is None else codes[rows]

    def sums(self, features: Ints, A: Scores, team: Team | None = None) -> Array:
        """Return the sums of the rows of A (m, k) over the bins of the features, (all bins, k)."""
        n_bins = np.ascontiguousarray(self.n_bins[features], dtype=np.int32)
        return histograms(self.codes, features, n_bins, A, team, self.sparse)

    def add_scores(
        self, features: Ints, tables: list[Array], F: Scores, team: Team | None = None
    ) -> None:
        """Add the tables (n_bins, k) of the features to the scores F (m, k), in place."""
        add_tables(self.codes, features, tables, F, team, self.sparse)


@dataclass(frozen=True)
class BinnedData(CodedFeatures):
    """Codes of all features, and the stumps on these codes.

    Conventions. Feature f has ``n_bins[f]`` codes; a missing value has the last code. Its stumps
    without their polarity are numbered, as *thresholds*. Threshold j < n_bins - 1 is +1 for codes
    > j, so that missing values go right; with a missing code the last of these separates missing
    from present values. With a missing code, threshold n_bins - 1 + b is +1 for present codes > b,
    so that missing values go left. Threshold j of a categorical feature is -1 for code j only; a
    missing value is its last code. A categorical feature of two codes has one threshold, like
    ordered codes. Every threshold exists in both polarities. The last row of `codes` is the
    constant classifier: a pseudo-feature with two bins and all codes 1, whose only threshold is +1
    for every row.

    Attributes
    ----------
    codes : (d + 1, m) array of uint8, uint16 or uint32
        For a sparse X only features without a list have a row; see `SparseCodes.places`.
    n_bins : (d + 1,) int32 array
    kinds : (d + 1,) uint8 array
        Kind of the codes: ORDERED, WITH_MISSING or CATEGORICAL of `kernels.step_functions`.
    missing : (d + 1,) bool array
        Whether the last code of the feature stands for missing.
    thresholds : list of d arrays
        Ascending; the code of a present x is the number of thresholds below x.
    centre : (d,) int array
        Code of the weighted median of the present values. A feature without missing values in
        training sends missing values at prediction to the side of this code, the heavier one.
    exact : bool
        Whether there is a threshold between every two neighbouring distinct values.
    levels : list of d arrays
        Values of a categorical feature by code; empty for other features.
    sparse : SparseCodes or None
        Lists for features with one code in most rows; None if there is no such feature.
    """

    codes: Ints
    n_bins: Ints
    kinds: Ints
    missing: Bools
    thresholds: list[Array]
    centre: Ints
    exact: bool
    levels: list[Array]
    sparse: SparseCodes | None = None

    @property
    def n_features(self) -> int:
        """Number of real features d."""
        return len(self.thresholds)

    @property
    def constant(self) -> int:
        """Index of the pseudo-feature for the constant classifier."""
        return len(self.thresholds)

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.codes.shape[1])

    @property
    def dictionary(self) -> str:
        """Name of the dictionary, as it appears in a certificate."""
        name = "all stumps" if self.exact else "binned stumps"
        categories = any(levels.size for levels in self.levels)
        return f"{name}, levels one against the rest" if categories else name

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds (stumps without their polarity) of a feature."""
        return n_thresholds(int(self.n_bins[feature]), int(self.kinds[feature]))

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return the responses +1 and -1 of one stump to the training rows, (m,)."""
        right = side(int(self.n_bins[feature]), int(self.kinds[feature]), threshold)
        return np.where(right[self.codes_of(feature)], float(polarity), -float(polarity))

    def stumps_of(self, learners: list[Learner], rows: Array) -> ColumnWeights:
        """Return learners with weights (n, k) as columns of these codes, without duplicates.

        Learners without a stump here are left out; see `name_of`.
        """
        names = [self.name_of(learner) for learner in learners]
        found = np.array([name is not None for name in names], dtype=bool)
        here = np.array([name for name in names if name is not None], dtype=np.int64)
        unique, place = np.unique(here.reshape(-1, 3), axis=0, return_inverse=True)
        weights = np.zeros((unique.shape[0], rows.shape[1]))
        np.add.at(weights, place.ravel(), rows[found])
        return ColumnWeights(unique, weights)

    def name_of(self, learner: Learner) -> tuple[int, int, int] | None:
        """Return feature, threshold and polarity of a stump, at the next threshold of these codes.

        Return None if the feature has no such stump.
        """
        if isinstance(learner, Constant):
            return self.n_features, 0, learner.polarity
        if learner.feature >= self.n_features:
            return None
        if self.levels[learner.feature].size:
            return self._level_name(learner)
        return None if isinstance(learner, CategoryStump) else self._stump_name(learner)

    def _stump_name(self, learner: Stump) -> tuple[int, int, int] | None:
        feature, last = learner.feature, int(self.n_bins[learner.feature]) - 1
        thresholds = self.thresholds[feature]
        missing = np.isinf(learner.threshold)
        if (missing and not self.missing[feature]) or (not missing and thresholds.size == 0):
            return None
        place = min(int(np.searchsorted(thresholds, learner.threshold)), thresholds.size - 1)
        if missing:
            return feature, thresholds.size, learner.polarity
        to_the_left = self.missing[feature] and not learner.missing_right
        return feature, last + place if to_the_left else place, learner.polarity

    def _level_name(self, learner: Stump | CategoryStump) -> tuple[int, int, int] | None:
        """Return the name of a stump on a categorical feature; None if it has no such level."""
        feature, levels = learner.feature, self.levels[learner.feature]
        code = levels.size
        if isinstance(learner, CategoryStump):
            code = int(np.searchsorted(levels, learner.level))
            if code == levels.size or levels[code] != learner.level:
                return None
        if code >= self.n_bins[feature] or self.n_thresholds(feature) == 0:
            return None
        if self.kinds[feature] == CATEGORICAL:
            return feature, code, -learner.polarity
        return feature, 0, learner.polarity if code == 1 else -learner.polarity

    def learner(self, feature: int, threshold: int, polarity: int) -> Learner:
        """Return the stump (or the constant) as a weak classifier for prediction."""
        if feature == self.n_features:
            return Constant(polarity)
        if self.levels[feature].size:
            return self._level_stump(feature, threshold, polarity)
        last = int(self.n_bins[feature]) - 1
        thresholds = self.thresholds[feature]
        if not self.missing[feature]:
            right = bool(self.centre[feature] > threshold)
            return Stump(feature, float(thresholds[threshold]), polarity, right)
        bin_index = threshold if threshold < last else threshold - last
        cut = float(thresholds[bin_index]) if bin_index < thresholds.size else np.inf
        return Stump(feature, cut, polarity, threshold < last)

    def _level_stump(self, feature: int, threshold: int, polarity: int) -> Learner:
        """Return the stump that separates one level of a categorical feature from the rest.

        Of two levels the stump names the lighter one, so that unknown values go with the heavier.
        """
        levels, code = self.levels[feature], threshold
        if self.kinds[feature] == CATEGORICAL:
            polarity = -polarity
        else:
            code = 1 if self.centre[feature] == 0 else 0
            polarity = polarity if code == 1 else -polarity
        if code == levels.size:
            return Stump(feature, np.inf, polarity, True)
        return CategoryStump(feature, float(levels[code]), polarity)


def bin_features(
    X: Numbers,
    sample_weight: Array,
    max_bins: int | None,
    team: Team | None = None,
    n_levels: Ints | None = None,
) -> BinnedData:
    """Return the codes of every feature of X (m, d); NaN is missing, all weights are positive.

    Features with at most `max_bins` distinct values (all features if it is None) get a threshold
    between every two neighbours, the others a subset at weighted quantiles. `n_levels`, (d,),
    are the numbers of levels of categorical features, at most `max_bins`; 0 for the others.
    """
    weight = None if (sample_weight == 1.0).all() else np.ascontiguousarray(sample_weight)
    if is_sparse(X):
        return _bin_sparse(as_csc(X), weight, max_bins)
    m, d = X.shape
    most = m if max_bins is None else min(m, max_bins)
    # Bound the kernel's buffer: process at most `step` features per call.
    step = max(_BUFFER // max(most, 1), 8)
    cuts = [find_cuts(X[:, f : f + step], weight, max_bins, team) for f in range(0, d, step)]
    thresholds = [t for c in cuts for t in apart(midpoints(c.before, c.after), np.cumsum(c.counts))]
    return coded(rowless(cuts, thresholds, n_levels), X, team)


def rowless(cuts: list[Cuts], thresholds: list[Array], n_levels: Ints | None = None) -> BinnedData:
    """Return the bins that the cuts and thresholds define, without rows; see `coded`."""
    missing = np.concatenate([*(c.missing for c in cuts), [False]])
    counts = [c.counts + 1 + c.missing for c in cuts]
    n_bins = np.concatenate([*counts, [2]]).astype(np.int32)  # the constant is the last feature
    kinds = np.where(missing, WITH_MISSING, ORDERED).astype(np.uint8)
    levels = [np.empty(0)] * len(thresholds)
    if n_levels is not None:
        before = [part for c in cuts for part in apart(c.before, np.cumsum(c.counts))]
        after = [part for c in cuts for part in apart(c.after, np.cumsum(c.counts))]
        for f in np.flatnonzero(n_levels).tolist():
            if before[f].size:
                levels[f] = np.concatenate([before[f][:1], after[f]])
                # A categorical feature of two codes has one jump, like ordered codes.
                kinds[f] = CATEGORICAL if n_bins[f] > 2 else ORDERED
    return BinnedData(
        codes=np.empty((n_bins.size, 0), dtype=code_dtype(int(n_bins.max()))),
        n_bins=n_bins,
        kinds=kinds,
        missing=missing,
        thresholds=thresholds,
        centre=np.concatenate([c.centre for c in cuts]),
        exact=all(bool(c.exact.all()) for c in cuts),
        levels=levels,
    )


def coded(bins: BinnedData, X: Scores, team: Team | None = None) -> BinnedData:
    """Return the same bins with the codes of the rows X (m, d).

    NaN gets the last code, so it may occur only in features with a code for missing values.
    """
    d = bins.n_features
    codes = np.empty((d + 1, X.shape[0]), dtype=bins.codes.dtype)
    encode(X, bins.thresholds, bins.n_bins[:d] - 1, codes[:d], team)
    codes[d] = 1
    lists = list_codes(codes, int(MAX_SPARSE_SHARE * codes.shape[1]), team)
    varied = bins.n_bins[:-1] > 1
    # Sparse codes do not pay if only constant features have a list.
    pays = (lists.most_common[:-1][varied] >= 0).any()
    return replace(bins, codes=codes, sparse=lists if pays else None)


def _bin_sparse(X: Numbers, weight: Array | None, max_bins: int | None) -> BinnedData:
    entries = code_entries(X, weight, max_bins)
    cuts = [part.cuts for part in entries]
    thresholds = [t for c in cuts for t in apart(midpoints(c.before, c.after), np.cumsum(c.counts))]
    codes, sparse = store_codes(X, entries)
    return replace(rowless(cuts, thresholds), codes=codes, sparse=sparse)
