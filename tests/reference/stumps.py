"""The whole dictionary of decision stumps, by brute force; nothing here imports the library."""

import itertools
from typing import NamedTuple

import numpy as np

from tests.reference.formulas import price


class Column(NamedTuple):
    """One weak classifier: feature -1 is the constant, threshold inf parts missing from present."""

    feature: int
    threshold: float
    polarity: int
    missing_right: bool


def midpoint(a, b):
    """Return the threshold between a < b: their middle, or a where rounding leaves [a, b)."""
    t = a / 2 + b / 2
    return t if a <= t < b else a


def stump_columns(x, feature, polarities=(1, -1)):
    """Yield (Column, responses) for every stump of one feature with values x (m,)."""
    missing = [bool(np.isnan(value)) for value in x]
    present = sorted({float(value) for value in x if not np.isnan(value)})
    rules = []
    for a, b in itertools.pairwise(present):
        sides = (True, False) if any(missing) else (True,)
        rules += [(midpoint(a, b), side) for side in sides]
    if any(missing):
        rules.append((np.inf, True))
    for threshold, missing_right in rules:
        for polarity in polarities:
            right = [missing_right if np.isnan(v) else v > threshold for v in x]
            response = [float(polarity if side else -polarity) for side in right]
            yield Column(feature, float(threshold), polarity, missing_right), response


def enumerate_dictionary(X, feature_costs=None, polarities=(1, -1)):
    """Return H (m, n), costs (n,) and the list of Columns of the whole dictionary.

    Equal responses of different stumps stay separate columns. A feature without missing values
    has its stumps listed once, as if missing went to the right; the missing-against-present stump
    is listed also where a feature holds nothing but NaN. The constant, with cost 1, comes last.
    """
    X = np.asarray(X, dtype=float)
    m, d = X.shape
    feature_costs = np.ones(d) if feature_costs is None else np.asarray(feature_costs, dtype=float)
    columns, responses, costs = [], [], []
    for feature in range(d):
        for column, response in stump_columns(X[:, feature], feature, polarities):
            columns.append(column)
            responses.append(response)
            costs.append(feature_costs[feature])
    for polarity in polarities:
        columns.append(Column(-1, np.inf, polarity, True))
        responses.append([float(polarity)] * m)
        costs.append(1.0)
    return np.array(responses).T, np.array(costs), columns


def prices(H, costs, A, p):
    """Return ||E(h)_+||_q / kappa(h) of every column, 1/p + 1/q = 1, (n,)."""
    edges = H.T @ A
    return np.array([price(e, p, cost) for e, cost in zip(edges, costs, strict=True)])


def best_price(H, costs, A, q):
    """Return (largest price, its column) over the dictionary, q the dual exponent."""
    p = np.inf if q == 1 else 1.0 if np.isinf(q) else q / (q - 1.0)
    values = prices(H, costs, A, p)
    return float(values.max()), int(values.argmax())


def enumerate_with_products(X, feature_costs=None, pairs=None, factor=1.0):
    """Return H (m, n) and costs (n,) of all stumps, the constant and all products of two stumps.

    A product of stumps on two features costs `factor` times the mean cost of the two. `pairs` are
    the pairs of features, all of them by default.
    """
    d = np.asarray(X).shape[1]
    kappa = np.ones(d) if feature_costs is None else np.asarray(feature_costs, dtype=float)
    H, costs, columns = enumerate_dictionary(X, kappa)
    own = {
        f: [h for h, c in zip(H.T, columns, strict=True) if c.feature == f and c.polarity == 1]
        for f in range(d)
    }
    products, product_costs = [], []
    for a, b in itertools.combinations(range(d), 2) if pairs is None else pairs:
        for one, other in itertools.product(own[a], own[b]):
            products += [one * other, -one * other]
            product_costs += [factor * (kappa[a] + kappa[b]) / 2] * 2
    if not products:
        return H, costs
    return np.column_stack([H, *products]), np.concatenate([costs, product_costs])
