"""The five sets of many classes: rows drawn, products of attributes, splits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .. import datasets
from ..arrays import Array
from .sampling import Part, draw_of_each


@dataclass(frozen=True)
class ManyClasses:
    """How a set is prepared: rows drawn of each class (0: all), and products or not."""

    rows: int
    products: bool


SETS = {
    "segment": ManyClasses(0, True),
    "usps": ManyClasses(100, False),
    "pendigits": ManyClasses(100, True),
    "vowel": ManyClasses(0, True),
    "isolet": ManyClasses(100, False),
}


def split(name: str, seed: int) -> tuple[Part, Part]:
    """Draw the rows of a set, and split them 75/25 with equal shares of the classes."""
    data, kind = datasets.load(name), SETS[name]
    X, y = data.X, data.y
    if kind.rows:
        chosen = draw_of_each(y, kind.rows, np.random.default_rng(seed))
        X, y = X[chosen], y[chosen]
    X = with_products(X) if kind.products else X
    parts: Any = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    return (parts[0], parts[2]), (parts[1], parts[3])


def with_products(X: Array) -> Array:
    """Return attributes scaled to [-1, 1], and the products of any two, (m, d + d (d - 1) / 2)."""
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
    first, second = np.triu_indices(X.shape[1], 1)
    return np.hstack([scaled, scaled[:, first] * scaled[:, second]])
