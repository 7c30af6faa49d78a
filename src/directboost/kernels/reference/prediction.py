"""Scores of a fitted model."""

import numpy as np

from ...arrays import Array, Bools, Scores
from ..structs import Products, Tables
from ..threads import Team
from .binning import code_column


def predict(
    X: Scores, tables: Tables, products: Products, team: Team | None = None
) -> tuple[Array, bool]:
    """Return the scores (m, k), and whether X has an infinite value in any feature.

    The scores are the sum of one look-up per feature of the tables, in order, the intercept, and
    the weighted products, in order.
    """
    F = np.zeros((X.shape[0], tables.intercept.size))
    ends = np.cumsum(tables.n_thresholds)
    for u, (feature, n, end) in enumerate(
        zip(tables.features, tables.n_thresholds, ends, strict=True)
    ):
        start = end - n
        codes = code_column(X[:, feature], tables.thresholds[start:end], int(n) + 1)
        F += tables.values[start + 2 * u + codes]
    F += tables.intercept
    _add_products(X, products, F)
    return F, bool(np.isinf(X).any())


def _add_products(X: Scores, products: Products, F: Array) -> None:
    cuts = np.split(products.thresholds, np.cumsum(products.n_thresholds)[:-1])
    codes = [
        code_column(X[:, feature], own, own.size + 1)
        for feature, own in zip(products.features, cuts, strict=False)
    ]

    def holds(place: int, first: int, last: int) -> Bools:
        return np.asarray((first <= codes[place]) & (codes[place] <= last))

    bounds = zip(products.starts[:-1], products.starts[1:], strict=True)
    for (one, two), (start, end) in zip(products.factors.tolist(), bounds, strict=True):
        signs = np.where(holds(*one) == holds(*two), 1.0, -1.0)
        F[:, products.classes[start:end]] += signs[:, None] * products.weights[start:end]
