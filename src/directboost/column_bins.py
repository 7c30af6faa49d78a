"""Generated columns as features in bin space: two bins each."""

import numpy as np

from .arrays import Array, Ints
from .kernels.step_functions import ORDERED, n_jumps
from .model.learners import WeakClassifier
from .problem.columns import DenseColumns


class ColumnBins:
    """Columns of answers +1 and -1, each a feature whose one jump is the column.

    A column and its opposite are one feature: that of the one that came first.

    Parameters
    ----------
    columns : DenseColumns
        Whose columns are taken in by `follow`.
    """

    sparse = None
    constant = -1  # a column like the others, where it has been generated

    def __init__(self, columns: DenseColumns) -> None:
        self._columns = columns
        self.n_rows = int(columns.H.shape[0])
        self.costs: list[float] = []
        #: Of every column its feature, and whether it is that feature or its opposite, (n,) each.
        self.place: list[int] = []
        self.side: list[int] = []
        self._names: list[tuple[int, int, int]] = []
        self._known: dict[tuple[int, int], int] = {}
        self._codes = np.empty((16, self.n_rows), dtype=np.uint8)

    def follow(self) -> None:
        """Take in the columns that came since the last call."""
        costs = self._columns.costs
        for number in range(len(self.place), len(self._columns)):
            feature, jump, polarity = self._columns.names[number]
            known = self._known.setdefault((feature, jump), self.n_features)
            if known == self.n_features:
                self._append(number, float(costs[number]))
            self.place.append(known)
            self.side.append(1 if self._names[known][2] == polarity else -1)

    def _append(self, number: int, cost: float) -> None:
        if self.n_features == self._codes.shape[0]:
            self._codes = np.concatenate([self._codes, np.empty_like(self._codes)])
        response = self._columns.H[:, number]
        if not (np.abs(response) == 1.0).all():
            raise ValueError("block descent on columns needs answers +1 and -1 to every row")
        self._codes[self.n_features] = response > 0.0
        self._names.append(self._columns.names[number])
        self.costs.append(cost)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._names)

    @property
    def codes(self) -> Ints:
        """Codes of the rows: 1 where the column answers +1, (n, m)."""
        return self._codes[: self.n_features]

    @property
    def n_bins(self) -> Ints:
        """Two bins each, (n,)."""
        return np.full(self.n_features, 2, dtype=np.int32)

    @property
    def kinds(self) -> Ints:
        """Bins in order, (n,)."""
        return np.full(self.n_features, ORDERED, dtype=np.uint8)

    @property
    def signs(self) -> Ints:
        """The sign of jumps: 1 for no other than +, 0 where the opposite is there too, (n,)."""
        both = np.zeros(self.n_features, dtype=bool)
        both[[place for place, side in zip(self.place, self.side, strict=True) if side < 0]] = True
        return np.where(both, 0, 1).astype(np.int8)

    def codes_of(self, feature: int) -> Ints:
        """Return the codes of all rows of one feature, (m,)."""
        return np.asarray(self._codes[feature])

    def n_jumps(self, feature: int) -> int:
        """Return the number of jumps of a feature: one."""
        return n_jumps(2, ORDERED)

    def response(self, feature: int, jump: int, polarity: int) -> Array:
        """Return the answers of a column, or of its opposite, to the rows, (m,)."""
        return polarity * np.where(self._codes[feature] > 0, 1.0, -1.0)

    def learner(self, feature: int, jump: int, polarity: int) -> WeakClassifier:
        """Return a column, or its opposite, as a weak classifier."""
        name = self._names[feature]
        return self._columns.source.learner(name[0], name[1], polarity * name[2])
