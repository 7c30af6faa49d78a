"""Bins of features that may enter a pair: those of the stumps, merged to a few per feature."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints
from ..kernels.reference.binning import quantile_cuts
from ..kernels.step_functions import CATEGORICAL, WITH_MISSING, n_thresholds, side
from .binning import BinnedData


@dataclass(frozen=True)
class PairBins:
    """Codes of n features with few bins, and the stumps on them that products are made of.

    Conventions. Codes and thresholds are numbered as in `BinnedData`, and the thresholds are some
    of those. Of a categorical feature with more than `pair_bins` levels, the most frequent ones
    keep a code and a threshold, and all others share the last code, which has no threshold.

    Attributes
    ----------
    features : (n,) int array
        The features of the data, ascending.
    codes : (m, n) uint8 array
    n_bins, n_thresholds : (n,) int32 arrays
    kinds : (n,) uint8 array
    shares : list of n arrays
        Weight of every code, as a share of the weight of all rows.
    thresholds : list of n int arrays
        For every threshold, the threshold of `BinnedData` that is the same stump.
    exact : bool
        Whether every stump of `BinnedData` on these features is among them.
    """

    features: Ints
    codes: Ints
    n_bins: Ints
    n_thresholds: Ints
    kinds: Ints
    shares: list[Array]
    thresholds: list[Ints]
    exact: bool

    def missing(self, place: int) -> float:
        """Return the share of the missing values of a numeric feature."""
        return float(self.shares[place][-1]) if self.kinds[place] == WITH_MISSING else 0.0

    def mean_response(self, place: int, threshold: int) -> float:
        """Return the weighted mean response of the stump at a threshold of a feature."""
        right = side(int(self.n_bins[place]), int(self.kinds[place]), threshold)
        mean = 2.0 * float(self.shares[place][right].sum()) - 1.0
        return min(max(mean, -1.0), 1.0)  # the shares are rounded


def bin_for_pairs(binned: BinnedData, weight: Array, features: Ints, pair_bins: int) -> PairBins:
    """Merge the bins of some features to at most `pair_bins` each, at weighted quantiles.

    The bin of missing values stays on its own and does not count.
    """
    codes = np.empty((binned.n_rows, features.size), dtype=np.uint8)
    n_bins = np.empty(features.size, dtype=np.int32)
    counts = np.empty(features.size, dtype=np.int32)
    shares: list[Array] = []
    thresholds, exact = [], True
    for i, f in enumerate(features.tolist()):
        fine, bins = binned.codes_of(f), int(binned.n_bins[f])
        mass: Array = np.bincount(fine, weights=weight, minlength=bins).astype(np.float64)
        if binned.kinds[f] == CATEGORICAL:
            new, own = _merged_levels(mass, pair_bins)
            n_bins[i] = int(new.max()) + 1
        else:
            new, own = _merged_bins(mass, int(binned.missing[f]), pair_bins)
            n_bins[i] = int(new[-1]) + 1
        codes[:, i] = new.astype(np.uint8)[fine]
        counts[i] = own.size
        shares.append(np.bincount(new, mass, int(n_bins[i])) / mass.sum())
        thresholds.append(own)
        exact = exact and own.size == n_thresholds(bins, int(binned.kinds[f]))
    kinds = np.ascontiguousarray(binned.kinds[features], dtype=np.uint8)
    return PairBins(features, codes, n_bins, counts, kinds, shares, thresholds, exact)


def _merged_bins(mass: Array, missing: int, pair_bins: int) -> tuple[Ints, Ints]:
    """Return the new code of every bin of an ordered feature, and the thresholds that are kept."""
    present = mass.size - missing
    cuts: Ints = np.arange(present - 1)  # bins that are followed by a threshold
    if present > pair_bins:
        cuts = quantile_cuts(np.cumsum(mass[:present]), pair_bins)
    new = np.searchsorted(cuts, np.arange(present))
    if not missing:
        return new, cuts
    new = np.append(new, new[-1] + 1)
    return new, np.concatenate([cuts, [present - 1], present + cuts])


def _merged_levels(mass: Array, pair_bins: int) -> tuple[Ints, Ints]:
    """Return the new code of every level, and the levels that keep a threshold."""
    if mass.size <= pair_bins:
        return np.arange(mass.size), np.arange(mass.size)
    kept = np.sort(np.argsort(-mass, kind="stable")[: pair_bins - 1])
    new = np.full(mass.size, pair_bins - 1)
    new[kept] = np.arange(kept.size)
    return new, kept
