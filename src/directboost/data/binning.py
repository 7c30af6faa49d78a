"""From a matrix of numbers to codes: the dictionary of stumps, made once per fit."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores, as_csc, is_sparse
from ..kernels import encode, find_cuts, list_codes
from ..kernels.step_functions import CATEGORICAL, ORDERED, WITH_MISSING, n_jumps, side
from ..kernels.structs import Cuts, SparseCodes, code_dtype, codes_of, midpoints, split
from ..kernels.threads import Team
from ..model.learners import CategoryStump, Constant, Learner, Stump
from .memory import MOST_LISTED
from .sparse_binning import code_entries, hold_codes


@dataclass(frozen=True)
class ColumnWeights:
    """Weak classifiers by name, with weights: an answer that does not depend on its column set.

    Attributes
    ----------
    names : (n, 3) int array
        The three numbers of a proposal: feature, jump and polarity.
    rows : (n, k) array, >= 0
    """

    names: Ints
    rows: Array


@dataclass(frozen=True)
class BinnedData:
    """Codes of all features, and what each stump on them is.

    Conventions. Feature f has ``n_bins[f]`` codes; a missing value has the last code. Its stumps
    are numbered as *jumps*: jump j < n_bins - 1 answers +1 to code > j (missing to the right; with
    a missing code the last of these parts missing from present). With a missing code the jumps
    n_bins - 1 + b answer +1 to present codes > b (missing to the left). Jump j of a category
    answers -1 to code j alone; a missing value is its last code. A category of two codes has one
    jump, as codes in order have. Every jump comes with both polarities. The last row of `codes` is
    the constant classifier: a pseudo-feature with two bins and all codes 1, whose only jump
    answers +1 to every row.

    Attributes
    ----------
    codes : (d + 1, m) array of uint8, uint16 or uint32
        Of a sparse X only features without a list have a row; see `SparseCodes.places`.
    n_bins : (d + 1,) int32 array
    kinds : (d + 1,) uint8 array
        What the codes are; see `kernels.kinds`.
    missing : (d + 1,) bool array
        Whether the last code of the feature stands for missing.
    thresholds : list of d arrays
        Ascending; the code of a present x is the number of thresholds below x.
    centre : (d,) int array
        The code that holds the weighted median of the present values: a stump sends values that
        are missing only at prediction to the side of this code, the heavier one.
    exact : bool
        Whether every threshold between distinct values is there.
    levels : list of d arrays
        The values a category has, by code; empty for other features.
    sparse : SparseCodes or None
        Lists for the features most of whose rows have one code, where there are such.
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
        """The pseudo-feature that is the constant classifier."""
        return len(self.thresholds)

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.codes.shape[1])

    @property
    def dictionary(self) -> str:
        """Name of the dictionary a certificate over these codes speaks of."""
        name = "all stumps" if self.exact else "binned stumps"
        categories = any(levels.size for levels in self.levels)
        return f"{name}, levels one against the rest" if categories else name

    def n_jumps(self, feature: int) -> int:
        """Return the number of jumps (stumps without their polarity) of a feature."""
        return n_jumps(int(self.n_bins[feature]), int(self.kinds[feature]))

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers +1 and -1 of one stump to the training rows, (m,)."""
        right = side(int(self.n_bins[feature]), int(self.kinds[feature]), jump)
        return np.where(right[self.codes_of(feature)], float(polarity), -float(polarity))

    def codes_of(self, feature: int) -> Ints:
        """Return the codes of all rows of one feature, (m,)."""
        return codes_of(self.codes, self.sparse, feature)

    def stumps_of(self, learners: list[Learner], rows: Array) -> ColumnWeights:
        """Return weak classifiers with weights (n, k) as columns of these codes, each once."""
        names = [self.name_of(learner) for learner in learners]
        found = np.array([name is not None for name in names], dtype=bool)
        known = np.array([name for name in names if name is not None], dtype=np.int64)
        unique, place = np.unique(known.reshape(-1, 3), axis=0, return_inverse=True)
        weights = np.zeros((unique.shape[0], rows.shape[1]))
        np.add.at(weights, place.ravel(), rows[found])
        return ColumnWeights(unique, weights)

    def name_of(self, learner: Learner) -> tuple[int, int, int] | None:
        """Return feature, jump and polarity of a stump, at the next threshold there is here.

        None where the feature has no such stump.
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
        """Return the name of a stump on a category, None where the level is not here."""
        feature, levels = learner.feature, self.levels[learner.feature]
        code = levels.size
        if isinstance(learner, CategoryStump):
            code = int(np.searchsorted(levels, learner.level))
            if code == levels.size or levels[code] != learner.level:
                return None
        if code >= self.n_bins[feature] or self.n_jumps(feature) == 0:
            return None
        if self.kinds[feature] == CATEGORICAL:
            return feature, code, -learner.polarity
        return feature, 0, learner.polarity if code == 1 else -learner.polarity

    def _level(self, feature: int, jump: int, polarity: int) -> Learner:
        """Return the stump on a category that sets one level against the rest.

        Of two levels that is the lighter one, so that a value never seen goes with the heavier.
        """
        levels, code = self.levels[feature], jump
        if self.kinds[feature] == CATEGORICAL:
            polarity = -polarity
        else:
            code = 1 if self.centre[feature] == 0 else 0
            polarity = polarity if code == 1 else -polarity
        if code == levels.size:
            return Stump(feature, np.inf, polarity, True)
        return CategoryStump(feature, float(levels[code]), polarity)

    def learner(self, feature: int, jump: int, polarity: int) -> Learner:
        """Return the stump (or the constant) as it serves for prediction."""
        if feature == self.n_features:
            return Constant(polarity)
        if self.levels[feature].size:
            return self._level(feature, jump, polarity)
        last = int(self.n_bins[feature]) - 1
        thresholds = self.thresholds[feature]
        if not self.missing[feature]:
            right = bool(self.centre[feature] > jump)
            return Stump(feature, float(thresholds[jump]), polarity, right)
        bin_index = jump if jump < last else jump - last
        threshold = float(thresholds[bin_index]) if bin_index < thresholds.size else np.inf
        return Stump(feature, threshold, polarity, jump < last)


def bin_features(
    X: Numbers,
    sample_weight: Array,
    max_bins: int | None,
    team: Team | None = None,
    categories: Bools | None = None,
) -> BinnedData:
    """Code every feature of X (m, d); NaN is missing, all weights are positive.

    Features with at most `max_bins` distinct values (all of them where it is None) get every
    threshold between neighbours; the others a subset at weighted quantiles. Those that are
    `categories`, (d,), have no order, and no more values than `max_bins`.
    """
    weight = None if (sample_weight == 1.0).all() else np.ascontiguousarray(sample_weight)
    if is_sparse(X):
        return _bin_sparse(as_csc(X), weight, max_bins)
    m, d = X.shape
    most = m if max_bins is None else min(m, max_bins)
    # The kernel leaves room for the most thresholds a feature may have: so many features at once.
    step = max(_ROOM // max(most, 1), 8)
    cuts = [find_cuts(X[:, f : f + step], weight, max_bins, team) for f in range(0, d, step)]
    thresholds = [t for c in cuts for t in split(midpoints(c.before, c.after), c.counts)]
    return coded(rowless(cuts, thresholds, categories), X, team)


def rowless(
    cuts: list[Cuts], thresholds: list[Array], categories: Bools | None = None
) -> BinnedData:
    """Return the bins of features that are cut like that, with no rows yet; see `coded`."""
    n_bins = _n_bins(cuts)
    codes = np.empty((n_bins.size, 0), dtype=code_dtype(int(n_bins.max())))
    none = np.zeros(n_bins.size - 1, dtype=bool)
    levels = _levels(cuts, none if categories is None else categories)
    return _binned(cuts, codes, None, levels, thresholds)


def coded(bins: BinnedData, X: Scores, team: Team | None = None) -> BinnedData:
    """Return the same bins with the codes of other rows X (m, d) in place of theirs.

    NaN gets the last code: it may be only where the feature has a code for missing values.
    """
    d = bins.n_features
    codes = np.empty((d + 1, X.shape[0]), dtype=bins.codes.dtype)
    encode(X, bins.thresholds, bins.n_bins[:d] - 1, codes[:d], team)
    codes[d] = 1
    return replace(bins, codes=codes, sparse=_sparse(codes, bins.n_bins, team))


def _bin_sparse(X: Numbers, weight: Array | None, max_bins: int | None) -> BinnedData:
    coded = code_entries(X, weight, max_bins)
    cuts = [part.cuts for part in coded]
    thresholds = [t for c in cuts for t in split(midpoints(c.before, c.after), c.counts)]
    return _binned(cuts, *hold_codes(X, coded), [np.empty(0)] * X.shape[1], thresholds)


def _n_bins(cuts: list[Cuts]) -> Ints:
    """Return the number of codes of every feature, and of the constant at the end, (d + 1,)."""
    counts = [c.counts + 1 + c.missing for c in cuts]
    return np.concatenate([*counts, [2]]).astype(np.int32)


def _binned(
    cuts: list[Cuts],
    codes: Ints,
    sparse: SparseCodes | None,
    levels: list[Array],
    thresholds: list[Array],
) -> BinnedData:
    n_bins, missing = _n_bins(cuts), np.concatenate([*(c.missing for c in cuts), [False]])
    return BinnedData(
        codes, n_bins, _kinds(n_bins, missing, levels), missing, thresholds,
        np.concatenate([c.centre for c in cuts]), all(bool(c.exact.all()) for c in cuts),
        levels, sparse,
    )  # fmt: skip


def _levels(cuts: list[Cuts], categories: Bools) -> list[Array]:
    """Return the distinct values of the categories by code, and nothing for other features."""
    before = [part for c in cuts for part in split(c.before, c.counts)]
    after = [part for c in cuts for part in split(c.after, c.counts)]
    none = np.empty(0)
    return [
        np.concatenate([low[:1], high]) if category and low.size else none
        for low, high, category in zip(before, after, categories, strict=True)
    ]


def _kinds(n_bins: Ints, missing: Bools, levels: list[Array]) -> Ints:
    """Return the kinds; a category of two codes has the one jump of codes in order."""
    kinds = np.where(missing, WITH_MISSING, ORDERED).astype(np.uint8)
    for f, own in enumerate(levels):
        if own.size:
            kinds[f] = CATEGORICAL if n_bins[f] > 2 else ORDERED
    return kinds


def _sparse(codes: Ints, n_bins: Ints, team: Team | None) -> SparseCodes | None:
    """Return the lists; None where only constants, columns or classifier, would have one."""
    lists = list_codes(codes, int(MOST_LISTED * codes.shape[1]), team)
    varied = n_bins[:-1] > 1
    return lists if (lists.most_common[:-1][varied] >= 0).any() else None


_ROOM = 1 << 20  # thresholds for which there is room at once
