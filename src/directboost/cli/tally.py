"""Counts right and wrong answers, batch by batch."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Ints

_SMALLEST = float(np.finfo(np.float64).eps)  # probabilities below count as that


@dataclass(eq=False)
class Tally:
    """Right and wrong answers of a classifier.

    Attributes
    ----------
    classes : (k,) array
    counts : (k, k) int array
        Rows of class r that were taken for class s.
    loss : float
        Sum of the logarithms of the probability of the right class, negative.
    """

    classes: Any
    counts: Ints
    loss: float = 0.0

    @classmethod
    def of(cls, classes: Any) -> "Tally":
        """Return an empty tally."""
        return cls(classes, np.zeros((len(classes), len(classes)), dtype=np.int64))

    def add(self, codes: Ints, predicted: Ints, P: Array) -> None:
        """Count rows: their classes and the predicted ones, (m,), and the probabilities (m, k)."""
        k = len(self.classes)
        pairs = np.bincount(codes * k + predicted, minlength=k * k)
        self.counts += pairs.reshape(k, k)
        right = P[np.arange(codes.size), codes].clip(min=_SMALLEST)
        self.loss -= float(np.log(right).sum())

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def error(self) -> float:
        """Share of the rows with a wrong answer."""
        return (self.rows - int(np.trace(self.counts))) / self.rows

    @property
    def log_loss(self) -> float:
        """Mean of the negative logarithm of the probability of the right class."""
        return self.loss / self.rows

    @property
    def precision(self) -> Array:
        """Share of right answers among those of each class, NaN without such, (k,)."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def recall(self) -> Array:
        """Share of right answers among the rows of each class, NaN without such, (k,)."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=1))

    def facts(self) -> dict[str, Any]:
        """Return all of it in plain numbers."""
        by_class = zip(
            self.classes, self.counts.sum(axis=1), self.precision, self.recall, strict=True
        )
        return {
            "rows": self.rows,
            "error": self.error,
            "accuracy": 1.0 - self.error,
            "log_loss": self.log_loss,
            "classes": [
                {"class": name, "rows": rows, "precision": precision, "recall": recall}
                for name, rows, precision, recall in by_class
            ],
            "confusion": self.counts,
        }


def _shares(part: Ints, whole: Ints) -> Array:
    shares: Array = np.full(part.shape, np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares
