"""All decision stumps on binned data."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.binning import BinnedData, Stumps, bin_features
from ..kernels.threads import Team
from ..model.learners import Learner, WeakClassifier
from .base import OracleData
from .binned import BinnedOracle


class StumpOracle(BinnedOracle):
    """Prices every stump and the constant classifier; proposes the best stump of each feature.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).

    Parameters
    ----------
    binned : BinnedData
    feature_costs : (d + 1,) array
        Cost of every feature, and of the constant at the end.
    team : Team, optional
        Threads for the kernels.
    signs : (d + 1, k) int8 array, optional
        See `OracleData`.
    """

    binned: BinnedData

    def __init__(
        self,
        binned: BinnedData,
        feature_costs: Array,
        team: Team | None = None,
        signs: Ints | None = None,
    ) -> None:
        self._begin(binned, feature_costs, team, signs)

    def _begin(
        self, binned: BinnedData, feature_costs: Array, team: Team | None, signs: Ints | None
    ) -> None:
        self.binned = self.source = binned
        self.signs = signs
        self.dictionary = binned.dictionary + (", monotone" if signs is not None else "")
        self.missing: Bools = binned.missing[:-1]
        self.costs: Array = feature_costs
        self._team = team

    def start(self, data: OracleData) -> None:
        """Bin the rows."""
        self._begin(binned_rows(data), data.costs, data.team, data.signs)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> Stumps:
        """Return the stumps of an earlier model, at the next thresholds there are here."""
        stumps = [h for h in learners if isinstance(h, Learner)]
        found = [isinstance(h, Learner) for h in learners]
        return self.binned.stumps_of(stumps, rows[np.array(found, dtype=bool)])


def all_stumps(data: OracleData) -> StumpOracle:
    """Return the oracle of all stumps on these rows."""
    return StumpOracle(binned_rows(data), data.costs, data.team, data.signs)


def binned_rows(data: OracleData) -> BinnedData:
    """Return the codes of the rows of a fit."""
    categories = None if data.levels is None else data.levels > 0
    return bin_features(data.X, data.weight, data.max_bins, data.team, categories)
