"""Scores of a fitted model: definition, and agreement of the twins to the bit."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.threads import Team
from tests.kernels.draws import (
    REALS,
    VIEWS,
    both,
    draw_products,
    join_tables,
    native_test,
)


def code(x, cuts):
    """Return the code of one value."""
    return cuts.size + 1 if np.isnan(x) else int((cuts < x).sum())


def draw_model(rng, k, sizes=(0, 6, 40), n_products=150):
    """Return features, and tables and products with the given numbers of thresholds."""
    features, cuts = [1, 2, 4], [np.sort(rng.normal(size=n)) for n in sizes]
    tables = [rng.normal(size=(c.size + 2, k)) for c in cuts]
    joined = join_tables(features, cuts, tables, rng.normal(size=k))
    return joined, draw_products(rng, features[::-1], cuts[::-1], n_products, k)


def draw_matrix(rng, m=200):
    """Draw rows with missing values."""
    X = rng.normal(size=(m, 5))
    X[4:9, 2] = np.nan
    return X


@both
@pytest.mark.parametrize("k", [1, 3, 26])
def test_scores_are_tables_intercept_and_products(kernels, k, rng):
    tables, products = draw_model(rng, k)
    X = draw_matrix(rng, 40)
    F, infinite = kernels.predict(X, tables, products)
    assert not infinite
    for x, scores in zip(X, F, strict=True):
        expected, start = tables.intercept.copy(), 0
        ends = np.cumsum(tables.n_thresholds)
        cuts = dict(zip(tables.features, np.split(tables.thresholds, ends[:-1]), strict=True))
        for feature, own in cuts.items():
            expected += tables.values[start + code(x[feature], own)]
            start += own.size + 2
        for j, sides in enumerate(products.factors):
            holds = [
                first <= code(x[feature], cuts[feature]) <= last
                for feature, first, last in zip(
                    products.features[sides[:, 0]], sides[:, 1], sides[:, 2], strict=True
                )
            ]
            own = slice(products.starts[j], products.starts[j + 1])
            sign = 1.0 if holds[0] == holds[1] else -1.0
            expected[products.classes[own]] += sign * products.weights[own]
        np.testing.assert_allclose(scores, expected, atol=1e-11)


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("view", VIEWS)
def test_the_twins_agree_to_the_bit(view, real, rng):
    X = VIEWS[view](draw_matrix(rng).astype(real))
    for k in [*range(1, 13), 26]:
        tables, products = draw_model(rng, k)
        F, infinite = native.predict(X, tables, products)
        assert not infinite
        np.testing.assert_array_equal(F, reference.predict(X, tables, products)[0])


@native_test
@pytest.mark.parametrize("most", [253, 254, 255, 65_534, 65_535])
def test_codes_of_products_of_any_width(most, rng):
    """Codes of products need one, two or four bytes, with that of missing values."""
    tables, products = draw_model(rng, 3, sizes=(5, 6, most))
    X = draw_matrix(rng)
    F, _ = native.predict(X, tables, products)
    np.testing.assert_array_equal(F, reference.predict(X, tables, products)[0])


@native_test
@pytest.mark.parametrize("n_products", [0, 1, 63, 64, 65, 128])
@pytest.mark.parametrize("m", [0, 1, 31, 32, 33, 127, 128, 129, 1025])
def test_numbers_of_rows_and_products(m, n_products, rng):
    tables, products = draw_model(rng, 4, n_products=n_products)
    X = draw_matrix(rng, m)
    F, _ = native.predict(X, tables, products)
    np.testing.assert_array_equal(F, reference.predict(X, tables, products)[0])


@both
def test_infinite_values_are_reported(kernels, rng):
    """Also in a feature that the model does not use."""
    model, X = draw_model(rng, 2), draw_matrix(rng, 300)
    assert not kernels.predict(X, *model)[1]
    X[270, 0] = -np.inf
    assert kernels.predict(X, *model)[1]


@both
def test_empty_models(kernels, rng):
    empty, none = join_tables([], [], [], np.arange(3.0)), draw_products(rng, [], [], 0, 3)
    assert kernels.predict(np.empty((0, 2)), empty, none)[0].shape == (0, 3)
    np.testing.assert_array_equal(kernels.predict(np.ones((2, 2)), empty, none)[0], [[0, 1, 2]] * 2)


@native_test
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit(threads, rng):
    X, model = draw_matrix(rng, 10_000), draw_model(rng, 3)
    alone, _ = native.predict(X, *model)
    with Team(threads) as team:
        np.testing.assert_array_equal(native.predict(X, *model, team)[0], alone)
