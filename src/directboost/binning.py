"""From a matrix of numbers to codes: the dictionary of stumps, made once per fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, Bools, Ints, Scores
from .kernels import encode
from .kernels.team import Team
from .learners import Constant, Learner, Stump


@dataclass(frozen=True)
class BinnedData:
    """Codes of all features, and what each stump on them is.

    Conventions. Feature f has ``n_bins[f]`` codes; a missing value has the last code. Its stumps
    are numbered as *jumps*: jump j < n_bins - 1 answers +1 to code > j (missing to the right; with
    a missing code the last of these parts missing from present). With a missing code the jumps
    n_bins - 1 + b answer +1 to present codes > b (missing to the left). Every jump comes with
    both polarities. The last row of `codes` is the constant classifier: a pseudo-feature with two
    bins and all codes 1, whose only jump answers +1 to every row.

    Attributes
    ----------
    codes : (d + 1, m) array of uint8, uint16 or uint32
    n_bins : (d + 1,) int32 array
    missing : (d + 1,) bool array
        Whether the last code of the feature stands for missing.
    thresholds : list of d arrays
        Ascending; the code of a present x is the number of thresholds below x.
    centre : (d,) int array
        The code that holds the weighted median of the present values: a stump sends values that
        are missing only at prediction to the side of this code, the heavier one.
    exact : bool
        Whether every threshold between distinct values is there.
    """

    codes: Ints
    n_bins: Ints
    missing: Bools
    thresholds: list[Array]
    centre: Ints
    exact: bool

    @property
    def n_features(self) -> int:
        """Number of real features d."""
        return len(self.thresholds)

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.codes.shape[1])

    @property
    def dictionary(self) -> str:
        """Name of the dictionary a certificate over these codes speaks of."""
        return "all stumps" if self.exact else "binned stumps"

    def n_jumps(self, feature: int) -> int:
        """Return the number of jumps (stumps without their polarity) of a feature."""
        bins = int(self.n_bins[feature])
        return max(bins - 1, 0) + (max(bins - 2, 0) if self.missing[feature] else 0)

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers +1 and -1 of one stump to the training rows, (m,)."""
        codes, last = self.codes[feature], int(self.n_bins[feature]) - 1
        right = codes > jump if jump < last else (codes > jump - last) & (codes < last)
        return np.where(right, float(polarity), -float(polarity))

    def learner(self, feature: int, jump: int, polarity: int) -> Learner:
        """Return the stump (or the constant) as it serves for prediction."""
        if feature == self.n_features:
            return Constant(polarity)
        last = int(self.n_bins[feature]) - 1
        thresholds = self.thresholds[feature]
        if not self.missing[feature]:
            right = bool(self.centre[feature] > jump)
            return Stump(feature, float(thresholds[jump]), polarity, right)
        bin_index = jump if jump < last else jump - last
        threshold = float(thresholds[bin_index]) if bin_index < thresholds.size else np.inf
        return Stump(feature, threshold, polarity, jump < last)


def bin_features(
    X: Scores, sample_weight: Array, max_bins: int | None, team: Team | None = None
) -> BinnedData:
    """Code every feature of X (m, d); NaN is missing, all weights are positive.

    Features with at most `max_bins` distinct values (all of them where it is None) get every
    threshold between neighbours; the others a subset at weighted quantiles.
    """
    d = X.shape[1]

    def cut(f: int) -> "_Cuts":
        return _cut_feature(X[:, f], sample_weight, max_bins)

    cuts = [cut(f) for f in range(d)]
    thresholds = [c.thresholds for c in cuts]
    missing = np.array([c.missing for c in cuts] + [False])
    n_bins = np.array([c.n_bins for c in cuts] + [2], dtype=np.int32)
    codes = np.empty((d + 1, X.shape[0]), dtype=_code_type(int(n_bins.max())))
    codes[d] = 1

    def fill(f: int) -> None:
        encode(X[:, f], thresholds[f], int(n_bins[f]) - 1, codes[f])

    for f in range(d):
        fill(f)
    centre = np.array([c.centre for c in cuts], dtype=np.int64)
    return BinnedData(codes, n_bins, missing, thresholds, centre, all(c.exact for c in cuts))


@dataclass(frozen=True)
class _Cuts:
    thresholds: Array
    missing: bool
    centre: int
    exact: bool

    @property
    def n_bins(self) -> int:
        return self.thresholds.size + 1 + int(self.missing)


def _cut_feature(x: Scores, weight: Array, max_bins: int | None) -> _Cuts:
    """Find the thresholds of one feature."""
    present = ~np.isnan(x)
    missing = not present.all()
    if missing:
        x, weight = x[present], weight[present]
    values, inverse = np.unique(x, return_inverse=True)
    if values.size == 0:
        return _Cuts(np.empty(0), missing, 0, True)
    mass: Array = np.cumsum(np.bincount(inverse, weights=weight, minlength=values.size))
    exact = max_bins is None or values.size <= max_bins
    after = np.arange(values.size - 1) if exact else _quantile_cuts(mass, int(max_bins or 0))
    thresholds = _between(values[after].astype(np.float64), values[after + 1].astype(np.float64))
    median = np.searchsorted(mass, 0.5 * mass[-1])
    return _Cuts(thresholds, missing, int(np.searchsorted(after, median)), exact)


def _quantile_cuts(mass: Array, max_bins: int) -> Ints:
    """Return the indices of the values after which the weighted quantiles lie.

    The small slack keeps a quantile that falls on a value there whatever the rounding. Quantiles
    on the largest value cut before it: a feature whose mass sits there keeps a threshold.
    """
    targets = mass[-1] * np.arange(1, max_bins) / max_bins
    cuts = np.searchsorted(mass, targets * (1.0 - 1e-12))
    return np.unique(np.minimum(cuts, mass.size - 2))


def _between(low: Array, high: Array) -> Array:
    """Return t with low <= t < high: the midpoint, or `low` where rounding forbids it."""
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def _code_type(bins: int) -> type[np.unsignedinteger[Any]]:
    if bins <= 1 << 8:
        return np.uint8
    return np.uint16 if bins <= 1 << 16 else np.uint32
