"""From a summary of all rows to bins, and to the codes of the rows of a part."""

from dataclasses import replace

from ..arrays import Array, Ints
from ..data.binning import BinnedData, coded, rowless
from ..kernels import find_cuts
from ..kernels.structs import Cuts, between
from .sketches import Sketch

__all__ = ["bins_of", "coded"]


def bins_of(sketch: Sketch, max_bins: int | None, levels: Ints | None = None) -> BinnedData:
    """Return the bins of all rows, without rows; `coded` gives them the codes of a part.

    They are those of `binning.bin_features` where the summary is exact. Where it is not, a
    threshold is the largest value of a group, and bins are as even as the groups allow.

    Parameters
    ----------
    sketch : Sketch
    max_bins : int or None
        None cuts after every group.
    levels : (d,) int array, optional
        How many values, at most `max_bins`, a category has; 0 for a feature of numbers.
    """
    cuts = [_cuts(sketch, f, max_bins) for f in range(sketch.missing.size)]
    thresholds = [_thresholds(c, bool(e)) for c, e in zip(cuts, sketch.exact, strict=True)]
    return rowless(cuts, thresholds, None if levels is None else levels > 0)


def _cuts(sketch: Sketch, feature: int, max_bins: int | None) -> Cuts:
    """Cut between the groups of a feature as if each were a row of its weight."""
    groups, own = sketch.values[feature][:, None], slice(feature, feature + 1)
    cuts = find_cuts(groups, sketch.weights[feature], max_bins)
    return replace(cuts, missing=sketch.missing[own], exact=cuts.exact & sketch.exact[own])


def _thresholds(cuts: Cuts, exact: bool) -> Array:
    """Return thresholds midway between values; after groups at their end, as rows lie above it."""
    return between(cuts.before, cuts.after) if exact else cuts.before
