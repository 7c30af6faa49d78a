"""The effects of features and pairs add up to the scores, whatever the means of the products."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Constant, Product, Stump

D = 4
VALUES = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0, np.nan]
signs = st.sampled_from([1, -1])
means = st.floats(-1.0, 1.0)


def stumps_on(feature):
    """Return a strategy of stumps on a feature; the last feature is a category."""
    if feature == D - 1:
        return st.builds(CategoryStump, st.just(feature), st.sampled_from([0.0, 1.0, 3.0]), signs)
    cuts = st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf])
    return st.builds(Stump, st.just(feature), cuts, signs, st.booleans())


@st.composite
def products(draw):
    one, other = sorted(draw(st.sets(st.integers(0, D - 1), min_size=2, max_size=2)))
    return Product(draw(stumps_on(one)), draw(stumps_on(other)), (draw(means), draw(means)))


learners = st.one_of(
    st.integers(0, D - 1).flatmap(stumps_on), products(), products(), st.builds(Constant, signs)
)


def draw_model(members, k, seed):
    """Return an ensemble with random coefficients, and rows on and between its thresholds."""
    rng = np.random.default_rng(seed)
    X = rng.choice(VALUES, (50, D))
    X[:, -1] = rng.choice([0.0, 1.0, 2.0, 3.0, np.nan], 50)
    return Ensemble(members, rng.uniform(0.0, 2.0, (len(members), k))), X


@given(members=st.lists(learners, max_size=12), k=st.integers(1, 4), seed=st.integers(0, 999))
def test_effects_add_up_to_the_scores(members, k, seed):
    """Intercept, features and pairs; a pair is there if a product reads it, and no other is."""
    model, X = draw_model(members, k, seed)
    pairs = sorted({h.features for h in members if isinstance(h, Product)})
    assert [pair.features for pair in model.effects.pairs] == pairs
    for rows in (X, csc_array(X), X.astype(np.float32)):
        parts = model.contributions(rows)
        assert parts.shape == (50, D + len(pairs), k)
        total = model.purified_intercept + parts.sum(axis=1)
        np.testing.assert_allclose(total, model.scores(rows), rtol=0, atol=1e-12)
    unused = [f for f in range(D) if f not in model.features]
    assert not parts[:, unused].any()


@given(members=st.lists(products(), min_size=1, max_size=8), seed=st.integers(0, 999))
def test_every_part_is_the_sum_over_its_stumps(members, seed):
    """A product gives its centred part to the pair, and the means of the others to each factor."""
    model, X = draw_model(members, 2, seed)
    expected = {}
    for product, row in zip(members, model.weights, strict=True):
        (a, b), (mu_a, mu_b) = product.features, product.means
        h_a, h_b = product.first.predict(X), product.second.predict(X)
        for part, value in (
            ((a, b), (h_a - mu_a) * (h_b - mu_b)), ((a,), mu_b * h_a), ((b,), mu_a * h_b)
        ):  # fmt: skip
            expected[part] = expected.get(part, 0.0) + np.outer(value, row)
    parts = model.contributions(X)
    for number, pair in enumerate(model.effects.pairs, start=D):
        np.testing.assert_allclose(parts[:, number], expected[pair.features], rtol=0, atol=1e-12)
    for feature in model.features.tolist():
        np.testing.assert_allclose(parts[:, feature], expected[feature,], rtol=0, atol=1e-12)
    intercept = sum(
        -h.means[0] * h.means[1] * row for h, row in zip(members, model.weights, strict=True)
    )
    np.testing.assert_allclose(model.effects.intercept, intercept, rtol=0, atol=1e-12)


def test_a_pair_by_hand():
    """x0 > 1 for a quarter of the rows, and x1 > 5 for half of them."""
    rule = Product(Stump(0, 1.0, 1, False), Stump(1, 5.0, 1, False), (-0.5, 0.0))
    effects = Ensemble([rule], np.array([[2.0]])).effects
    np.testing.assert_array_equal(effects.intercept, [0.0])
    assert effects.features.tolist() == [0, 1]
    np.testing.assert_array_equal(effects.main_effect(0)[1][:, 0], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(effects.main_effect(1)[1][:, 0], [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(effects.main_effect(2)[1][:, 0], [0.0, 0.0])
    (pair,) = effects.pairs
    expected = [[1.0, -1.0, 1.0], [-3.0, 3.0, -3.0], [1.0, -1.0, 1.0]]
    np.testing.assert_array_equal(pair.values[:, :, 0], expected)


def test_effects_of_a_model_without_products_are_its_tables():
    model = Ensemble([Stump(0, 1.0, 1, False), Constant(1)], np.array([[2.0], [0.5]]))
    assert model.effects.tables is model.tables
    assert model.effects.pairs == []
    np.testing.assert_array_equal(model.effects.intercept, [0.5])


def test_means_do_not_change_the_scores():
    X = np.random.default_rng(0).choice(VALUES, (50, D))
    factors = Stump(0, 1.0, 1, False), CategoryStump(3, 1.0, -1)
    one, two = (
        Ensemble([Product(*factors, own)], np.ones((1, 1))) for own in ((0.0, 0.0), (0.5, -0.25))
    )
    np.testing.assert_array_equal(one.scores(X), two.scores(X))
    first, second = (model.contributions(X)[:, [0, 3], 0] for model in (one, two))
    assert not first.any()
    np.testing.assert_array_equal(np.abs(second), np.full((50, 2), [0.25, 0.5]))
