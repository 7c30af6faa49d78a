"""The oracle of pairs: its dictionary by brute force, its names, costs and choices."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost import DirectBoostClassifier
from directboost.model.learners import CategoryStump, Constant, Product, Stump
from directboost.oracles import OracleData, PairOracle, pair
from directboost.penalties import L1, GroupNorm
from tests.conftest import make_blobs
from tests.contracts.test_oracles import PENALTIES, draw
from tests.reference.stumps import enumerate_with_products, prices


def make_data(X, costs=None, **options):
    """Return the training data of an oracle, with unit weights and all thresholds by default."""
    m, d = X.shape
    costs = np.ones(d + 1) if costs is None else costs
    settings = {"weight": np.ones(m), "total_weight": float(m), **options}
    return OracleData(X=X, costs=costs, **settings)


def responses(oracle, proposals):
    """Return the responses of the proposed columns to the training rows, (m, n)."""
    names = zip(proposals.feature, proposals.threshold, proposals.polarity, strict=True)
    return np.column_stack([oracle.source.response(*map(int, name)) for name in names])


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES.keys())
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), factor=st.sampled_from([0.4, 1.0, 3.0]))
def test_max_price_equals_brute_force(penalty, seed, k, factor):
    """Over all stumps and products, with ties, missing values and costs."""
    X, costs, A = draw(seed, k=k)
    oracle = PairOracle(interaction_cost=factor).on(make_data(X, costs))
    H, kappa = enumerate_with_products(X, costs[:-1], factor=factor)
    if penalty.p is None:
        expected = (penalty.dual_norm(H.T @ A) / kappa).max()
    else:
        expected = prices(H, kappa, A, penalty.p).max()
    pricing = oracle.price(A, penalty)
    assert pricing.max_price == pytest.approx(expected, rel=1e-12)
    assert abs(pricing.max_price - expected) <= pricing.rounding
    first = responses(oracle, pricing.proposals.take(slice(1)))[:, 0]
    cost = oracle.costs[int(pricing.proposals.feature[0])]
    assert penalty.dual_norm(first[None] @ A)[0] / cost == pytest.approx(expected, rel=1e-11)
    assert oracle.price(A, penalty, "paper").max_price == pricing.max_price


@given(seed=st.integers(0, 10**6))
def test_proposals_are_the_learners_that_they_name(seed):
    """Response and weak classifier of every proposal agree on the rows, and so does the price."""
    X, costs, A = draw(seed)
    oracle, penalty = PairOracle().on(make_data(X, costs)), GroupNorm(2.0)
    proposals = oracle.price(A, penalty).proposals
    H = responses(oracle, proposals)
    for j, name in enumerate(
        zip(proposals.feature, proposals.threshold, proposals.polarity, strict=True)
    ):
        learner = oracle.source.learner(*map(int, name))
        np.testing.assert_array_equal(learner.predict(X), H[:, j])
        price = penalty.dual_norm(H[:, [j]].T @ A)[0] / oracle.costs[int(name[0])]
        assert price == pytest.approx(proposals.price[j], rel=1e-11, abs=1e-13)
        codes = oracle.source.codes_of(int(name[0]))
        if isinstance(learner, Product):
            np.testing.assert_array_equal(np.where(codes, name[2], -name[2]), H[:, j])
    kinds = {type(oracle.source.learner(int(f), 0, 1)) for f in proposals.feature}
    assert kinds == {Stump, Constant, Product}


def test_a_product_costs_the_mean_of_its_features():
    X, costs = draw(1)[0], np.array([1.0, 2.0, 6.0, 1.0])
    oracle = PairOracle(interaction_cost=1.5).on(make_data(X, costs))
    oracle.price(draw(1)[2], L1())
    for number in range(4, len(oracle.costs)):
        learner = oracle.source.learner(number, 0, 1)
        assert oracle.costs[number] == 1.5 * costs[list(learner.features)].mean()


def test_categories_are_one_level_against_the_rest():
    """The products of a categorical and a numeric feature separate a level, or no level at all."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 60), rng.normal(size=60)]).astype(float)
    data = make_data(X, levels=np.array([4, 0]))
    oracle = PairOracle().on(data)
    A = rng.normal(size=(60, 3))
    levels = [np.where(X[:, 0] == level, 1.0, -1.0) for level in range(4)]
    cuts = np.unique(X[:, 1])[:-1]
    steps = [np.where(X[:, 1] > cut, 1.0, -1.0) for cut in cuts]
    H = [np.ones(60), *levels, *steps, *(one * two for one in levels for two in steps)]
    exact = PairOracle(pair_bins=255).on(data)
    expected = prices(np.column_stack([*H, *(-h for h in H)]), np.ones(2 * len(H)), A, 2.0).max()
    assert exact.price(A, GroupNorm(2.0)).max_price == pytest.approx(expected, rel=1e-12)
    kinds = set()
    for f in oracle.price(A, GroupNorm(2.0)).proposals.feature.tolist():
        learner = oracle.source.learner(f, 0, 1)
        if isinstance(learner, Product):
            kinds.add(type(learner.first))
            assert learner.first.polarity == 1
    assert kinds == {CategoryStump}


def test_rare_levels_share_a_code_without_a_rule():
    """With more levels than bins, only the most frequent ones are separated from the rest."""
    counts = [9, 1, 7, 2, 5]
    levels = np.repeat(np.arange(5.0), counts)
    X = np.column_stack([levels, np.arange(24.0) % 2])
    oracle = PairOracle(pair_bins=3).on(make_data(X, levels=np.array([5, 0])))
    bins = oracle.binned.bins
    assert bins.thresholds[0].tolist() == [0, 2]
    assert bins.n_bins.tolist() == [3, 2]
    assert np.unique(bins.codes[:, 0], return_counts=True)[1].tolist() == [9, 7, 8]
    A = np.where(levels == 1, 5.0, 0.0)[:, None] * np.where(X[:, 1:] > 0, 1.0, -1.0)
    pricing = oracle.price(np.column_stack([A, -A]), L1())
    products = [oracle.source.learner(int(f), 0, 1) for f in pricing.proposals.feature]
    assert {p.first.level for p in products if isinstance(p, Product)} <= {0.0, 2.0}


def test_merged_bins_are_weighted_quantiles():
    """Weight 2 equals the row twice; thresholds are among those of the stumps."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 2)), rng.integers(1, 4, 300)
    one = PairOracle(pair_bins=8).on(make_data(X, weight=weight.astype(float)))
    two = PairOracle(pair_bins=8).on(make_data(np.repeat(X, weight, axis=0)))
    for f in range(2):
        assert one.binned.bins.thresholds[f].size == 7
        np.testing.assert_array_equal(one.binned.bins.thresholds[f], two.binned.bins.thresholds[f])
    mass = np.bincount(one.binned.bins.codes[:, 0], weights=weight)
    np.testing.assert_allclose(mass, weight.sum() / 8, atol=3)


@pytest.mark.parametrize(
    ("interactions", "pairs", "dictionary"),
    [
        (None, [(0, 1), (0, 2), (1, 2)], "all stumps and all pairs"),
        (3, [(0, 1), (0, 2), (1, 2)], "all stumps and all pairs"),
        ([(2, 0, 1)], [(0, 1), (0, 2), (1, 2)], "all stumps and all pairs"),
        ([(0, 2)], [(0, 2)], "all stumps and all pairs of these 2 features (x0, x2)"),
        (
            np.array([[2, 0], [0, 1], [0, 2]]),
            [(0, 1), (0, 2)],
            "all stumps and these 2 pairs (x0 and x1, x0 and x2)",
        ),
        (0, [], "all stumps"),
    ],
)
def test_the_dictionary_says_which_pairs_it_contains(interactions, pairs, dictionary):
    X, costs, A = draw(4)
    oracle = PairOracle(interactions).on(make_data(X, costs))
    check_dictionary(oracle, X, costs, A, pairs, dictionary)


def test_a_single_feature_has_no_pair():
    X, costs, A = draw(4)
    oracle = PairOracle().on(make_data(X[:, :1], costs[-2:]))
    check_dictionary(oracle, X[:, :1], costs[-2:], A, [], "all stumps")


@given(
    seed=st.integers(0, 10**6),
    groups=st.lists(st.lists(st.integers(0, 2), min_size=2, unique=True), min_size=1, max_size=3),
)
def test_chosen_pairs_are_priced_and_no_others(seed, groups):
    """Groups of two or more of three features, in any order, also repeated."""
    X, costs, A = draw(seed)
    pairs = sorted({tuple(sorted(pair)) for group in groups for pair in combinations(group, 2)})
    H, kappa = enumerate_with_products(X, costs[:-1], pairs)
    oracle = PairOracle(groups).on(make_data(X, costs))
    pricing = oracle.price(A, GroupNorm(2.0))
    assert pricing.max_price == pytest.approx(prices(H, kappa, A, 2.0).max(), rel=1e-12)
    found = {oracle.source.learner(int(f), 0, 1).features for f in pricing.proposals.feature}
    assert {features for features in found if len(features) == 2} <= set(pairs)


def test_an_oracle_cannot_choose_features_without_labels():
    X, costs, _ = draw(4)
    with pytest.raises(ValueError, match=r"interactions=2 is invalid .* depend on the labels"):
        PairOracle(2).on(make_data(X, costs))
    with pytest.raises(ValueError, match="column 3, but X has 3 features"):
        PairOracle([(0, 3)]).on(make_data(X, costs))


def check_dictionary(oracle, X, costs, A, known, dictionary):
    """Compare the name of the dictionary, and its highest price with brute force."""
    assert oracle.dictionary == dictionary
    data = make_data(X, costs)
    H, kappa = enumerate_with_products(data.X, data.costs[:-1], known)
    expected = prices(H, kappa, A, 2.0).max()
    assert oracle.price(A, GroupNorm(2.0)).max_price == pytest.approx(expected, rel=1e-12)


def test_constant_features_enter_no_pair():
    """They have no stump, so the dictionary is complete without them."""
    X = np.column_stack([np.arange(6.0), np.ones(6), np.arange(6.0) % 2])
    oracle = PairOracle().on(make_data(X))
    assert oracle.dictionary == "all stumps and all pairs"
    assert oracle.binned.bins.features.tolist() == [0, 2]


def test_features_with_a_direction_enter_no_pair():
    """A sign constraint on a product would not make the score monotone."""
    data = make_blobs(2, m=60, d=3)
    clf = DirectBoostClassifier(learner="pair", nu=0.05, monotonic_cst=[1, 0, 0])
    clf.fit(data.X, data.y)
    products = [h for h in clf.learners_ if isinstance(h, Product)]
    assert products
    assert all(0 not in h.features for h in products)
    words = "all pairs of these 2 features (x1, x2) on 32 bins, monotone"
    assert clf.certificate_.dictionary.endswith(words)
    assert clf.certificate_.converged
    at = np.linspace(-3, 3, 50)
    scores = clf.decision_function(np.column_stack([at, 0 * at, 0 * at]))
    assert (np.diff(scores) >= 0.0).all()


def test_large_data_are_priced_in_parts(monkeypatch):
    """Every fourth call, and the second one for the same coefficients, prices all pairs."""
    rng = np.random.default_rng(0)
    data, penalty = make_data(rng.normal(size=(60, 9))), GroupNorm(2.0)
    A = rng.normal(size=(6, 60, 3))
    whole = PairOracle().on(data)
    monkeypatch.setattr(pair, "_LARGE", 0)
    oracle = PairOracle().on(data)
    assert oracle.prices_in_parts
    assert not whole.prices_in_parts
    complete = [oracle.price(A[i], penalty) for i in (0, 1, 1, 2, 3, 4, 5)]
    assert [pricing.complete for pricing in complete] == [True, False, True, *[False] * 3, True]
    for i, pricing in zip((0, 1, 5), (complete[0], complete[2], complete[6]), strict=True):
        assert pricing.max_price == whole.price(A[i], penalty).max_price
    for pricing in (complete[1], complete[3]):  # 36 // 8 pairs
        chosen = [oracle.source.learner(*map(int, name[:3])) for name in zip(
            pricing.proposals.feature, pricing.proposals.threshold, pricing.proposals.polarity,
            strict=True,
        )]  # fmt: skip
        assert len({h.features for h in chosen if isinstance(h, Product)}) == 4
    assert oracle.reprice(A[3], penalty).max_price == whole.price(A[3], penalty).max_price


def test_a_fit_in_parts_has_the_same_optimum(monkeypatch):
    data = make_blobs(3, m=90, d=6)
    settings = {"learner": "pair", "nu": 0.02, "tol": 1e-4}
    whole = DirectBoostClassifier(**settings).fit(data.X, data.y).certificate_
    monkeypatch.setattr(pair, "_LARGE", 0)
    parts = DirectBoostClassifier(**settings).fit(data.X, data.y).certificate_
    assert parts.converged
    assert max(parts.dual, whole.dual) <= min(parts.primal, whole.primal)


@pytest.mark.parametrize("value", [1, 256, 2.5, "8", True])
def test_pair_bins_out_of_range(value):
    with pytest.raises(ValueError, match=r"pair_bins=.* is invalid: expected an integer from 2"):
        PairOracle(pair_bins=value)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, "1"])
def test_interaction_cost_out_of_range(value):
    with pytest.raises(ValueError, match=r"interaction_cost=.* is invalid: expected a positive"):
        PairOracle(interaction_cost=value)
