"""Random models of stumps, levels, products and trees, on arbitrary float32 numbers."""

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from directboost.export import write_c
from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Constant, Product, Stump
from directboost.model.trees import Leaf, Tree
from tests.export.compiled import Compiled, check, fact, needs_gcc, python_scores

DTYPES = ("float32", "float64", "int16")
pytestmark = needs_gcc


class Fitted:
    """The minimal interface that `to_c` needs: weak classifiers with weights."""

    def __init__(self, learners, weights, d):
        self.ensemble_, self.n_features_in_ = Ensemble(learners, weights), d
        self.features_used_ = self.ensemble_.features
        self.classes_, self._factor = np.arange(weights.shape[1]), 1.0
        self.categories_ = [None] * d

    def to_c(self, path, dtype, name):
        return write_c(self, path, dtype=dtype, name=name, self_test=None)

    def _scores(self, X, ensemble):
        return ensemble.scores(X)


NUMBERS = st.floats(-10.0, 10.0) | st.sampled_from(
    [0.0, -0.0, 1e-300, -1e-300, 1e-45, 1e300, -1e300, 0.1, float(np.float32(0.1)), 0.1 + 1e-12]
)
VALUES = st.floats(width=32, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, float("nan"), 1e-45, -1e-45, 3.4028234663852886e38, -3.4028234663852886e38]
).map(lambda x: float(np.float32(x)))


@st.composite
def models(draw):
    """Draw weak classifiers on two numbers and a category, with weights."""
    side, sign = st.booleans(), st.sampled_from([-1, 1])

    def stumps(features):
        threshold = st.builds(Stump, features, NUMBERS, sign, side)
        return threshold | st.builds(Stump, features, st.just(np.inf), sign, st.just(True))

    level = st.builds(CategoryStump, st.just(2), st.integers(0, 3).map(float), sign)
    other = stumps(st.just(1)) | level
    kinds = [stumps(st.integers(0, 1)), level, st.builds(Product, stumps(st.just(0)), other)]
    some = draw(st.lists(st.one_of(*kinds, st.builds(Constant, sign)), min_size=1, max_size=12))
    k = draw(st.integers(2, 10))
    weight = st.floats(0.0, 3.0).map(lambda w: 0.0 if w < 1.0 else w)
    weights = draw(st.lists(weight, min_size=k * len(some), max_size=k * len(some)))
    return Fitted(some, np.array(weights).reshape(-1, k), 3)


#: Shrinking would compile hundreds of programs.
@settings(phases=[Phase.generate], max_examples=settings.default.max_examples // 2)
@given(models(), st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=20), st.data())
def test_random_stumps_on_arbitrary_numbers(tmp_path_factory, model, pairs, data):
    """Scores agree up to the bound, and exactly in double, also for rows at thresholds."""
    kinds = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
    rows = [[*pair, data.draw(kinds)] for pair in pairs]
    learners = model.ensemble_.learners
    factors = [s for h in learners if isinstance(h, Product) for s in (h.first, h.second)]
    cuts = [h.threshold for h in [*learners, *factors] if isinstance(h, Stump)]
    for cut in np.clip(cuts, -3e38, 3e38).astype(np.float32):
        around = (
            cut,
            np.nextafter(cut, np.float32(-np.inf)),
            np.nextafter(cut, np.float32(np.inf)),
        )
        rows += [[value, value, 0.0] for value in around]
    X = np.array(rows, dtype=np.float32)
    dtype = data.draw(st.sampled_from(DTYPES))
    check(model, dtype, tmp_path_factory.mktemp("any"), X)


def test_thresholds_that_float32_cannot_distinguish_are_counted_and_merged(tmp_path):
    """Between 1 + 1e-12 and 1 + 2e-12 there is no float32 number."""
    learners = [Stump(0, 1.0 + 1e-12 * i, 1, False) for i in range(4)] + [Stump(0, 2.0, 1, True)]
    model = Fitted(learners, np.arange(1.0, 11.0).reshape(5, 2), 1)
    code = Compiled(model, "float32", tmp_path)
    assert fact(code.text, "thresholds") == "3 merged by rounding to float32"
    assert "model_cuts[2]" in code.text
    X = np.array([[0.5], [1.0], [np.nextafter(np.float32(1), np.float32(2))], [3.0], [np.nan]])
    np.testing.assert_allclose(code.scores(X), python_scores(model, X), rtol=1e-6)
    assert "0 merged by rounding to float64" in Compiled(model, "float64", tmp_path).text


def test_products_share_their_tests(tmp_path):
    """Two numbers that float32 cannot distinguish are one test, and zero products are left out."""
    low, near = Stump(0, 1.0, 1, False), Stump(0, 1.0 + 1e-12, -1, False)
    other, level = Stump(1, 0.0, 1, False), CategoryStump(2, 1.0, 1)
    learners = [Product(low, other), Product(near, other), Product(low, level), Product(low, near)]
    weights = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    code = Compiled(Fitted(learners, weights, 3), "float32", tmp_path)
    assert "model_tests[3]" in code.text
    assert "model_weights[4]" in code.text
    assert fact(code.text, "thresholds") == "1 merged by rounding to float32"
    words = "3 feature comparisons, 3 products of two tests, 6 bit tests, 4"
    assert fact(code.text, "operations").startswith(f"at most {words}")


def test_quantized_scores_use_their_range_and_do_not_overflow(tmp_path):
    """A thousand equal votes and a tiny one: the sums fit into 32 bits."""
    learners = [Stump(f, 0.0, 1, False) for f in range(1001)]
    weights = np.array([[1.0, 0.5]] * 1000 + [[0.0, 1e-3]])
    model = Fitted(learners, weights, 1001)
    code = Compiled(model, "int16", tmp_path)
    X = np.array([np.ones(1001), -np.ones(1001)])
    np.testing.assert_allclose(code.scores(X), python_scores(model, X), atol=code.bound)
    assert code.bound < 0.1


def test_trees_with_splits_of_all_kinds(tmp_path):
    """Infinite thresholds separate missing from present values, on either side."""
    value = np.array([-1e300, 1e300, np.inf, -np.inf, 2.0, 0.1])
    level = np.array([False, False, False, False, True, False])
    side = np.array([True, False, False, True, False, True])
    left, right = np.array([1, 3, ~0, ~1, ~2, ~3]), np.array([2, 4, 5, ~4, ~5, ~6])
    tree = Tree(np.array([0, 1, 1, 2, 2, 0]), value, level, side, left, right)
    lone = Tree(*(np.empty(0, dtype=kind) for kind in (int, float, bool, bool, int, int)))
    learners = [*(Leaf(tree, leaf, 1) for leaf in range(7)), Leaf(lone, 0, -1)]
    model = Fitted(learners, np.arange(1.0, 25.0).reshape(8, 3) ** 2, 3)
    tiny, gap, top = np.nextafter(np.float32(0.1), np.float32(0)), np.nan, np.float32(3e38)
    some = [[0.1, tiny, -top, top, gap], [0.0, -top, top, gap], [0.0, 2.0, gap]]
    X = np.array(np.meshgrid(*some)).reshape(3, -1).T
    reached = {int(leaf) for leaf in tree.apply(X.astype(np.float32))}
    assert reached == set(range(7))
    for dtype in DTYPES:
        check(model, dtype, tmp_path, X)
