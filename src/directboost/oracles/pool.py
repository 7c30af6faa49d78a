"""Exact pricing of a given pool of weak classifiers, whose responses are the columns of X."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Scores, column
from ..data.binning import ColumnWeights
from ..model.learners import Constant, Negated, PoolColumn, WeakClassifier
from ..penalties import Penalty
from .base import Oracle, OracleData, Pricing, column_ranges, price_both_signs


class PoolOracle(Oracle):
    """Oracle of a fixed pool of weak classifiers, given by their responses.

    X (m, n) holds the responses of n existing weak classifiers, in [-1, 1], to the m rows. Pass
    their responses to other rows to `predict`. `feature_costs` are the costs of the columns. The
    dictionary consists of every column of X, its opposite, and the constant.

    Paper: Eq. 8 (best weak classifier, hinge, l1).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.oracles import PoolOracle
    >>> X, y = load_iris(return_X_y=True)
    >>> pool = np.tanh(X - X.mean(axis=0))
    >>> clf = DirectBoostClassifier(learner=PoolOracle()).fit(pool, y)
    >>> clf.certificate_.dictionary, clf.certificate_.converged
    ('whole pool', True)
    """

    dictionary = "whole pool"
    takes_missing = False
    takes_sparse = True

    def start(self, data: OracleData) -> None:
        """Use the columns of X as responses; raise ValueError if they are not in [-1, 1]."""
        if data.levels is not None and (data.levels > 0).any():
            raise ValueError(
                f"column {int(np.argmax(data.levels > 0))} of X holds categories: with "
                "learner=PoolOracle() expected responses of weak classifiers, numbers in [-1, 1]"
            )
        low, high, _ = column_ranges(data)
        outside = np.flatnonzero((low < -1.0) | (high > 1.0))
        if outside.size:
            values = column(data.X, int(outside[0]))
            raise ValueError(
                f"X holds {values[~(np.abs(values) <= 1.0)][0]} in column {outside[0]}: with "
                "learner=PoolOracle() expected responses of weak classifiers, numbers in [-1, 1]"
            )
        self._responses = data.X.astype(np.float64, copy=False)
        self.costs = data.costs
        self.source = self

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self._responses.shape[0])

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price the whole pool for coefficients A (m, k) by one matrix product."""
        E = np.vstack([self._responses.T @ A, A.sum(axis=0)])
        return price_both_signs(E, self.costs, A, penalty, rule)

    def response(self, number: int, threshold: int, polarity: int) -> Array:
        """Return the responses of a column, (m,); the column after the last is the constant."""
        if number == self._responses.shape[1]:
            return np.full(self.n_rows, float(polarity))
        return polarity * np.asarray(column(self._responses, number), dtype=np.float64)

    def learner(self, column: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a column as a weak classifier."""
        if column == self._responses.shape[1]:
            return Constant(polarity)
        return PoolColumn(column) if polarity > 0 else Negated(PoolColumn(column))

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return the columns of an earlier model that exist in this pool."""
        names = [self._name(learner) for learner in learners]
        here = [name for name in names if name is not None]
        found = np.array([name is not None for name in names], dtype=bool)
        return ColumnWeights(np.array(here, dtype=np.int64).reshape(-1, 3), rows[found])

    def _name(self, learner: WeakClassifier) -> tuple[int, int, int] | None:
        if isinstance(learner, Constant):
            return self._responses.shape[1], 0, learner.polarity
        opposite = isinstance(learner, Negated)
        inner = learner.learner if isinstance(learner, Negated) else learner
        if not isinstance(inner, PoolColumn) or inner.column >= self._responses.shape[1]:
            return None
        return inner.column, 0, -1 if opposite else 1
