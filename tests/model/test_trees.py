"""Trees as weak learners: growth, leaves as columns, their certificate, and pruning."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)
from directboost.data.binning import bin_features
from directboost.kernels.step_functions import answers
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.model.ensemble import Ensemble
from directboost.model.trees import Leaf, Tree, pruned
from directboost.oracles import OracleData, TreeOracle
from directboost.oracles.tree_growth import TreeGrower
from directboost.penalties import GroupNorm
from directboost.problem.feature_columns import FeatureColumns
from directboost.problem.objective import Objective
from directboost.solvers import BlockDescent
from directboost.training.column_generation import LoopSettings, WarmStart, run
from directboost.training.settings import resolve_objective
from directboost.training.stopping import StoppingRule
from tests.reference.twin import solve_twin

K = 3


def draw(m=200, seed=0):
    """Return rows with missing values and a category, on which the classes depend jointly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 4)), 1)
    X[:, 3] = rng.integers(0, 5, m)
    y = ((X[:, 0] > 0).astype(int) ^ (X[:, 1] > 0)) + (X[:, 3] == 2)
    X[rng.random(m) < 0.15, 1] = np.nan
    return X, y.astype(np.int32), rng.integers(1, 4, m).astype(float)


def grown(A, max_leaves=8, min_share=0.0, seed=0, rows=None):
    X, _, weight = draw(A.shape[0], seed)
    binned = bin_features(X, weight / weight.max(), 255, None, np.arange(4) == 3)
    grower = TreeGrower(binned, weight, max_leaves, min_share)
    rows = np.arange(A.shape[0]) if rows is None else rows
    return X, weight, binned, grower.grow(A, np.arange(4), rows)


def explained(A, weight, leaves):
    """Return the explained part of A: the squared sums of the leaves over their weights."""
    groups = [leaves == leaf for leaf in np.unique(leaves)]
    return sum(float((A[g].sum(axis=0) ** 2).sum() / weight[g].sum()) for g in groups)


def test_the_first_split_is_the_best(rng):
    """Compare with all thresholds, levels and sides of missing values."""
    for seed in range(5):
        A = rng.normal(size=(200, K))
        X, weight, binned, tree = grown(A, max_leaves=2, seed=seed)
        best = max(
            explained(A, weight, row[binned.codes[f]])
            for f in range(4)
            for row in answers(int(binned.n_bins[f]), int(binned.kinds[f]))
            if np.unique(row[binned.codes[f]]).size == 2
        )
        assert explained(A, weight, tree.apply(X)) == pytest.approx(best, rel=1e-12)


def test_every_split_gains_and_leaves_are_numbered(rng):
    A = rng.normal(size=(200, K))
    last = 0.0
    for leaves in range(2, 12):
        X, weight, _, tree = grown(A, max_leaves=leaves)
        assert tree.n_leaves == leaves
        assert np.unique(tree.apply(X)).tolist() == list(range(leaves))
        now = explained(A, weight, tree.apply(X))
        assert now > last
        last = now


def test_a_leaf_has_its_share_of_the_weight(rng):
    A = rng.normal(size=(200, K))
    X, weight, _, tree = grown(A, max_leaves=50, min_share=0.1)
    shares = np.bincount(tree.apply(X), weight) / weight.sum()
    assert 2 <= tree.n_leaves <= 10
    assert shares.min() >= 0.1


def test_no_tree_is_grown_without_a_gain():
    assert grown(np.zeros((200, K)))[3] is None
    assert grown(np.ones((200, K)), min_share=0.6)[3] is None


def test_excluded_rows_do_not_count(rng):
    A = rng.normal(size=(200, K))
    rows = np.sort(rng.permutation(200)[:120])
    changed = A.copy()
    changed[np.setdiff1d(np.arange(200), rows)] = 99.0
    trees = [grown(values, rows=rows)[3] for values in (A, changed)]
    np.testing.assert_array_equal(trees[0].value, trees[1].value)


def by_hand():
    """Return x0 > 1 ? (x1 is not 2 ? leaf 2 : leaf 1) : leaf 0, missing left, right, right."""
    return Tree(
        np.array([0, 1]), np.array([1.0, 2.0]), np.array([False, True]), np.array([True, False]),
        np.array([~0, ~1]), np.array([1, ~2]),
    )  # fmt: skip


def test_a_row_goes_down_the_tree():
    X = np.array([[0.0, 2.0], [5.0, 2.0], [5.0, 3.0], [np.nan, 2.0], [5.0, np.nan]])
    assert by_hand().apply(X).tolist() == [0, 1, 2, 0, 2]
    assert Leaf(by_hand(), 1, -1).predict(X).tolist() == [1, -1, 1, 1, 1]
    assert Leaf(by_hand(), 1, 1).describe("a, b") == "leaf 1 of a tree on a, b"
    assert by_hand().features == (0, 1)


def test_unnecessary_splits_are_removed(rng):
    """The responses of any leaves to any rows stay the same."""
    A = rng.normal(size=(200, K))
    X, _, _, tree = grown(A, max_leaves=12)
    for count in (1, 2, 5, 12):
        numbers = rng.permutation(12)[:count]
        before = [Leaf(tree, int(n), sign) for n in numbers for sign in (1, -1)]
        after = pruned(before)
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old.predict(X), new.predict(X))
        smaller = after[0].tree
        assert smaller.n_leaves <= 12
        assert all(h.tree is smaller for h in after)
        if count == 1:
            assert smaller.n_leaves < 12
        weights = rng.uniform(0.0, 1.0, (len(after), K))
        expected = sum(np.outer(h.predict(X), w) for h, w in zip(after, weights, strict=True))
        np.testing.assert_allclose(Ensemble(after, weights).scores(X), expected, atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_the_certificate_holds_over_all_leaves_that_were_grown(loss):
    """Compare with an independent solver over the responses of all leaves."""
    X, y, weight = draw(80)
    data = OracleData(X, weight, weight.sum(), np.array([1.0, 2.0, 1.0, 0.5, 1.0]), 255,
        levels=np.array([0, 0, 0, 5]))  # fmt: skip
    oracle = TreeOracle(max_leaves=4, trees_per_round=2).on(data)
    margin = MARGINS["pairwise"].from_codes(y, K)
    goal = Objective(
        margin,
        LOSSES[loss](),
        GroupNorm(2.0),
        0.02,
        SampleWeights.weighted(weight, K, margin.true_class),
    )
    plan = LoopSettings(goal, oracle, BlockDescent(), StoppingRule(1e-4))
    outcome = run(plan, WarmStart(FeatureColumns(oracle.binned, oracle.costs, K), []))
    bins = oracle.binned
    names = [(f, j, s) for f in range(bins.n_features + 1) for j in range(bins.n_thresholds(f))
             for s in (1, -1)]  # fmt: skip
    H = np.column_stack([bins.response(*name) for name in names])
    for name, column in zip(names, H.T, strict=True):
        np.testing.assert_array_equal(bins.learner(*name).predict(X), column)
    kappa = np.array([bins.costs[f] for f, _, _ in names])
    best, _ = solve_twin(H, y, K, weight, loss, "pairwise", 2.0, goal.nu, kappa)
    assert outcome.certificate.converged
    assert outcome.certificate.dictionary == "generated columns"
    assert outcome.certificate.dual <= best * (1.0 + 1e-9)
    assert best <= outcome.certificate.primal * (1.0 + 1e-9)
    assert bins.costs[0] == 1.0
    assert all(cost == data.costs[list(bins.learner(f, 0, 1).features)].sum()
               for f, cost in enumerate(bins.costs) if f)  # fmt: skip


def test_interactions_are_found():
    """Trees separate classes that depend on two features jointly, stumps do not."""
    X, y, _ = draw(600)
    X = np.nan_to_num(X[:, :2])
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    stumps = DirectBoostClassifier(nu=0.03).fit(X, y)
    trees = DirectBoostClassifier(nu=0.03, learner="tree").fit(X, y)
    assert stumps.score(X, y) < 0.7
    assert trees.score(X, y) > 0.97
    assert trees.certificate_.converged
    assert " and " in trees.summary().splitlines()[5]
    with pytest.raises(ValueError, match="fit with learner='stump'"):
        trees.explain(X)


def test_few_leaves_beat_many_stumps_on_digits():
    X, y = load_digits(return_X_y=True)
    fit, check = np.arange(1797) % 4 > 0, np.arange(1797) % 4 == 0
    model = DirectBoostClassifier(nu=0.03, learner="tree").fit(X[fit], y[fit])
    assert model.n_learners_ < 150
    assert model.score(X[check], y[check]) > 0.92


def test_the_same_seed_gives_the_same_trees():
    X, y = load_wine(return_X_y=True)
    oracle = TreeOracle(max_leaves=4, row_share=0.7, feature_share=0.5)
    fits = [
        DirectBoostClassifier(nu=0.05, learner=oracle, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0].weights_, fits[1].weights_)
    assert (
        fits[0].weights_.shape != fits[2].weights_.shape
        or (fits[0].weights_ != fits[2].weights_).any()
    )
    again = pickle.loads(pickle.dumps(fits[0]))
    np.testing.assert_array_equal(again.decision_function(X), fits[0].decision_function(X))


def test_trees_do_not_depend_on_threads():
    X, y = load_digits(return_X_y=True)
    fits = [DirectBoostClassifier(nu=0.1, learner="tree", n_jobs=n).fit(X, y) for n in (1, 2)]
    np.testing.assert_array_equal(fits[0].weights_, fits[1].weights_)


def test_sample_weights_act_as_repetitions():
    X, y, weight = draw(150)
    times = weight.astype(int)
    chosen = {"nu": 0.05, "learner": "tree", "categorical_features": [3]}
    weighted = DirectBoostClassifier(**chosen).fit(X, y, sample_weight=times)
    repeated = DirectBoostClassifier(**chosen).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_other_estimators_support_trees():
    X, y = load_wine(return_X_y=True)
    Y = np.column_stack([y == 0, y > 0, X[:, 0] > 13]).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.05, learner="tree").fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.95
    warm = DirectBoostClassifier(nu=0.1, learner="tree", warm_start=True).fit(X, y)
    first = warm.n_learners_
    warm.set_params(nu=0.02).fit(X, y)
    assert warm.n_learners_ >= first
    assert warm.certificate_.converged


def test_unseen_levels_belong_to_the_rest(rng):
    """Neither other levels nor missing values go to the side of the level of a split."""
    level = rng.choice(3, 2000, p=[0.4, 0.2, 0.4])
    X = np.column_stack([level, rng.normal(size=2000)]).astype(float)
    y = ((level == 1) & (X[:, 1] > -3.0)).astype(int)
    model = DirectBoostClassifier(learner="tree", nu=0.1, categorical_features=[0]).fit(X, y)
    assert model.predict([[9.0, 0.0], [np.nan, 0.0], [1.0, 0.0]]).tolist() == [0, 0, 1]


def test_means_are_those_of_the_pruned_trees(rng):
    """Trees with a single feature left can be explained; the means are those of their parts."""
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 0.3).astype(int) ^ (rng.random(600) < 0.05)
    model = DirectBoostClassifier(learner=TreeOracle(max_leaves=3), nu=0.5).fit(X, y)
    means = model.explain(X).mean(axis=0)
    assert np.abs(means).max() > 0.0
    np.testing.assert_allclose(model.mean_contributions_, means, atol=1e-9)


def test_a_tree_with_the_same_leaves_is_not_added_twice():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    data = OracleData(X, np.ones(300), 300.0, np.ones(65), 255)
    oracle = TreeOracle().on(data)
    A = np.eye(10)[y] - 0.1
    for values in (A, A.astype(np.float32)):
        oracle.price(values, GroupNorm(2.0))
    codes = {row.tobytes() for row in oracle.binned.codes}
    assert len(codes) == oracle.binned.n_features + 1


def test_folds_do_not_share_random_numbers():
    X, y = load_wine(return_X_y=True)
    scores = []
    for jobs in (1, 2):
        cv = DirectBoostClassifierCV(
            learner=TreeOracle(feature_share=0.4), random_state=np.random.RandomState(0), nus=3,
            nu_min=0.1, cv=3, n_jobs=jobs,
        )  # fmt: skip
        scores.append(cv.fit(X, y).scores_)
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_leaves": 1}, "max_leaves=1"),
        ({"max_leaves": 300}, "max_leaves=300 .* from 2 to 256"),
        ({"trees_per_round": 0}, "trees_per_round=0"),
        ({"row_share": 0.0}, "row_share=0.0"),
        ({"feature_share": 1.5}, "feature_share=1.5"),
        ({"min_share": -0.1}, "min_share=-0.1"),
    ],
)
def test_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        TreeOracle(**options)


@pytest.mark.parametrize(
    "settings",
    [
        {"nu": 0.03},
        {"nu": 0.1, "feature_costs": [1.0, 5.0, 0.2, 2.0]},
        {"nu": 0.1, "loss": "exponential", "penalty": "l1"},
        {"nu": 0.1, "loss": "hinge"},
        {"nu": 0.1, "loss": "hinge", "penalty": "l1"},
        {"nu": 0.1, "columns_per_round": 2, "max_learners": 20},
    ],
    ids=str,
)
def test_the_certificate_is_that_of_the_returned_trees(settings):
    """The objective counts the features that the trees read, after unnecessary splits are gone."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DirectBoostClassifier(learner="tree", **settings).fit(X, y)
    parts = resolve_objective(model.loss, model.margin, model.penalty)
    margin = parts.margin.from_codes(y.astype(np.int32), 3)
    rows = SampleWeights.weighted(np.ones(len(y)), 3, margin.true_class)
    objective = Objective(margin, parts.loss, parts.penalty, model.nu_, rows)
    costs = np.append(settings.get("feature_costs", np.ones(4)), 1.0)
    paid = [costs[list(h.features) or [-1]].sum() for h in model.learners_]
    penalty = model.nu_ * parts.penalty.value(model.weights_, np.array(paid))
    H = np.column_stack([h.predict(X) for h in model.learners_])
    primal = objective.loss_value(H @ model.weights_) + penalty
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert any(isinstance(h, Leaf) for h in model.learners_)
