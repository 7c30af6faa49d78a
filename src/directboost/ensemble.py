"""A fitted model: weak classifiers with weights, compiled into one table per used feature."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .arrays import Array, Ints, Scores
from .kernels import predict
from .kernels.team import Team
from .kernels.work import Tables
from .learners import Constant, Learner, Stump


class Ensemble:
    """Scores F(x) = intercept + sum over the used features of a table look-up.

    Conventions. Feature `features[u]` has ascending `thresholds[u]` and `tables[u]` with one row
    per count of thresholds below x and a last row for a missing value, k columns each.

    Parameters
    ----------
    learners : sequence of Stump and Constant
    coef : (n, k) array, >= 0
    """

    def __init__(self, learners: Sequence[Learner], coef: Array) -> None:
        self.learners = list(learners)
        self.coef = coef
        self.k = int(coef.shape[1])
        self.intercept = np.zeros(self.k)
        stumps: dict[int, list[tuple[Stump, Array]]] = {}
        for learner, weights in zip(self.learners, coef, strict=True):
            if isinstance(learner, Constant):
                self.intercept += learner.polarity * weights
            else:
                stumps.setdefault(learner.feature, []).append((learner, weights))
        self.features: Ints = np.array(sorted(stumps), dtype=np.int32)
        compiled = [_compile(stumps[int(f)], self.k) for f in self.features]
        self.thresholds = [cuts for cuts, _ in compiled]
        self.tables = [table for _, table in compiled]

    @cached_property
    def _joined(self) -> Tables:
        counts = np.array([cuts.size for cuts in self.thresholds], dtype=np.int32)
        cuts = np.concatenate([*self.thresholds, np.empty(0)])
        values = np.concatenate([*self.tables, np.empty((0, self.k))])
        return Tables(self.features, counts, cuts, values, self.intercept)

    def scores(self, X: Scores, team: Team | None = None) -> Array:
        """Return F, (m, k)."""
        return self.checked_scores(X, team)[0]

    def checked_scores(self, X: Scores, team: Team | None = None) -> tuple[Array, bool]:
        """Return F, (m, k), and whether X holds an infinite number, in a used feature or not."""
        return predict(X, self._joined, team)

    def contributions(self, X: Scores) -> Array:
        """Return what every feature adds to every score, (m, d, k)."""
        out = np.zeros((X.shape[0], X.shape[1], self.k))
        for feature, cuts, table in zip(self.features, self.thresholds, self.tables, strict=True):
            codes = np.searchsorted(cuts, X[:, feature].astype(np.float64))
            out[:, feature] = table[np.where(np.isnan(X[:, feature]), cuts.size + 1, codes)]
        return out


def _compile(stumps: list[tuple[Stump, Array]], k: int) -> tuple[Array, Array]:
    """Sum the stumps of one feature into thresholds and a table."""
    cuts = np.unique([s.threshold for s, _ in stumps if np.isfinite(s.threshold)])
    table = np.zeros((cuts.size + 2, k))
    for stump, weights in stumps:
        vote = stump.polarity * weights
        right = np.arange(cuts.size + 1) > np.searchsorted(cuts, stump.threshold)
        table[:-1] += np.where(right[:, None], vote, -vote)
        table[-1] += vote if stump.missing_right else -vote
    return cuts, table
