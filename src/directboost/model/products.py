"""Products of two stumps in the form in which the kernels evaluate them."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..kernels.structs import Products
from .learners import CategoryStump, Product, Stump


def compile_products(products: Sequence[Product], weights: Array) -> Products:
    """Return products of two stumps with codes instead of thresholds.

    The thresholds of a feature are those of all its stumps.

    Parameters
    ----------
    products : n products
        The products.
    weights : (n, k) array
        Their weights. Zeros are left out.
    """
    edges: dict[int, set[float]] = {}
    for product in products:
        for stump in (product.first, product.second):
            edges.setdefault(stump.feature, set()).update(filter(np.isfinite, _edges(stump)))
    features = sorted(edges)
    thresholds = [np.array(sorted(edges[feature])) for feature in features]
    place = {feature: number for number, feature in enumerate(features)}
    factors = np.empty((len(products), 2, 3), dtype=np.int32)
    signs = np.empty(len(products))
    for number, product in enumerate(products):
        sign = 1
        for side, stump in enumerate((product.first, product.second)):
            own = place[stump.feature]
            first, last, polarity = _codes_held(stump, thresholds[own])
            factors[number, side] = own, first, last
            sign *= polarity
        signs[number] = sign
    rows, classes = np.nonzero(weights)
    return Products(
        features=np.array(features, dtype=np.int32),
        n_thresholds=np.array([own.size for own in thresholds], dtype=np.int32),
        thresholds=np.concatenate([*thresholds, np.empty(0)]),
        factors=factors,
        starts=np.searchsorted(rows, np.arange(len(products) + 1)).astype(np.int64),
        classes=classes.astype(np.int32),
        weights=signs[rows] * weights[rows, classes],
    )


def _edges(stump: Stump | CategoryStump) -> list[float]:
    """Return the thresholds at which the response of a stump changes."""
    if isinstance(stump, Stump):
        return [stump.threshold]
    return [stump.level - 0.5, stump.level + 0.5]


def _codes_held(stump: Stump | CategoryStump, cuts: Array) -> tuple[int, int, int]:
    """Return the first and the last code for which a stump holds, and its polarity.

    Without such a code, the stump holds for all codes, with the opposite polarity.
    """
    first, *after = (np.searchsorted(cuts, _edges(stump)) + 1).tolist()
    last = cuts.size
    if isinstance(stump, CategoryStump):
        last = after[0] - 1
    elif stump.missing_right:
        last = cuts.size + 1
    if first > last:
        return 0, cuts.size + 1, -stump.polarity
    return first, last, stump.polarity
