"""Random small models in ONNX: rows at and next to thresholds, ties, missing values."""

from copy import copy

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from directboost import DirectBoostClassifier
from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Constant, Product, Stump
from directboost.model.trees import Leaf, Tree
from tests.conftest import make_blobs
from tests.export.onnx_session import assert_agrees, run

#: 0.1 and 1/3 are not float32 numbers; 1e-40 is subnormal in float32, 1e-310 also in double.
CUTS = [-1.0, 0.0, 0.1, 1 / 3, 2.0, 1e-40, 1e-310, 16777217.0, np.inf]
#: Sums of these depend on the order of summation, and ties are frequent.
WEIGHTS = [0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1e16]

signs = st.sampled_from([1, -1])
stumps = st.builds(Stump, st.integers(0, 1), st.sampled_from(CUTS), signs, st.booleans())
levels = st.builds(CategoryStump, st.just(2), st.sampled_from([0.0, 1.0, 2.0]), signs)
constants = st.builds(Constant, signs)
products = st.builds(Product, stumps, st.one_of(stumps, levels))


@st.composite
def trees(draw):
    """Draw a tree whose leaves are split one after the other."""
    n = draw(st.integers(1, 5))
    left, right, open_ends = np.full(n, -1), np.full(n, -1), [(None, None)]
    for split in range(n):
        side, above = open_ends.pop(draw(st.integers(0, len(open_ends) - 1)))
        if side is not None:
            side[above] = split
        open_ends += [(left, split), (right, split)]
    for leaf, (side, above) in enumerate(open_ends):
        side[above] = ~leaf
    levels = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    cuts = draw(st.lists(st.sampled_from(CUTS[:-1]), min_size=n, max_size=n))
    feature = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    missing = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    value = np.where(levels, np.arange(n) % 3, cuts)
    return Tree(np.where(levels, 2, feature), value, levels, missing, left, right)


@st.composite
def leaves(draw):
    """Draw a leaf of a tree of its own."""
    tree = draw(trees())
    return Leaf(tree, draw(st.integers(0, tree.n_leaves - 1)), draw(signs))


def rows():
    """Return rows with the float32 neighbours of the thresholds, zeros and missing values.

    Feature 2 contains level indices.
    """
    near = np.array(CUTS[:-1], dtype=np.float32)
    some = [near, np.nextafter(near, np.float32(9e9)), np.nextafter(near, np.float32(-9e9))]
    some.append(np.array([-0.0, 0.5, 3e38, -3e38, np.nan], dtype=np.float32))
    values, rng = np.concatenate(some), np.random.default_rng(0)
    codes = np.resize([0.0, 1.0, 2.0, np.nan], values.size)
    return np.stack([values, rng.permutation(values), codes], axis=1).astype(np.float64)


ROWS = rows()
BASES = {k: DirectBoostClassifier(nu=0.5).fit(*((b := make_blobs(k)).X, b.y)) for k in (2, 3, 4)}


def model_of(members, k, seed):
    """Return a fitted estimator whose weak classifiers and weights are replaced."""
    model, rng = copy(BASES[k]), np.random.default_rng(seed)
    model.learners_, model.weights_ = members, rng.choice(WEIGHTS, (len(members), k))
    model.ensemble_ = Ensemble(members, model.weights_)
    return model


@given(
    members=st.lists(st.one_of(stumps, levels, constants, products), min_size=1, max_size=12),
    k=st.sampled_from([2, 3, 4]),
    seed=st.integers(0, 999),
)
def test_stumps_levels_and_products_predict_as_in_python(members, k, seed):
    """Equal to the bit, including ties, for arbitrary thresholds and weights."""
    assert_agrees(model_of(members, k, seed), ROWS)


@given(
    members=st.lists(st.one_of(leaves(), stumps, products), min_size=1, max_size=8),
    seed=st.integers(0, 999),
)
def test_leaves_predict_as_in_python(members, seed):
    assert_agrees(model_of(members, 3, seed), ROWS)


@given(members=st.lists(st.one_of(stumps, levels, leaves()), min_size=1), seed=st.integers(0, 99))
def test_scores_are_the_weighted_votes(members, seed):
    """Compared with the sum over the weak classifiers, without tables."""
    model, X = model_of(members, 3, seed), ROWS
    pairs = zip(members, model.weights_, strict=True)
    expected = sum(np.outer(h.predict(X), w) for h, w in pairs)
    total = np.abs(model.weights_).sum()
    np.testing.assert_allclose(run(model, X)[2], expected, rtol=0.0, atol=1e-14 * (1.0 + total))


def test_ties_go_to_the_first_class():
    """Two classes with equal weights tie in every row."""
    weights = np.array([[0.0, 0.3, 0.3], [0.1, 0.2, 0.2]])
    model = copy(BASES[3])
    model.learners_ = [Stump(0, 0.5, 1, False), Stump(1, 0.1, 1, False)]
    model.weights_, model.ensemble_ = weights, Ensemble(model.learners_, weights)
    label, _, scores = run(model, np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    assert (scores[:, 1] == scores[:, 2]).all()
    assert label.tolist() == [1, 0]
