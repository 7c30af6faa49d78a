"""Numbered weak classifiers with their responses to the training rows, for custom oracles."""

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Scores
from ..model.learners import Constant, Negated, WeakClassifier
from ..penalties import Penalty
from .base import OracleData, Pricing, price_both_signs

_BLOCK = 256  # columns converted to double precision at a time


class Catalogue:
    """Numbered weak classifiers and their opposites, with exact pricing of all of them.

    Conventions. Number 0 is the constant. The name of a column is (number, 0, polarity), so that a
    catalogue can be the `source` of an oracle, and its `costs` the costs of the oracle. The cost
    of a weak classifier is the sum of the costs of the features it reads; the constant, which
    reads none, has cost 1.

    Parameters
    ----------
    data : OracleData
    kind : dtype, default=float64
        Type of the stored responses; int8 is sufficient if all are -1, 0 or 1.

    Attributes
    ----------
    n_rows : int
        Number of training rows.
    costs : list of float
        Cost of every weak classifier, by number.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.oracles import Catalogue, OracleData
    >>> from directboost.penalties import L1
    >>> from directboost.model.learners import PoolColumn
    >>> X = np.array([[0.5, 1.0], [-0.5, 0.0]])
    >>> data = OracleData(X=X, weight=np.ones(2), total_weight=2.0, costs=np.ones(3))
    >>> catalogue = Catalogue(data)
    >>> catalogue.add(PoolColumn(0))
    (1, 1)
    >>> len(catalogue), catalogue.costs
    (2, [1.0, 1.0])
    >>> catalogue.price(np.array([[1.0], [-3.0]]), L1()).max_price
    2.0
    """

    def __init__(self, data: OracleData, kind: npt.DTypeLike = np.float64) -> None:
        self.n_rows = data.X.shape[0]
        self.costs: list[float] = []
        self._X, self._feature_costs = data.X, data.costs
        self._learners: list[WeakClassifier] = []
        self._responses: npt.NDArray[Any] = np.empty((16, self.n_rows), dtype=kind)
        self._numbers: dict[bytes, int] = {}
        self.add(Constant(1))

    def __len__(self) -> int:
        return len(self._learners)

    def add(self, learner: WeakClassifier) -> tuple[int, int]:
        """Add a weak classifier; return the number of its column, and its sign.

        If an existing column has the same responses to the training rows, or the opposite ones,
        and does not cost more, its number is returned instead.
        """
        response = self._checked(learner).astype(self._responses.dtype)
        cost = float(self._feature_costs[list(learner.features) or [-1]].sum())
        same, opposite = _key(response), _key(-response)
        for key, sign in ((same, 1), (opposite, -1)):
            number = self._numbers.get(key)
            if number is not None and (number == 0 or self.costs[number] <= cost):
                return number, sign
        self._numbers.pop(opposite, None)
        self._numbers[same] = len(self)
        return self._append(learner, response, cost), 1

    def response(self, number: int, threshold: int, polarity: int) -> Array:
        """Return the responses of a column to the training rows, (m,)."""
        return float(polarity) * np.asarray(self._responses[number], dtype=np.float64)

    def learner(self, number: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return a column as a weak classifier."""
        if number == 0:
            return Constant(polarity)
        learner = self._learners[number]
        return learner if polarity > 0 else Negated(learner)

    def edges(self, A: Scores) -> Array:
        """Return the edges of all columns, (n, k)."""
        kept = self._responses[: len(self)]
        blocks = (kept[first : first + _BLOCK] for first in range(0, len(self), _BLOCK))
        return np.concatenate([block.astype(np.float64, copy=False) @ A for block in blocks])

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price all columns and their opposites for coefficients A (m, k)."""
        return price_both_signs(self.edges(A), self.costs, A, penalty, rule)

    def _checked(self, learner: WeakClassifier) -> Array:
        response = np.asarray(learner.predict(self._X), dtype=np.float64)
        if response.shape != (self.n_rows,) or not (np.abs(response) <= 1.0).all():
            raise ValueError(
                f"learner={learner!r} is invalid: expected predict to return {self.n_rows} "
                f"responses in [-1, 1] for {self.n_rows} rows"
            )
        return response

    def _append(self, learner: WeakClassifier, response: npt.NDArray[Any], cost: float) -> int:
        number = len(self)
        if number == self._responses.shape[0]:
            self._responses = np.concatenate([self._responses, np.empty_like(self._responses)])
        self._responses[number] = response
        self._learners.append(learner)
        self.costs.append(cost)
        return number


def _key(response: npt.NDArray[Any]) -> bytes:
    """Return a hash of the responses; adding 0 turns -0 into 0."""
    return blake2b((response + response.dtype.type(0)).tobytes(), digest_size=16).digest()
