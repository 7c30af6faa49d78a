"""Sets of columns of the restricted master problem, and columns as single response vectors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..data.binning import ColumnWeights
from ..kernels.structs import SparseCodes
from ..kernels.threads import Team
from ..model.learners import WeakClassifier
from ..penalties import Penalty

#: Costs of columns, indexed by the first number of their name; a sequence may grow.
Costs: TypeAlias = Array | Sequence[float]

_MAX_IDLE_ROUNDS = 5  # rounds a column may stay at zero before `DenseColumns` drops it


@dataclass(frozen=True)
class Proposals:
    """Columns that an oracle proposes, best first; all arrays are (n,).

    A column is named by three numbers, whose meaning depends on the `ColumnSource`. For stumps
    they are the feature, threshold and polarity of `BinnedData`.
    """

    feature: Ints
    threshold: Ints
    polarity: Ints
    price: Array

    def take(self, which: Ints | Bools | slice) -> "Proposals":
        """Return some of the proposals."""
        return Proposals(
            feature=self.feature[which],
            threshold=self.threshold[which],
            polarity=self.polarity[which],
            price=self.price[which],
        )


class ColumnSource(Protocol):
    """Responses and weak classifiers of proposed columns, by the names of the columns."""

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        ...

    def response(self, feature: int, threshold: int, polarity: int) -> Array:
        """Return the responses of the column to the training rows, (m,)."""
        ...

    def learner(self, feature: int, threshold: int, polarity: int) -> WeakClassifier:
        """Return the column as a weak classifier."""
        ...


class BinnedFeatures(ColumnSource, Protocol):
    """Binned features whose thresholds are columns, as block descent needs them."""

    @property
    def codes(self) -> Ints:
        """Codes of the rows, (n, m), of all features, or of those that are stored there."""
        ...

    @property
    def n_bins(self) -> Ints:
        """Number of codes of every feature."""
        ...

    @property
    def kinds(self) -> Ints:
        """Kind of the codes of every feature; see `kernels.step_functions`."""
        ...

    @property
    def sparse(self) -> SparseCodes | None:
        """Lists for features with one code in most rows, or None."""
        ...

    @property
    def constant(self) -> int:
        """Index of the feature that is the constant classifier."""
        ...

    def codes_of(self, feature: int, rows: Ints | None = None) -> Ints:
        """Return the codes of one feature, of all rows (m,) or of the given ones."""
        ...

    def sums(self, features: Ints, A: Scores, team: Team | None = None) -> Array:
        """Return the sums of the rows of A (m, k) over the bins of the features, (all bins, k)."""
        ...

    def add_scores(
        self, features: Ints, tables: list[Array], F: Scores, team: Team | None = None
    ) -> None:
        """Add the tables (n_bins, k) of the features to the scores F (m, k), in place."""
        ...

    def n_thresholds(self, feature: int) -> int:
        """Return the number of thresholds of a feature."""
        ...


class Columns(ABC):
    """A growing set of columns; the caller keeps the weights W of the columns."""

    #: Changes whenever columns are removed. A solver that caches a model of the columns rebuilds
    #: it when this number changes.
    generation: int = 0
    #: Whether a column is a feature with all its thresholds, so that a solve can make progress
    #: even if no column is new.
    whole_features: ClassVar[bool] = False

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of columns."""

    @abstractmethod
    def extend(self, proposals: Proposals, W: Any) -> int:
        """Add columns from the proposals, best first; return the number of new columns."""

    @abstractmethod
    def grow(self, W: Any) -> Any:
        """Return W with zero weights for the columns that have been added."""

    @abstractmethod
    def prune(self, W: Any) -> Any:
        """Drop zero columns if that is worthwhile; return W without them."""

    def scores(self, W: Any) -> Array:
        """Return F = H W in double precision, (m, k)."""
        return np.asarray(self.rounded_scores(W, np.float64), dtype=np.float64)

    @abstractmethod
    def rounded_scores(self, W: Any, precision: Any) -> Scores:
        """Return F = H W in the given precision, (m, k)."""

    @abstractmethod
    def edges(self, A: Scores) -> Array:
        """Return the edges H' A of the columns, (n, k)."""

    @abstractmethod
    def rows(self, W: Any) -> tuple[Array, Array]:
        """Return the weights as rows (n, k) >= 0, one per weak classifier, and their costs."""

    def penalty(self, W: Any, penalty: Penalty) -> float:
        """Return sum_j cost_j N(W_j:)."""
        return penalty.value(*self.rows(W))

    @abstractmethod
    def n_learners(self, W: Any) -> int:
        """Return the number of weak classifiers with a non-zero weight."""

    @abstractmethod
    def learners(self, W: Any) -> list[WeakClassifier]:
        """Return the weak classifiers of `rows`, in the same order."""

    @abstractmethod
    def stumps(self, W: Any) -> ColumnWeights:
        """Return the names and weights of the columns with non-zero weights."""

    @abstractmethod
    def named(self, stumps: ColumnWeights) -> list[WeakClassifier]:
        """Return the weak classifiers with the given names, in order."""

    @abstractmethod
    def adopt(self, stumps: ColumnWeights) -> Any:
        """Add the given columns to an empty set; return their weights W."""


class DenseColumns(Columns):
    """Generated columns as a matrix H (m, n) of responses in [-1, 1]; W is (n, k) >= 0.

    Parameters
    ----------
    source : ColumnSource
    feature_costs : Costs
        Costs of the columns, by the first number of their name.
    forget : bool, default=False
        Whether to drop columns that have been zero for some rounds.
    """

    def __init__(self, source: ColumnSource, feature_costs: Costs, forget: bool = False) -> None:
        self._source = source
        self._forget = forget
        self._idle: dict[tuple[int, int, int], int] = {}
        self._feature_costs = feature_costs
        self._buffer = np.empty((source.n_rows, 16), order="F")
        self._keys: list[tuple[int, int, int]] = []

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def source(self) -> ColumnSource:
        """Source of responses and weak classifiers."""
        return self._source

    @property
    def names(self) -> list[tuple[int, int, int]]:
        """Name of every column, three numbers; for stumps feature, threshold and polarity."""
        return self._keys

    @property
    def H(self) -> Array:
        """Responses of the columns, (m, n), column-major."""
        return self._buffer[:, : len(self)]

    @property
    def costs(self) -> Array:
        """Cost of every column, (n,)."""
        return np.array([self._feature_costs[key[0]] for key in self._keys], dtype=np.float64)

    def rounded_scores(self, W: Array, precision: Any) -> Scores:
        """Return F = H W, summed in double precision."""
        return np.asarray(self.H @ W, dtype=precision)

    def edges(self, A: Scores) -> Array:
        """Return the edges of all columns, H' A, (n, k)."""
        return np.asarray(self.H.T @ A)

    def extend(self, proposals: Proposals, W: Array | None = None) -> int:
        """Append the proposals that are new; return their number."""
        present, before = set(self._keys), len(self)
        for key in zip(
            proposals.feature.tolist(),
            proposals.threshold.tolist(),
            proposals.polarity.tolist(),
            strict=True,
        ):
            if key not in present:
                self._append(key)
                present.add(key)
        return len(self) - before

    def _append(self, key: tuple[int, int, int]) -> None:
        n = len(self)
        if n == self._buffer.shape[1]:
            grown = np.empty((self._buffer.shape[0], 2 * n), order="F")
            grown[:, :n] = self._buffer
            self._buffer = grown
        self._buffer[:, n] = self._source.response(*key)
        self._keys.append(key)

    def grow(self, W: Array) -> Array:
        """Return W with zero rows for new columns."""
        if W.shape[0] == len(self):
            return W
        return np.vstack([W, np.zeros((len(self) - W.shape[0], W.shape[1]))])

    def prune(self, W: Array) -> Array:
        """Drop columns that were zero for more than `_MAX_IDLE_ROUNDS` rounds.

        Columns are dropped only when they make up more than a third of all columns.
        """
        if not self._forget:
            return W
        is_zero = ~(W != 0.0).any(axis=1)
        for key, zero in zip(self._keys, is_zero, strict=True):
            self._idle[key] = self._idle.get(key, 0) + 1 if zero else 0
        stale = np.array([self._idle[key] > _MAX_IDLE_ROUNDS for key in self._keys], dtype=bool)
        if 3 * int(stale.sum()) <= len(self):
            return W
        self.keep(~stale)
        return np.asarray(W[~stale])

    def keep(self, which: Bools) -> None:
        """Drop the columns where `which` (n,) is false."""
        kept = self.H[:, which]
        self._buffer = np.empty((self._source.n_rows, max(16, 2 * kept.shape[1])), order="F")
        self._buffer[:, : kept.shape[1]] = kept
        self._keys = [key for key, stays in zip(self._keys, which, strict=True) if stays]
        self._idle = {key: self._idle.get(key, 0) for key in self._keys}
        self.generation += 1

    def rows(self, W: Array) -> tuple[Array, Array]:
        """Return W itself and the costs of the columns."""
        return W, self.costs

    def n_learners(self, W: Array) -> int:
        """Return the number of columns with a non-zero weight."""
        return int((W != 0.0).any(axis=1).sum())

    def learners(self, W: Array | None = None) -> list[WeakClassifier]:
        """Return the columns as weak classifiers, in order."""
        return [self._source.learner(*key) for key in self._keys]

    def named(self, stumps: ColumnWeights) -> list[WeakClassifier]:
        """Return the weak classifiers with the given names, in order."""
        return [self._source.learner(*name) for name in stumps.names.tolist()]

    def stumps(self, W: Array) -> ColumnWeights:
        """Return the names and weights of the columns with non-zero weights."""
        active = (W != 0.0).any(axis=1)
        return ColumnWeights(np.array(self._keys, dtype=np.int64).reshape(-1, 3)[active], W[active])

    def adopt(self, stumps: ColumnWeights) -> Array:
        """Append the given columns; return their weights."""
        feature, threshold, polarity = stumps.names.T
        self.extend(
            Proposals(
                feature=feature,
                threshold=threshold,
                polarity=polarity,
                price=np.zeros(feature.size),
            )
        )
        return stumps.rows
