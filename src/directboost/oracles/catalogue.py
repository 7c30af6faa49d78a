"""Weak classifiers that an oracle lists itself, with their responses to the training rows."""

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Scores
from ..model.learners import Constant, Negated, WeakClassifier
from ..penalties import Penalty
from .base import OracleData, Pricing, price_both_signs

_BLOCK = 256  # columns that are turned into doubles together


class Catalogue:
    """Numbered weak classifiers and their opposites; prices all of them exactly.

    Conventions. Number 0 is the constant. The name of a column is (number, 0, polarity), so that a
    catalogue serves as the `source` of an oracle, and its `costs` as those of the oracle. A weak
    classifier costs the sum of the features it reads; one that reads none, the constant, costs 1.

    Parameters
    ----------
    data : OracleData
    kind : dtype, default=float64
        How responses are kept; int8 serves where all are -1, 0 or 1.
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
        """Take a weak classifier in; return the number of its column, and the sign.

        One that answers the training rows as a column does, or the opposite, is that column,
        unless it costs less.
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

    def response(self, number: int, jump: int, polarity: int) -> Array:
        """Return the responses of a column to the training rows, (m,)."""
        return float(polarity) * np.asarray(self._responses[number], dtype=np.float64)

    def learner(self, number: int, jump: int, polarity: int) -> WeakClassifier:
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
                f"the weak classifier {learner!r} does not fit: to {self.n_rows} rows it has to "
                f"give {self.n_rows} responses in [-1, 1]"
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
    """Return what stands for responses; to add 0 turns -0 into 0."""
    return blake2b((response + response.dtype.type(0)).tobytes(), digest_size=16).digest()
