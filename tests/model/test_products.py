"""Products of two stumps as codes give the weighted sum of the products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Constant, Product, Stump
from directboost.model.products import compile_products


def stumps(feature):
    """Draw stumps on a feature; an infinite threshold tells missing values from present ones."""
    return st.builds(
        Stump,
        feature=st.just(feature),
        threshold=st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf]),
        polarity=st.sampled_from([1, -1]),
        missing_right=st.booleans(),
    )


levels = st.builds(
    CategoryStump,
    feature=st.just(3),
    level=st.sampled_from([0.0, 1.0, 2.0, 5.0]),
    polarity=st.sampled_from([1, -1]),
)
products = st.one_of(
    st.builds(Product, stumps(0), stumps(1)),
    st.builds(Product, stumps(1), stumps(2)),
    st.builds(Product, stumps(0), levels),
)
learners = st.one_of(products, stumps(2), st.just(Constant(1)))


def draw_rows(rng, m=60):
    """Draw rows on, between and beyond the thresholds; feature 3 is a category."""
    X = rng.choice([-2.0, -1.0, -0.2, 0.0, 0.5, 1.0, 2.0, 9.0, np.nan], (m, 4))
    X[:, 3] = rng.choice([0.0, 1.0, 2.0, 3.0, 5.0, np.nan], m)
    return X


@given(members=st.lists(learners, max_size=12), k=st.integers(1, 4), seed=st.integers(0, 999))
def test_scores_are_the_weighted_votes(members, k, seed):
    """F(x) = sum_j h_j(x) W_j:, for dense and sparse rows of both types."""
    rng = np.random.default_rng(seed)
    X = draw_rows(rng)
    W = np.where(rng.random((len(members), k)) < 0.3, 0.0, rng.uniform(0.0, 2.0, (len(members), k)))
    model = Ensemble(members, W)
    expected = sum((np.outer(h.predict(X), w) for h, w in zip(members, W, strict=True)), 0.0)
    for rows in (X, X.astype(np.float32), csc_array(X)):
        np.testing.assert_allclose(model.scores(rows), expected + np.zeros((60, k)), atol=1e-12)


def test_codes_by_hand():
    """Thresholds are merged per feature, weights have the sign of the polarities, zeros go."""
    low, high = Stump(4, 0.5, 1, False), Stump(4, 2.0, -1, True)
    level, missing = CategoryStump(7, 1.0, 1), Stump(9, np.inf, 1, True)
    found = compile_products(
        [Product(low, level), Product(high, level), Product(high, missing)],
        np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]]),
    )
    assert found.features.tolist() == [4, 7, 9]
    assert found.n_thresholds.tolist() == [2, 2, 0]
    assert found.thresholds.tolist() == [0.5, 2.0, 0.5, 1.5]
    assert found.factors.tolist() == [
        [[0, 1, 2], [1, 1, 1]],
        [[0, 2, 3], [1, 1, 1]],
        [[0, 2, 3], [2, 1, 1]],
    ]
    assert found.starts.tolist() == [0, 1, 3, 4]
    assert found.classes.tolist() == [0, 0, 1, 1]
    assert found.weights.tolist() == [1.0, -2.0, -3.0, -4.0]


@pytest.mark.parametrize("polarity", [1, -1])
def test_a_stump_that_never_holds(polarity):
    """A stump above infinity, with missing values below, always has the opposite polarity."""
    never = Stump(1, np.inf, polarity, False)
    found = compile_products([Product(Stump(0, 0.0, 1, False), never)], np.array([[1.5]]))
    assert found.factors[0, 1].tolist() == [1, 0, 1]
    assert found.weights.tolist() == [-1.5 * polarity]
