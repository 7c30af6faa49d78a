"""Categorical features in binned data: unordered codes, stumps on one level against the rest."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.data.binning import bin_features
from directboost.kernels.step_functions import CATEGORICAL, ORDERED, WITH_MISSING
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.model.ensemble import Ensemble
from directboost.model.learners import CategoryStump, Stump
from directboost.oracles import PoolOracle, StumpOracle
from directboost.penalties import L1, GroupNorm
from directboost.problem.feature_columns import FeatureColumns
from directboost.problem.objective import Objective
from directboost.solvers import BlockDescent
from directboost.training.column_generation import LoopSettings, WarmStart, run
from directboost.training.compaction import stumps_per_row
from directboost.training.stopping import StoppingRule
from tests.reference.twin import solve_twin
from tests.solvers.problems import SMOOTH

CATEGORIES = np.array([True, True, False, True, True])
K = 3


def draw(m=60, seed=0):
    """Return columns: many levels, missing levels, numbers, two levels, one level or missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(0, 6, m),
            rng.integers(0, 4, m),
            rng.integers(0, 5, m),
            rng.integers(3, 5, m),
            np.ones(m),
        ]
    ).astype(float)
    X[rng.random(m) < 0.2, 1] = X[rng.random(m) < 0.3, 4] = np.nan
    group = np.array([0, 2, 1, 1, 0, 2])[X[:, 0].astype(int)]
    y = np.where(rng.random(m) < 0.6, group, rng.integers(0, K, m)).astype(np.int32)
    return X, y, rng.uniform(0.5, 2.0, m)


def binned_of(X, weight):
    return bin_features(X, weight / weight.max(), 255, n_levels=CATEGORIES)


def names(binned):
    """Yield feature, threshold and polarity of all stumps, the constant last."""
    for f in range(binned.n_features + 1):
        for threshold in range(binned.n_thresholds(f)):
            yield from ((f, threshold, polarity) for polarity in (1, -1))


def test_kinds_and_levels():
    X, _, weight = draw()
    binned = binned_of(X, weight)
    assert binned.kinds.tolist() == [
        CATEGORICAL,
        CATEGORICAL,
        ORDERED,
        ORDERED,
        WITH_MISSING,
        ORDERED,
    ]
    assert binned.levels[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert binned.levels[3].tolist() == [3, 4]
    assert [binned.n_thresholds(f) for f in range(6)] == [6, 5, 4, 1, 1, 1]
    assert binned.dictionary == "all stumps, levels one against the rest"


def test_a_stump_separates_one_level_from_the_rest():
    """Its responses equal those of the learner, and the learner maps back to its name."""
    X, _, weight = draw()
    binned = binned_of(X, weight)
    seen = set()
    for f, threshold, polarity in names(binned):
        learner, response = (
            binned.learner(f, threshold, polarity),
            binned.response(f, threshold, polarity),
        )
        np.testing.assert_array_equal(learner.predict(X), response)
        assert binned.name_of(learner) == (f, threshold, polarity)
        if isinstance(learner, CategoryStump):
            own = response == learner.polarity
            np.testing.assert_array_equal(own, X[:, f] == learner.level)
            seen.add((f, learner.level, learner.polarity))
    assert seen >= {(0, float(level), sign) for level in range(6) for sign in (1, -1)}
    assert sum(f == 3 for f, _, _ in seen) == 2  # of two levels only the lighter one is named


def test_learners_of_unknown_levels_have_no_name():
    X, _, weight = draw()
    binned = binned_of(X, weight)
    assert binned.name_of(CategoryStump(0, 17.0, 1)) is None
    assert binned.name_of(CategoryStump(2, 1.0, 1)) is None
    assert binned.name_of(Stump(0, np.inf, 1, True)) is None
    assert binned.name_of(Stump(1, np.inf, 1, True)) == (1, 4, -1)


def test_unknown_values_belong_to_the_rest():
    X = np.array([[7.0], [np.nan], [2.0]])
    assert CategoryStump(0, 2.0, 1).predict(X).tolist() == [-1, -1, 1]
    assert CategoryStump(0, 2.0, -1).predict(X).tolist() == [1, 1, -1]
    assert CategoryStump(0, 2.0, 1).describe("colour") == "colour is 2"
    assert CategoryStump(0, 2.0, -1).describe("colour") == "colour is not 2"


def test_tables_are_sums_of_learners(rng):
    """On the training rows, on unknown levels, and on missing values."""
    X, _, weight = draw()
    binned = binned_of(X, weight)
    learners = [binned.learner(*name) for name in names(binned)]
    weights = rng.uniform(0.0, 1.0, (len(learners), K))
    other = np.concatenate(
        [X, np.full((1, 5), 99.0), np.full((1, 5), -7.0), np.full((1, 5), np.nan)]
    )
    expected = sum(np.outer(h.predict(other), w) for h, w in zip(learners, weights, strict=True))
    ensemble = Ensemble(learners, weights)
    np.testing.assert_allclose(ensemble.scores(other), expected, atol=1e-12)
    parts = ensemble.contributions(other).sum(axis=1) + ensemble.intercept
    np.testing.assert_allclose(parts, expected, atol=1e-12)


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_the_optimum_equals_that_of_an_independent_solver(loss, margin, p):
    """Against an independent solve over all responses."""
    X, y, weight = draw(m=30, seed=3)
    binned = binned_of(X, weight)
    kind = MARGINS[margin].from_codes(y, K)
    penalty = L1() if p == 1.0 else GroupNorm(p)
    goal = Objective(
        kind, LOSSES[loss](), penalty, 0.02, SampleWeights.weighted(weight, K, kind.true_class)
    )
    costs = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 1.0])
    plan = LoopSettings(goal, StumpOracle(binned, costs), BlockDescent(), StoppingRule(1e-6))
    outcome = run(plan, WarmStart(FeatureColumns(binned, costs, K), []))
    every = list(names(binned))
    H = np.column_stack([binned.response(*name) for name in every])
    kappa = np.array([costs[f] for f, _, _ in every])
    best, _ = solve_twin(H, y, K, weight, loss, margin, p, goal.nu, kappa)
    assert outcome.certificate.converged
    assert outcome.certificate.primal == pytest.approx(best, rel=2e-6)
    assert outcome.certificate.dual <= best + 1e-9
    stumps = outcome.state.columns.stumps(outcome.state.W)
    learners, weights = outcome.state.columns.named(stumps), stumps.rows
    assert any(isinstance(h, CategoryStump) for h in learners)
    assert (
        len(learners) == stumps_per_row(np.concatenate(outcome.state.W)).sum() == weights.shape[0]
    )
    np.testing.assert_allclose(
        Ensemble(learners, weights).scores(X),
        outcome.state.columns.scores(outcome.state.W),
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("solver", "loss", "penalty"),
    [
        ("blocks", "logistic", "l1,2"),
        ("lbfgsb", "logistic", "l1"),
        ("prox", "squared_hinge", "l1,inf"),
        ("admm", "logistic", "l1,2"),
        ("lp", "hinge", "l1"),
        ("conic", "hinge", "l1,2"),
    ],
)
def test_every_solver_finds_the_optimum(solver, loss, penalty):
    """Through the estimator, with declared categorical columns."""
    X, y, weight = draw(m=30, seed=3)
    chosen = {"solver": solver, "loss": loss, "penalty": penalty, "nu": 0.05, "tol": 1e-5}
    model = DirectBoostClassifier(categorical_features=CATEGORIES, **chosen).fit(X, y, weight)
    binned = binned_of(X, weight)
    every = list(names(binned))
    H = np.column_stack([binned.response(*name) for name in every])
    p = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf}[penalty]
    best, _ = solve_twin(H, y, K, weight, loss, "pairwise", p, model.nu_, np.ones(len(every)))
    assert model.certificate_.converged
    assert model.certificate_.dual <= best + 1e-9
    assert best <= model.certificate_.primal * (1.0 + 1e-9)
    assert model.certificate_.dictionary == binned.dictionary
    assert any(isinstance(h, CategoryStump) for h in model.learners_)


def test_rules_name_their_levels():
    rng = np.random.default_rng(0)
    colours = rng.choice(["blue", "green", "red"], 60)
    y = (colours == "green").astype(int)
    rows = np.array([*zip(colours, rng.normal(size=60), strict=True)], dtype=object)
    model = DirectBoostClassifier(nu=0.1, categorical_features=[0]).fit(rows, y)
    assert "x0 is green" in model.summary()
    assert "x0 is not green" in model.summary()
    assert model.score(rows, y) == 1.0


def test_a_coarse_start_handles_levels_and_missing_values(rng):
    """With many rows the fit starts on a sample of them, with unchanged levels."""
    m = 46_000
    level = rng.integers(0, 5, m).astype(float)
    y = (level > 2.0).astype(int)
    level[rng.random(m) < 0.1] = np.nan
    X = np.column_stack([level, rng.normal(size=m)])
    model = DirectBoostClassifier(categorical_features=[0], nu=0.03).fit(X, y)
    assert model.certificate_.converged
    assert any(isinstance(h, CategoryStump) for h in model.learners_)


def test_pools_reject_categories():
    X = np.column_stack([np.tile([0.0, 1.0], 20), np.linspace(-1.0, 1.0, 40)])
    model = DirectBoostClassifier(learner=PoolOracle(), categorical_features=[0])
    with pytest.raises(ValueError, match="column 0 of X holds categories"):
        model.fit(X, np.tile([0, 1], 20))
