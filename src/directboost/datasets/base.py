"""What a data set is: rows with labels, and which of them are for training."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, Ints

Part = tuple[Array, Ints]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with labels, and which of them are for training.

    Attributes
    ----------
    name : str
    X : (m, d) array
        Doubles, row by row in memory.
    y : (m,) or (m, k) int array
        Class codes, `classes[y]` are the labels; with several labels per row 0 and 1.
    classes : (k,) array of str
    feature_names : tuple of d str
    split : (m,) int array or None
        0 training, 1 testing, anything else neither.
    categorical_features : tuple of int
        The columns that hold codes of categories, for the parameter of that name of an estimator.
    extra : mapping of str to array
        Whatever else the file has.
    """

    name: str
    X: Array
    y: Ints
    classes: Any
    feature_names: tuple[str, ...]
    split: Ints | None = None
    categorical_features: tuple[int, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def train(self) -> Part:
        """X and y to train on: the stored part, or three quarters of the rows."""
        return self._part(0)

    @property
    def test(self) -> Part:
        """X and y to test on: the stored part, or one quarter of the rows."""
        return self._part(1)

    def _part(self, which: int) -> Part:
        split = _draw_split(self.y) if self.split is None else self.split
        chosen = split == which
        return self.X[chosen], self.y[chosen]


def _draw_split(y: Ints) -> Ints:
    """Return 1 for a quarter of the rows, the same ones every time, with equal class shares."""
    from sklearn.model_selection import train_test_split

    single = y.ndim == 1 and np.bincount(y).min(initial=2, where=np.bincount(y) > 0) >= 2
    rows = np.arange(y.shape[0])
    _, test = train_test_split(rows, test_size=0.25, random_state=0, stratify=y if single else None)
    split = np.zeros(rows.size, dtype=np.uint8)
    split[test] = 1
    return split


def as_dataset(
    name: str, X: Any, y: Any, classes: Any, feature_names: Iterable[Any], **rest: Any
) -> Dataset:
    """Return a data set with its arrays in the types that are promised; the rest goes as it is."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    codes, labels = np.asarray(y).astype(np.intp), np.asarray(classes).astype(str)
    return Dataset(name, X, codes, labels, tuple(map(str, feature_names)), **rest)
