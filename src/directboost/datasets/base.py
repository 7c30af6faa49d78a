"""The record of a data set, and its split into training and test rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, Ints

Part = tuple[Array, Ints]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set with a split into training and test rows.

    Attributes
    ----------
    name : str
        Name of the data set.
    X : (m, d) array
        Features, in double precision and row-major order.
    y : (m,) or (m, k) int array
        Class codes, so that `classes[y]` are the labels; 0 and 1 if rows have several labels.
    classes : (k,) array of str
        Names of the classes.
    feature_names : tuple of d str
        Names of the features.
    split : (m,) int array or None
        0 for training rows, 1 for test rows, other values for neither. If None, a fixed quarter of
        the rows is for testing, stratified by class.
    categorical_features : tuple of int
        Columns that contain codes of categories, for the parameter `categorical_features` of an
        estimator.
    extra : mapping of str to array
        Other arrays of the data set.

    Examples
    --------
    >>> from directboost import datasets
    >>> data = datasets.load("iris")
    >>> X, y = data.train
    >>> X.shape, data.test[0].shape
    ((112, 4), (38, 4))
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
        """X and y of the training rows: the stored split, or three quarters of the rows."""
        return self._part(0)

    @property
    def test(self) -> Part:
        """X and y of the test rows: the stored split, or one quarter of the rows."""
        return self._part(1)

    def _part(self, which: int) -> Part:
        split = _draw_split(self.y) if self.split is None else self.split
        chosen = split == which
        return self.X[chosen], self.y[chosen]


def _draw_split(y: Ints) -> Ints:
    """Return 1 for a fixed quarter of the rows, stratified by class, and 0 for the others, (m,)."""
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
    """Create a data set with the documented types of arrays; `rest` is passed on unchanged."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    codes, labels = np.asarray(y).astype(np.intp), np.asarray(classes).astype(str)
    return Dataset(name, X, codes, labels, tuple(map(str, feature_names)), **rest)
