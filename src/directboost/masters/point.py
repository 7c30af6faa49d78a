"""A point of block descent, with what a model of the loss around it needs of all rows."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..arrays import Array, Scores
from ..problem.feature_columns import FeatureColumns, Jumps


@dataclass(frozen=True)
class Point:
    """A point of the descent: the jumps, their scores, and the loss there.

    A = -dL/dF and the diagonal curvature C in F are (m, k) in the precision of the scores.
    """

    W: Jumps
    F: Scores
    loss: float
    penalty: float
    U: Scores
    A: Scores
    C: Scores

    @property
    def value(self) -> float:
        """The objective."""
        return self.loss + self.penalty

    def sums(self, columns: FeatureColumns) -> tuple[Array, Array]:
        """Return the sums of A and C over the bins of the working set, (all bins, k) each."""
        features, n_bins = np.array(columns.features, dtype=np.int32), columns.n_bins()
        codes, rows = columns.binned.codes, (columns.team, columns.binned.sparse)
        G = kernels.histograms(codes, features, n_bins, self.A, *rows)
        return G, kernels.histograms(codes, features, n_bins, self.C, *rows)
